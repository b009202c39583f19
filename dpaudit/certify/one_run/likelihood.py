"""Pure and (ε, δ) claims: a likelihood ratio of the right guesses against the claim's worst law.

What a claim allows. Let canary i be in with probability q, by a coin of its own, Y the output, and
let the guess of S_i depend on Y. Under ε-DP for each canary's change, for every y and all other
coins s,

    P(S_i as guessed | Y = y, others = s) ≤ p_i = c e^ε / (c e^ε + 1 − c),

c the coin's probability of what is guessed: the odds of a coin change by at most e^ε. This stays so
when coins that are not revealed yet are averaged over. So, canary by canary and given Y, a right
guess is at most as likely as a coin B_i of probability p_i that depends on nothing before it, and
the right guesses can be drawn together with independent B_i so that none is right where B_i = 0.
Any statistic that is non-decreasing in each right guess, and otherwise depends on Y alone, is then
at most as large as the same statistic of the B_i. Their law gives a valid p-value for any
mechanism, canaries that interfere included. (Steinke, Nasr & Jagielski 2023 have this for the
number of right guesses among a fixed number.)

δ. Under (ε, δ)-DP the probability above exceeds p_i by some u_i(y, s) ≥ 0. For a guess of "in"

    E[u_i; guess in] ≤ ∫ (q P₁ − p (q P₁ + (1 − q) P₀))⁺ = q (1 − p) ∫ (P₁ − e^ε P₀)⁺ ≤ q (1 − p) δ,

P₁ and P₀ the laws of Y with and without the canary, and for "out" likewise with 1 − q. Draw a right
guess as "B_i = 1, or a failure of probability u_i". Without a failure all is as before, and the
chance that there is one is at most the sum of the E[u_i], which is m δ/(1 + e^ε) for fair coins
(`failures`). It is taken off 1 − level.

The statistic is a mixture of likelihood ratios over profiles: how the odds that a guess is right
may grow with its rank (`profiles`). Each factor is larger for a right guess than for a wrong one,
as the proof asks. Its mean under the B_i is 1. So it is the final wealth of a bettor against the
claim, and by Markov's inequality P(wealth ≥ 1/a) ≤ a, too ("betting"). The law of the B_i gives
more: t, the chance of at least as much wealth as was found, is a p-value. It is estimated by draws
(`Wealth.rare`). A share `EARLY` of 1 − level is for Markov's inequality, which saves the draws
where wealth is large.

The draws have a fixed seed, so that the same scores and coins give the same bound. So the Monte
Carlo p-value (k + 1)/(n + 1) is not enough: with the same scores in every run the same draws would
be the yardstick in every run, and their error would be there in all of them. Therefore k of n draws
reject only where k is `SURE` deviations below na. Of laws with t > a this is so with a probability
of about 1/1000 at each of the `STAGES`, over the seed, and the average over p-values t that are
uniform stays below a.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logit, ndtri

from dpaudit._core import seeds
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
    LEAST_LEFT,
    MOST_DRAWS,
    SIDES,
    SLOPES,
    STAGES,
    SURE,
)
from dpaudit.certify.one_run.guesses import Guesses

ROUNDING = 1e-9
FLOAT = np.finfo(np.float64)
STRONGEST = 1e6  # typical strengths, so that wealth stays a number for scores of any size
GRID = np.concatenate([np.arange(0.0, 0.5, 0.01), np.geomspace(0.5, 40.0, 400)])  # of ε, nats


def failures(inclusion: Array, epsilon: float, delta: float) -> float:
    """A bound of the chance that δ shows at any canary: the sum of q(1 − q)δ/(qe^ε + 1 − q) and
    of the same with q and 1 − q exchanged, over the coins (m,); mδ/(1 + e^ε) for fair ones.
    """
    if delta == 0.0:
        return 0.0
    q, both = inclusion, inclusion * (1.0 - inclusion) * delta
    grown = np.exp(min(epsilon, 700.0))
    return float(np.sum(both / (q * grown + 1.0 - q) + both / ((1.0 - q) * grown + q)))


@value_class
class Cells:
    """Guesses of one direction, like rank and like coins, counted together; (k,) each.

    size, right : how many, and how many of them are right. chance : the largest of the coins'
    probabilities of what was guessed. strength : in typical strengths. rank : the normal quantile
    that belongs to the rank of the cell. before : how many guesses are in it or stronger.
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
        """Cells of all guesses; equal strengths share one, as their order is of no matter."""
        ends = list(range(1, min(ALONE, len(guesses.right)) + 1))  # where ranks of a cell end
        while ends[-1] < len(guesses.right):
            ends.append(min(len(guesses.right), int(ends[-1] * GROWTH)))
        # the last guess of equal strength
        last = np.searchsorted(-guesses.strength, -guesses.strength, side="right")
        label = 2 * np.searchsorted(ends, last) + ~guesses.says_in
        # coins of like probability, by the quantiles of all
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


