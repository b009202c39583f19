"""assert_private: an audit as a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit.auditing.api import audit_subject
from dpaudit.auditing.result import AuditResult, Subject
from dpaudit.auditing.settings import claim_grid, grid
from dpaudit.curves.claims import Claim, ClaimLike, as_claim, exceeds
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.text import number
from dpaudit.testing import failure
from dpaudit.testing.budget import granted, rate_of, seed_of
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.rows import ChosenPair, choose_pair


def assert_private(
    mechanism: Mechanism,
    pair_or_data: NeighbourPair | ArrayLike,
    claim: ClaimLike,
    *,
    samples: int | None = None,
    false_failure: float | None = None,
    level: float | None = None,
    rng: int | None = None,
    detect: float | None = None,
    search: Mapping[str, Any] | None = None,
    **options: Any,
) -> AuditResult:
    """Fail where an audit refutes the claim.

    Parameters
    ----------
    mechanism : as for `dpaudit.audit`, `mech(data, size, *, rng) -> (size, k)`.
    pair_or_data : a `NeighbourPair`; or a database, (n, d), of which one row is set to zero: the
        worst row by the exact spectrum where it is known, else the worst row that a search finds,
        which takes half of the draws.
    search : keywords of `dpaudit.search_neighbours`, as `relations=("remove", "add"),
        row_bound=1.0`; they demand a search in any case.
    claim : `Claim` or (ε, δ) pair.
    samples : draws a side; by default 100,000, or all that are left of the test's budget.
    false_failure : probability, at most, that the test fails although the claim holds; by default
        1e-6. It is 1 − `level`, the confidence of the audit; give one of the two.
    rng : seed, a whole number; by default 0. The same seed makes the same draws each time, so a
        test that passes today passes until code, data or versions change.
    detect : an excess of δ over the claim. The test fails as inconclusive where the audit could not
        have shown it with probability 0.8. `false_failure` does not cover this.
    options : other keywords of `dpaudit.audit`, such as `epsilon`, `classifier`, `stop="verdict"`,
        `bits`, `focus`, `n_jobs`.

    Returns the `AuditResult`. A test that passes is no proof of privacy: `dpaudit plan` shows what
    its draws could have found.

    Raises `PrivacyFailure` (an AssertionError) with the verdict, ε, certified δ, claim, row and how
    to repeat it; also where the exact spectrum is above the claim, whatever the draws show. Raises
    `InvalidInput`, `MechanismError`.

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
    draws, rate, seed = granted(samples, rate_of(false_failure, level), seed_of(rng))
    epsilon = _grid(options.get("epsilon"), held)
    chosen = choose_pair(
        mechanism,
        pair_or_data,
        held,
        epsilon=epsilon,
        samples=draws,
        seed=seed,
        search=search,
        n_jobs=options.get("n_jobs"),
    )
    settings = {"samples": chosen.samples, "rng": seed, "detect": detect, **options}
    given = {**settings, "claim": held, "epsilon": epsilon, "alpha": rate}
    result = audit_subject(Subject(mechanism, chosen.pair), **given)
    judged = _Judged(chosen, result, held, held.delta_at(result.spectrum.epsilon))
    if judged.finding is not Finding.PASSED:
        # in the order of the signature, as the failure prints them
        settings = {"samples": chosen.samples, "false_failure": rate, **settings}
        repeat = _repeated(pair_or_data, chosen, settings, draws, search)
        raise judged.failure(mechanism, settings, repeat)
    return result


class Finding(Enum):
    """What an audit says to a test of a claim."""

    PASSED = "passed"
    INCONCLUSIVE = "inconclusive"
    EXACT_EXCESS = "the exact spectrum exceeds the claim"
    VIOLATED = "violated"


@dataclass(frozen=True, eq=False)
class _Judged:
    """One audit against a claim. claimed : δ that the claim allows, on the audit's grid."""

    chosen: ChosenPair
    result: AuditResult
    claim: Claim
    claimed: Array

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
    def excess(self) -> Array:
        """Certified δ less the claimed δ, (m,)."""
        assert self.result.spectrum.low is not None
        return self.result.spectrum.low - self.claimed

    @property
    def exact_excess(self) -> Array:
        """Exact δ less the claimed δ, (m,); 0 where it is rounding, or nothing exact is known."""
        if self.result.exact is None:
            return np.zeros_like(self.claimed)
        over = self.result.exact.delta - self.claimed
        return np.where(exceeds(self.result.exact.delta, self.claimed), over, 0.0)

    def failure(
        self, mechanism: Mechanism, settings: Mapping[str, Any], repeat: tuple[str, dict[str, Any]]
    ) -> PrivacyFailure:
        """The failure of the test. repeat : the pair as code, and the keywords that repeat it."""
        finding = self.finding
        at = int(np.argmax(self.exact_excess if finding is Finding.EXACT_EXCESS else self.excess))
        subject, given = repeat
        facts = {
            "mechanism": failure.mechanism_code(mechanism),
            **failure.values_at(self.result, self.claimed, at),
            **failure.pair_fact(self.chosen.pair, self.chosen.rule),
            **failure.draws_fact(self.chosen.samples, settings["rng"]),
        }
        if finding is Finding.VIOLATED:
            chance = failure.chance(settings["false_failure"])
            facts["by chance"] = f"{chance} tests at most, where the claim holds"
        facts |= failure.repeat_facts(
            "assert_private", mechanism, subject, failure.claim_code(self.claim), given
        )
        return PrivacyFailure(self._headline(at), facts, self.result)

    def _headline(self, at: int) -> str:
        if self.finding is not Finding.EXACT_EXCESS:
            return f"{self.finding.name}, {self.claim.text}: {self.result.reason}"
        assert self.result.exact is not None
        curves = (self.result.spectrum.epsilon, self.result.exact.delta, self.claimed)
        epsilon, delta, allowed = (number(float(one[at])) for one in curves)
        return (
            f"VIOLATED by the exact spectrum, {self.claim.text}: δ({epsilon}) is {delta}, above "
            f"the {allowed} that the claim allows, whatever the draws show."
        )


def _repeated(
    pair_or_data: NeighbourPair | ArrayLike,
    chosen: ChosenPair,
    settings: Mapping[str, Any],
    draws: int,
    search: Mapping[str, Any] | None,
) -> tuple[str, dict[str, Any]]:
    """What repeats the test: the pair (or the database that is searched) as code, and keywords."""
    if isinstance(pair_or_data, NeighbourPair) or chosen.pair.index is not None:
        return failure.pair_code(chosen.pair), {**settings, "samples": chosen.samples}
    return "data", {**settings, "samples": draws, "search": search}


def _grid(epsilon: ArrayLike | None, claim: Claim) -> Array:
    """The ε of the audit; a claim without an ε of its own is judged up to where its δ is 1e-9."""
    return grid(claim_grid(claim) if epsilon is None else epsilon, claim)
