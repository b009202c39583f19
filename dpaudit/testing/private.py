"""assert_private: an audit as a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit.auditing.api import audit
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import claim_grid, grid
from dpaudit.curves.claims import Claim, as_claim
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.text import number
from dpaudit.testing import failure
from dpaudit.testing.budget import granted
from dpaudit.testing.failure import PrivacyFailure
from dpaudit.testing.rows import Chosen, chosen

SLACK = 1e-12  # exact excess that is rounding


def assert_private(
    mechanism: Any,
    pair_or_data: Any,
    claim: Any,
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
    pair_or_data : a `NeighbourPair`; or a database, (n, d), of which a row is set to zero: the
        worst of all rows if the mechanism's spectrum is known, else the worst that a search finds,
        for which half of the draws go.
    search : keywords of `dpaudit.search_neighbours`, as `relations=("remove", "add"),
        row_bound=1.0`: search by these.
    claim : `Claim` or (ε, δ) pair.
    samples : draws a side, 100,000 by default, or what is left of the test's budget.
    false_failure : probability, at most, with which the test fails although the claim holds; 1e-6
        by default. It is 1 − `level`, the confidence of the audit, of which one or the other may be
        given.
    rng : seed, a whole number; 0 by default. The same seed looks at the same draws each time, so a
        test that passes today passes until code, data or versions change.
    detect : excess of δ over the claim that the audit must have been able to show with probability
        0.8, or the test fails, as one that cannot fail; `false_failure` does not cover this.
    options : others of `dpaudit.audit`, as `epsilon`, `classifier`, `stop="verdict"`, `bits`,
        `focus`, `n_jobs`.

    Returns the `AuditResult`. That it passes is no proof of privacy: `dpaudit plan` says what the
    draws could show.

    Raises `PrivacyFailure` (an AssertionError) with verdict, ε, certified δ, claim, row and what
    reproduces it. An exact spectrum above the claim is a failure too, whatever the draws say.
    Raises `InvalidInput`, `MechanismError`.

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
    found = chosen(
        mechanism, pair_or_data, held, epsilon, draws, seed, search, options.get("n_jobs")
    )
    settings = {
        "samples": found.samples,
        "false_failure": rate,
        "rng": seed,
        "detect": detect,
        **options,
    }
    judged = _judged(mechanism, found, held, epsilon, settings)
    if judged.gravity:
        direct = isinstance(pair_or_data, NeighbourPair) or found.pair.index is not None
        how = {
            **settings,
            "samples": found.samples if direct else draws,
            "search": None if direct else search,
        }
        subject = failure.pair_code(found.pair) if direct else "data"
        again = failure.again("assert_private", mechanism, subject, failure.claim_code(held), how)
        raise judged.failure(mechanism, rate, seed, again)
    return judged.result


@dataclass(frozen=True, eq=False)
class _Judged:
    """One audit against a claim; claimed : δ on its grid. gravity : 0 where the test passes."""

    chosen: Chosen
    result: AuditResult
    claim: Claim
    claimed: Array

    @property
    def excess(self) -> Array:
        """Certified δ less the claimed one, (m,)."""
        assert self.result.spectrum.low is not None
        return self.result.spectrum.low - self.claimed

    @property
    def exact_excess(self) -> Array:
        """The same of the exact δ, 0 without one or where it is rounding."""
        if self.result.exact is None:
            return np.zeros_like(self.claimed)
        over = self.result.exact.delta - self.claimed
        return np.where(over > 1e-9 * self.claimed + SLACK, over, 0.0)

    @property
    def gravity(self) -> int:
        if self.result.verdict == "violated":
            return 3
        return 2 if self.exact_excess.any() else int(self.result.verdict == "inconclusive")

    def failure(
        self, mechanism: Any, rate: float, seed: int, again: Mapping[str, str]
    ) -> PrivacyFailure:
        """What the test says."""
        at = int(np.argmax(self.exact_excess if self.gravity == 2 else self.excess))
        pair = self.chosen.pair
        facts = {
            "mechanism": failure.called(mechanism),
            **failure.values_at(self.result, self.claimed, at),
            "row" if pair.index is not None else "pair": failure.row_text(pair, self.chosen.rule),
            "draws": f"{self.chosen.samples:,} a side, seed {seed}",
            "by chance"
            if self.gravity == 3
            else "": f"{failure.chance(rate)} tests at most, where the claim holds",
            **again,
        }
        return PrivacyFailure(
            self._headline(at), {name: text for name, text in facts.items() if name}, self.result
        )

    def _headline(self, at: int) -> str:
        if self.gravity != 2:
            word = "VIOLATED" if self.gravity == 3 else "INCONCLUSIVE"
            return f"{word}, {self.claim.text}: {self.result.reason}"
        assert self.result.exact is not None
        curves = (self.result.spectrum.epsilon, self.result.exact.delta, self.claimed)
        epsilon, delta, allowed = (number(float(one[at])) for one in curves)
        return (
            f"VIOLATED by the exact spectrum, {self.claim.text}: δ({epsilon}) is {delta}, above the {allowed} allowed, "
            "whatever the draws say."
        )


def _judged(
    mechanism: Any, one: Chosen, claim: Claim, epsilon: Array, settings: dict[str, Any]
) -> _Judged:
    """Audit one pair."""
    options = {name: value for name, value in settings.items() if name != "false_failure"}
    level = 1.0 - settings["false_failure"]
    result = audit(
        mechanism, one.pair, **{**options, "claim": claim, "epsilon": epsilon, "level": level}
    )
    return _Judged(one, result, claim, claim.delta_at(result.spectrum.epsilon))


def seed_of(rng: Any) -> int | None:
    """A whole number or None; a Generator could not be named in the message. Raises `InvalidInput`."""
    return None if rng is None else check.integer("rng", rng, 0)


def _grid(epsilon: Any, claim: Claim) -> Array:
    """As a scenario has it: a claim without an ε of its own is judged to where its δ is 1e-9."""
    return grid(claim_grid(claim) if epsilon is None else epsilon, claim)


def rate_of(false_failure: float | None, level: float | None) -> float | None:
    """1 − level, or the rate itself. Raises `InvalidInput` where both are given."""
    if level is None:
        return (
            None
            if false_failure is None
            else check.real("false_failure", false_failure, 0.0, 1.0, open_=True)
        )
    if false_failure is not None:
        check.fail(
            "level", level, "left out where false_failure is given: one is 1 minus the other"
        )
    return 1.0 - check.real("level", level, 0.0, 1.0, open_=True)
