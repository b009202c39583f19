"""False certificates of one run: how often the true ε, or μ, is refuted, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.certify.binomial import upper
from dpaudit.certify.one_run import likelihood, recursion
from dpaudit.certify.one_run.bound import shares
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.curves.claims import Claim
from reports.make import page
from reports.make.one_run import steinke

LEVEL = 0.95
ALPHA = 1.0 - LEVEL
RUNS = 2_000
EPSILON = 1.0  # nats, of mechanisms that have one
MU, EVENT = 1.0, ALPHA  # of Gaussian DP; probability with which all coins are revealed
HALF, FIFTH = 0.5, 0.2
COUNTS = (100, 1_000)
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2)
KNOWN = 10.0  # score of a coin that is known for certain

Scores = Callable[[np.ndarray, Array, np.random.Generator], Array]  # coins, P(in), rng ↦ scores


@dataclass(frozen=True)
class Case:
    """A mechanism whose true parameter is known.

    scores : coins ↦ scores. epsilon, delta : the true ones of each canary's change.
    mu : the true one where it is Gaussian DP.
    inclusion : P(in), a number, or None for coins with 0.2 to 0.8.
    """

    name: str
    scores: Scores
    epsilon: float = EPSILON
    delta: float = 0.0
    mu: float | None = None
    inclusion: float | None = HALF

    def run(self, count: int, seed: int) -> Guesses:
        """One run of m canaries."""
        rng = np.random.default_rng([seed, count])
        chance = np.full(count, self.inclusion) if self.inclusion else np.linspace(0.2, 0.8, count)
        coins = rng.random(count) < chance
        return Guesses.of(self.scores(coins, chance, rng), coins, chance)


def nothing(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """Scores that know nothing of the coins."""
    return rng.normal(size=len(coins))


def constant(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """Scores that are the same in every run."""
    return np.random.default_rng(7).lognormal(size=len(coins))


def response(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """Randomised response at EPSILON, coin by coin."""
    answer = rng.random(len(coins)) < expit(EPSILON)
    return np.where(answer == coins, 1.0, -1.0)


def one_noise(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """A sum of signed canaries with one Laplace noise: one number tells of all of them."""
    sign = np.where(np.arange(len(coins)) % 2 == 0, 1.0, -1.0)
    total = np.sum(sign * (coins - chance)) + rng.laplace(scale=1.0 / EPSILON)
    return sign * total


def parity(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """Scores that reveal, by randomised response, whether one of each two canaries is in."""
    first = coins[0::2]
    second = np.resize(coins[1::2], len(first))
    answer = (first ^ second) == (rng.random(len(first)) < expit(EPSILON))
    scores = np.empty(len(coins))
    scores[0::2], scores[1::2] = -1.0, np.where(answer, 1.0, -1.0)[: len(coins) // 2]
    return scores + 1e-3 * rng.normal(size=len(coins))


def each_named(
    coins: np.ndarray, chance: Array, rng: np.random.Generator, *, delta: float
) -> Array:
    """Randomised response; besides, each coin is revealed with probability δ by itself."""
    named = rng.random(len(coins)) < delta
    return np.where(named, KNOWN * (2.0 * coins - 1.0), response(coins, chance, rng))


def all_named(coins: np.ndarray, chance: Array, rng: np.random.Generator, *, delta: float) -> Array:
    """Randomised response; with probability δ all coins are revealed."""
    named = rng.random() < delta
    return KNOWN * (2.0 * coins - 1.0) if named else response(coins, chance, rng)


def gaussian(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """Scores N(±MU/2, 1)."""
    return rng.normal(size=len(coins)) + MU * (coins - 0.5)


def gaussian_event(coins: np.ndarray, chance: Array, rng: np.random.Generator) -> Array:
    """With probability EVENT all coins are revealed by randomised response, else none.

    The response is right so often, A, that EVENT·A = b(EVENT·(1 − A)) for MU-GDP: the trade-off
    curve touches that of MU-GDP and is below it nowhere.
    """
    if rng.random() >= EVENT:
        return rng.normal(size=len(coins))
    answer = rng.random(len(coins)) < touching()
    return np.where(answer == coins, KNOWN, -KNOWN) + 1e-3 * rng.normal(size=len(coins))


def touching(event: float = EVENT, mu: float = MU) -> float:
    """The share of right answers in the event with which μ-GDP is just kept."""

    def over(right: float) -> float:
        return float(ndtr(ndtri(event * (1.0 - right)) + mu) - event * right)

    return float(brentq(over, 0.5, 1.0 - 1e-12))


CASES = (
    Case("null scores", nothing, 0.0),
    Case("null scores, P(in) = 0.2", nothing, 0.0, inclusion=FIFTH),
    Case("randomised response", response),
    Case("randomised response, P(in) = 0.2", response, inclusion=FIFTH),
    Case("randomised response, P(in) 0.2 to 0.8", response, inclusion=None),
    Case("one noise for all canaries", one_noise),
    Case("parity of two canaries", parity),
    *(
        Case(f"{name} with δ = {page.number(delta)}", partial(scores, delta=delta), delta=delta)
        for name, scores in (("each named", each_named), ("all named", all_named))
        for delta in DELTAS
    ),
    Case("Gaussian scores", gaussian, mu=MU),
    Case("Gaussian DP, all told of in 5 % of runs", gaussian_event, mu=MU),
    Case("the same scores in every run", constant, 0.0),
)
METHODS = ("auto", "steinke", "f-dp")


def refuted(case: Case, guesses: Guesses, method: str) -> bool:
    """Whether the bound exceeds the true parameter.

    The bounds of a grid do so only if the first point at or above the true ε is rejected.
    """
    if case.mu is not None:
        shifts = partial(recursion.shifts, np.array([case.mu]))
        return method == "f-dp" and bool(recursion.rejected(guesses, ALPHA, shifts)[0])
    if method == "f-dp":
        return _epsilon_refuted(case, guesses, ALPHA)
    point = min(one for one in likelihood.grid() if one >= case.epsilon)
    if method == "steinke":
        return guesses.fair and steinke.rejects(guesses, point, case.delta, ALPHA)
    return any(
        _epsilon_refuted(case, guesses, share * ALPHA)
        if name == "f-dp"
        else _rejected(case, guesses, point, share * ALPHA)
        for name, share in shares(guesses, case.delta, ALPHA).items()
    )


def _rejected(case: Case, guesses: Guesses, point: float, alpha: float) -> bool:
    """Points before the first that is tested hold for nothing; from there on as at `point`."""
    tested = max(point, likelihood.start(guesses.coins, case.delta, alpha))
    if tested == np.inf or len(guesses.right) == 0:
        return False
    cells = likelihood.Cells.of(guesses)
    return likelihood.rejects(guesses, cells, tested, case.delta, alpha)


def _epsilon_refuted(case: Case, guesses: Guesses, alpha: float) -> bool:
    if guesses.fair:
        turn = partial(recursion.turns, case.delta, np.array([case.epsilon]))
        return bool(recursion.rejected(guesses, alpha, turn)[0])
    return recursion.refutes(guesses, Claim(case.epsilon, case.delta).delta_at, alpha)


def refutations(case: Case, count: int, method: str, runs: int = RUNS) -> int:
    """The runs in which the true parameter is refuted."""
    return sum(refuted(case, case.run(count, seed), method) for seed in range(runs))


def false_table(runs: int = RUNS) -> str:
    """A row for each case and number of canaries; a column for each method."""
    rows = []
    for case in CASES:
        for count in COUNTS:
            cells = [_cell(case, count, method, runs) for method in METHODS]
            rows.append([case.name, f"{count:,}", *cells])
            print(" | ".join(rows[-1]), flush=True)
    return page.table(("scores", "canaries", *METHODS), rows)


def _cell(case: Case, count: int, method: str, runs: int) -> str:
    fair = case.inclusion == HALF
    if (case.mu is not None and method != "f-dp") or (method == "steinke" and not fair):
        return page.number(None)
    hits = refutations(case, count, method, runs)
    return f"{100 * hits / runs:.2f} % ({100 * upper(hits, runs, 0.05):.2f} %)"
