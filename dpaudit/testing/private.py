"""assert_private: an audit as a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords, refuse_unknown
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.auditing.api import audit, audit_subject
from dpaudit.auditing.result import AuditResult, Subject
from dpaudit.auditing.settings import grid
from dpaudit.curves.claims import Claim, ClaimLike, as_claim, exceeds
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.report.text import number
from dpaudit.testing import failure
from dpaudit.testing.budget import granted, rate_of, seed_of
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.reporting import may_show, tell

BUDGET = 10.0  # draws of search and audit in units of the audit's, as of `search_neighbours`
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
        As for `dpaudit.audit`, `mech(data, size, *, rng) -> (size, k)`.
    pair_or_data : NeighbourPair or array of shape (n, d)
        A pair; or a database, of which one row is set to zero: the worst row by the exact spectrum
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
    held = as_claim(claim)
    if held is None:
        check.fail("claim", claim, "a dpaudit.Claim or an (epsilon, delta) pair")
    samples, rate = samples if draws is None else draws, rate_of(false_failure, level)
    epsilon = grid(options.get("epsilon"), held)
    chosen = _neighbour(mechanism, pair_or_data, held, epsilon, search)
    times = chosen.times if isinstance(chosen, Search) else 1.0
    samples, rate, seed = granted(samples, rate, seed_of(rng), times)
    if isinstance(chosen, Search):
        given = {"samples": samples, "claim": held, "rng": seed, "n_jobs": options.get("n_jobs")}
        chosen = chosen.worst(mechanism, **given)
    settings = {"rng": seed, "detect": detect, **options}
    subject = Subject(mechanism, chosen.pair, rule=chosen.rule or None)
    result = audit_subject(
        subject,
        **{**settings, "samples": samples, "claim": held, "epsilon": epsilon, "alpha": rate},
    )
    judged = _Judged(chosen, result, held, held.delta_at(result.spectrum.epsilon))
    tell(
        failure.audited(
            judged.verdict,
            held.text,
            result,
            detectable=result.detectable,
            tried=chosen.tried,
        )
    )
    if judged.finding is not Finding.PASSED:
        # in the order of the signature, as the failure prints them
        settings = {"draws": samples, "false_failure": rate, **settings, "search": search}
        raise judged.failure(mechanism, settings, show_data=may_show(show_data))
    return result


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

        known = [one.name for one in fields(SearchSettings) if one.name not in OF_THE_AUDIT]
        refuse_unknown("search of assert_private", self.options, known)
        check.real("budget", self.options.get("budget", BUDGET), 1.0)

    @property
    def times(self) -> float:
        """Draws of search and audit together, in units of the audit's."""
        return float(self.options.get("budget", BUDGET))

    def worst(self, mechanism: Mechanism, **settings: Any) -> ChosenPair:
        """settings : samples, claim, rng and n_jobs of `dpaudit.search_neighbours`.

        Raises `InvalidInput`, `MechanismError`.
        """
        __tracebackhide__ = True
        from dpaudit.search import select

        options = {"budget": BUDGET, **self.options}
        try:
            found = select(mechanism, self.data, **options, **settings)
        except InvalidInput as error:
            if error.argument != "budget":
                raise
            raise InvalidInput(
                f"{error}, or give the pair: dpaudit.neighbours.zero_row(data, 0)",
                argument="samples",
            ) from None
        return ChosenPair(found.best.change.pair(self.data), found.rule, found.audited, True)


def _neighbour(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: Claim,
    epsilon: Array,
    search: Mapping[str, Any] | None,
) -> ChosenPair | Search:
    """The pair that was given; of a database, (n, d), the worst row zeroed, or how to search it.

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

    Of a claim without an ε of its own: the row by which δ(ε) exceeds the claim by most, or comes
    nearest to it. None where no exact spectrum is known.
    """
    points = epsilon if claim.epsilon is None else np.array([claim.epsilon])
    try:
        found = exact.worst_case(mechanism, data, points)
    except NoExactSpectrum:
        return None
    assert found.index is not None
    return int(found.index[int(np.argmax(found.delta - claim.delta_at(points)))])


