"""assert_matches: draws against a curve δ(ε) that is said to be the true one, from both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import outcomes, power, scoring
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.percent import percent
from dpaudit._core.seeds import root
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.auditing.api import audit_samples, audit_samples_of, check_pair
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import DEFAULT_EPSILON
from dpaudit.auditing.subject import Subject
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.interval import interval
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import MechanismDraws
from dpaudit.scoring import ClassifierLike, Sides
from dpaudit.scoring.base import without_nan
from dpaudit.testing import failure
from dpaudit.testing.budget import granted, rate_of, seed_of
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.reporting import MATCHES, may_show, tell
from dpaudit.verdict.numbers import number

SpectrumLike = Spectrum | Claim | Callable[[Any], Any] | tuple[ArrayLike, ArrayLike]

EITHER, FORWARD, BACKWARD = range(3)  # the larger direction, D against D′, D′ against D
DIRECTIONS = ("either direction", "D against D′", "D′ against D")
SLACK = 1e-12  # a smaller gap is rounding
SHOWN_ALPHA = 0.05  # 1 − level of the interval that a failure shows


@known_keywords(audit_samples)
def assert_matches(
    mechanism: Mechanism,
    pair: NeighbourPair,
    spectrum: SpectrumLike,
    *,
    epsilon: ArrayLike | None = None,
    samples: int | None = None,
    draws: int | None = None,
    false_failure: float | None = None,
    level: float | None = None,
    rng: int | None = None,
    rtol: float = 0.1,
    atol: float = 0.0,
    classifier: ClassifierLike = "auto",
    n_jobs: int | None = None,
    show_data: bool | None = None,
    **options: Any,
) -> AuditResult:
    """Fail where the δ(ε) seen in draws is above a curve, or far below it.

    Two tests, each with half of `false_failure`:

    - *not above*: the certified lower band, simultaneous over ε and directions, exceeds the curve
      nowhere. Where the curve is the true δ(ε), or above it, this fails with probability at most
      `false_failure`/2.
    - *not far below*: the curve exceeds what the audit's sets attain by at most rtol·δ + atol. The
      sets are {score > τ}, τ at some hundred quantiles of the draws that choose (of few draws
      those that train), and their complements. Clopper–Pearson bounds of P(S) and Q(S) from the
      certifying draws, all at once at 1 − `false_failure`/2, bound P(S) − e^ε Q(S) from above for
      all these S and every ε.

    Parameters
    ----------
    mechanism, pair : callable and NeighbourPair
        As for `dpaudit.audit`.
    spectrum : Spectrum, Claim, callable or pair of arrays
        `Spectrum` (both directions are compared where it has them, else the larger), `Claim`, a
        function of ε, or a pair (ε, δ) of arrays, (m,) each.
    epsilon : array of shape (m,), nats, optional
        Where they are compared; by default the spectrum's own grid, else 0, 0.1, …, 4.
    samples, draws, false_failure, level, rng : optional
        As for `assert_private`.
    rtol : float in [0, 1], default 0.1
        Relative tolerance of the second test.
    atol : float in [0, 1], default 0
        Absolute tolerance of the second test.
    classifier, n_jobs : optional
        As for `dpaudit.audit`.
    show_data : bool, optional
        As for `assert_private`.
    **options
        As for `dpaudit.audit_samples`.

    Raises
    ------
    PrivacyFailure
        An AssertionError, where one of the tests fails.

    Notes
    -----
    Draws never bound δ(ε) itself from above, since another S may be worse. So the second test has a
    false failure with probability at most `false_failure`/2 where the curve is true AND one of the
    sets attains it up to rtol·δ + atol. The sets of a score that increases with the true privacy
    loss do. Where the score is too poor for that (many numbers, few draws), take more draws, a
    larger rtol, or give the true privacy loss as `classifier` (`scoring.KnownScore`).

    `Spectrum.interval` decides nothing here: its coverage is near its level by simulation, which
    gives no guarantee, least of all at the levels of tests. A failure shows it, at 95 %, so that
    the size of the gap can be judged.

    Examples
    --------
    >>> import dpaudit as dp
    >>> def noisy(data, size, *, rng):
    ...     return data.sum() + rng.normal(size=size)
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0]], 0)
    >>> dp.testing.assert_matches(noisy, pair, dp.Claim.gdp(1.0), samples=3000).fitted.name
    'logistic from qda'
    """
    __tracebackhide__ = True
    check_pair(pair)
    rtol, atol = check.real("rtol", rtol, 0.0, 1.0), check.real("atol", atol, 0.0, 1.0)
    target = _target(spectrum, epsilon)
    samples = samples if draws is None else draws
    size, rate, seed = granted(samples, rate_of(false_failure, level), seed_of(rng))
    both = pair.left, pair.right
    P, Q = outcomes.aligned(
        *MechanismDraws(mechanism, both, size, root(seed), n_jobs=n_jobs).take(size)
    )
    settings: dict[str, Any] = {
        "epsilon": target.epsilon,
        "alpha": 0.5 * rate,
        "classifier": classifier,
        "rng": seed,
    }
    result = audit_samples_of(P, Q, Subject(mechanism, pair), **settings, **options)
    low, high = _certified(result, target), _attained(result, target, P, Q, 0.5 * rate)
    worst = _worst(target, low, high, rtol, atol)
    verdict = MATCHES if worst is None else worst.verdict
    claim = spectrum.text if isinstance(spectrum, Claim) else "the given curve"
    tell(failure.audited(verdict, claim, result, detectable=_least_excess(result, target)))
    if worst is not None:
        repeat = {"draws": size, "false_failure": rate, "rng": seed, "rtol": rtol, "atol": atol}
        raise _failure(worst, result, repeat, show_data=may_show(show_data))
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """The curve on the grid epsilon (m,), nats: delta (m,) for each direction that is compared."""

    epsilon: Array
    delta: dict[int, Array]

    def __post_init__(self) -> None:
        for delta in self.delta.values():
            if delta.shape != self.epsilon.shape or not np.all((delta >= 0.0) & (delta <= 1.0)):
                check.fail("spectrum", delta, "δ in [0, 1], one for each ε")


def _target(spectrum: SpectrumLike, epsilon: ArrayLike | None) -> Target:
    """Read a curve in any of its forms. Raises `InvalidInput`."""
    if isinstance(spectrum, Spectrum):
        return _target_of_spectrum(spectrum, epsilon)
    if isinstance(spectrum, Claim) or callable(spectrum):
        claim = spectrum if isinstance(spectrum, Claim) else Claim.from_function(spectrum)
        points = _points(DEFAULT_EPSILON if epsilon is None else epsilon)
        return Target(points, {EITHER: claim.delta_at(points)})
    if not isinstance(spectrum, (tuple, list)) or len(spectrum) != 2:
        forms = "a Spectrum, a Claim, a function of epsilon or a pair (epsilon, delta)"
        check.fail("spectrum", spectrum, forms)
    delta = np.asarray(spectrum[1], dtype=np.float64)
    return _target_of_spectrum(Spectrum(_points(spectrum[0]), delta), epsilon)


def _points(epsilon: ArrayLike) -> Array:
    points = np.atleast_1d(check.epsilon(epsilon))
    if np.any(np.diff(points) <= 0.0):
        check.fail("epsilon", epsilon, "ascending, without repetition")
    return points


def _target_of_spectrum(spectrum: Spectrum, epsilon: ArrayLike | None) -> Target:
    """Both directions where they are known at these ε, else the larger one.

    They are known anywhere from a curve, and on the spectrum's own grid from its values. Between
    the points of the grid the larger direction is bounded by its chords.
    """
    own = _points(spectrum.epsilon)
    points = own if epsilon is None else _points(epsilon)
    if spectrum.curve is not None:
        forward, backward = map(np.asarray, spectrum.curve.delta(points))
        return Target(points, {FORWARD: forward, BACKWARD: backward})
    if epsilon is not None:
        return Target(points, {EITHER: spectrum.delta_at(points)})
    if spectrum.forward is None or spectrum.backward is None:
        return Target(own, {EITHER: np.atleast_1d(spectrum.delta)})
    sides = np.atleast_1d(spectrum.forward), np.atleast_1d(spectrum.backward)
    return Target(own, dict(zip((FORWARD, BACKWARD), sides, strict=True)))


def _certified(result: AuditResult, target: Target) -> dict[int, Array]:
    """The certified lower band at the target's ε, (m,) for each of its directions."""
    band = result.certified
    parts = {way: band if way == EITHER else band.direction(way == FORWARD) for way in target.delta}
    return {way: part.delta_at(target.epsilon) for way, part in parts.items()}


