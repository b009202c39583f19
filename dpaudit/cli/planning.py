"""How many draws a claim needs, on the terminal: a table of excess δ against draws a side, and how
to read it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from dpaudit import power
from dpaudit.auditing.record import plain
from dpaudit.cli.table import aligned, hanging
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput
from dpaudit.report.text import number, percent
from dpaudit.testing.budget import FALSE_FAILURE

EXCESS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
DRAWS = (10_000, 100_000, 1_000_000, 10_000_000)  # of the other table
PATIENCE = 1e9  # draws a side that few would make


@dataclass(frozen=True)
class Row:
    """What one excess over the claim takes.

    excess, delta : δ(ε) less the claimed one, and δ(ε) itself. real_epsilon : ε, nats, at the
    claim's δ of the Gaussian shift with that δ(ε); None for a claim of δ = 0. audit, early, test :
    draws a side of a whole audit, of one that stops at its verdict, and of
    `dpaudit.testing.assert_private`.
    """

    excess: float
    delta: float
    real_epsilon: float | None
    audit: float
    early: float
    test: float


@dataclass(frozen=True)
class Needs:
    """The whole answer. shown : the least excess by draws a side, None where none would show."""

    epsilon: float
    delta: float
    level: float
    power: float
    rows: tuple[Row, ...]
    shown: dict[int, float | None]


def needs(
    claim: tuple[float, float],
    excess: Sequence[float] = (),
    samples: Sequence[int] = (),
    level: float = 0.95,
    chance: float = power.POWER,
) -> Needs:
    """The table for a claim (ε, δ), at the given excesses and numbers of draws or at usual ones.

    Raises `InvalidInput` for a value out of range.
    """
    held = Claim(*claim)
    assert held.epsilon is not None
    if held.delta >= 1.0:
        raise InvalidInput(
            f"claim delta must be below 1 (nothing can refute 1), got {held.delta:g}"
        )
    wanted = sorted(excess, reverse=True) or [
        *(one for one in EXCESS if one < 1.0 - held.delta),
        *_own(held.delta),
    ]
    rows = tuple(_row(held.epsilon, held.delta, one, level, chance) for one in wanted)
    shown = {
        draws: _shown(held.epsilon, held.delta, draws, level, chance) for draws in samples or DRAWS
    }
    return Needs(held.epsilon, held.delta, level, chance, rows, shown)


def _own(delta: float) -> list[float]:
    """The claim's δ once more, where the usual excesses stop before it."""
    return [delta] if 0.0 < delta < EXCESS[-1] else []


def _row(epsilon: float, delta: float, excess: float, level: float, chance: float) -> Row:
    needed = partial(power.draws_to_detect, epsilon, delta, excess, chance)
    audit = needed(level, statements=power.AUDIT_STATEMENTS)
    early = needed(level, "verdict")
    test = needed(1.0 - FALSE_FAILURE, statements=power.AUDIT_STATEMENTS)
    real = (
        None
        if delta == 0.0
        else float(Claim.gdp(power.shift_of(epsilon, delta + excess)).epsilon_at(delta))
    )
    return Row(excess, delta + excess, real, audit, early, test)


def _shown(epsilon: float, delta: float, draws: int, level: float, chance: float) -> float | None:
    found = power.excess_of(epsilon, delta, draws, chance, level, statements=power.AUDIT_STATEMENTS)
    return found if np.isfinite(found) else None


def as_json(found: Needs) -> str:
    """Every number; "inf" from 10¹⁵ draws on."""
    return json.dumps(plain(asdict(found)), indent=1, allow_nan=False, ensure_ascii=False)


def as_text(found: Needs) -> str:
    """The two tables, and in words what they show and cannot show."""
    claim = f"({found.epsilon:g}, {found.delta:g})-DP"
    asked = f"Draws a side that refute {claim} with probability {number(found.power)}, by how much δ is too large:"
    backwards = (
        f"The other way round, what an audit at {percent(found.level)} confidence shows of it:"
    )
    parts = [hanging("", asked), _table(found), hanging("", backwards), _shown_table(found)]
    return "\n\n".join([*parts, "\n".join(hanging("", line) for line in _words(found, claim))])


def _table(found: Needs) -> str:
    epsilon = number(found.epsilon)
    real = found.delta > 0.0
    head = ["excess", f"δ({epsilon})", *([f"ε at δ = {number(found.delta)}"] if real else [])]
    head += [
        f"audit, {percent(found.level)}",
        "with --stop verdict",
        f"assert_private, {number(FALSE_FAILURE)}",
    ]
    rows = [
        [
            number(one.excess),
            number(one.delta),
            *([number(one.real_epsilon, 3)] if real else []),
            *(_draws(count) for count in (one.audit, one.early, one.test)),
        ]
        for one in found.rows
    ]
    return aligned([head, *rows])


def _shown_table(found: Needs) -> str:
    rows = [
        [f"{draws:,}", "none" if excess is None else number(excess, 3)]
        for draws, excess in found.shown.items()
    ]
    return aligned([["draws a side", "least excess shown"], *rows])


def _words(found: Needs, claim: str) -> list[str]:
    """What can be shown, and what cannot."""
    costly = [one.excess for one in found.rows if one.audit > PATIENCE]
    beyond = (
        f" An excess of {number(max(costly))} takes more than {number(PATIENCE)} draws a side."
        if costly
        else ""
    )
    epsilon = number(found.epsilon)
    return [
        f"Can be shown: that a mechanism is NOT {claim}, if its δ({epsilon}) on the audited pair exceeds "
        f"{number(found.delta)} by an excess in the table. A tenth of it takes 10 to 100 times the draws.{beyond}",
        f"Cannot be shown: that a mechanism IS {claim}. One that leaks by much less than the least excess passes "
        "nearly as often as a sound one; so does one that leaks on another pair, or in a way the score does not see.",
        f"Counted for a Gaussian shift with that δ({epsilon}) and a score as good as the truth, training included; "
        "outputs of many numbers take more. --samples N tells what N draws show, --excess X what X takes.",
    ]


def _draws(count: float) -> str:
    """Two digits are all that the approximation is good for."""
    if not np.isfinite(count):
        return "over 10¹⁵"
    return f"{float(f'{count:.2g}'):,.0f}" if count < 1e7 else number(count, 2)
