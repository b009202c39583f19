"""How many draws it takes to refute a claim: the answer of `dpaudit plan`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from dpaudit import power
from dpaudit._core.result_file import plain
from dpaudit.auditing.settings import Settings, in_reach
from dpaudit.auditing.vacuous import fewest
from dpaudit.certify.constants import FEWEST
from dpaudit.cli.table import aligned, hanging
from dpaudit.curves.claims import Claim, refuse_unbreakable
from dpaudit.testing.budget import FALSE_FAILURE
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.numbers import count, number, percent

EXCESS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
DRAWS = (10_000, 100_000, 1_000_000, 10_000_000)  # per side, of the table of what draws show
MANY = 1e9  # draws per side that few would make
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
    """The answer. shown : by draws per side the least excess that they show, None for no excess.

    fewest : draws per side below which an audit refutes nothing, None where no number of them does.
    """

    epsilon: float
    delta: float
    level: float
    power: float
    rows: tuple[Row, ...]
    shown: dict[int, float | None]
    fewest: int | None


def needs(
    claim: tuple[float, float],
    excess: Sequence[float] = (),
    samples: Sequence[int] = (),
    level: float = 0.95,
    chance: float = power.POWER,
) -> Needs:
    """What it takes to refute a claim (ε, δ), and what draws show of it.

    excess, samples : of the two tables; by default the usual ones. chance : the power. Raises
    `InvalidInput` for a value out of range.
    """
    held = Claim(*claim)
    assert held.epsilon is not None
    in_reach(held.epsilon)
    refuse_unbreakable(held, np.array([held.epsilon]))
    wanted = sorted(excess, reverse=True) or [
        *(one for one in EXCESS if one < 1.0 - held.delta),
        *_own(held.delta),
    ]
    shown = {
        draws: _shown(held.epsilon, held.delta, draws, level, chance) for draws in samples or DRAWS
    }
    rows = tuple(_row(held.epsilon, held.delta, one, level, chance) for one in wanted)
    least = _fewest(held, level)
    return Needs(held.epsilon, held.delta, level, chance, rows, shown, least)


def _fewest(claim: Claim, level: float) -> int | None:
    settings = Settings.of(FEWEST, claim=claim, level=level)
    reference = Reference.of(claim, settings.epsilon)
    assert reference is not None
    return fewest(settings, reference, COLUMNS)


def _own(delta: float) -> list[float]:
    """An excess as large as the claimed δ, where all usual ones are larger."""
    return [delta] if 0.0 < delta < EXCESS[-1] else []


def _row(epsilon: float, delta: float, excess: float, level: float, chance: float) -> Row:
    needed = partial(power.draws_to_detect, epsilon, delta, excess, chance)
    audit, early, test = needed(level), needed(level, "verdict"), needed(1.0 - FALSE_FAILURE)
    real = power.least_epsilon(epsilon, delta + excess, delta)
    return Row(excess, delta + excess, real, audit, early, test)


def _shown(epsilon: float, delta: float, draws: int, level: float, chance: float) -> float | None:
    found = power.excess_of(epsilon, delta, draws, chance, level)
    return found if np.isfinite(found) else None


def as_json(found: Needs) -> str:
    """All numbers as JSON; "inf" for 10¹⁵ draws or more."""
    return json.dumps(plain(asdict(found)), indent=1, allow_nan=False, ensure_ascii=False)


def as_text(found: Needs) -> str:
    """The two tables, and in words what can and cannot be shown."""
    claim = f"({found.epsilon:g}, {found.delta:g})-DP"
    asked = (
        f"Draws per side that refute {claim} with probability {number(found.power)} at worst, "
        "by the excess of the true δ over the claimed δ:"
    )
    reverse = (
        f"The least excess that an audit at {percent(found.level)} confidence shows at worst, "
        "by the number of draws:"
    )
    parts = [hanging("", asked), _table(found), hanging("", reverse), _shown_table(found)]
    return "\n\n".join([*parts, "\n".join(hanging("", line) for line in _words(found, claim))])


def as_line(found: Needs) -> str:
    """The draws of an audit, a line for each excess."""
    return "\n".join(
        f"excess {number(one.excess)}: {_draws(one.audit)} draws per side" for one in found.rows
    )


def _table(found: Needs) -> str:
    head = [
        "excess",
        f"δ({number(found.epsilon)})",
        f"least ε at δ = {number(found.delta)}",
        f"audit, {percent(found.level)}",
        "with --stop verdict",
        f"assert_private, {number(FALSE_FAILURE)}",
    ]
    rows = [
        [
            number(one.excess),
            number(one.delta),
            number(one.real_epsilon, 3),
            *(_draws(needed) for needed in (one.audit, one.early, one.test)),
        ]
        for one in found.rows
    ]
    return aligned([head, *rows])


def _shown_table(found: Needs) -> str:
    rows = [
        [count(draws), "none" if excess is None else number(excess, 3)]
        for draws, excess in found.shown.items()
    ]
    return aligned([["draws per side", "least excess shown"], *rows])


def _words(found: Needs, claim: str) -> list[str]:
    """What can be shown, what cannot, and how the draws are counted."""
    costly = [one.excess for one in found.rows if one.audit > MANY]
    beyond = (
        f" An excess of {number(max(costly))} takes more than {number(MANY)} draws per side."
        if costly
        else ""
    )
    epsilon = number(found.epsilon)
    return [
        f"Can be shown: that a mechanism is NOT {claim}, if its δ({epsilon}) on the audited pair "
        f"exceeds {number(found.delta)} by an excess in the table. A tenth of the excess takes "
        f"10 to 100 times the draws.{beyond}{_at_all(found.fewest)}",
        f"Cannot be shown: that a mechanism IS {claim}. A mechanism whose excess is far below the "
        "least one shown passes nearly as often as a mechanism that keeps the claim. So does one "
        "that leaks on another pair, or in a way that the score does not see.",
        f"The draws suffice for every shape of leak with that δ({epsilon}), training included, if "
        "the score is as good as the true loss; scores of many numbers take more to learn. Noise "
        "whose loss has a tail, as Gaussian noise, may take far fewer. "
        "--draws N shows what N draws show, --excess X what an excess of X takes.",
    ]


def _at_all(fewest: int | None) -> str:
    """What is said of the draws with which nothing can be refuted, whatever the mechanism does."""
    if fewest is None:
        return " No number of draws refutes it."
    if fewest <= FEWEST:
        return ""
    return (
        f" About {_draws(fewest)} draws per side are the fewest with which an audit can refute it "
        'at all; with fewer its verdict is "inconclusive".'
    )


def _draws(needed: float) -> str:
    """Two significant digits: the approximation is not better than that."""
    if not np.isfinite(needed):
        return "over 10¹⁵"
    return count(round(float(f"{needed:.2g}"))) if needed < 1e7 else number(needed, 2)