def _attained(
    result: AuditResult, target: Target, P: Array, Q: Array, alpha: float
) -> dict[int, Array]:
    """Upper bounds of what any of the sets attains, (m,) for each of the target's directions.

    They hold all at once at level 1 − alpha. P(S) ≤ p and Q(S) ≥ q bound both P(S) − e^ε Q(S) and,
    for the complement, Q(Sᶜ) − e^ε P(Sᶜ) ≤ (1 − q) − e^ε (1 − p).
    """
    sizes, score = result.sizes, result.fitted.score
    learned = sizes.train + sizes.choose
    first = sizes.train if sizes.choose else 0  # of few draws those that train choose as well
    choose, certify = (
        SortedScores.of(*map(without_nan, scoring.scores(score, Sides(P[part], Q[part]))))
        for part in (slice(first, learned), slice(learned, sizes.total))
    )
    thresholds = CandidateSets.of(choose, target.epsilon, min(certify.sizes), alpha).threshold
    (x, y), (n, m) = certify.above(thresholds), certify.sizes
    each = 0.5 * alpha / len(thresholds)
    p = np.array([upper(int(hits), n, each) for hits in x])
    q = np.array([lower(int(hits), m, each) for hits in y])
    gamma = np.exp(target.epsilon)[:, None]
    forward = np.max(p - gamma * q, axis=1)
    backward = np.max((1.0 - q) - gamma * (1.0 - p), axis=1)
    bounds = {EITHER: np.maximum(forward, backward), FORWARD: forward, BACKWARD: backward}
    return {direction: np.maximum(bounds[direction], 0.0) for direction in target.delta}


