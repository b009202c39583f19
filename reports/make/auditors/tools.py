"""Auditing tools that pip installs, each asked by its own interface what it certifies from scores.

A score is high where P is likely. What a tool does not offer is nan. A tool that bounds ε at a
given δ says something about δ(ε) too: the largest δ at which its ε bound is still above ε, here
found by bisection. Needs the extra `auditors`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

import dpaudit as dp
from dpaudit import exact, scoring
from dpaudit._core.types import Array, ArrayLike
from dpaudit.certify.band import Certificate
from dpaudit.certify.split import split
from dpaudit.curves import readings
from dpaudit.scoring import KnownScore
from reports.make import extras
from reports.make.tasks import Task, normal_task

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])  # where δ(ε) is read
DELTA = np.array([0.0, 1e-3])  # where ε is read
GRID = np.linspace(0.0, 4.0, 81)  # the curve that dpaudit certifies at once
READINGS = ("δ(0)", "δ(0.5)", "δ(1)", "δ(2)", "ε at δ = 0", "ε at δ = 1e-3")
OURS = "dpaudit"
SLACK = 1e-9  # above the truth by less is rounding
NULL = normal_task("null", "N(0, 1) against itself", "N(0, 1)", np.zeros(1), np.ones(1))


@dataclass(frozen=True, eq=False)
class Answer:
    """What a tool certified, and its seconds.

    found : one number for each of READINGS, NaN where there is no answer.
    wall, cpu : seconds for one question, for the whole curve in the case of dpaudit.
    """

    found: Array
    wall: float
    cpu: float


def truth(task: Task) -> Array:
    """The true values of READINGS, (6,): δ and ε of the larger direction, ε in nats."""
    return np.concatenate([task.delta_at(EPSILON), task.epsilon_at(DELTA)])


SIGNIFICANCE = 0.05
PLAIN, FITTED = "first number", "dpaudit's"
FREE = 0.1  # share of the draws that chooses a threshold where the score needs no training
CANDIDATES = 500  # thresholds considered, at quantiles of the choosing scores
Scores = tuple[Array, Array]  # of draws of P, of draws of Q


@dataclass(frozen=True)
class Feed:
    """Scores for a tool.

    choose : draws that choose a threshold, which `test` then certifies.
    own : draws for a tool that finds its threshold itself.
    """

    name: str
    choose: Scores
    test: Scores
    own: Scores


def plain_feed(P: Array, Q: Array, _: int = 0) -> Feed:
    """Minus the first number, which is larger under Q if its mean moves; nine tenths certify."""
    p, q, first = -P[:, 0], -Q[:, 0], int(FREE * len(P))
    return Feed(PLAIN, (p[:first], q[:first]), (p[first:], q[first:]), (p, q))


def fitted_feed(P: Array, Q: Array, seed: int) -> Feed:
    """dpaudit's score. What fitted it cannot certify, so tools see the certifying draws only."""
    sizes = split(len(P), columns=P.shape[1])
    train, choose, test = (
        scoring.Sides(*part) for part in zip(sizes.parts(P), sizes.parts(Q), strict=True)
    )
    score = scoring.fit("auto", train, choose, np.random.SeedSequence(seed)).score
    chosen, tested = (
        (scoring.evaluate(score, part.P), scoring.evaluate(score, part.Q))
        for part in (choose, test)
    )
    return Feed(FITTED, chosen, tested, tested)


def _upper(count: ArrayLike, size: int) -> Array:
    """Clopper–Pearson upper bounds at half of α, from real-valued counts below `size`."""
    count = np.asarray(count)
    return np.asarray(betaincinv(count + 1.0, size - count, 1.0 - 0.5 * SIGNIFICANCE))


def fixed_threshold(choose: Scores, size: int, worth: Callable[[Array, Array], Array]) -> float:
    """The threshold that promises most; `size` draws a side are to certify.

    worth : (hits, false) → what is certified, hits a lower and false an upper bound of the two
    laws' masses of a set. Sets are {score ≥ t} for P against Q and {score < t} for Q against P. The
    bounds are those of the geometric mean of `size` and the number of choosing draws: at `size`
    itself small sets are chosen by selection bias, and certify less.
    """
    size = int(np.sqrt(size * len(choose[0])))
    pooled = np.concatenate(choose)
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, CANDIDATES), method="lower"))
    miss, quiet = (
        size * (np.searchsorted(np.sort(x), thresholds) + 0.5) / (len(x) + 1.0) for x in choose
    )
    miss_up, false_up = _upper(miss, size), _upper(size - quiet, size)
    best = np.maximum(worth(1.0 - miss_up, false_up), worth(1.0 - false_up, miss_up))
    return float(thresholds[np.argmax(best)])


EXTRA = "auditors"
STEPS = 20  # halvings of δ's range
EpsilonAt = Callable[[float], float]  # δ ↦ lower bound of ε


