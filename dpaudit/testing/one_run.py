"""assert_private_one_run: an audit of one run as a test."""

from __future__ import annotations

from typing import Any

from dpaudit._core import check
from dpaudit._core.types import ArrayLike
from dpaudit.curves.claims import Claim, ClaimLike, as_claim
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.result import OneRunResult
from dpaudit.report.facts import properties
from dpaudit.testing.budget import granted, rate_of, seed_of
from dpaudit.testing.failure import PrivacyFailure, certified_line, chance, claim_code
from dpaudit.testing.reporting import Audited, tell
from dpaudit.verdict.numbers import count, number

FALSE_FAILURE = 0.01  # by default


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
        About the change of one canary.
    inclusion : float or array of shape (m,), default 0.5
        As for `dpaudit.audit_one_run`.
    false_failure : float, optional
        Probability, at most, that the test fails although the claim holds; by default 0.01. It is
        1 − `level`; give one of the two. It has to be more than the claim's δ: that share of the
        runs may tell everything.
    level : float in (0, 1), optional
        1 − `false_failure`.
    **options
        Other keywords of `dpaudit.audit_one_run`.

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
    claimed = as_claim(claim)
    if claimed is None:
        check.fail("claim", claim, "a dpaudit.Claim or an (epsilon, delta) pair")
    rate = rate_of(
        FALSE_FAILURE if level is None and false_failure is None else false_failure, level
    )
    rate = granted(1, rate, seed_of(None)).false_failure
    result = audit_one_run(
        scores, included, claim=claimed, inclusion=inclusion, level=1.0 - rate, **options
    )
    tell(_audited(result, claimed.text))
    if result.verdict != "not violated":
        raise _failure(result, claimed, rate, options)
    return result


def _audited(result: OneRunResult, claim: str) -> Audited:
    canaries = f"{count(result.guesses.canaries)} canaries in one run"
    facts = properties(
        result.headline.to_dict(),
        None,
        verdict=result.verdict,
        claim=claim,
        neighbour=canaries,
        tried=None,
        draws=1,
    )
    return Audited(facts, f"{certified_line(claim, result.headline)}; {canaries}", float("inf"))


def _failure(
    result: OneRunResult, claim: Claim, rate: float, options: dict[str, Any]
) -> PrivacyFailure:
    head, violated = result.headline, result.verdict == "violated"
    further = "".join(f", {name}={value!r}" for name, value in options.items())
    coins = "" if result.guesses.fair else ", inclusion=inclusion"
    facts = {
        "claim": claim.text,
        f"certified {head.symbol}": f"{number(head.certified, down=True)} at least",
        "canaries": f"{count(result.guesses.canaries)}, {count(result.included)} of them in",
        "reason": " ".join(result.reason.replace(head.text, "", 1).split()) if violated else "",
        "by chance": f"{chance(rate)} tests at most, where the claim holds" if violated else "",
        "in Python": f"dpaudit.testing.assert_private_one_run(scores, included, "
        f"{claim_code(claim)}{coins}, false_failure={rate!r}{further})",
    }
    headline = f"VIOLATED: {head.text}" if violated else f"INCONCLUSIVE: {result.reason}"
    return PrivacyFailure(headline, facts, result)