def _least_excess(result: AuditResult, target: Target) -> dict[str, float] | None:
    """The smallest excess over the curve that the certified band would have shown, and where."""
    cells, delta = result.estimate, np.max(list(target.delta.values()), axis=0)
    points = zip(target.epsilon, delta, cells.share, strict=True)
    excess = [power.smallest_excess(at, most, cells.draws, share) for at, most, share in points]
    at = int(np.argmin(excess))
    if not np.isfinite(excess[at]):
        return None
    return {"epsilon": float(target.epsilon[at]), "excess": excess[at], "power": power.POWER}


@dataclass(frozen=True)
class _Gap:
    """A gap between the curve and a bound from the draws, at a position of the grid.

    above : whether the draws are above the curve. shown : the bound. curve : δ of the curve.
    """

    above: bool
    size: float
    direction: int
    at: int
    shown: float
    curve: float

    @property
    def verdict(self) -> str:
        return "above the curve" if self.above else "far below the curve"


def _worst(
    target: Target, low: dict[int, Array], high: dict[int, Array], rtol: float, atol: float
) -> _Gap | None:
    """The largest excess of a certified δ over the curve in any direction, or without an excess the
    largest shortfall of what the sets attain, beyond the tolerance; or None.
    """
    gaps = []
    for way, delta in target.delta.items():
        short = delta * (1.0 - rtol) - atol - high[way]
        for above, shown, gap in ((True, low, low[way] - delta), (False, high, short)):
            at = int(np.argmax(gap))
            if gap[at] > SLACK:
                bound, curve = float(shown[way][at]), float(delta[at])
                gaps.append(_Gap(above, float(gap[at]), way, at, bound, curve))
    return max(gaps, key=lambda gap: (gap.above, gap.size), default=None)


def _failure(
    gap: _Gap, result: AuditResult, repeat: dict[str, Any], *, show_data: bool
) -> PrivacyFailure:
    """The failure of the test. repeat : the keywords that repeat it."""
    subject, spectrum = result.subject, result.spectrum
    mechanism, pair = subject.mechanism, subject.pair
    assert mechanism is not None
    assert pair is not None
    chance = f"{failure.chance(repeat['false_failure'])} tests at most, where the curve is true"
    if not gap.above:
        chance += " and the score attains it up to the tolerance"
    facts = {
        "mechanism": failure.mechanism_code(mechanism),
        "ε": f"{number(spectrum.epsilon[gap.at])} nats, {DIRECTIONS[gap.direction]}",
        "estimate": _estimate(result, gap.at),
        "curve": number(gap.curve),
        **failure.pair_fact(pair, show_data=show_data),
        **failure.draws_fact(repeat["draws"], repeat["rng"]),
        "by chance": chance,
        **failure.repeat_facts(
            "assert_matches",
            mechanism,
            failure.pair_code(pair, show_data=show_data),
            "spectrum",
            repeat,
        ),
    }
    return PrivacyFailure(_headline(gap, result), facts, result)


def _estimate(result: AuditResult, at: int) -> str:
    """The estimate at a position of the grid and, from counts of its cells, its interval."""
    estimate = f"{number(result.spectrum.delta[at])}, the larger direction"
    ends = interval(result.estimate, SHOWN_ALPHA)
    if ends is None:
        return estimate
    low, high = number(ends[0, at], down=True), number(ends[1, at], up=True)
    return f"{estimate}; this score shows {low} to {high} (about {percent(1.0 - SHOWN_ALPHA)})"


def _headline(gap: _Gap, result: AuditResult) -> str:
    epsilon, curve = number(result.spectrum.epsilon[gap.at]), number(gap.curve)
    if gap.above:
        low = number(gap.shown, down=True)
        return f"{gap.verdict.upper()}: δ({epsilon}) is at least {low}; the curve says {curve}."
    return (
        f"{gap.verdict.upper()}: at ε = {epsilon} the best set that was found shows "
        f"{number(gap.shown)} at most; the curve says {curve}. Either the curve is too high, or "
        f"the score {result.fitted.name} is too weak."
    )
