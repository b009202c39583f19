"""The verdict on the terminal, from the content of result.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.cli.table import aligned, hanging, named
from dpaudit.report.columns import Column, lower_bound, table
from dpaudit.report.data import Curves, read_curves, section, selected_rows
from dpaudit.report.facts import facts
from dpaudit.report.text import label, number

PURPOSE = {"test": "certify"}  # of draws, where its name in result.json is another
LEFT_OUT = ("Features", "Label", "Exact spectrum", "Versions")  # in the report
WIDTH = 300  # characters of a value: a long name in a result must not flood the terminal
ROWS = 8  # of the table, at most


def summary(record: Mapping[str, Any]) -> str:
    """What was audited, a table of δ at a few ε, the verdict and its reason."""
    known = [
        (name, label(value, WIDTH))
        for name, value in [*facts(record), _draws(record)]
        if name not in LEFT_OUT
    ]
    return "\n".join(
        [
            named(known),
            "",
            spectrum_table(read_curves(record)),
            "",
            *(hanging("", line) for line in _verdict(record)),
        ]
    )


def spectrum_table(curves: Curves) -> str:
    """ε, exact, estimate, certified and claim at up to 8 ε; certified bounds are rounded down."""
    columns = [
        Column("ε", curves.epsilon),
        Column("exact δ", curves.exact),
        Column("estimate", curves.estimate),
        Column("certified", curves.low, lower_bound),
        Column("claim", curves.claim),
        Column("", curves.excess, lambda excess: "exceeded" if excess > 0 else ""),
    ]
    heads, cells = table(columns, selected_rows(curves, ROWS))
    return aligned([heads, *cells])


def _draws(record: Mapping[str, Any]) -> tuple[str, str]:
    if bets := section(record, "sequential"):
        drawn, bet_on = number(bets["drawn"]), number(bets["tested"])
        return "Draws per side", f"{drawn} in batches, {bet_on} of them bet on"
    parts = [
        f"{number(draws)} to {PURPOSE.get(part, part)}"
        for part, draws in section(record, "samples").items()
    ]
    return "Draws per side", ", ".join(parts)


def _verdict(record: Mapping[str, Any]) -> list[str]:
    lines = [f"{record['verdict'].upper()}: {record['reason']}"]
    if record["verdict"] == "violated":
        return lines
    if detectable := section(record, "detectable"):
        excess, epsilon, power = (number(detectable[key]) for key in ("excess", "epsilon", "power"))
        lines.append(
            f"An excess of {excess} at ε = {epsilon} would have been certified "
            f"with probability {power}."
        )
    return [*lines, "This concerns one pair of databases and one score: it is no proof of privacy."]
