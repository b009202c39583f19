"""assert_matches: draws against a curve δ(ε) that is said to be the true one, from below and from
above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.seeds import root
from dpaudit.auditing.api import audit_samples_of
from dpaudit.auditing.result import AuditResult, Subject
from dpaudit.auditing.settings import DEFAULT_EPSILON
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.scores import SortedScores
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.text import number
from dpaudit.sampling import draw
from dpaudit.scoring import Sides
from dpaudit.testing import failure
from dpaudit.testing.budget import granted
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.private import SLACK, rate_of, seed_of

WAYS = ("either direction", "D against D′", "D′ against D")


def assert_matches(
    mechanism: Any,
    pair: NeighbourPair,
    spectrum: Any,
    *,
    epsilon: Any = None,
    samples: int | None = None,
    false_failure: float | None = None,
    level: float | None = None,
    rng: int | None = None,
    rtol: float = 0.1,
    atol: float = 0.0,
    classifier: Any = "auto",
    n_jobs: int | None = None,
    **options: Any,
) -> AuditResult:
    """Fail where the δ(ε) seen in draws is above a curve, or far below it.

    Two tests, each with half of `false_failure`:

    - *not above*: the certified lower band, simultaneous over ε and directions, exceeds the curve
      nowhere. Where the curve is the true δ(ε), or more, this fails with probability
      `false_failure`/2 at most.
    - *not far below*: the sets {score > τ}, τ at some hundred quantiles of the draws that choose,
      and their complements are fixed; Clopper–Pearson bounds of P(S) and Q(S) from the draws that
      certify, all at once at 1 − `false_failure`/2, bound P(S) − e^ε Q(S) from above for all these
      S and every ε. The curve must not exceed the largest of these bounds by more than rtol·δ +
      atol. Draws never bound δ(ε) itself from above, since another S may be worse. So this fails
      for nothing with probability `false_failure`/2 at most where the curve is true AND one of
      these S attains it but for rtol·δ + atol, as the sets of a score that rises with the true
      privacy loss do. Where the score is too poor for that (many numbers, few draws), take more
      draws, give the true loss as `classifier` (`scoring.KnownScore`), or a larger rtol.

    Parameters
    ----------
    mechanism, pair : as for `dpaudit.audit`.
    spectrum : `Spectrum` (both directions are compared where it has them, else the larger),
        `Claim`, a function of ε, or a pair (ε, δ) of arrays, (m,) each.
    epsilon : (m,) nats, where they are compared: the spectrum's own grid, or 0, 0.1, …, 4.
    samples, false_failure, level, rng : as for `assert_private`. options : others of
        `dpaudit.audit_samples`.

    Returns the `AuditResult`. Raises `PrivacyFailure`, `InvalidInput`, `MechanismError`.

    >>> import dpaudit as dp
    >>> def noisy(data, size, *, rng):
    ...     return data.sum() + rng.normal(size=size)
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0]], 0)
    >>> dp.testing.assert_matches(noisy, pair, dp.Claim.gdp(1.0), samples=3000).fitted.name
    'qda'
    """
    __tracebackhide__ = True
    if not isinstance(pair, NeighbourPair):
        check.fail("pair", type(pair).__name__, "a dpaudit.NeighbourPair")
    rtol, atol = check.real("rtol", rtol, 0.0, 1.0), check.real("atol", atol, 0.0, 1.0)
    target = Target.of(spectrum, epsilon)
    draws, rate, seed = granted(samples, rate_of(false_failure, level), seed_of(rng))
    sides = [
        draw(mechanism, side, draws, root(seed), number, n_jobs=n_jobs)
        for number, side in enumerate((pair.left, pair.right))
    ]
    P, Q = outcomes.aligned(*sides)
    settings = {
        "epsilon": target.epsilon,
        "level": 1.0 - 0.5 * rate,
        "classifier": classifier,
        "rng": seed,
    }
    result = audit_samples_of(P, Q, Subject(mechanism, pair), **settings, **options)
    below, above = _certified(result, target), _attained(result, target, P, Q, 0.5 * rate)
    if (fault := _fault(target, below, above, rtol, atol)) is not None:
        given = {"samples": draws, "false_failure": rate, "rng": seed, "rtol": rtol, "atol": atol}
        raise _failure(fault, result, mechanism, pair, rate, given)
    return result


@dataclass(frozen=True, eq=False)
class Target:
    """A curve on a grid: epsilon (m,), and δ, (m,), by way: the larger direction (0), forward (1),
    backward (2).
    """

    epsilon: Array
    delta: dict[int, Array]

    @classmethod
    def of(cls, spectrum: Any, epsilon: Any) -> Target:
        """Raises `InvalidInput` for a δ outside [0, 1] or a spectrum that is none."""
        if isinstance(spectrum, Spectrum):
            found = _of_spectrum(spectrum, epsilon)
        elif isinstance(spectrum, Claim) or callable(spectrum):
            claim = spectrum if isinstance(spectrum, Claim) else Claim.from_function(spectrum)
            points = _points(DEFAULT_EPSILON if epsilon is None else epsilon)
            found = cls(points, {0: claim.delta_at(points)})
        elif isinstance(spectrum, (tuple, list)) and len(spectrum) == 2:
            found = _of_spectrum(
                Spectrum(_points(spectrum[0]), np.asarray(spectrum[1], dtype=np.float64)), epsilon
            )
        else:
            check.fail(
                "spectrum",
                spectrum,
                "a Spectrum, a Claim, a function of epsilon or a pair (epsilon, delta)",
            )
        for delta in found.delta.values():
            if delta.shape != found.epsilon.shape or not np.all((delta >= 0.0) & (delta <= 1.0)):
                check.fail("spectrum", delta, "δ in [0, 1], one for each ε")
        return found


def _points(epsilon: Any) -> Array:
    points = np.atleast_1d(check.epsilon(epsilon))
    if np.any(np.diff(points) <= 0.0):
        check.fail("epsilon", epsilon, "ascending, without repetition")
    return points


def _of_spectrum(spectrum: Spectrum, epsilon: Any) -> Target:
    """At its own grid, or anywhere else by its curve, both directions; by its chords, the larger."""
    own = _points(spectrum.epsilon)
    points = own if epsilon is None else _points(epsilon)
    if spectrum.curve is not None:
        return Target(
            points, dict(enumerate((np.asarray(one) for one in spectrum.curve.delta(points)), 1))
        )
    if epsilon is None and spectrum.forward is not None and spectrum.backward is not None:
        return Target(
            own, {1: np.atleast_1d(spectrum.forward), 2: np.atleast_1d(spectrum.backward)}
        )
    return Target(
        points, {0: np.atleast_1d(spectrum.delta) if epsilon is None else spectrum.delta_at(points)}
    )


def _certified(result: AuditResult, target: Target) -> dict[int, Array]:
    """The lower band by way, (m,) each."""
    band = result.certified
    of: dict[int, Callable[[], Any]] = {
        0: lambda: band,
        1: lambda: band.direction(True),
        2: lambda: band.direction(False),
    }
    return {way: of[way]().delta_at(target.epsilon) for way in target.delta}


def _attained(
    result: AuditResult, target: Target, P: Array, Q: Array, alpha: float
) -> dict[int, Array]:
    """Upper bounds of what any of the sets attains, by way, (m,) each, all at once at level 1 −
    alpha.

    P(S) ≤ p and Q(S) ≥ q bound both P(S) − e^ε Q(S) and, of the complement, Q(Sᶜ) − e^ε P(Sᶜ) ≤ (1
    − q) − e^ε (1 − p).
    """
    sizes, score = result.sizes, result.fitted.score
    parts = [sizes.parts(side) for side in (P, Q)]
    choose, test = (
        SortedScores.of(*scoring.scores(score, Sides(parts[0][k], parts[1][k]))) for k in (1, 2)
    )
    thresholds = CandidateSets.of(choose, target.epsilon, min(test.sizes), alpha).threshold
    (x, y), (n, m), each = test.above(thresholds), test.sizes, 0.5 * alpha / len(thresholds)
    p, q = (
        np.array([upper(int(one), n, each) for one in x]),
        np.array([lower(int(one), m, each) for one in y]),
    )
    gamma = np.exp(target.epsilon)[:, None]
    forward, backward = np.max(p - gamma * q, axis=1), np.max((1.0 - q) - gamma * (1.0 - p), axis=1)
    bounds = {0: np.maximum(forward, backward), 1: forward, 2: backward}
    return {way: np.maximum(bounds[way], 0.0) for way in target.delta}


@dataclass(frozen=True)
class _Fault:
    """Where draws and curve disagree most: `above` says which way, `shown` what the draws bound."""

    above: bool
    way: int
    at: int
    shown: float
    curve: float


def _fault(
    target: Target, below: dict[int, Array], above: dict[int, Array], rtol: float, atol: float
) -> _Fault | None:
    """The largest excess over the curve, if there is one, else the largest shortfall."""
    found = []
    for way, delta in target.delta.items():
        for over, shown, gap in (
            (True, below[way], below[way] - delta - SLACK),
            (False, above[way], delta * (1.0 - rtol) - atol - above[way] - SLACK),
        ):
            at = int(np.argmax(gap))
            if gap[at] > 0.0:
                found.append(
                    (over, gap[at], _Fault(over, way, at, float(shown[at]), float(delta[at])))
                )
    return max(found, key=lambda one: one[:2])[2] if found else None


def _failure(
    fault: _Fault,
    result: AuditResult,
    mechanism: Any,
    pair: NeighbourPair,
    rate: float,
    given: dict[str, Any],
) -> PrivacyFailure:
    """What the test says."""
    epsilon, curve = number(result.spectrum.epsilon[fault.at]), number(fault.curve)
    if fault.above:
        headline = f"ABOVE THE CURVE: δ({epsilon}) is at least {number(fault.shown, down=True)}, the curve says {curve}."
    else:
        headline = (
            f"FAR BELOW THE CURVE: at ε = {epsilon} the best set that was found shows {number(fault.shown)} at most, "
            f"the curve says {curve}: it is too high, or the score {result.fitted.name} too weak."
        )
    spectrum = result.spectrum
    facts = {
        "mechanism": failure.called(mechanism),
        "ε": f"{epsilon} nats, {WAYS[fault.way]}",
        "estimate": f"{number(spectrum.delta[fault.at])}, the larger direction",
        "curve": curve,
        "row" if pair.index is not None else "pair": failure.row_text(pair, ""),
        "draws": f"{given['samples']:,} a side, seed {given['rng']}",
        "by chance": f"{failure.chance(rate)} tests at most, where the curve is true"
        + ("" if fault.above else " and the score shows all of it but the tolerance"),
        **failure.again("assert_matches", mechanism, failure.pair_code(pair), "spectrum", given),
    }
    return PrivacyFailure(headline, facts, result)
