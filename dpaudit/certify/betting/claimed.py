"""The null hypothesis of bets: a claimed curve δ(ε) or, without a claim, the exact one."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.certify.betting.null import Null
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput

STARTS = 8  # ε of a curve at which bets may start
# ε at which a claimed curve is read
CURVE = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 120)])
VISIBLE = 1e-3  # bets start at ε whose claimed δ is at least this share of the largest one
SLACK = 1e-12  # added to an exact spectrum, for rounding


def null_of(claim: Claim | None, theory: Spectrum | None) -> tuple[Null, Array]:
    """The null hypothesis, and the ε at which bets may start."""
    if claim is not None and claim.epsilon is not None:
        own = np.array([claim.epsilon])
        return Null.of(own, np.array([claim.delta])), own
    if claim is not None:
        epsilon, delta = CURVE, claim.delta_at(CURVE)
    elif theory is not None:
        epsilon, delta = theory.epsilon, np.minimum(theory.delta + SLACK, 1.0)
    else:
        raise InvalidInput(
            'stop="verdict" needs a claim or a known exact spectrum: '
            "there is nothing to bet against"
        )
    last = float(epsilon[delta >= VISIBLE * delta.max()].max())
    return Null.of(epsilon, delta), np.unique(np.linspace(0.0, last, STARTS))
