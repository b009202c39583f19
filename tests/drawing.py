"""Draws of one side, made as an audit makes them."""

from dpaudit.sampling.counting import width
from dpaudit.sampling.draws import MechanismDraws, collected
from dpaudit.sampling.parallel import drawn


def draw(mechanism, data, size, seed, side, *, n_jobs=None, store=None):
    """`size` draws of mechanism(data) as M(D) (side 0) or M(D') (side 1) of `MechanismDraws`."""
    source, parts = MechanismDraws(mechanism, (data, data), size, seed), []
    blocks = (block for block in source._next(size) if block.side == side)
    for block, part in drawn(source.blocks, blocks, n_jobs, store):
        source._check_columns(block, width(part))
        parts.append((part, part))
    return collected(parts, size)[side]
