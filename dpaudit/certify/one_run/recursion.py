"""Any claimed curve: a recursion for the law of the number of right guesses.

Of g guesses, of a fixed number g of canaries that the scores choose, W are right. Let the claim's
trade-off function be f, and b = 1 − f, so P₁(E) ≤ b(P₀(E)) and P₀(E) ≤ b(P₁(E)) for every event E;
b is concave. For a fair coin S_i, fixed other coins and any j, the events

    A: the guess is "in", and at least j − 1 of the others are right;  B: the same with "out"

do not depend on S_i. So P(i right, W ≥ j) = ½P₁(A) + ½P₀(B) ≤ ½b(P₀(A)) + ½b(P₁(B)) ≤ b(P(i wrong,
W ≥ j − 1)), the last step by concavity. Sum over all m canaries, and use concavity again:

    E[W; W ≥ j] ≤ m b(E[g − W; W ≥ j − 1]/m).                                              (∗)

This is the inequality of Mahloujifar, Melis & Chaudhuri 2024 (section 4), for guesses that may be
withheld. With t_j = P(W ≥ j) its left side is j t_j + Σ_{k>j} t_k, and the right one contains
(g − j + 1) t_{j−1} − Σ_{k≥j} t_k. So (∗) gives a least t_{j−1}, increasing in t_j, t_{j+1}, and so
on. If P(W ≥ w) = x, then t_0 is at least what the recursion gives from t_w = x and t_k = 0 for k >
w. Where that exceeds 1, P(W ≥ w) < x, for any mechanism, interfering canaries included.

Coins of probability q. P(i right, …) = q P₁(A) + (1 − q) P₀(B), and b is the least line over it,
b(x) = min_λ λx + δ(ln λ), δ the claimed curve at all real ε (`both_ways`). So in place of b in (∗)
stands min_λ λx + D(λ), with D(λ) the mean over canaries of q δ(ln λ + o) + (1 − q) δ(ln λ − o), o
= ln((1 − q)/q), at a fixed grid of λ. A grid makes it larger, which is on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.certify.constants import GUESSES
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from dpaudit.curves.gaussian_shift import gaussian_shift

Inverse = Callable[[Array], Array]  # y ↦ the least x with b(x) ≥ y, for one claim or several
Delta = Callable[[Array], Array]  # ε ≥ 0 ↦ δ, both (k,)

ROUNDS, POINTS = 3, 24  # how often the search for a bound refines its grid, and the grid's points
MOST_MU, MOST_EPSILON = 30.0, 40.0  # where the search ends
GRID = np.concatenate([np.linspace(-6.0, 6.0, 241), np.linspace(6.5, 40.0, 40)])  # ln λ


def cuts(canaries: int) -> list[tuple[int, float]]:
    """The numbers of guesses to test, each with its share of 1 − level; known before the run."""
    shares = {canaries: 1.0 - sum(GUESSES.values())}
    for roots, share in GUESSES.items():
        size = min(canaries, round(roots * canaries**0.5))
        shares[size] = shares.get(size, 0.0) + share
    return sorted(shares.items())


def refuted(canaries: int, guesses: int, right: int, alpha: float, inverse: Inverse) -> np.ndarray:
    """Whether each claim of `inverse` gives `right` or more right guesses a chance below alpha.

    This is the recursion at the head of this module, started at t_w = alpha.
    """
    last, above = np.asarray(alpha), np.asarray(0.0)  # t_j, and the sum of those after it
    for at in range(right, 0, -1):
        least = canaries * inverse((at * last + above) / canaries)
        above = above + last
        next_ = (least + above) / (guesses - at + 1)
        if np.all((last > 1.0) | (next_ <= last)):
            break  # where `next_` is not larger, it is a mean of itself and `last` from now on
        last = np.minimum(np.maximum(last, next_), 2.0)
    return np.atleast_1d(last > 1.0)


def shifts(mu: Array, y: Array) -> Array:
    """The `Inverse` of μ-GDP for each μ (k,), with fair coins: b(x) = Φ(Φ⁻¹(x) + μ)."""
    return np.asarray(ndtr(ndtri(np.minimum(y, 1.0)) - mu))


def turns(delta: float, epsilon: Array, y: Array) -> Array:
    """The `Inverse` of (ε, δ)-DP for each ε (k,), nats, with fair coins.

    b(x) = min(δ + e^ε x, 1 − e^−ε (1 − δ − x)).
    """
    grown = np.exp(epsilon)
    return np.maximum.reduce([(y - delta) / grown, 1.0 - delta - (1.0 - y) * grown, 0.0 * grown])


def lines(delta: Delta, guesses: Guesses) -> Inverse:
    """The `Inverse` of any curve: b is the least of the lines with slopes λ and heights D(λ)."""
    q, counts = guesses.coins
    odds, at = np.log1p(-q) - np.log(q), GRID[:, None]
    height = q * both_ways(delta, at + odds) + (1.0 - q) * both_ways(delta, at - odds)
    heights, slopes = height @ counts / guesses.canaries, np.exp(GRID)
    return lambda y: np.asarray(np.maximum(np.max((y - heights) / slopes), 0.0))


def both_ways(delta: Delta, epsilon: Array, reverse: Delta | None = None) -> Array:
    """The claimed δ at any real ε, from δ at ε ≥ 0: δ(−ε) = 1 − e^−ε (1 − δ′(ε)).

    reverse : δ′, of the two laws exchanged; by default the same as `delta`.
    """
    size = np.abs(epsilon)
    ahead = delta(size.ravel()).reshape(epsilon.shape)
    behind = ahead
    if reverse is not None and np.any(epsilon < 0.0):
        behind = reverse(size.ravel()).reshape(epsilon.shape)
    return np.where(epsilon >= 0.0, ahead, 1.0 - np.exp(-size) * (1.0 - behind))


def refutes(guesses: Guesses, delta: Delta, alpha: float) -> bool:
    """Whether the claim δ(ε) about each canary's change is rejected at 1 − level = alpha."""
    return bool(rejected(guesses, alpha, lines(delta, guesses))[0])


