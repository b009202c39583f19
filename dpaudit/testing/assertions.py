"""The assertions assert_private, assert_private_one_run and assert_matches, for privacy tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from dpaudit import exact, outcomes, power, scoring
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords, refuse_unknown
from dpaudit._core.seeds import root
from dpaudit._core.text import percent
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.adapters.functions import as_mechanism
from dpaudit.auditing.api import audit, audit_samples, audit_samples_of, audit_subject, check_pair
from dpaudit.auditing.clock import planned
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import DEFAULT_EPSILON, Settings, grid
from dpaudit.auditing.subject import Subject
from dpaudit.certify.binomial import lower, upper
from dpaudit.certify.interval import interval
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets
from dpaudit.curves.claims import Claim, ClaimLike, as_claim, exceeds
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.step_result import StepResult
from dpaudit.one_run.steps import StepAudit
from dpaudit.sampling import MechanismDraws
from dpaudit.scoring import ClassifierLike, Sides
from dpaudit.scoring.base import without_nan
from dpaudit.testing import failure
from dpaudit.testing.budget import granted
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.reporting import MATCHES, PASSING, asked_cost, may_show, tell
from dpaudit.training.audit import TrainingAudit
from dpaudit.verdict.numbers import count, number

SpectrumLike = Spectrum | Claim | Callable[[Any], Any] | tuple[ArrayLike, ArrayLike]

BUDGET = 10.0  # draws of search and audit over those of the audit, as in `search_neighbours`
BY_EXACT = "violated by the exact spectrum"  # a verdict
OF_THE_AUDIT = ("draws", "claim")  # settings of a search that the assertion sets by itself
ONE_RUN_FALSE_FAILURE = 0.01  # default `false_failure` of `assert_private_one_run`
EITHER, FORWARD, BACKWARD = range(3)  # the larger δ of both directions, D against D′, D′ against D
DIRECTIONS = ("either direction", "D against D′", "D′ against D")
SLACK = 1e-12  # a gap in δ that is smaller than this counts as rounding
SHOWN_ALPHA = 0.05  # 1 − level of the interval that a failure shows


@known_keywords(audit)
def assert_private(
    mechanism: Mechanism | Callable[..., Any],
    pair_or_data: NeighbourPair | ArrayLike,
    claim: ClaimLike,
    *,
    draws: int | None = None,
    false_failure: float | None = None,
    level: float | None = None,
    rng: int | None = None,
    detect: float | None = None,
    search: Mapping[str, Any] | None = None,
    show_data: bool | None = None,
    **options: Any,
) -> AuditResult:
    """Fail where an audit refutes the claim.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng) -> (size, k)` or f(data, rng), as for `dpaudit.audit`.
    pair_or_data : NeighbourPair or array of shape (n, d)
        Two neighbouring databases; or one database, of which the assertion sets one row to zero:
        the worst row by the exact spectrum where that is known, else the worst row that
        `dpaudit.search_neighbours` finds.
    claim : Claim or (ε, δ)
        The privacy guarantee that the mechanism claims.
    draws : int, optional
        Draws of each side in the audit. A search before the audit takes nine times as many
        (`search={"budget": 10}`). By default search and audit together take 100,000, or all draws
        that are left of the test's budget.
    false_failure : float, optional
        Probability, at most, that the test fails although the claim holds; by default 1e-6. It is
        1 − `level`, where `level` is the confidence of the audit; give one of the two.
    level : float in (0, 1), optional
        Confidence of the audit, 1 − `false_failure`.
    rng : int, optional
        Seed, a whole number; by default 0. The same seed makes the same draws each time, so a test
        that passes today passes until code, data or versions change.
    detect : float, optional
        An excess of δ over the claim. The test fails as inconclusive if the audit would have shown
        such an excess, whatever its shape, with a probability below 0.8. `false_failure` does not
        cover this failure.
    search : dict, optional
        Keywords of `dpaudit.search_neighbours`, for example
        `{"relations": ("remove", "add"), "row_bound": 1.0}`. With them the neighbour is always
        searched, even where the exact spectrum is known.
    show_data : bool, optional
        Whether a failure shows the values of the row; by default it does not.
    **options
        Other keywords of `dpaudit.audit`, such as `epsilon`, `classifier`, `stop="verdict"`,
        `bits`, `focus`, `n_jobs`.

    Returns
    -------
    AuditResult
        The result that `dpaudit.search_neighbours`, or `dpaudit.audit` on the pair, returns with
        the same draws, level and seed. A test that passes does not prove privacy: pytest's summary
        and `result.detectable` tell the smallest excess that its draws could have found.

    Raises
    ------
    PrivacyFailure
        An AssertionError whose message has the verdict, the certified ε and δ, the claim, the row
        and how to repeat the test. It is also raised where the exact spectrum is above the claim,
        whatever the draws show.

    Examples
    --------
    >>> import numpy as np, dpaudit as dp
    >>> def noisy_mean(data, size, *, rng):
    ...     return data.mean() + rng.laplace(scale=1 / len(data), size=size)  # rows in [0, 1]
    >>> data = np.array([[0.2], [0.9], [1.0]])
    >>> dp.testing.assert_private(noisy_mean, data, (1.0, 0.0), draws=3000).verdict
    'not violated'
    """
    __tracebackhide__ = True
    claimed = _claim(claim)
    epsilon = grid(options.get("epsilon"), claimed)
    pair, rule, tried, data = None, "", None, None
    if isinstance(pair_or_data, NeighbourPair):
        pair = pair_or_data
    else:
        data = _database(pair_or_data)
        index = None if search is not None else _worst_row(mechanism, data, claimed, epsilon)
        if index is not None:
            pair, tried = zero_row(data, index), len(data)
            rule = "worst of all rows by the exact spectrum"
    times, plan = 1.0, None
    if pair is not None:
        left = pair.left
    else:
        assert data is not None
        left = data
        from dpaudit.search.search import SearchSettings, search_plan

        known = [field.name for field in fields(SearchSettings) if field.name not in OF_THE_AUDIT]
        refuse_unknown("search of assert_private", search or {}, known)
        searching = SearchSettings(**{"budget": BUDGET, **(search or {})})
        times, plan = searching.budget, search_plan(len(data), searching)
    size, rate, seed = granted(draws, rng, false_failure=false_failure, level=level, times=times)
    searched = pair is None
    if (look := asked_cost()) is not None:
        final = Settings.of(size, claim=claimed, alpha=rate)
        planned(as_mechanism(mechanism), left, final, None, look, plan)
    if pair is None:
        assert data is not None
        settings: dict[str, Any] = {"draws": size, "claim": claimed, "rng": seed}
        settings["n_jobs"] = options.get("n_jobs")
        selection = _searched(mechanism, data, {"budget": BUDGET, **(search or {}), **settings})
        pair, rule, tried = selection.best.change.pair(data), selection.rule, selection.audited
    settings = {"rng": seed, "detect": detect, **options}
    result = audit_subject(
        Subject(mechanism, pair, rule=rule or None),
        **{**settings, "draws": size, "claim": claimed, "epsilon": epsilon, "alpha": rate},
    )
    excess, verdict = _exact_excess(result, claimed), result.verdict
    if verdict != "violated" and excess.any():
        verdict = BY_EXACT
    tell(failure.audited(verdict, claimed.text, result, result.detectable, tried))
    if verdict in PASSING:
        return result
    headline = {
        "violated": f"VIOLATED: {result.headline.text}",
        "inconclusive": f"INCONCLUSIVE: {result.reason}",
    }.get(verdict) or _exact_headline(result, claimed, excess)
    with_values = may_show(show_data)
    code = failure.pair_code(pair, show_data=with_values)
    if searched and code == "pair":
        code, settings = "data", {**settings, "search": search}
    # in the order of the signature, as the failure prints them
    settings = {"draws": size, "false_failure": rate, **settings}
    violated = result.verdict == "violated"
    zeroed = violated and searched and "relations" not in (search or {})
    chance = f"{failure.chance(rate)} tests at most, where the claim holds"
    search_too = f"; a marker counts the search, too: {times:g} times as many"
    with_search = search_too if times > 1.0 and verdict == "inconclusive" else ""
    facts = {
        "claim": claimed.text,
        **failure.headline_facts(result),
        "mechanism": failure.mechanism_code(mechanism),
        **failure.pair_fact(pair, rule, show_data=with_values),
        **({"relation": failure.ZEROED} if zeroed else {}),
        "draws": f"{count(size)} a side, seed {seed}{with_search}",
        **({"by chance": chance} if violated else {}),
        **failure.repeat_facts(
            "assert_private", mechanism, code, failure.claim_code(claimed), settings
        ),
    }
    raise PrivacyFailure(headline, facts, result)


def assert_private_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    claim: ClaimLike,
    *,
    inclusion: ArrayLike = 0.5,
    false_failure: float | None = None,
    level: float | None = None,
    **options: Any,
) -> OneRunResult:
    """Fail where an audit of one run refutes the claim, or could not have refuted it.

    Parameters
    ----------
    scores, included : arrays of shape (m,)
        As for `dpaudit.audit_one_run`.
    claim : Claim or (ε, δ)
        The claimed guarantee for databases that differ in one canary.
    inclusion : float or array of shape (m,), default 0.5
        As for `dpaudit.audit_one_run`.
    false_failure : float, optional
        Probability, at most, that the test fails although the claim holds; by default 0.01. It is
        1 − `level`; give one of the two. It must be larger than the claim's δ, since an (ε, δ)-DP
        mechanism may reveal everything in a share δ of its runs.
    level : float in (0, 1), optional
        Confidence of the audit, 1 − `false_failure`.
    **options
        Other keywords of `dpaudit.audit_one_run`.

    Returns
    -------
    OneRunResult
        The result of `dpaudit.audit_one_run`, whose verdict is "not violated".

    Raises
    ------
    PrivacyFailure
        An AssertionError, where the verdict is "violated" or "inconclusive".

    Examples
    --------
    >>> import numpy as np, dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> included = rng.random(500) < 0.5
    >>> scores = 0.2 * included + rng.normal(size=500)
    >>> dp.testing.assert_private_one_run(scores, included, (2.0, 1e-5)).verdict
    'not violated'
    """
    __tracebackhide__ = True
    claimed = _claim(claim)
    if level is None and false_failure is None:
        false_failure = ONE_RUN_FALSE_FAILURE
    rate = granted(1, false_failure=false_failure, level=level).false_failure
    result = audit_one_run(
        scores, included, claim=claimed, inclusion=inclusion, level=1.0 - rate, **options
    )
    tell(failure.audited_once(claimed.text, result))
    if result.verdict == "not violated":
        return result
    head, violated = result.headline, result.verdict == "violated"
    further = "".join(f", {name}={value!r}" for name, value in options.items())
    coins = "" if result.guesses.fair else ", inclusion=inclusion"
    chance = f"{failure.chance(rate)} tests at most, where the claim holds"
    facts = {
        "claim": claimed.text,
        f"certified {head.symbol}": f"{number(head.certified, down=True)} at least",
        "canaries": f"{count(result.guesses.canaries)}, {count(result.included)} of them in",
        "reason": " ".join(result.reason.replace(head.text, "", 1).split()) if violated else "",
        "by chance": chance if violated else "",
        "in Python": f"dpaudit.testing.assert_private_one_run(scores, included, "
        f"{failure.claim_code(claimed)}{coins}, false_failure={rate!r}{further})",
    }
    headline = f"VIOLATED: {head.text}" if violated else f"INCONCLUSIVE: {result.reason}"
    raise PrivacyFailure(headline, facts, result)


def assert_private_training(
    audit: TrainingAudit | StepAudit, claim: ClaimLike | None = None
) -> StepResult:
    """Fail where a watched training run refutes its claim, or could not have refuted it.

    Parameters
    ----------
    audit : OpacusAudit, JaxPrivacyAudit, LoopAudit or StepAudit
        The audit, after training. The test fails by chance with probability at most 1 − `level` of
        the audit, so give it one such as `level=0.99`.
    claim : Claim or (ε, δ), optional
        What the training promises, with δ in (0, 1). Then the test also fails where the certified ε
        at this δ is larger. Without it the claim is that of the noise multiplier and the rate.

    Returns
    -------
    StepResult
        The result, whose verdict is "not violated".

    Raises
    ------
    PrivacyFailure
        An AssertionError, where the verdict is "violated" or "inconclusive", or the certified ε is
        above the claim.

    Examples
    --------
    >>> import numpy as np, dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, level=0.99)
    >>> for _ in range(200):
    ...     included = rng.random() < 0.1
    ...     audit.update(included + rng.normal(), included, shift=1.0)
    >>> dp.testing.assert_private_training(audit).verdict
    'not violated'
    """
    __tracebackhide__ = True
    if not isinstance(audit, TrainingAudit | StepAudit):
        expected = "an audit that has watched a training"
        check.fail("audit", audit, expected, "pass the audit itself, and not its result")
    result = audit.result(claim=claim)
    head, claimed = result.headline, as_claim(claim)
    text = f"({number(head.claimed)}, {number(head.delta)})-DP by the accountant"
    if claimed is not None:
        text = claimed.text
    tell(failure.audited_once(text, result))
    if result.verdict == "not violated":
        return result
    headline = f"{result.verdict.upper()}: {head.text}"
    facts = {
        "claim": text,
        "certified ε": f"{number(head.certified, down=True)} at least",
        "reason": " ".join(result.reason.replace(head.text, "", 1).split()),
    }
    raise PrivacyFailure(headline, facts, result)


@known_keywords(audit_samples)
def assert_matches(
    mechanism: Mechanism | Callable[..., Any],
    pair: NeighbourPair,
    spectrum: SpectrumLike,
    *,
    epsilon: ArrayLike | None = None,
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
    """Fail where the draws show a δ(ε) above a given curve, or far below it.

    P and Q are the output distributions on the two databases. There are two tests, and each may
    fail falsely with probability `false_failure`/2:

    - *not above*: the certified lower band of δ(ε), simultaneous over ε and both directions,
      exceeds the curve nowhere. If the curve is the true δ(ε), or above it, this test fails with
      probability at most `false_failure`/2.
    - *not far below*: the curve exceeds the δ that the audit's sets attain by at most
      rtol·δ + atol. The sets S are {score > τ} and their complements, with τ at some hundred
      quantiles of the draws that choose the set (of few draws, of the draws that train the score).
      Clopper–Pearson bounds of P(S) and Q(S) from the certifying draws hold simultaneously at
      level 1 − `false_failure`/2, and bound P(S) − e^ε Q(S) from above for all these S and every ε.

    Parameters
    ----------
    mechanism, pair : callable and NeighbourPair
        As for `dpaudit.audit`.
    spectrum : Spectrum, Claim, callable or pair of arrays
        The curve δ(ε): a `Spectrum` (both directions are compared where it has them, else the
        larger one), a `Claim`, a function of ε, or a pair (ε, δ) of arrays, (m,) each.
    epsilon : array of shape (m,), nats, optional
        Grid of the comparison; by default the spectrum's own grid, or 0, 0.1, …, 4 if it has none.
    draws, false_failure, level, rng : optional
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

    Returns
    -------
    AuditResult
        The audit of the draws, at level 1 − `false_failure`/2.

    Raises
    ------
    PrivacyFailure
        An AssertionError, where one of the two tests fails.

    Notes
    -----
    Draws never bound δ(ε) itself from above, since another set S may be worse. So the bound on a
    false failure of the second test also needs that one of the sets attains the curve up to the
    tolerance. One does if the score increases with the true privacy loss. If it is too poor for
    that (outputs of many numbers, few draws), take more draws, a larger rtol, or give the true
    privacy loss as `classifier` (`scoring.KnownScore`). `Spectrum.interval`, which a failure shows
    at 95 %, decides nothing here: simulations show a coverage near its level, but no guarantee.

    Examples
    --------
    >>> import dpaudit as dp
    >>> def noisy(data, size, *, rng):
    ...     return data.sum() + rng.normal(size=size)
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0]], 0)
    >>> dp.testing.assert_matches(noisy, pair, dp.Claim.gdp(1.0), draws=3000).fitted.name
    'logistic from qda'
    """
    __tracebackhide__ = True
    check_pair(pair)
    mechanism = as_mechanism(mechanism)
    rtol, atol = check.real("rtol", rtol, 0.0, 1.0), check.real("atol", atol, 0.0, 1.0)
    epsilon, curves = _grid_and_curves(spectrum, epsilon)
    size, rate, seed = granted(draws, rng, false_failure=false_failure, level=level)
    both = pair.left, pair.right
    P, Q = outcomes.aligned(
        *MechanismDraws(mechanism, both, size, root(seed), n_jobs=n_jobs).take(size)
    )
    result = audit_samples_of(
        P,
        Q,
        Subject(mechanism, pair),
        epsilon=epsilon,
        alpha=0.5 * rate,
        classifier=classifier,
        rng=seed,
        **options,
    )
    attained = _attained(result, curves, P, Q, 0.5 * rate)
    gap = _largest_gap(result, curves, attained, rtol, atol)
    verdict = MATCHES if gap is None else gap.verdict
    claim = spectrum.text if isinstance(spectrum, Claim) else "the given curve"
    tell(failure.audited(verdict, claim, result, _least_excess(result, curves)))
    if gap is None:
        return result
    with_values = may_show(show_data)
    chance = f"{failure.chance(rate)} tests at most, where the curve is"
    chance += " true" if gap.above else " true and the score attains it up to the tolerance"
    repeat = {"draws": size, "false_failure": rate, "rng": seed, "rtol": rtol, "atol": atol}
    code = failure.pair_code(pair, show_data=with_values)
    facts = {
        "mechanism": failure.mechanism_code(mechanism),
        "ε": f"{number(epsilon[gap.at])} nats, {DIRECTIONS[gap.direction]}",
        "estimate": _estimate(result, gap.at),
        "curve": number(gap.curve),
        **failure.pair_fact(pair, show_data=with_values),
        "draws": f"{count(size)} a side, seed {seed}",
        "by chance": chance,
        **failure.repeat_facts("assert_matches", mechanism, code, "spectrum", repeat),
    }
    raise PrivacyFailure(gap.headline(result), facts, result)


def _claim(claim: ClaimLike) -> Claim:
    claimed = as_claim(claim)
    if claimed is None:
        check.fail("claim", claim, "a dpaudit.Claim or an (epsilon, delta) pair")
    return claimed


# The neighbour of assert_private


def _database(data: ArrayLike) -> Array:
    numbers = check.array_of_numbers("pair_or_data", data, "numbers, a row for each person")
    if numbers.ndim != 2:
        check.fail(
            "pair_or_data",
            check.Words(f"shape {numbers.shape}"),
            "a 2-D array, a row for each person, or a pair",
            "make rows of one number with data.reshape(-1, 1), or a pair with "
            "dpaudit.neighbours.zero_row(data, 0)",
        )
    return check.matrix("pair_or_data", data)


def _worst_row(mechanism: Mechanism, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The index of the row whose zeroing makes the exact δ at the claim's ε largest, as in a
    scenario; without such an ε, the exact δ(ε) less the claimed one over the grid `epsilon`. None
    where no exact spectrum is known.
    """
    points = epsilon if claim.epsilon is None else np.array([claim.epsilon])
    try:
        worst = exact.worst_case(mechanism, data, points)
    except NoExactSpectrum:
        return None
    assert worst.index is not None
    return int(worst.index[int(np.argmax(worst.delta - claim.delta_at(points)))])


def _searched(mechanism: Mechanism, data: Array, settings: Mapping[str, Any]) -> Any:
    __tracebackhide__ = True
    from dpaudit.search import select

    try:
        return select(mechanism, data, **settings)
    except InvalidInput as error:
        if error.argument != "budget":
            raise
        advice = (
            f"or give the pair: dpaudit.neighbours.zero_row(data, 0); the draws of a marker "
            f"include the search, {settings['budget']:g} times those of the audit"
        )
        raise InvalidInput(f"{error}, {advice}", argument="draws") from None


# The exact spectrum of assert_private


def _exact_excess(result: AuditResult, claim: Claim) -> Array:
    """The exact δ less the claimed δ on the result's grid, (m,); 0 where it is not above the claim
    beyond rounding, or unknown.
    """
    if result.exact is None:
        return np.zeros_like(result.spectrum.epsilon)
    exact_delta, claimed_delta = result.exact.delta, claim.delta_at(result.spectrum.epsilon)
    return np.where(exceeds(exact_delta, claimed_delta), exact_delta - claimed_delta, 0.0)


def _exact_headline(result: AuditResult, claim: Claim, excess: Array) -> str:
    exact_curve, head, at = result.exact, result.headline, int(np.argmax(excess))
    assert exact_curve is not None
    claims = ""
    if exact_curve.curve is not None and head.delta is not None and head.claimed is not None:
        exact_epsilon = number(float(exact_curve.epsilon_at(head.delta)))
        claims = f"Claimed ε = {number(head.claimed)} at δ = {number(head.delta)}, "
        claims += f"exact ε = {exact_epsilon}; "
    epsilon = float(result.spectrum.epsilon[at])
    delta, allowed = number(float(exact_curve.delta[at])), number(float(claim.delta_at(epsilon)))
    return (
        f"VIOLATED by the exact spectrum, whatever the draws show: {claims}"
        f"δ({number(epsilon)}) is {delta}, where {allowed} is allowed."
    )


# The curve of assert_matches


def _grid_and_curves(
    spectrum: SpectrumLike, epsilon: ArrayLike | None
) -> tuple[Array, dict[int, Array]]:
    """The grid of ε, (m,), and δ of the curve on it, (m,), by direction: `FORWARD` and `BACKWARD`
    where the curve has both on this grid, else `EITHER`. Between the points of a spectrum's own
    grid, chords bound the larger direction from above. Raises `InvalidInput`.
    """
    curves: dict[int, Any]
    if isinstance(spectrum, tuple | list) and len(spectrum) == 2:
        delta = np.asarray(spectrum[1], dtype=np.float64)
        spectrum = Spectrum(_ascending(spectrum[0]), delta)
    if isinstance(spectrum, Spectrum):
        own = _ascending(spectrum.epsilon)
        grid = own if epsilon is None else _ascending(epsilon)
        if spectrum.curve is not None:
            curves = dict(zip((FORWARD, BACKWARD), spectrum.curve.delta(grid), strict=True))
        elif epsilon is not None:
            curves = {EITHER: spectrum.delta_at(grid)}
        elif spectrum.forward is None or spectrum.backward is None:
            curves = {EITHER: spectrum.delta}
        else:
            curves = {FORWARD: spectrum.forward, BACKWARD: spectrum.backward}
    elif isinstance(spectrum, Claim) or callable(spectrum):
        claim = spectrum if isinstance(spectrum, Claim) else Claim.from_function(spectrum)
        grid = _ascending(DEFAULT_EPSILON if epsilon is None else epsilon)
        curves = {EITHER: claim.delta_at(grid)}
    else:
        forms = "a Spectrum, a Claim, a function of epsilon or a pair (epsilon, delta)"
        check.fail("spectrum", spectrum, forms)
    curves = {direction: np.atleast_1d(delta) for direction, delta in curves.items()}
    for delta in curves.values():
        if delta.shape != grid.shape or not np.all((delta >= 0.0) & (delta <= 1.0)):
            check.fail("spectrum", delta, "δ in [0, 1], one for each ε")
    return grid, curves


def _ascending(epsilon: ArrayLike) -> Array:
    points = np.atleast_1d(check.epsilon(epsilon))
    if np.any(np.diff(points) <= 0.0):
        check.fail("epsilon", epsilon, "ascending, without repetition")
    return points


def _attained(
    result: AuditResult, directions: Iterable[int], P: Array, Q: Array, alpha: float
) -> dict[int, Array]:
    """An upper bound of the δ that any audited set attains, (m,), for each of the directions.

    All bounds hold simultaneously at level 1 − alpha. P(S) ≤ p and Q(S) ≥ q imply both
    P(S) − e^ε Q(S) ≤ p − e^ε q and Q(Sᶜ) − e^ε P(Sᶜ) ≤ (1 − q) − e^ε (1 − p), Sᶜ the complement.
    """
    sizes, score = result.sizes, result.fitted.score
    learned = sizes.train + sizes.choose
    first = sizes.train if sizes.choose else 0  # with few draws, the training draws choose too
    choose, certify = (
        SortedScores.of(*map(without_nan, scoring.scores(score, Sides(P[part], Q[part]))))
        for part in (slice(first, learned), slice(learned, sizes.total))
    )
    epsilon = result.spectrum.epsilon
    thresholds = CandidateSets.of(choose, epsilon, min(certify.sizes), alpha).threshold
    (x, y), (n, m) = certify.above(thresholds), certify.sizes
    each = 0.5 * alpha / len(thresholds)
    p = np.array([upper(int(hits), n, each) for hits in x])
    q = np.array([lower(int(hits), m, each) for hits in y])
    gamma = np.exp(epsilon)[:, None]
    forward = np.max(p - gamma * q, axis=1)
    backward = np.max((1.0 - q) - gamma * (1.0 - p), axis=1)
    bounds = {EITHER: np.maximum(forward, backward), FORWARD: forward, BACKWARD: backward}
    return {direction: np.maximum(bounds[direction], 0.0) for direction in directions}


def _least_excess(result: AuditResult, curves: dict[int, Array]) -> dict[str, float] | None:
    """The smallest excess of δ over the curve that the certified band would have shown, the ε where
    it is smallest, and the probability; None if no excess would have shown.
    """
    cells, epsilon = result.estimate, result.spectrum.epsilon
    points = zip(epsilon, np.max(list(curves.values()), axis=0), cells.share, strict=True)
    excess = [power.smallest_excess(at, most, cells.draws, share) for at, most, share in points]
    at = int(np.argmin(excess))
    if not np.isfinite(excess[at]):
        return None
    return {"epsilon": float(epsilon[at]), "excess": excess[at], "power": power.POWER}


class _Gap(NamedTuple):
    """A gap between the curve and a bound on δ from the draws, at one position of the grid.

    above : whether the bound is a lower one above the curve, else an upper one far below it. size :
    the gap in δ, beyond the tolerance. direction : `EITHER`, `FORWARD` or `BACKWARD`. at : the
    position. bound : the bound from the draws. curve : δ of the curve.
    """

    above: bool
    size: float
    direction: int
    at: int
    bound: float
    curve: float

    @property
    def verdict(self) -> str:
        return "above the curve" if self.above else "far below the curve"

    def headline(self, result: AuditResult) -> str:
        epsilon, curve = number(result.spectrum.epsilon[self.at]), number(self.curve)
        head = self.verdict.upper()
        if self.above:
            low = number(self.bound, down=True)
            return f"{head}: δ({epsilon}) is at least {low}; the curve says {curve}."
        return (
            f"{head}: at ε = {epsilon} the best set that was found shows {number(self.bound)} at "
            f"most; the curve says {curve}. Either the curve is too high, or the score "
            f"{result.fitted.name} is too weak."
        )


def _largest_gap(
    result: AuditResult,
    curves: dict[int, Array],
    high: dict[int, Array],
    rtol: float,
    atol: float,
) -> _Gap | None:
    """The largest excess of a certified δ over the curve, in any direction; else the largest
    shortfall of `high` (`_attained`) below the curve less its tolerance; else None.
    """
    gaps, band = [], result.certified
    for way, delta in curves.items():
        part = band if way == EITHER else band.direction(way == FORWARD)
        low = part.delta_at(result.spectrum.epsilon)
        short = delta * (1.0 - rtol) - atol - high[way]
        for above, bound, gap in ((True, low, low - delta), (False, high[way], short)):
            at = int(np.argmax(gap))
            if gap[at] > SLACK:
                values = float(bound[at]), float(delta[at])
                gaps.append(_Gap(above, float(gap[at]), way, at, *values))
    return max(gaps, key=lambda gap: (gap.above, gap.size), default=None)


def _estimate(result: AuditResult, at: int) -> str:
    """The estimated δ at position `at` of the grid, in words, with a 95 % interval where there is
    one.
    """
    estimate = f"{number(result.spectrum.delta[at])}, the larger direction"
    ends = interval(result.estimate, SHOWN_ALPHA)
    if ends is None:
        return estimate
    low, high = number(ends[0, at], down=True), number(ends[1, at], up=True)
    return f"{estimate}; this score shows {low} to {high} (about {percent(1.0 - SHOWN_ALPHA)})"
