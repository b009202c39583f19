"""What a bet is: a payoff on one draw of each side, from their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from dpaudit._core.types import Array
from dpaudit.certify.betting.null import Null


@dataclass(frozen=True)
class Side:
    """One direction of a bet: which scores count, and as which log-odds.

    start : ≥ 0, nats. stop : > start. A score counts as itself, clipped to [start, stop].
    cut, step : with `step` a score counts as `stop` above the cut and as `start` below it, which
        makes the bet one on a set. Without it the cut is `start`.
    """

    start: float
    stop: float
    cut: float
    step: bool = False

    def reach(self, score: Array) -> Array:
        """The log-odds in [start, stop] that scores count as."""
        if self.step:
            return np.where(score > self.cut, self.stop, self.start)
        return np.asarray(np.clip(score, self.start, self.stop))

    def gain(self, score: Array, sign: float) -> Array:
        """log σ(±r) − log σ(±start) of scores with reach r; + for log U, − for log V."""
        return gain(self.reach(score), self.start, sign)


@dataclass(frozen=True, repr=False)
class Bet:
    """A payoff e = U(s(x))·V(s(y))/C on a draw x of M(D) and a draw y of M(D').

    U(s) = σ(r)/σ(start) and V(s) = σ(−r)/σ(−start), with r the reach of s.

    forward : the side on which P is likelier, for scores s. backward : the side on which Q is
    likelier, for scores −s, with U and V exchanged. cost : log C.

    If δ(ε) = 0 is claimed, s = log dP/dQ and start = ε, then U = dP/dP' and V = dQ/dQ'. Here (P',
    Q') is the pair of the null that is nearest to (P, Q) in relative entropy, if the two sides
    balance: where s > ε, p' = e^ε q' pointwise, and p' + q' = p + q leaves q' = (p + q)/(1 + e^ε).
    No bet then grows faster (Grünwald, de Heide & Koolen 2024). For ε = 0 it is the two-sample
    e-variable 4σ(s(x))σ(−s(y)) of Turner, Ly & Grünwald (2024). For a small w = stop − start it is
    1 + w(1 − σ(ε)) 1[x in S] on P and 1 − wσ(ε) 1[y in S] on Q, a tangent of P(S) − e^ε Q(S) ≤ δ.
    """

    forward: Side | None
    backward: Side | None
    cost: float

    @classmethod
    def against(cls, null: Null, forward: Side | None, backward: Side | None) -> Bet:
        """The bet at its fair price under the null.

        U and V are affine in σ(r) on each side, so three points span the hull of (U, V): no score
        counts, the forward side counts in full, the backward side counts in full.
        """
        corners = np.exp([_corner(forward), _corner(backward)[::-1], (0.0, 0.0)])
        return cls(forward, backward, float(null.ceiling(corners[:, 0], corners[:, 1])))

    def up(self, score: Array) -> Array:
        """log U of scores (n,) of draws from M(D), (n,)."""
        return self._log(score, 1.0)

    def down(self, score: Array) -> Array:
        """log V of scores (n,) of draws from M(D'), (n,)."""
        return self._log(score, -1.0)

    def payoff(self, x: Array, y: Array) -> Array:
        """log e of each pair of draws, (n,), from scores x (n,) of M(D) and y (n,) of M(D')."""
        return self.up(x) + self.down(y) - self.cost

    def _log(self, score: Array, sign: float) -> Array:
        ahead = 0.0 if self.forward is None else self.forward.gain(score, sign)
        behind = 0.0 if self.backward is None else self.backward.gain(-score, -sign)
        return np.asarray(ahead + behind + np.zeros_like(score))


NO_BET = Bet(None, None, 0.0)


def gain(reach: Array | float, start: Array | float, sign: float) -> Array:
    """log σ(±r) − log σ(±start)."""
    return np.asarray(log_expit(sign * reach) - log_expit(sign * start))


def _corner(side: Side | None) -> tuple[float, float]:
    """(log U, log V) where a forward side counts in full."""
    if side is None:
        return 0.0, 0.0
    return float(gain(side.stop, side.start, 1.0)), float(gain(side.stop, side.start, -1.0))
