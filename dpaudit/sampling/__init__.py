"""Make the draws of a mechanism: block by block, seeded by key, checked, in parallel, resumable.

The room knows mechanisms only as callables and passes on their outputs in the forms of
`dpaudit.outcomes`. It knows nothing of scores, bounds or verdicts.
"""

from dpaudit.sampling.block import SIDES, checked, joined, outputs, sampler_of
from dpaudit.sampling.counting import Count, Counts, GroupCounts
from dpaudit.sampling.draws import (
    Draws,
    GivenDraws,
    MechanismDraws,
    Pair,
    Progress,
    call_size,
)
from dpaudit.sampling.parallel import BlockStore

__all__ = [
    "SIDES",
    "BlockStore",
    "Count",
    "Counts",
    "Draws",
    "GivenDraws",
    "GroupCounts",
    "MechanismDraws",
    "Pair",
    "Progress",
    "call_size",
    "checked",
    "joined",
    "outputs",
    "sampler_of",
]
