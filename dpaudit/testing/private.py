"""assert_private: an audit as a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords, refuse_unknown
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.auditing.api import audit, audit_subject
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import grid
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import Claim, ClaimLike, as_claim, exceeds
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.testing import failure
from dpaudit.testing.budget import granted, rate_of, seed_of
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.reporting import PASSING, may_show, tell
from dpaudit.verdict.numbers import number

BUDGET = 10.0  # draws of search and audit in units of the audit's, as of `search_neighbours`
BY_EXACT = "violated by the exact spectrum"  # a verdict
OF_THE_AUDIT = ("samples", "claim")  # settings of a search that the assertion gives


@known_keywords(audit)
def assert_private(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: ClaimLike,
    *,
    samples: int | None = None,
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
        `mech(data, size, *, rng) -> (size, k)`, as for `dpaudit.audit`.
    pair_or_data : NeighbourPair or array of shape (n, d)
        A pair; or a database, one row of which is set to zero: the worst row by the exact spectrum
        where it is known, else the worst row that `dpaudit.search_neighbours` finds.
    claim : Claim or (ε, δ)
        What the mechanism is said to keep.
    samples, draws : int, optional
        Draws a side of the audit; give one of the two names. A search takes nine times as many
        before it (`search={"budget": 10}`). By default search and audit together take 100,000, or
        all that are left of the test's budget.
    false_failure : float, optional
        Probability, at most, that the test fails although the claim holds; by default 1e-6. It is
        1 − `level`, the confidence of the audit; give one of the two.
    level : float in (0, 1), optional
        1 − `false_failure`.
    rng : int, optional
        Seed, a whole number; by default 0. The same seed makes the same draws each time, so a test
        that passes today passes until code, data or versions change.
    detect : float, optional
        An excess of δ over the claim. The test fails as inconclusive where the audit would not have
        shown it with probability 0.8 whatever its shape. `false_failure` does not cover this.
    search : dict, optional
        Keywords of `dpaudit.search_neighbours`, as `relations=("remove", "add"), row_bound=1.0`;
        they demand a search in any case.
    show_data : bool, optional
        Whether a failure shows the values of the row; by default it does not.
    **options
        Other keywords of `dpaudit.audit`, such as `epsilon`, `classifier`, `stop="verdict"`,
        `bits`, `focus`, `n_jobs`.

    Returns
    -------
    AuditResult
        That of `dpaudit.search_neighbours`, or of `dpaudit.audit` on the pair, with the same draws,
        level and seed. A test that passes is no proof of privacy: what its draws could have found
        stands in pytest's summary, and in `result.detectable`.

    Raises
    ------
    PrivacyFailure
        An AssertionError, with the verdict, certified ε and δ, claim, row and how to repeat it;
        also where the exact spectrum is above the claim, whatever the draws show.

    Examples
    --------
    >>> import numpy as np, dpaudit as dp
    >>> def noisy_mean(data, size, *, rng):
    ...     return data.mean() + rng.laplace(scale=1 / len(data), size=size)  # rows in [0, 1]
    >>> data = np.array([[0.2], [0.9], [1.0]])
    >>> dp.testing.assert_private(noisy_mean, data, (1.0, 0.0), samples=3000).verdict
    'not violated'
    """
    __tracebackhide__ = True
    claimed = as_claim(claim)
    if claimed is None:
        check.fail("claim", claim, "a dpaudit.Claim or an (epsilon, delta) pair")
    samples, rate = samples if draws is None else draws, rate_of(false_failure, level)
    epsilon = grid(options.get("epsilon"), claimed)
    chosen = _neighbour(mechanism, pair_or_data, claimed, epsilon, search)
    times = chosen.times if isinstance(chosen, Search) else 1.0
    samples, rate, seed = granted(samples, rate, seed_of(rng), times)
    if isinstance(chosen, Search):
        drawn = {"samples": samples, "claim": claimed, "rng": seed, "n_jobs": options.get("n_jobs")}
        chosen = chosen.worst(mechanism, **drawn)
    settings = {"rng": seed, "detect": detect, **options}
    subject = Subject(mechanism, chosen.pair, rule=chosen.rule or None)
    result = audit_subject(
        subject,
        **{**settings, "samples": samples, "claim": claimed, "epsilon": epsilon, "alpha": rate},
    )
    excess, verdict = _exact_excess(result, claimed), result.verdict
    if verdict != "violated" and excess.any():
        verdict = BY_EXACT
    detectable, tried = result.detectable, chosen.tried
    tell(failure.audited(verdict, claimed.text, result, detectable=detectable, tried=tried))
    if verdict in PASSING:
        return result
    # in the order of the signature, as the failure prints them
    settings = {"draws": samples, "false_failure": rate, **settings, "search": search}
    headline = {
        "violated": f"VIOLATED: {result.headline.text}",
        "inconclusive": f"INCONCLUSIVE: {result.reason}",
    }.get(verdict) or _exact_headline(result, claimed, excess)
    facts = _facts(result, claimed, chosen, settings, show_data=may_show(show_data))
    raise PrivacyFailure(headline, facts, result)


