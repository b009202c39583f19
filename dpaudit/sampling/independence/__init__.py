"""Tests of whether the draws of a mechanism are independent, with exact null distributions.

A certificate counts draws as if they were independent. Each test here is conditional on the values
that were drawn: independent draws of one law are then in random order, which gives the exact law
of every statistic, whatever the mechanism. So a sound mechanism is refused with probability at most
`LEVEL` an audit. Nothing is drawn here; `examine` is a function of arrays.
"""

from dpaudit.sampling.independence.examine import (
    LEVEL,
    OWN_SEED,
    WITHIN_CALLS,
    Finding,
    examine,
    examine_shared,
)

__all__ = ["LEVEL", "OWN_SEED", "WITHIN_CALLS", "Finding", "examine", "examine_shared"]
