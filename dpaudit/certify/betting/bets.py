"""What a bet is: a payoff on one draw of each side, from their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from dpaudit._core.check import Array
from dpaudit.certify.betting.null import Null


@dataclass(frozen=True)
class Side:
    """Scores beyond `cut` count, as log-odds from `start` on and no more than `stop`.

    start : ≥ 0, nats. stop : > start. Between them a score counts as it is; a `step` goes from one
    to the other at the cut at once, which makes it a bet on a set.
    """

    start: float
    stop: float
    cut: float
    step: bool = False

    def reach(self, score: Array) -> Array:
        """Scores as log-odds in [start, stop]."""
        if self.step:
            return np.where(score > self.cut, self.stop, self.start)
        return np.asarray(np.clip(score, self.start, self.stop))


@dataclass(frozen=True)
class Bet:
    """U(s) = σ(r)/σ(start), V(s) = σ(−r)/σ(−start) with r the reach of s in front (P likelier) or,
    mirrored, behind.

    If δ(ε) = 0 is claimed, s = log dP/dQ and start = ε, then U = dP/dP' and V = dQ/dQ' with (P',
    Q') the pair of the null that is nearest to (P, Q) in relative entropy, wherever the two fronts
    balance: pointwise, p' = e^ε q' where s > ε leaves q' = (p + q)/(1 + e^ε). No bet then grows
    faster (Grünwald, de Heide & Koolen 2024). For ε = 0 it is the two-sample e-variable
    4σ(s(x))σ(−s(y)) of Turner, Ly & Grünwald (2024). A small stop − start = w is the bet 1 + w(1 −
    σ(ε)) 1[x in S] on P and 1 − wσ(ε) 1[y in S] on Q, a tangent of P(S) − e^ε Q(S) ≤ δ.
    """

    front: Side | None
    back: Side | None
    cost: float  # log C

    @classmethod
    def against(cls, null: Null, front: Side | None, back: Side | None) -> Bet:
        """The bet at its fair price under the null. U and V are affine in σ(r) on either side, so
        three points span the hull of (U, V): no side, all of the front, all of the back."""
        corners = np.array([_corner(front), _corner(back)[::-1], (0.0, 0.0)])
        return cls(front, back, float(null.ceiling(np.exp(corners[:, 0]), np.exp(corners[:, 1]))))

    def up(self, score: Array) -> Array:
        """log U of scores of draws from M(D)."""
        return self._log(score, 1.0)

    def down(self, score: Array) -> Array:
        """log V of scores of draws from M(D')."""
        return self._log(score, -1.0)

    def payoff(self, x: Array, y: Array) -> Array:
        """log e of each pair of draws, (n,) from scores (n,) and (n,)."""
        return self.up(x) + self.down(y) - self.cost

    def _log(self, score: Array, sign: float) -> Array:
        front = 0.0 if self.front is None else gain(self.front.reach(score), self.front.start, sign)
        back = 0.0 if self.back is None else gain(self.back.reach(-score), self.back.start, -sign)
        return np.asarray(front + back + np.zeros_like(score))


NOTHING = Bet(None, None, 0.0)


def gain(reach: Array | float, start: Array | float, sign: float) -> Array:
    """log σ(±r) − log σ(±start)."""
    return np.asarray(log_expit(sign * reach) - log_expit(sign * start))


def _corner(side: Side | None) -> tuple[float, float]:
    """(log U, log V) where a front side counts in full."""
    if side is None:
        return 0.0, 0.0
    return float(gain(side.stop, side.start, 1.0)), float(gain(side.stop, side.start, -1.0))
