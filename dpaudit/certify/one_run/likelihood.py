"""Pure and (ε, δ) claims: a likelihood ratio of the right guesses against the claim's worst law.

What a claim allows. Let canary i be in the data with probability q, by a coin S_i of its own, let Y
be the output, and let the guess of S_i depend on Y. Under ε-DP for each canary's change, for every
y and all other coins s,

    P(S_i as guessed | Y = y, others = s) ≤ p_i = c e^ε / (c e^ε + 1 − c),

where c is the coin's probability of the guessed side: the odds of a coin change by at most e^ε.
This still holds when coins not revealed yet are averaged over. So, canary by canary and given Y, a
right guess is at most as likely as a coin B_i of probability p_i that depends on nothing before it,
and right guesses can be drawn jointly with independent B_i so that none is right where B_i = 0. Any
statistic that is non-decreasing in each right guess, and otherwise depends on Y alone, is then at
most as large as the same statistic of the B_i. Their law gives a valid p-value for any mechanism,
canaries that interfere included. (Steinke, Nasr & Jagielski 2023 have this for the number of right
guesses among a fixed number.)

δ. Under (ε, δ)-DP the probability above exceeds p_i by some u_i(y, s) ≥ 0. For a guess of "in"

    E[u_i; guess in] ≤ ∫ (q P₁ − p (q P₁ + (1 − q) P₀))⁺ = q (1 − p) ∫ (P₁ − e^ε P₀)⁺ ≤ q (1 − p) δ,

P₁ and P₀ the laws of Y with and without the canary, and for "out" likewise with 1 − q. Draw a right
guess as "B_i = 1, or a failure of probability u_i". Without a failure all is as before, and the
chance that there is one is at most the sum of the E[u_i], which is m δ/(1 + e^ε) for fair coins
(`failures`). It is taken off 1 − level.

The statistic is a mixture of likelihood ratios over profiles: how the odds that a guess is right
may grow with its rank (`Wealth`). Each factor is larger for a right guess than for a wrong one,
as the proof asks. Its mean under the B_i is 1. So it is the final wealth of a bettor against the
claim, and by Markov's inequality P(wealth ≥ 1/a) ≤ a, too. The law of the B_i gives
more: t, the chance of at least the observed wealth, is a p-value. It is estimated by draws
(`Wealth.rare`). A share `EARLY` of 1 − level is for Markov's inequality, which saves the draws
where wealth is large.

The draws have a fixed seed, so that the same scores and coins give the same bound. So the Monte
Carlo p-value (k + 1)/(n + 1) is not enough: with the same scores in every run the same draws would
be the yardstick in every run, and their error would be there in all of them. Therefore k of n draws
reject only where k is `SURE` deviations below na. Of laws with t > a this is so with a probability
of at most 1/1000 at each of the `STAGES`, over the seed, and the average over p-values t that are
uniform stays below a. More draws are given up where k is `HOPELESS` deviations above na.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import takewhile

import numpy as np
from scipy.special import expit, log_expit, logit, ndtri

from dpaudit._core import seeds
from dpaudit._core.linalg import one_thread
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import (
    ADDED,
    ALONE,
    BETTER_SHARES,
    COINS,
    EARLY,
    FEWEST_BETTER,
    GROWTH,
    HOPELESS,
    LEAST_LEFT,
    MOST_DRAWS,
    SIDES,
    SLOPES,
    STAGES,
    SURE,
)
from dpaudit.certify.one_run.guesses import Guesses

ROUNDING = 1e-9  # nats by which drawn wealth may miss the observed wealth and still count as equal
FLOAT = np.finfo(np.float64)
CERTAIN = 700.0  # nats: log-odds of a coin that falls on the guessed side in any run
STRONGEST = 1e6  # median strengths, at most, so that wealth stays finite for scores of any size
GRID = np.concatenate([np.arange(0.0, 0.5, 0.01), np.geomspace(0.5, 40.0, 400)])  # ε, nats


def failures(coins: tuple[Array, np.ndarray], epsilon: float, delta: float) -> float:
    """A bound of the chance that δ shows at any canary; mδ/(1 + e^ε) for m fair coins.

    It is the sum over the coins of q(1 − q)δ/(qe^ε + 1 − q) and of the same with q and 1 − q
    exchanged, where q is a coin's probability of "in". coins : as in `Guesses`. epsilon : nats.
    """
    if delta == 0.0:
        return 0.0
    q, count = coins
    both = count * q * (1.0 - q) * delta
    grown = np.exp(min(epsilon, 700.0))
    return float(np.sum(both / (q * grown + 1.0 - q) + both / ((1.0 - q) * grown + q)))


@value_class
class Cells:
    """Guesses of the same side with similar rank and similar coins, counted together in k cells;
    (k,) each.

    size, right : how many guesses, and how many of them are right. chance : the largest of the
    coins' probabilities of the guessed side. strength : the mean, in units of the median strength.
    rank : the mean normal quantile of the rank, in units of its own median. before : how many
    guesses are at least as strong as the cell's.
    """

    size: np.ndarray
    right: np.ndarray
    says_in: np.ndarray
    chance: Array
    strength: Array
    rank: Array
    before: np.ndarray

    @classmethod
    def of(cls, guesses: Guesses) -> Cells:
        """Put all guesses in cells. Equal strengths share a cell, as their order has no meaning."""
        ends = list(range(1, min(ALONE, len(guesses.right)) + 1))  # where ranks of a cell end
        while ends[-1] < len(guesses.right):
            ends.append(min(len(guesses.right), int(ends[-1] * GROWTH)))
        # for each guess, how many are at least as strong
        last = np.searchsorted(-guesses.strength, -guesses.strength, side="right")
        label = 2 * np.searchsorted(ends, last) + ~guesses.says_in
        # coins of similar probability, by quantiles of all probabilities
        like = np.quantile(guesses.chance, np.arange(1, COINS) / COINS)
        label = COINS * label + np.searchsorted(like, guesses.chance)
        labels, where = np.unique(label, return_inverse=True)
        size = np.bincount(where)
        largest = np.zeros(len(labels))
        np.maximum.at(largest, where, guesses.chance)
        typical = np.clip(np.median(guesses.strength), FLOAT.tiny, FLOAT.max)
        with np.errstate(over="ignore"):
            strength = np.minimum(guesses.strength / typical, STRONGEST)
        tail = (last - 0.5) / (2.0 * len(where))
        return cls(
            size,
            np.bincount(where, weights=guesses.right).astype(int),
            labels // COINS % 2 == 0,
            largest,
            np.bincount(where, weights=strength) / size,
            np.bincount(where, weights=-ndtri(tail)) / size / -ndtri(0.25),
            np.array(ends)[labels // COINS // 2],
        )

    @cached_property
    def odds(self) -> Array:
        """The log-odds of `chance`, at most `CERTAIN`, (k,)."""
        with np.errstate(divide="ignore"):
            return np.minimum(logit(self.chance), CERTAIN)

    @cached_property
    def slopes(self) -> Array:
        """Log-odds in proportion to strength, and to the quantile of the rank, (s, k)."""
        return np.concatenate([np.outer(SLOPES, form) for form in (self.strength, self.rank)])

    @cached_property
    def strongest(self) -> Array:
        """Which cells are among growing shares of the strongest guesses, 1 or 0, (h, k)."""
        guesses = int(self.size.sum())
        shares = np.geomspace(min(FEWEST_BETTER, guesses), guesses, BETTER_SHARES).round()
        return (self.before <= np.unique(shares)[:, None]).astype(np.float64)


@value_class
class Wealth:
    """The mixture of likelihood ratios against ε: the final wealth of a bettor.

    A profile says by how many nats more than ε the log-odds of cells grow. Half of the weight is on
    profiles by `Cells.slopes`. In the other half a share of the strongest guesses is better than ε
    by some nats (`ADDED`), and the rest at ε. Each of these b profiles bets on the guesses of "in",
    on those of "out" and on both (`SIDES`).

    best : (k,), the largest chance of a right guess in each cell that the claim allows. grown : (s,
    k), the nats of the first half, by which a right guess adds more log wealth than a wrong one.
    start : (2, b), log wealth of the guesses of "in" and of "out" if none is right.
    """

    cells: Cells
    best: Array
    grown: Array
    start: Array

    @classmethod
    def against(cls, cells: Cells, epsilon: float) -> Wealth:
        allowed, grown = cells.odds + epsilon, np.maximum(cells.slopes - epsilon, 0.0)
        wrong, better = (
            log_expit(-allowed - nats) - log_expit(-allowed)
            for nats in (grown, np.reshape(ADDED, (-1, 1)))
        )
        sides = np.stack([cells.says_in, ~cells.says_in]) * cells.size
        steps = (sides[:, None] * better) @ cells.strongest.T
        start = np.concatenate([sides @ wrong.T, steps.reshape(2, -1)], axis=1)
        return cls(cells, expit(allowed), grown, start)

    def of(self, right: np.ndarray, least: float = -np.inf) -> Array:
        """The log wealth, (n,), for numbers of right guesses (k, n), or a number below `least`
        where it is below that.
        """
        sides, cells = [], self.cells
        for side, start in zip((cells.says_in, ~cells.says_in), self.start, strict=True):
            counts = right[side].astype(np.float64)
            shares = np.multiply.outer(ADDED, cells.strongest[:, side] @ counts)
            grown = np.concatenate([self.grown[:, side] @ counts, shares.reshape(-1, len(right.T))])
            grown += start[:, None]
            sides.append(grown)
        logs = {"both": sides[0] + sides[1], "in": sides[0], "out": sides[1]}
        most = np.max([part.max(axis=0) for part in logs.values()], axis=0)
        some = most >= least  # a mean is at most the largest
        halves = len(self.grown), self.start.shape[1] - len(self.grown)
        weights = np.repeat([0.5 / count for count in halves], halves)
        mean = sum(
            share * (weights @ np.exp(logs[side][:, some] - most[some]))
            for side, share in SIDES.items()
        )
        most[some] += np.log(mean)
        return np.asarray(most)

    @property
    def observed(self) -> float:
        """The log wealth of the guesses that were made."""
        return float(self.of(self.cells.right[:, None])[0])

    def rare(self, observed: float, alpha: float) -> bool:
        """Whether log wealth of `observed` or more has a chance below alpha where guesses are right
        with chance `best`.

        The chance is estimated by draws. A stage that is not sure leaves the answer to the next
        stage; the last one answers no.
        """
        rng = seeds.generator(np.random.SeedSequence(0), seeds.Purpose.CHECK)
        size, best, least = self.cells.size[:, None], self.best[:, None], observed - ROUNDING
        drawn = above = 0
        for total in stages(alpha):
            # cell by cell: NumPy prepares once for draws of the same size and chance
            null = rng.binomial(size, best, size=(len(size), total - drawn))
            drawn, above = total, above + int(np.sum(self.of(null, least) >= least))
            away = (above - drawn * alpha) / np.sqrt(drawn * alpha)
            if away < -SURE or away > HOPELESS:
                return bool(away < 0.0)
        return False


def stages(alpha: float) -> list[int]:
    """Total numbers of draws after each stage; empty where alpha is too small for draws."""
    totals = [int(np.ceil(stage / alpha)) for stage in STAGES]
    return [total for total in totals if total <= MOST_DRAWS]


def rejects(guesses: Guesses, cells: Cells, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether (ε, δ)-DP of each canary's change is rejected at 1 − level = alpha; ε in nats."""
    left = alpha - failures(guesses.coins, epsilon, delta)
    if left <= 0.0:
        return False
    rest, wealth = (1.0 - EARLY) * left, Wealth.against(cells, epsilon)
    observed = wealth.observed
    if not stages(rest):
        return observed >= -np.log(left)  # by Markov, the claim gives this chance ≤ left
    return observed >= -np.log(EARLY * left) or wealth.rare(observed, rest)