def profiles(cells: Cells, epsilon: float) -> tuple[Array, Array]:
    """What the log-odds of cells may grow by, (b, k), at least ε; and the weights of these (b,).

    Half of the weight is of log-odds in proportion to strength or to the quantile of the rank, half
    of a strongest share of guesses that is better than ε by some nats, the rest being no better.
    """
    slopes = [slope * form for form in (cells.strength, cells.rank) for slope in SLOPES]
    guesses = int(cells.size.sum())
    shares = np.unique(np.geomspace(min(FEWEST_BETTER, guesses), guesses, BETTER_SHARES).round())
    steps = [
        np.where(cells.before <= share, epsilon + added, epsilon)
        for share in shares
        for added in ADDED
    ]
    grown = np.maximum(np.array(slopes + steps), epsilon)
    weights = np.r_[np.full(len(slopes), 0.5 / len(slopes)), np.full(len(steps), 0.5 / len(steps))]
    seen = {"both": np.ones_like(cells.says_in), "in": cells.says_in, "out": ~cells.says_in}
    return (
        np.concatenate([np.where(seen[side], grown, epsilon) for side in SIDES]),
        np.concatenate([weights * share for share in SIDES.values()]),
    )


@value_class
class Wealth:
    """The mixture of likelihood ratios against ε: the final wealth of a bettor.

    best : (k,) the chance of a right guess in each cell that the claim allows. gain : (k, b), the
    logarithm by which a right guess beats a wrong one. start : (b,), that of none right.
    """

    best: Array
    gain: Array
    start: Array
    weights: Array

    @classmethod
    def against(cls, cells: Cells, epsilon: float) -> Wealth:
        """The wealth of bets against a claim of ε, nats."""
        grown, weights = profiles(cells, epsilon)
        with np.errstate(divide="ignore"):
            coin = logit(cells.chance)
        allowed, better = coin + epsilon, coin + grown
        wrong = log_expit(-better) - log_expit(-allowed)
        right = log_expit(better) - log_expit(allowed)
        sure = np.isposinf(coin)  # of a coin that always falls so nothing is learned
        wrong, right = np.where(sure, 0.0, wrong), np.where(sure, 0.0, right)
        return cls(expit(allowed), (right - wrong).T, wrong @ cells.size, weights)

    def of(self, right: np.ndarray) -> Array:
        """Its logarithm for numbers of right guesses (n, k): (n,)."""
        logs = right.astype(np.float64) @ self.gain + self.start
        most = logs.max(axis=1)
        return np.asarray(most + np.log(np.exp(logs - most[:, None]) @ self.weights))

    def reaches(self, cells: Cells, alpha: float) -> bool:
        """Whether it is at least 1/alpha, which has a chance of at most alpha (Markov)."""
        return float(self.of(cells.right[None])[0]) >= -np.log(alpha)

    def rare(self, cells: Cells, alpha: float) -> bool:
        """Whether as much wealth has a chance below alpha under the law of best chances, by draws.

        A stage that is not sure leaves it to the next one, the last one says no.
        """
        rng = seeds.generator(np.random.SeedSequence(0), seeds.Purpose.CHECK)
        observed = float(self.of(cells.right[None])[0]) - ROUNDING
        drawn = above = 0
        for total in stages(alpha):
            null = rng.binomial(cells.size, self.best, size=(total - drawn, len(cells.size)))
            drawn, above = total, above + int(np.sum(self.of(null) >= observed))
            margin = SURE * np.sqrt(drawn * alpha)
            if abs(above - drawn * alpha) > margin:
                return above < drawn * alpha
        return False


def stages(alpha: float) -> list[int]:
    """Numbers of draws, each with those before it; none where alpha is too small for draws."""
    totals = [int(np.ceil(stage / alpha)) for stage in STAGES]
    return [total for total in totals if total <= MOST_DRAWS]


def rejects(
    guesses: Guesses, cells: Cells, epsilon: float, delta: float, alpha: float, *, bets: bool
) -> bool:
    """Whether (ε, δ)-DP of each canary's change is rejected at 1 − level = alpha; ε in nats.

    cells : those of the guesses. bets : whether wealth of at least 1/a is needed, without draws
    under the claim.
    """
    left = alpha - failures(guesses.inclusion, epsilon, delta)
    if left <= 0.0:
        return False
    rest = (1.0 - EARLY) * left
    wealth = Wealth.against(cells, epsilon)
    if bets or not stages(rest):
        return wealth.reaches(cells, left)
    return wealth.reaches(cells, EARLY * left) or wealth.rare(cells, rest)


def start(inclusion: Array, delta: float, alpha: float) -> float:
    """The least ε at which the chance of a failure leaves `LEAST_LEFT` of alpha, or infinity.

    It is known before the run: it depends on the coins' probabilities alone.
    """
    left = [failures(inclusion, epsilon, delta) <= (1.0 - LEAST_LEFT) * alpha for epsilon in GRID]
    return float(GRID[int(np.argmax(left))]) if any(left) else np.inf


def grid(at: float | None = None) -> list[float]:
    """The ε, nats, of which hypotheses are tested in turn: fixed before the run, `at` included."""
    return list((GRID if at is None else np.union1d(GRID, [at])).tolist())


def epsilon_bound(
    guesses: Guesses, delta: float, alpha: float, at: float | None = None, *, bets: bool = False
) -> float | None:
    """The largest ε up to which every hypothesis of a fixed grid is rejected; None where none is.

    at : an ε that the grid is to have, nats. bets : as in `rejects`.

    Why one level is enough for all of them: the grid is fixed before the run, and its hypotheses
    are nested. The bound exceeds the true ε only if the first point of the grid at or above it is
    rejected, which is one true hypothesis.
    """
    if len(guesses.right) == 0:
        return None
    first, cells, last = start(guesses.inclusion, delta, alpha), Cells.of(guesses), None
    for epsilon in grid(at):
        if epsilon >= first:
            if not rejects(guesses, cells, epsilon, delta, alpha, bets=bets):
                break
            last = epsilon
    return last