def gdp_bound(guesses: Guesses, alpha: float) -> float:
    """The largest μ such that every smaller μ is rejected; 0 where none is."""
    return _bound(guesses, alpha, MOST_MU, shifts, lambda mu: partial(gaussian_shift, mu))


def epsilon_bound(guesses: Guesses, delta: float, alpha: float) -> float:
    """The largest ε, nats, such that (ε′, δ)-DP is rejected for every smaller ε′; 0 if none is."""
    fair = partial(turns, delta)
    return _bound(guesses, alpha, MOST_EPSILON, fair, lambda at: Claim(at, delta).delta_at)


def _bound(
    guesses: Guesses,
    alpha: float,
    most: float,
    fair: Callable[[Array, Array], Array],
    curve: Callable[[float], Delta],
) -> float:
    """The largest parameter, up to `most`, below which all are rejected, by grids that get finer. A
    larger parameter has a larger b, so fewer results reject it.

    fair : where coins are fair, the `Inverse` of several parameters, which come before y. curve :
    parameter ↦ δ(ε).
    """
    low, high = 0.0, most
    for _ in range(ROUNDS):
        points = np.linspace(low, high, POINTS)
        if guesses.fair:
            rejections = rejected(guesses, alpha, partial(fair, points[1:-1]))
        else:
            rejections = np.array([refutes(guesses, curve(at), alpha) for at in points[1:-1]])
        count = int(np.argmin(np.append(rejections, False)))
        low, high = points[count], points[count + 1]
    return float(low)


def rejected(guesses: Guesses, alpha: float, inverse: Inverse) -> np.ndarray:
    """Whether some number of guesses, at its share of alpha, rejects each claim of `inverse`."""
    if len(guesses.right) == 0:
        return np.array([False])
    sums = np.cumsum(guesses.right)
    by_size = [
        refuted(guesses.canaries, size, int(sums[size - 1]), share * alpha, inverse)
        for size, share in cuts(guesses.canaries)
    ]
    return np.any(np.broadcast_arrays(*by_size), axis=0)