@dataclass(frozen=True)
class Reader:
    """A tool on one feed: ε's lower bound at δ, and δ(ε)'s."""

    epsilon: EpsilonAt
    delta: Callable[[float], float]


@dataclass(frozen=True)
class Tool:
    """open : (feed, seed) → Reader. assumes : the shape that a bound takes for granted, else "".

    slow : a question takes tens of seconds.
    """

    package: str
    name: str
    open: Callable[[Feed, int], Reader]
    assumes: str = ""
    slow: bool = False


def package(name: str) -> Any:
    """The auditing module of one of PACKAGES. Raises `DpauditError` where it is not installed."""
    return extras.package(PACKAGES[name], EXTRA)


def _not_offered(_: float) -> float:
    return np.nan


def _inverted(epsilon_at: EpsilonAt, epsilon: float) -> float:
    """The largest δ whose ε bound is above `epsilon`, to 1e-6 from below; 0 if there is none."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if epsilon_at(middle) > epsilon else (low, middle)
    return low


def _for_delta(delta: float) -> Callable[[Array, Array], Array]:
    """ε bound at δ of one set, increasing in it also where it is below 0."""
    return lambda hits, false: (hits - delta) / false


def _for_epsilon(epsilon: float) -> Callable[[Array, Array], Array]:
    return lambda hits, false: hits - np.exp(epsilon) * false


def _at_fixed_thresholds(feed: Feed, bound: Callable[[float, float], float]) -> Reader:
    """Every question gets the threshold that is best for it on the choosing draws.

    bound : (threshold, δ) → ε.
    """
    size = len(feed.test[0])

    def delta(epsilon: float) -> float:
        threshold = fixed_threshold(feed.choose, size, _for_epsilon(epsilon))
        return _inverted(lambda delta: bound(threshold, delta), epsilon)

    return Reader(lambda d: bound(fixed_threshold(feed.choose, size, _for_delta(d)), d), delta)


def _canaries(size: int) -> int:
    """The number of canaries for which `size` draws a side are enough.

    One-run bounds require that a fair coin chooses the side of each canary.
    """
    return 2 * size - int(8 * np.sqrt(size))  # 5.7 standard deviations to spare


def _jax_thresholds(feed: Feed, _: int) -> Reader:
    """Clopper–Pearson at every threshold of the empirical hull, α shared; its default."""
    auditor = package(JAX).CanaryScoreAuditor(*feed.own)

    def epsilon(delta: float) -> float:
        return float(auditor.epsilon_clopper_pearson(SIGNIFICANCE, delta, one_sided=False))

    return Reader(epsilon, lambda e: _inverted(epsilon, e))


def _jax_fixed(feed: Feed, _: int) -> Reader:
    auditing = package(JAX)
    auditor = auditing.CanaryScoreAuditor(*feed.test)

    def bound(threshold: float, delta: float) -> float:
        how = {"one_sided": False, "threshold_strategy": auditing.Explicit(threshold)}
        return float(auditor.epsilon_clopper_pearson(SIGNIFICANCE, delta, **how))

    return _at_fixed_thresholds(feed, bound)


def _jax_gdp(feed: Feed, _: int) -> Reader:
    auditor = package(JAX).CanaryScoreAuditor(*feed.own)

    def epsilon(delta: float) -> float:
        return float(auditor.epsilon_from_gdp(SIGNIFICANCE, delta)) if delta > 0.0 else np.nan

    return Reader(epsilon, lambda e: _inverted(epsilon, e))


def _jax_one_run(method: str) -> Callable[[Feed, int], Reader]:
    def open_(feed: Feed, seed: int) -> Reader:
        (p, q), count = feed.own, _canaries(len(feed.own[0]))
        included = int(np.random.default_rng(seed).binomial(count, 0.5))
        auditor = package(JAX).CanaryScoreAuditor(p[:included], q[: count - included])
        bound = getattr(auditor, method)
        return Reader(
            lambda delta: float(bound(SIGNIFICANCE, delta)) if delta > 0.0 else np.nan, _not_offered
        )

    return open_


def _estimates(method: str) -> Callable[[Feed, int], Reader]:
    return lambda feed, _: _at_fixed_thresholds(
        feed, lambda threshold, delta: _from_counts(feed.test, threshold, delta, method)
    )


def _from_counts(test: Scores, threshold: float, delta: float, method: str) -> float:
    module, size = package(ESTIMATES), len(test[0])
    hits, false = (int(np.sum(x >= threshold)) for x in test)
    count = module.AttackResults(FN=size - hits, FP=false, TN=size - false, TP=hits)
    return float(module.compute_eps_lo(count=count, delta=delta, alpha=SIGNIFICANCE, method=method))


def _joint_beta(feed: Feed, _: int) -> Reader:
    """A credible bound by quadrature, half a minute a question.

    NaN where the quadrature misses the posterior's peak.
    """

    def bound(threshold: float, delta: float) -> float:
        try:
            return _from_counts(feed.test, threshold, delta, "joint-beta")
        except ValueError:  # its root finder, handed a posterior of mass 0
            return np.nan

    reader = _at_fixed_thresholds(feed, bound)
    return Reader(lambda delta: reader.epsilon(delta) if delta > 0.0 else np.nan, _not_offered)


def _opake_estimate(scores: Scores, seed: int) -> Any:
    auditing, count = package(OPAKE), _canaries(len(scores[0]))
    coins = auditing.coin_flip(
        range(count), num_canaries=count, key=extras.package("opake.random", EXTRA).key(seed)
    )
    values = np.empty(count)
    for side, index in zip(scores, (coins.in_indices, coins.out_indices), strict=True):
        values[index] = side[: len(index)]
    return auditing.one_run(
        auditing.canary_scores(values, canary_indices=np.arange(count)), coin_flip=coins
    )


def _opake(best_threshold: bool) -> Callable[[Feed, int], Reader]:
    """Its (ε, δ) bound.

    Every canary is guessed, so one threshold, the most accurate, serves every question.
    """

    def open_(feed: Feed, seed: int) -> Reader:
        scores, threshold = feed.own, None
        if not best_threshold:
            scores = feed.test
            threshold = fixed_threshold(feed.choose, len(scores[0]), _for_epsilon(0.0))
        method = _opake_estimate(scores, seed).eps_delta()
        asked = {"significance": SIGNIFICANCE, "threshold": threshold}
        return Reader(
            lambda delta: float(method.epsilon_at(delta=delta, **asked)),
            lambda epsilon: float(method.delta_at(epsilon=epsilon, **asked)),
        )

    return open_


def _opake_gdp(feed: Feed, seed: int) -> Reader:
    """Its default, with the best threshold.

    One search finds its μ, from which every answer follows in closed form.
    """
    method = _opake_estimate(feed.own, seed).gdp()
    total_variation = np.asarray(method.delta_at(epsilon=0.0, significance=SIGNIFICANCE))
    mu = float(readings.gdp_mu(np.zeros(()), total_variation))
    curve = exact.PrivacyLoss.gaussian_shift(mu).spectrum(0.0)
    return Reader(
        lambda delta: float(curve.epsilon_at(delta)) if delta > 0.0 else np.nan,
        lambda epsilon: float(curve.delta_at(epsilon)),
    )


def _dpaudit(feed: Feed, seed: int) -> Reader:
    """An audit of the scores themselves, each question by itself.

    ε at δ > 0 is read off the whole curve.
    """
    P, Q = (np.concatenate(parts) for parts in zip(feed.choose, feed.test, strict=True))
    score = KnownScore(lambda x: x[:, 0])

    def certified(epsilon: ArrayLike, focus: str) -> Certificate:
        settings: dict[str, Any] = {"level": 1.0 - SIGNIFICANCE, "classifier": score, "rng": seed}
        return dp.audit_samples(P, Q, epsilon=epsilon, focus=focus, **settings).certified

    return Reader(
        lambda d: float(certified(GRID, "spectrum" if d else "pure").epsilon_at(d)),
        lambda e: float(certified([e], "spectrum").delta_at(e)),
    )


GAUSSIAN = "Gaussian shape"
JAX, ESTIMATES, OPAKE = "jax-privacy", "privacy-estimates", "opake-auditing"
PACKAGES = {JAX: "jax_privacy.auditing", ESTIMATES: "privacy_estimates", OPAKE: "opake.auditing"}
TOOLS = (
    Tool(OURS, "one question", _dpaudit),
    Tool(JAX, "Clopper–Pearson, all thresholds", _jax_thresholds),
    Tool(JAX, "Clopper–Pearson, fixed threshold", _jax_fixed),
    Tool(JAX, "GDP", _jax_gdp, GAUSSIAN),
    Tool(JAX, "one run", _jax_one_run("epsilon_one_run")),
    Tool(JAX, "one run, f-DP", _jax_one_run("epsilon_one_run_fdp"), GAUSSIAN),
    Tool(ESTIMATES, "Clopper–Pearson", _estimates("beta")),
    Tool(ESTIMATES, "Jeffreys", _estimates("jeffreys")),
    Tool(ESTIMATES, "joint beta", _joint_beta, slow=True),
    Tool(OPAKE, "(ε, δ), its threshold", _opake(best_threshold=True)),
    Tool(OPAKE, "(ε, δ), fixed threshold", _opake(best_threshold=False)),
    Tool(OPAKE, "GDP", _opake_gdp, GAUSSIAN, slow=True),
)
