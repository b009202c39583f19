"""How many draws refute a claim, and how many fit into a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpaudit import power as detection
from dpaudit._core.types import Array
from dpaudit.auditing.clock import planned
from dpaudit.auditing.settings import Settings, in_reach
from dpaudit.auditing.vacuous import fewest
from dpaudit.certify.constants import FEWEST
from dpaudit.curves.claims import Claim, refuse_unbreakable
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.neighbour import Search
from dpaudit.run.store.progress import Notice
from dpaudit.search import search_plan
from dpaudit.verdict.headline import Reference

EXCESS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
DRAWS = (10_000, 100_000, 1_000_000, 10_000_000)  # default draws per side of `Needs.shown`
COLUMNS = 1  # numbers in an output of the mechanism


@dataclass(frozen=True)
class Row:
    """How many draws show one excess over the claim, whatever the shape of the leak.

    excess, delta : δ(ε) minus the claimed δ, and δ(ε) itself, at the claimed ε.
    real_epsilon : nats; every mechanism with that δ(ε) has at least this ε at the claimed δ.
    audit, early, test : draws per side that an audit needs, an audit that stops at its verdict, and
        `dpaudit.testing.assert_private`.
    """

    excess: float
    delta: float
    real_epsilon: float
    audit: float
    early: float
    test: float


@dataclass(frozen=True)
class Needs:
    """How many draws an audit of a claim (ε, δ) needs, ε in nats.

    level : confidence of the audit. power : probability with which it refutes a false claim.
    rows : one for each excess. shown : maps draws per side to the least excess that they show; None
    if they show none. fewest : draws per side below which an audit refutes nothing; None if no
    number of draws refutes the claim.
    """

    epsilon: float
    delta: float
    level: float
    power: float
    rows: tuple[Row, ...]
    shown: dict[int, float | None]
    fewest: int | None


def plan(
    claim: tuple[float, float],
    excess: Sequence[float] = (),
    draws: Sequence[int] = (),
    level: float = 0.95,
    power: float = detection.POWER,
    false_failure: float = 1e-6,
) -> Needs:
    """How many draws refute a claim (ε, δ), and the least excess that numbers of draws show.

    excess : the excesses of `Needs.rows`; by default `EXCESS`, and the claimed δ if that is below
    all of these. draws : the draws per side of `Needs.shown`; by default `DRAWS`. level, power : as
    in `Needs`. false_failure : probability of a false failure of a privacy test. Raises
    `InvalidInput` for a value out of range.
    """
    whole = Claim(*claim)
    epsilon, delta = claim
    in_reach(epsilon)
    refuse_unbreakable(whole, np.array([epsilon]))
    own = [delta] if 0.0 < delta < EXCESS[-1] else []
    excesses = sorted(excess, reverse=True) or [*(x for x in EXCESS if x < 1.0 - delta), *own]
    least = {n: detection.excess_of(epsilon, delta, n, power, level) for n in draws or DRAWS}
    finite = {n: value if np.isfinite(value) else None for n, value in least.items()}
    rows: list[Row] = []
    for x in excesses:
        of_level = partial(detection.draws_to_detect, epsilon, delta, x, power)
        needed = of_level(level), of_level(level, "verdict"), of_level(1.0 - false_failure)
        real = detection.least_epsilon(epsilon, delta + x, delta)
        rows.append(Row(x, delta + x, real, *needed))
    settings = Settings.of(FEWEST, claim=whole, level=level)
    reference = Reference.of(whole, settings.epsilon)
    assert reference is not None
    least_draws = fewest(settings, reference, COLUMNS)
    return Needs(epsilon, delta, level, power, tuple(rows), finite, least_draws)


def planned_run(
    scenario: Scenario,
    rule: Any,
    mechanism: Any,
    data: Array,
    seconds: float | None,
    look: Notice | None,
) -> tuple[Scenario, Any]:
    """The scenario with as many draws as fit into `seconds`, and the rule of the neighbour, whose
    search may get smaller; both as they are if `seconds` is None. look : as in `clock.planned`.
    """
    plan = search_plan(len(data), rule) if isinstance(rule, Search) else None
    settings, changes = planned(mechanism, data, scenario.settings, seconds, look, plan)
    return scenario.override(settings.draws, None), rule.model_copy(update=changes)
