"""The verdict on the terminal, from the content of result.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dpaudit.cli.table import aligned, hanging, named
from dpaudit.report.data import Array, read_curves, section, spread
from dpaudit.report.facts import facts
from dpaudit.report.text import label, number

LEFT_OUT = ("Features", "Label", "Exact spectrum", "Versions")  # in the report
WIDTH, ROWS = 100, 8


def summary(record: Mapping[str, Any]) -> str:
    """What was audited, δ at a few ε, the verdict and its reason."""
    known = [
        (name, label(value, WIDTH))
        for name, value in [*facts(record), _draws(record)]
        if name not in LEFT_OUT
    ]
    return "\n".join(
        [
            named(known),
            "",
            spectrum_table(record),
            "",
            *(hanging("", line) for line in _verdict(record)),
        ]
    )


def spectrum_table(record: Mapping[str, Any]) -> str:
    """ε, exact, estimate, certified and claim at up to 8 ε; certified bounds are rounded down."""
    curves = read_curves(record)
    columns: list[tuple[str, Array | None, Callable[[Any], str]]] = [
        ("ε", curves.epsilon, number),
        ("exact δ", curves.exact, number),
        ("estimate", curves.estimate, number),
        ("certified", curves.low, partial(number, down=True)),
        ("claim", curves.claim, number),
    ]
    shown = [(head, values, write) for head, values, write in columns if values is not None]
    over = curves.excess if curves.reference is not None else 0.0 * curves.low
    rows = [
        [*(write(values[at]) for _, values, write in shown), "exceeded" if over[at] > 0 else ""]
        for at in spread(curves, ROWS)
    ]
    return aligned([[*(head for head, _, _ in shown), ""], *rows])


def _draws(record: Mapping[str, Any]) -> tuple[str, str]:
    if waves := section(record, "sequential"):
        return (
            "Draws a side",
            f"{number(waves['drawn'])} in waves, {number(waves['tested'])} of them bet on",
        )
    parts = [f"{number(count)} to {part}" for part, count in section(record, "samples").items()]
    return "Draws a side", ", ".join(parts).replace("to test", "to certify")


def _verdict(record: Mapping[str, Any]) -> list[str]:
    lines = [f"{record['verdict'].upper()}: {record['reason']}"]
    if record["verdict"] == "violated":
        return lines
    if detectable := section(record, "detectable"):
        excess, epsilon, power = (number(detectable[key]) for key in ("excess", "epsilon", "power"))
        lines.append(
            f"An excess of {excess} at ε = {epsilon} would have been certified with probability {power}."
        )
    return [*lines, "This is about one pair of databases and one score: no proof of privacy."]
