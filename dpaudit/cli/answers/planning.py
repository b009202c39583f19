"""The output of `dpaudit plan`: how many draws it takes to refute a claim."""

from __future__ import annotations

from dpaudit.certify.constants import FEWEST
from dpaudit.cli.table import aligned, hanging
from dpaudit.run.planning import Needs
from dpaudit.testing.budget import FALSE_FAILURE
from dpaudit.verdict.numbers import count, enough, number, percent

MANY = 1e9  # the text warns of an excess that takes more draws per side than this


def as_line(needs: Needs) -> str:
    return "\n".join(
        f"excess {number(row.excess)}: {enough(row.audit)} draws per side" for row in needs.rows
    )


HEAD = "Draws per side that refute {claim} with probability {power} at worst, by the excess of the "
HEAD += "true δ over the claimed δ:"
SHOWN = (
    "The least excess that an audit at {level} confidence shows at worst, by the number of draws:"
)
WORDS = """Can be shown: that a mechanism is NOT {claim}, if its δ({epsilon}) on the audited pair \
exceeds {delta} by an excess in the table. A tenth of the excess takes 10 to 100 times the \
draws.{limits}
Cannot be shown: that a mechanism IS {claim}. A mechanism whose excess is far below the least one \
shown passes nearly as often as a mechanism that keeps the claim. So does one that leaks on \
another pair, or in a way that the score does not see.
The draws, training included, suffice for every mechanism with that δ({epsilon}), if the \
classifier's score is as good as the true privacy loss. Where an output is many numbers, such a \
score takes more draws to learn. Gaussian noise often takes far fewer draws, and an output of one \
or two numbers a few less, so a report may state a smaller excess than this table. --draws N shows \
what N draws show, --excess X what an excess of X takes."""


def as_text(needs: Needs) -> str:
    claim, epsilon = f"({needs.epsilon:g}, {needs.delta:g})-DP", number(needs.epsilon)
    delta, level = number(needs.delta), percent(needs.level)
    heads = ["excess", f"δ({epsilon})", f"least ε at δ = {delta}", f"audit, {level}"]
    heads += ["with --stop verdict", f"assert_private, {number(FALSE_FAILURE)}"]
    by_excess = [
        [number(row.excess), number(row.delta), number(row.real_epsilon, 3)]
        + [enough(draws) for draws in (row.audit, row.early, row.test)]
        for row in needs.rows
    ]
    by_draws = [
        [count(draws), "none" if excess is None else number(excess, 3)]
        for draws, excess in needs.shown.items()
    ]
    limits = ""
    if costly := [row.excess for row in needs.rows if row.audit > MANY]:
        limits = (
            f" An excess of {number(max(costly))} takes more than {number(MANY)} draws per side."
        )
    if needs.fewest is None:
        limits += " No number of draws refutes it."
    elif needs.fewest > FEWEST:
        limits += (
            f" With fewer than about {enough(needs.fewest)} draws per side an audit cannot refute "
            'it at all, and its verdict is "inconclusive".'
        )
    words = WORDS.format(claim=claim, epsilon=epsilon, delta=delta, limits=limits)
    parts = [
        hanging("", HEAD.format(claim=claim, power=number(needs.power))),
        aligned([heads, *by_excess]),
        hanging("", SHOWN.format(level=level)),
        aligned([["draws per side", "least excess shown"], *by_draws]),
        "\n".join(hanging("", line) for line in words.split("\n")),
    ]
    return "\n\n".join(parts)