def _exact_excess(result: AuditResult, claim: Claim) -> Array:
    """The exact δ less the claimed δ, (m,); 0 where it is rounding, or nothing exact is known."""
    if result.exact is None:
        return np.zeros_like(result.spectrum.epsilon)
    exact_delta, claimed_delta = result.exact.delta, claim.delta_at(result.spectrum.epsilon)
    return np.where(exceeds(exact_delta, claimed_delta), exact_delta - claimed_delta, 0.0)


def _exact_headline(result: AuditResult, claim: Claim, excess: Array) -> str:
    """What is said where the exact spectrum is above the claim; excess : as `_exact_excess`."""
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


def _facts(
    result: AuditResult,
    claim: Claim,
    chosen: ChosenPair,
    settings: Mapping[str, Any],
    *,
    show_data: bool,
) -> dict[str, str]:
    """The lines of a failure. settings : the keywords of the assertion that repeat it."""
    mechanism, pair = result.subject.mechanism, chosen.pair
    assert mechanism is not None
    facts = {
        "claim": claim.text,
        **failure.headline_facts(result),
        "mechanism": failure.mechanism_code(mechanism),
        **failure.pair_fact(pair, chosen.rule, show_data=show_data),
        **failure.draws_fact(settings["draws"], settings["rng"]),
    }
    if result.verdict == "violated":
        chance = failure.chance(settings["false_failure"])
        facts["by chance"] = f"{chance} tests at most, where the claim holds"
    code = failure.pair_code(pair, show_data=show_data)
    if chosen.searched and code == "pair":
        code = "data"
    else:
        settings = {**settings, "search": None}
    claim_code = failure.claim_code(claim)
    return facts | failure.repeat_facts("assert_private", mechanism, code, claim_code, settings)


@dataclass(frozen=True, eq=False)
class ChosenPair:
    """A pair, and how it was chosen.

    rule : in words, or "" where it was given. tried : neighbours that were compared, None where the
    pair was given. searched : whether by draws.
    """

    pair: NeighbourPair
    rule: str = ""
    tried: int | None = None
    searched: bool = False

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Search:
    """A search of the worst neighbour, before its draws are granted.

    options : keywords of `dpaudit.search_neighbours`. Raises `InvalidInput`, TypeError.
    """

    data: Array
    options: Mapping[str, Any]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        from dpaudit.search.search import SearchSettings

        known = [field.name for field in fields(SearchSettings) if field.name not in OF_THE_AUDIT]
        refuse_unknown("search of assert_private", self.options, known)
        check.real("budget", self.options.get("budget", BUDGET), 1.0)

    @property
    def times(self) -> float:
        """Draws of search and audit together, in units of the audit's."""
        return float(self.options.get("budget", BUDGET))

    def worst(self, mechanism: Mechanism, **settings: Any) -> ChosenPair:
        """The worst neighbour; settings : further keywords of `dpaudit.search_neighbours`.

        Raises `InvalidInput`, `MechanismError`.
        """
        __tracebackhide__ = True
        from dpaudit.search import select

        options = {"budget": BUDGET, **self.options}
        try:
            selection = select(mechanism, self.data, **options, **settings)
        except InvalidInput as error:
            if error.argument != "budget":
                raise
            raise InvalidInput(
                f"{error}, or give the pair: dpaudit.neighbours.zero_row(data, 0)",
                argument="samples",
            ) from None
        return ChosenPair(
            selection.best.change.pair(self.data), selection.rule, selection.audited, True
        )


def _neighbour(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: Claim,
    epsilon: Array,
    search: Mapping[str, Any] | None,
) -> ChosenPair | Search:
    """The pair itself; for a database, (n, d), the worst row zeroed, or how to search it.

    epsilon : (m,), where the exact δ(ε) is compared with a claim that has no ε of its own.
    search : keywords of `dpaudit.search_neighbours`, which demand a search in any case.

    Raises `InvalidInput`.
    """
    __tracebackhide__ = True
    if isinstance(pair_or_data, NeighbourPair):
        return ChosenPair(pair_or_data)
    data = _database(pair_or_data)
    if search is None and (index := _worst_row(mechanism, data, claim, epsilon)) is not None:
        pair = zero_row(data, index)
        return ChosenPair(pair, "worst of all rows by the exact spectrum", len(data))
    return Search(data, search or {})


def _worst_row(mechanism: Mechanism, data: Array, claim: Claim, epsilon: Array) -> int | None:
    """The row whose zeroing makes the exact δ largest at the claim's ε, as a scenario chooses it.

    If the claim has no ε of its own, it is the row by which δ(ε) exceeds the claim by most, or
    comes nearest to it. None where no exact spectrum is known.
    """
    points = epsilon if claim.epsilon is None else np.array([claim.epsilon])
    try:
        worst = exact.worst_case(mechanism, data, points)
    except NoExactSpectrum:
        return None
    assert worst.index is not None
    return int(worst.index[int(np.argmax(worst.delta - claim.delta_at(points)))])


def _database(data: ArrayLike) -> Array:
    """The database as (n, d) float64. Raises `InvalidInput` with the next step."""
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
