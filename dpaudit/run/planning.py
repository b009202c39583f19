"""How many draws it takes to refute a claim, whatever the shape of the leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit import power as detection
from dpaudit.auditing.settings import Settings, in_reach
from dpaudit.auditing.vacuous import fewest
from dpaudit.certify.constants import FEWEST
from dpaudit.curves.claims import Claim, refuse_unbreakable
from dpaudit.verdict.headline import Reference

EXCESS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
DRAWS = (10_000, 100_000, 1_000_000, 10_000_000)  # per side, of the table of what draws show
COLUMNS = 1  # numbers in an output


@dataclass(frozen=True)
class Row:
    """The draws that show one excess over the claim, whatever the shape of the leak.

    excess, delta : δ(ε) minus the claimed δ, and δ(ε) itself.
    real_epsilon : nats; the least ε at the claimed δ of mechanisms with that δ(ε).
    audit, early, test : draws per side of an audit, of an audit that stops at its verdict, and of
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
    """The draws that an audit of a claim (ε, δ) needs.

    shown : by draws per side the least excess that they show, None for no excess.
    fewest : draws per side below which an audit refutes nothing, None where no number of them does.
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
    """What it takes to refute a claim (ε, δ), and what draws show of it.

    excess, draws : of the two tables; by default the usual values, and an excess as large as the
    claimed δ where all usual ones are larger. false_failure : of a privacy test. Raises
    `InvalidInput` for a value out of range.
    """
    whole = Claim(*claim)
    epsilon, delta = claim
    in_reach(epsilon)
    refuse_unbreakable(whole, np.array([epsilon]))
    own = [delta] if 0.0 < delta < EXCESS[-1] else []
    wanted = sorted(excess, reverse=True) or [*(x for x in EXCESS if x < 1.0 - delta), *own]
    least = {n: detection.excess_of(epsilon, delta, n, power, level) for n in draws or DRAWS}
    shown = {n: value if np.isfinite(value) else None for n, value in least.items()}
    rows: list[Row] = []
    for x in wanted:
        of_level = partial(detection.draws_to_detect, epsilon, delta, x, power)
        needed = of_level(level), of_level(level, "verdict"), of_level(1.0 - false_failure)
        real = detection.least_epsilon(epsilon, delta + x, delta)
        rows.append(Row(x, delta + x, real, *needed))
    settings = Settings.of(FEWEST, claim=whole, level=level)
    reference = Reference.of(whole, settings.epsilon)
    assert reference is not None
    least_draws = fewest(settings, reference, COLUMNS)
    return Needs(epsilon, delta, level, power, tuple(rows), shown, least_draws)
