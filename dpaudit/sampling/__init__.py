"""Drawing outputs of a mechanism: block by block, seeded by key, checked, in parallel, resumable."""

from dpaudit.sampling.block import SIDES, checked, sampler_of
from dpaudit.sampling.parallel import BlockStore
from dpaudit.sampling.stream import Draws, Given, Progress, Stream, draw

__all__ = [
    "SIDES",
    "BlockStore",
    "Draws",
    "Given",
    "Progress",
    "Stream",
    "checked",
    "draw",
    "sampler_of",
]
