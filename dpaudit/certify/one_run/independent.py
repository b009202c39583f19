"""Canaries that are independent by assumption: the law of a weighted number of right guesses.

Assumed here, and nowhere else in this room: the score of each canary depends on its own coin and on
noise of its own, so that pairs of coin and score are independent. It is so where canaries are
orthogonal gradients with independent noise. It is false where canaries share an event of the run.

Let the law of each score with and without its canary keep a curve that a pair (P₁, P₀) attains, as
N(μ, 1) and N(0, 1) do for μ-GDP. Then each score is a function of a draw X of that pair and of
further randomness (Blackwell 1953; Dong, Roth & Su 2022, theorem 10). Given all X, coins are
independent, and a guess of canary i is right with probability at most h_i, the larger posterior
probability of its coin given X_i. Let weights w_1 ≥ w_2 ≥ … ≥ 0, fixed before the run, belong to
the guesses in their order of strength. Exchanging two guesses so that the larger weight has the
larger h makes Σ w_k 1[guess k is right] stochastically larger. So the sum is stochastically at most
that of an attacker who sees X and guesses by it, whose law is the worst case.

That law. Let u be the share of draws of (P₁, P₀) with a larger h, and R(u) the probability that a
draw is among these and guessed right. For every λ ≥ 1, with q the probability of a coin,

    R(u) = min_λ (λu + D(λ))/(1 + λ),   D(λ) = q δ₁(ln λ + o) + (1 − q) δ₀(ln λ − o),

o = ln((1 − q)/q) and δ₁(−ε) = 1 − e^−ε (1 − δ₀(ε)), by the argument at the end of `recursion`; a
grid of λ makes R larger, which is on the safe side. Weights are equal in cells of n_j guesses. The
ends of cells are order statistics V_j of m uniform numbers, and given these n_j − 1 guesses of cell
j are right independently with probability (R(V_j) − R(V_{j−1}))/(V_j − V_{j−1}), and its last one
with no larger probability. So binomial numbers of n_j guesses bound the sum. With one cell of
weight 1 and one of weight 0 this is the bound of Xiang, Wang et al. 2025 (arXiv 2501.17750).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import SURE
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.recursion import MOST_MU, both_ways
from dpaudit.curves import SampledGaussian, epsilon_at
from dpaudit.curves.gaussian_shift import gaussian_shift

Delta = Callable[[Array], Array]  # ε ≥ 0 ↦ δ
Curves = tuple[Delta, Delta]  # of "in" against "out", and the reverse

ODDS = np.concatenate([np.linspace(0.0, 6.0, 601), np.linspace(6.1, 40.0, 340)])  # ln λ
LOSSES = np.linspace(-20.0, 20.0, 4_001)  # nats
# ends of cells, as shares of the guesses
ENDS = np.array([0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.13, 0.2, 0.3, 0.42, 0.56, 0.7, 0.85])
HITS = (40, 320, 2_500)  # draws of each stage, times alpha
MOST_DRAWS = 250_000
DESIGN = 1.5  # the square root of the steps' χ² divergence for which weights and order are best
HALVINGS = 14  # of the last range of μ
# the distance of an accountant's losses: in deviations of a step's loss, and in nats over √steps
OF_LOSS, OF_STEPS = 0.05, 0.2
LOST, FINEST = 0.005, 2e-5  # the share of ε that rounding down may lose; the least distance


@value_class(show_numbers=True, eq=True)
class Family:
    """The pairs N(μ, 1) and N(0, 1), released at each of `steps` steps at a sampling rate.

    sample_rate : in (0, 1]; 1 for all records at each step. steps : at least 1.
    """

    sample_rate: float = 1.0
    steps: int = 1

    def curves(self, mu: float) -> Curves:
        """Upper bounds of δ(ε), closed forms but for several steps that sample."""
        q = self.sample_rate
        if self.closed:
            whole = mu * self.steps**0.5
            return partial(_sampled_in, q, whole), partial(_sampled_out, q, whole)
        deviation = np.sqrt(np.log1p(q**2 * np.expm1(min(mu**2, 700.0))))
        spacing = float(min(OF_LOSS * deviation, OF_STEPS / self.steps**0.5))
        curve = SampledGaussian(q, 1.0 / mu, self.steps, spacing=spacing)
        return lambda epsilon: curve.delta(epsilon)[0], lambda epsilon: curve.delta(epsilon)[1]

    @property
    def closed(self) -> bool:
        return self.steps == 1 or self.sample_rate == 1.0

    @property
    def design(self) -> float:
        """The μ for which weights and order of guesses are best."""
        return float(np.sqrt(np.log1p((DESIGN / self.sample_rate) ** 2 / self.steps)))

    def epsilon_at(self, mu: float, delta: float) -> float:
        """A lower bound of ε, nats, at δ; 0 for μ = 0."""
        if mu == 0.0:
            return 0.0
        ways = self.curves(mu)
        most = float(epsilon_at(lambda epsilon: np.maximum(*(one(epsilon) for one in ways)), delta))
        if self.closed or most == 0.0:
            return most
        spacing = max(LOST * most / self.steps, FINEST)
        curve = SampledGaussian(self.sample_rate, 1.0 / mu, self.steps, spacing=spacing)
        return float(epsilon_at(curve.low, delta))

    @property
    def text(self) -> str:
        if self.sample_rate == 1.0 and self.steps == 1:
            return "Gaussian"
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        return f"Gaussian, {steps} at sampling rate {self.sample_rate:g}"


GAUSSIAN = Family()


def _sampled_in(rate: float, mu: float, epsilon: Array) -> Array:
    """δ(ε) of (1 − q)N(0, 1) + qN(μ, 1) against N(0, 1): q times δ of N(μ, 1) at a larger ε."""
    larger = np.log1p(np.expm1(np.minimum(epsilon, 30.0)) / rate) + np.maximum(epsilon - 30.0, 0.0)
    return np.asarray(rate * gaussian_shift(mu, larger))


def _sampled_out(rate: float, mu: float, epsilon: Array) -> Array:
    """δ(ε) of N(0, 1) against (1 − q)N(0, 1) + qN(μ, 1), which is 0 from ε = −ln(1 − q) on."""
    rest = -np.expm1(np.minimum(epsilon + np.log1p(-rate), 0.0)) if rate < 1.0 else 1.0
    delta = np.zeros(np.shape(epsilon))
    some = np.broadcast_to(rest > 0.0, delta.shape)
    if not some.any():
        return delta
    part = np.broadcast_to(rest, delta.shape)[some]
    delta[some] = part * gaussian_shift(mu, epsilon[some] + np.log(rate) - np.log(part))
    return delta


@value_class
class Misses:
    """u − R(u), the probability of being among the share u of the surest guesses and wrong.

    It is the largest of 0 and the lines (u − D(λ))/(1 + λ). odds : (k,), 1 + λ, ascending; height :
    (k,), D(λ).
    """

    odds: Array
    height: Array

    @classmethod
    def of(cls, curves: Curves, inclusion: float) -> Misses:
        """The probability for a claimed pair of curves and coins with this probability of "in"."""
        shift = np.log1p(-inclusion) - np.log(inclusion)
        height = inclusion * both_ways(curves[0], ODDS + shift, curves[1])
        height += (1.0 - inclusion) * both_ways(curves[1], ODDS - shift, curves[0])
        return cls(1.0 + np.exp(ODDS), height)

    def __call__(self, share: Array) -> Array:
        """u − R(u) in the shape of `share`, from the lines that cross near u."""
        fall, growth = -np.diff(self.height), np.diff(self.odds)
        crossing = self.height[:-1] + fall * self.odds[:-1] / growth  # falls as λ grows
        last = len(self.odds) - 1
        rising = np.maximum.accumulate(crossing[::-1])
        at = last - np.searchsorted(rising, share)
        lines = (np.clip(at + step, 0, last) for step in (-1, 0, 1))
        return np.maximum.reduce(
            [np.zeros_like(share), *((share - self.height[k]) / self.odds[k] for k in lines)]
        )


def log_odds(scores: Array, inclusion: float, family: Family) -> Array:
    """The log-odds of "in" that scores (m,) of the family would have by their ranks, (m,).

    A pair (P₁, P₀) of the family whose steps are sampled is not symmetric: its likelihood ratio is
    bounded below. So a low score is no sign of "out" as strong as a high one is of "in". P₀(L > l)
    is the slope of δ(l) in e^l, and P₁(L > l) = δ(l) + e^l P₀(L > l). The μ is `Family.design`; any
    other gives a valid bound, too. inclusion : the probability of "in".
    """
    from scipy.stats import rankdata  # here: slow to import

    ahead, behind = family.curves(family.design)
    ratio = np.exp(LOSSES)
    delta = both_ways(ahead, LOSSES, behind)
    without = -np.diff(delta) / np.diff(ratio)
    tail = inclusion * delta[:-1] + (inclusion * ratio[:-1] + 1.0 - inclusion) * without
    tail = np.minimum.accumulate(np.clip(tail, 0.0, 1.0))  # of the loss of any canary
    above = 1.0 - (rankdata(scores) - 0.5) / len(scores)
    losses = np.interp(above, tail[::-1], LOSSES[-2::-1])
    return np.asarray(losses + np.log(inclusion) - np.log1p(-inclusion))


def sizes(guesses: int) -> np.ndarray:
    """The number of guesses in each cell, the strongest first."""
    ends = np.unique(np.append(np.ceil(ENDS * guesses), guesses).astype(int))
    return np.diff(ends, prepend=0)


@lru_cache(maxsize=8)
def weights(guesses: int, family: Family) -> Array:
    """The weight of a right guess in each cell: how fast its log-odds grow with μ at a fixed μ."""
    ends = np.cumsum(sizes(guesses)) / guesses
    odds = []
    for mu in (family.design, 1.1 * family.design):
        misses = Misses.of(family.curves(mu), 0.5)(ends)
        wrong = np.diff(misses, prepend=0.0) / np.diff(ends, prepend=0.0)
        odds.append(np.log1p(-wrong) - np.log(wrong))
    return np.minimum.accumulate(np.maximum(odds[1] - odds[0], 0.0))


def refutes(guesses: Guesses, curves: Curves, alpha: float, family: Family = GAUSSIAN) -> bool:
    """Whether the curves give so many right guesses a probability below alpha.

    family : the one that the weights of guesses suit. It must be chosen before the run.
    The probability is estimated by draws of the worst case with a fixed seed, as in `likelihood`:
    in stages, of which one decides if its hits differ from what alpha expects by more than `SURE`
    deviations.
    """
    total = len(guesses.right)
    if total == 0:
        return False
    cell, weight = sizes(total), weights(total, family)
    weighted = weight @ np.add.reduceat(guesses.right.astype(int), np.cumsum(cell) - cell)
    misses, rng = Misses.of(curves, float(guesses.inclusion[0])), np.random.default_rng(0)
    for hits in HITS:
        count = int(min(hits / alpha, MOST_DRAWS))
        share, width = _ends(total, count)
        wrong = np.diff(misses(share), axis=0, prepend=0.0) / width
        right = rng.binomial(cell[:, None], 1.0 - np.clip(wrong, 0.0, 1.0))
        reached = int(np.sum(weight @ right >= weighted - 1e-9))
        expected = count * alpha
        if abs(reached - expected) > SURE * np.sqrt(expected):
            return reached < expected
    return False


@lru_cache(maxsize=3)
def _ends(guesses: int, count: int) -> tuple[Array, Array]:
    """The ends of the cells as shares of all draws, (cells, count), and the widths of cells."""
    cell = sizes(guesses).astype(float)
    cell[-1] += 1.0
    spaces = np.random.default_rng(count).standard_gamma(cell[:, None], (len(cell), count))
    share = np.cumsum(spaces, axis=0) / spaces.sum(axis=0)
    share[-1] = 1.0
    return share, np.diff(share, axis=0, prepend=0.0)


def bound(guesses: Guesses, family: Family, alpha: float) -> float:
    """The largest μ of the family below which all are refuted; 0 where none is."""
    low, high = 0.0, family.design
    while high < MOST_MU and refutes(guesses, family.curves(high), alpha, family):
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if refutes(guesses, family.curves(middle), alpha, family):
            low = middle
        else:
            high = middle
    return min(low, MOST_MU)
