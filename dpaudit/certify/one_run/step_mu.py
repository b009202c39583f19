"""A confidence sequence for μ of the steps of one run of DP-SGD: counts in, a lower bound out.

The projection of a step is that of `steps`: r = c + a·s + τz, with the canary's coin s ~
Bernoulli(q), what the rest of the batch adds, c, independent of s, and z ~ N(0, 1) independent of
both. Here the canary's shift a and the noise τ are unknown, and may be chosen anew at each step by
all that was seen before. For each μ of a fixed grid two e-processes bet against the hypothesis

    H(μ):  |a| ≤ μτ at every step.

Coins. Under H(μ) the laws P₁, P₀ of r with and without the canary are at most μ-GDP apart. So P₁(A)
≤ G(P₀(A)) with G(x) = Φ(Φ⁻¹(x) + μ) for every set A (Dong, Roth & Su 2022, definition 4), also
averaged over c. G is concave and lies below its tangent at any p: P₁(A) − p₁ ≤ γ(P₀(A) − p), with
p₁ = G(p) and the slope γ = G′(p). So the payoff 1 + κg of

    g = s/q (1[r in A] − p₁) − γ (1 − s)/(1 − q) (1[r in A] − p)

has a mean of at most 1, for any set A that earlier steps chose and any κ ≥ 0 that keeps it
positive, and so has one with a mean of several g. Nothing more is assumed of the noise.

Noise, where the shift is known. H(μ) is τ ≥ |a|/μ. For μ′ > μ the payoff is the ratio of the
densities of N(0, a²/μ′²) and N(0, a²/μ²) at r − as = c + τz. It is symmetric and unimodal, so its
mean is largest with the least noise and c = 0, where it is 1 (Anderson 1955).

By Ville's inequality, the wealth against a true H(μ) ever reaches 1/α with probability at most α.
The bound is the last μ of the grid before the first that is not refuted. It exceeds the largest
|a|/τ of all steps only if the first μ of the grid that is at least as large was refuted: one true
hypothesis. So the bound holds with confidence 1 − α at all steps together.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpaudit._core.types import Array, ArrayLike

MU = np.geomspace(0.05, 20.0, 800)  # the hypotheses
EDGES = np.linspace(-6.0, 24.0, 151)  # of cells of standardised projections
CELLS = 2 * (len(EDGES) + 1)  # with the coin
# distances of thresholds below the mean with the canary, and around the middle of both means
NEAR_IN, MIDDLE = np.linspace(-1.0, 1.0, 5), np.linspace(-0.5, 0.5, 3)
EXCESS = 0.04 * 2.0 ** np.arange(7)  # μ′ − μ of the alternatives that stakes suit
MOST_LOST = 0.9  # of the wealth at one step
NARROWER = 1.0 + 0.01 * 2.0 ** np.arange(12)  # μ′/μ of the bets on noise


class StepMu:
    """What the steps of one run show of μ, for m canaries.

    rate : q, in (0, 1). orthogonal : whether the canaries' directions are orthogonal, so that their
    evidence multiplies; otherwise it is averaged. shifts : whether the shift is known at each step;
    then half of the wealth bets on coins and half on noise.
    """

    def __init__(self, rate: float, orthogonal: bool, canaries: int, shifts: bool) -> None:
        self._rate, self._orthogonal, self._shifts = rate, orthogonal, shifts
        self._counts = np.zeros((canaries, CELLS))
        self._noises, self._squares = 0, 0.0

    def see_coins(self, projection: Array, included: Array) -> None:
        """Count the projections of a step, standardised by earlier steps, and the coins, (m,)."""
        self._counts[np.arange(len(included)), cells(projection, included)] += 1.0

    def see_noise(self, noise: Array, shift: float) -> None:
        """Add the noise of a step along k orthogonal directions, (k,).

        shift : by how much a canary moves the sum along its direction, at least 0, in the unit of
        the noise.
        """
        if shift > 0.0:
            self._noises += len(noise)
            self._squares += float(np.sum((noise / shift) ** 2))

    def bound(self, alpha: float) -> float:
        """The certified lower bound of μ at confidence 1 − alpha; valid whenever it is read."""
        if self._orthogonal:
            wealth = coin_wealth(self._rate, self._counts.sum(axis=0))
        else:
            wealth = log_mean(coin_wealth(self._rate, self._counts).T)
        if self._shifts:
            noise = noise_wealth(self._noises, self._squares)
            wealth = np.logaddexp(wealth, noise) - np.log(2.0)
        stands = np.append(wealth < -np.log(alpha), True)
        return float(np.append(0.0, MU)[np.argmax(stands)])  # the last before the first that stands


def cells(projection: Array, included: Array) -> np.ndarray:
    """The cell of each standardised projection and its coin (0 or 1), in the same shape."""
    return np.asarray(2 * np.searchsorted(EDGES, projection) + (included > 0.0))


def coin_wealth(rate: float, counts: Array) -> Array:
    """The log wealth of bets on coins against each μ, (..., M), from counts of `cells`, (..., c).

    Each μ has thresholds where P₁(A) is near 1/2, which is best for rare canaries, and thresholds
    between both means; each of these two g has `len(EXCESS)` stakes κ.
    """
    payoff = _log_payoffs(rate)
    bets = counts @ payoff.reshape(-1, CELLS).T
    return log_mean(bets.reshape(*counts.shape[:-1], *payoff.shape[:2]))


@lru_cache(maxsize=4)
def _log_payoffs(rate: float) -> Array:
    """The log payoff of each μ, bet and cell, (M, k, c)."""
    sides = MU[:, None] - NEAR_IN, 0.5 * MU[:, None] + MIDDLE
    return np.log1p(np.concatenate([_gains(rate, side) for side in sides], axis=1))


def _gains(rate: float, threshold: Array) -> Array:
    """κg of each μ, stake κ and cell, (M, k, c). threshold : (M, j); g is the mean over them."""
    at = np.clip(np.searchsorted(EDGES, threshold), 0, len(EDGES) - 1)
    edge, mu = EDGES[at], MU[:, None]
    p, p_in, slope = ndtr(-edge), ndtr(mu - edge), np.exp(mu * edge - 0.5 * mu**2)
    above = np.arange(len(EDGES) + 1) > at[..., None]  # (M, j, cells of one coin)
    heads = (above - p_in[..., None]).mean(axis=1) / rate
    tails = -(slope[..., None] * (above - p[..., None])).mean(axis=1) / (1.0 - rate)
    gain = np.stack([tails, heads], axis=-1)  # (M, cells of one coin, coins)
    # the stakes that gain most against N(0, 1) and N(μ′, 1), by the first two moments
    ends = np.concatenate([[-np.inf], EDGES, [np.inf]])
    out, inside = np.diff(ndtr(ends)), np.diff(ndtr(ends - (mu + EXCESS)[..., None]))
    first, second = (
        rate * np.einsum("kec,kc->ke", inside, heads**power)
        + (1.0 - rate) * (tails**power @ out)[:, None]
        for power in (1, 2)
    )
    stake = np.clip(first / second, 0.0, MOST_LOST / -gain.min(axis=(1, 2))[:, None])
    return np.asarray(stake[..., None] * gain.reshape(len(MU), 1, -1))


def noise_wealth(count: ArrayLike, squares: ArrayLike, mu: Array = MU) -> Array:
    """The log wealth of bets on noise against each μ, (..., M) for `mu` of shape (M,).

    count : (...), how many projections were seen. squares : (...), the sum of ((r − as)/a)².
    """
    number, total = (np.asarray(x, dtype=np.float64)[..., None, None] for x in (count, squares))
    rise = 0.5 * np.multiply.outer(mu**2, NARROWER**2 - 1.0)
    return log_mean(number * np.log(NARROWER) - total * rise)


def log_mean(logs: Array) -> Array:
    """The log of the mean over the last axis of numbers with finite logs, (..., k)."""
    most = logs.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(logs - most).mean(axis=-1)))
