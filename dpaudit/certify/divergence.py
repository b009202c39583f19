"""Rényi divergences that a certified band implies, of every order at once.

With E_γ(P‖Q) = sup over S of P(S) − γQ(S) and L = dP/dQ, for every order α > 0

    E_Q[L^α] = 1 + α(α − 1) I,   I = ∫₀^∞ γ^{α−2} (E_γ(P‖Q) − max(1 − γ, 0)) dγ

(Sason & Verdú 2016, "f-divergence inequalities", section VII; a part of P that Q lacks counts with
its mass). D_α = ln(1 + α(α − 1) I)/(α − 1), and D₁ = I, rise with I at every order. For γ < 1 the
bracket is γ E_{1/γ}(Q‖P), so both directions count.

A confidence region of (P(S), Q(S)) bounds the bracket from below at every γ, by a function that is
concave on both sides of γ = 1 and thus above its chords. Between two nodes I is at least the
integral of any region's chord. So the result is a lower bound with whatever nodes, whenever the
regions hold, and for all orders and both directions together.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import DIVERGENCE_NODES, LARGEST_ORDER
from dpaudit.certify.scores import quotient

ROUNDING = 1e-10  # relative error of the integral, by which it is lowered
MOST = 700.0  # ln γ of the last node


@value_class
class BandIntegral:
    """Lower bounds of E_γ(P‖Q) − max(1 − γ, 0) from s regions, for one order of P and Q.

    log_gamma : (m,), ln γ at the nodes, ascending, 0 among them. low : (s, m), the bound of each
    region at each node. only_p, only_q : the certified mass of P where Q has none, and of Q where P
    has none.
    """

    log_gamma: Array
    low: Array
    only_p: float
    only_q: float

    @classmethod
    def of(cls, p: Array, q: Array, own: np.ndarray) -> BandIntegral:
        """The bounds from regions p, q of shape (s, k). own : (s,), True where p = P(S), False
        where p = Q(S).

        The complement of a set S has 1 − P(S) and 1 − Q(S), so each region counts on both sides of
        γ = 1.
        """
        own = own[:, None]
        ahead = np.where(own, p, 1.0 - q), np.where(own, q, 1.0 - p)
        behind = np.where(own, 1.0 - q, p), np.where(own, 1.0 - p, q)
        above, below = _nodes(*ahead), _nodes(*behind)
        low = [np.exp(-below) * _least(*behind, below), _least(*ahead, above)]
        return cls(
            np.concatenate([-below[::-1], above[1:]]),
            np.concatenate([low[0][:, ::-1], low[1][:, 1:]], axis=1),
            _lacked(*ahead),
            _lacked(*behind),
        )

    def renyi(self, order: float) -> float:
        """The certified D_α(P‖Q), nats; infinite if α ≥ 1 and P has certified mass that Q lacks."""
        order = min(order, LARGEST_ORDER)
        log_integral = self._log_integral(order)
        if order == 1.0:
            return float(np.exp(log_integral))
        log_moment = log_integral + np.log(order * abs(order - 1.0))
        if order > 1.0:
            return float(np.logaddexp(0.0, log_moment) / (order - 1.0))
        with np.errstate(divide="ignore"):
            return float(np.log1p(-np.exp(np.minimum(log_moment, 0.0))) / (order - 1.0)) + 0.0

    def _log_integral(self, order: float) -> float:
        """The logarithm of a lower bound of I at order α.

        Between nodes it integrates γ^{α−2} times the best chord; beyond them, only_q γ^{α−1} and
        only_p γ^{α−2}.
        """
        start, stop = self._chord_weights(order)
        least = np.maximum(start * self.low[:, :-1] + stop * self.low[:, 1:], 0.0)
        best = np.max(least, axis=0, initial=0.0)
        with np.errstate(divide="ignore"):
            inside = np.log(best) + (order - 1.0) * self.log_gamma[1:]
            before = np.log(self.only_q / order) + order * self.log_gamma[0]
            after = np.log(self.only_p) + (order - 1.0) * self.log_gamma[-1]
            if order >= 1.0:
                after = np.inf if self.only_p else -np.inf
            else:
                after -= np.log(1.0 - order)
        return float(np.logaddexp.reduce([*inside, before, after]) - ROUNDING)

    def _chord_weights(self, order: float) -> tuple[Array, Array]:
        """The weights of a chord's values at the lower and the upper end of each interval, (m − 1,)
        each.

        They are ∫ γ^{α−2} (γ₁ − γ)/(γ₁ − γ₀) dγ and ∫ γ^{α−2} (γ − γ₀)/(γ₁ − γ₀) dγ, in units of
        γ₁^{α−1}.
        """
        width = np.diff(self.log_gamma)
        zeroth, first = _moment(order - 1.0, width), _moment(order, width)
        share = -np.expm1(-width)
        return (zeroth - first) / share, (first - np.exp(-width) * zeroth) / share


def _nodes(p: Array, q: Array) -> Array:
    """Values of ln γ from 0 to the largest finite one at which a region's bound becomes 0."""
    ratio = np.min(quotient(p, q), axis=1, initial=np.inf)
    largest = np.max(ratio[np.isfinite(ratio)], initial=np.e)
    return np.linspace(0.0, min(float(np.log(largest)), MOST), DIVERGENCE_NODES)


def _lacked(p: Array, q: Array) -> float:
    """The largest certified mass p of a set with q = 0 throughout its region."""
    sure = np.all(q == 0.0, axis=1)
    return float(np.max(p.min(axis=1, initial=1.0)[sure], initial=0.0))


def _least(p: Array, q: Array, log_gamma: Array) -> Array:
    """The least p − γq of each region at each γ ≥ 1, (s, m); vertex by vertex, for memory."""
    low = np.full((len(p), len(log_gamma)), np.inf)
    for p_vertex, q_vertex in zip(p.T, q.T, strict=True):
        low = np.minimum(low, p_vertex[:, None] - np.exp(log_gamma) * q_vertex[:, None])
    return low


def _moment(power: float, width: Array) -> Array:
    """∫ γ^{power−1} dγ from e^{−width} to 1."""
    if power == 0.0:
        return width
    return np.asarray(-np.expm1(-power * width) / power)