def _database(data: ArrayLike) -> Array:
    """As (n, d) float64. Raises `InvalidInput` with the next step."""
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


class Finding(Enum):
    """What an audit says to a test of a claim."""

    PASSED = "passed"
    INCONCLUSIVE = "inconclusive"
    EXACT_EXCESS = "violated by the exact spectrum"
    VIOLATED = "violated"


@dataclass(frozen=True, eq=False)
class _Judged:
    """One audit against a claim. claimed : δ that the claim allows, on the audit's grid."""

    chosen: ChosenPair
    result: AuditResult
    claim: Claim
    claimed: Array

    __repr__ = short_repr

    @property
    def finding(self) -> Finding:
        """The most serious finding that applies."""
        if self.result.verdict == "violated":
            return Finding.VIOLATED
        if self.exact_excess.any():
            return Finding.EXACT_EXCESS
        inconclusive = self.result.verdict == "inconclusive"
        return Finding.INCONCLUSIVE if inconclusive else Finding.PASSED

    @property
    def verdict(self) -> str:
        """The finding in words."""
        passed = self.finding is Finding.PASSED
        return self.result.verdict if passed else self.finding.value

    @property
    def exact_excess(self) -> Array:
        """Exact δ less the claimed δ, (m,); 0 where it is rounding, or nothing exact is known."""
        if self.result.exact is None:
            return np.zeros_like(self.claimed)
        over = self.result.exact.delta - self.claimed
        return np.where(exceeds(self.result.exact.delta, self.claimed), over, 0.0)

    def failure(
        self, mechanism: Mechanism, settings: Mapping[str, Any], *, show_data: bool
    ) -> PrivacyFailure:
        """The failure of the test. settings : the keywords of the assertion that repeat it."""
        pair, rule = self.chosen.pair, self.chosen.rule
        facts = {
            "claim": self.claim.text,
            **failure.headline_facts(self.result),
            "mechanism": failure.mechanism_code(mechanism),
            **failure.pair_fact(pair, rule, show_data=show_data),
            **failure.draws_fact(settings["draws"], settings["rng"]),
        }
        if self.finding is Finding.VIOLATED:
            chance = failure.chance(settings["false_failure"])
            facts["by chance"] = f"{chance} tests at most, where the claim holds"
        code = failure.pair_code(pair, show_data=show_data)
        if self.chosen.searched and code == "pair":
            code = "data"
        else:
            settings = {**settings, "search": None}
        facts |= failure.repeat_facts(
            "assert_private", mechanism, code, failure.claim_code(self.claim), settings
        )
        return PrivacyFailure(self._headline(), facts, self.result)

    def _headline(self) -> str:
        text = self.result.headline.text
        if self.finding is Finding.VIOLATED:
            return f"VIOLATED: {text}"
        if self.finding is Finding.INCONCLUSIVE:
            return f"INCONCLUSIVE: {self.result.reason}"
        at = int(np.argmax(self.exact_excess))
        assert self.result.exact is not None
        curves = (self.result.spectrum.epsilon, self.result.exact.delta, self.claimed)
        epsilon, delta, allowed = (number(float(one[at])) for one in curves)
        return (
            f"VIOLATED by the exact spectrum, whatever the draws show: {self._exact_epsilon()}"
            f"δ({epsilon}) is {delta}, where {allowed} is allowed."
        )

    def _exact_epsilon(self) -> str:
        """ "Claimed ε = 1 at δ = 10⁻⁵, exact ε = 2.1; "; "" where the claim is no (ε, δ) pair."""
        head, exact = self.result.headline, self.result.exact
        if exact is None or exact.curve is None or head.delta is None or head.claimed is None:
            return ""
        found = number(float(exact.epsilon_at(head.delta)))
        return (
            f"Claimed ε = {number(head.claimed)} at δ = {number(head.delta)}, exact ε = {found}; "
        )