def start(coins: tuple[Array, np.ndarray], delta: float, alpha: float) -> float:
    """The least ε, nats, at which a failure's chance leaves `LEAST_LEFT` of alpha, or infinity.

    It is known before the run, since it depends on the coins' probabilities alone.
    """
    most = (1.0 - LEAST_LEFT) * alpha
    at = bisect_left(GRID, True, key=lambda epsilon: failures(coins, epsilon, delta) <= most)
    return float(GRID[at]) if at < len(GRID) else np.inf


def grid(at: float | None = None) -> list[float]:
    """The ε, nats, of the hypotheses tested in turn: fixed before the run, `at` among them."""
    return list((GRID if at is None else np.union1d(GRID, [at])).tolist())


def epsilon_bound(
    guesses: Guesses,
    delta: float,
    alpha: float,
    at: float | None = None,
    *,
    in_turn: bool = True,
) -> float | None:
    """The largest ε, nats, up to which every hypothesis of a fixed grid is rejected; None if none
    is.

    at : an ε that the grid must contain, nats. in_turn : whether every hypothesis is tested, as a
    certificate needs; otherwise bisection finds one that is not rejected.

    Why one level is enough for all hypotheses: the grid is fixed before the run, and its hypotheses
    are nested. The bound exceeds the true ε only if the first grid point at or above the true ε is
    rejected, and that is one true hypothesis.
    """
    if len(guesses.right) == 0:
        return None
    first, cells = start(guesses.coins, delta, alpha), Cells.of(guesses)
    points = [epsilon for epsilon in grid(at) if epsilon >= first]

    def stands(epsilon: float) -> bool:
        return not rejects(guesses, cells, epsilon, delta, alpha)

    with one_thread():
        if in_turn:
            rejected = sum(1 for _ in takewhile(lambda epsilon: not stands(epsilon), points))
        else:
            rejected = bisect_left(points, True, key=stands)
    return points[rejected - 1] if rejected else None
