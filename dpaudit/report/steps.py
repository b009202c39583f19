"""The report of an audit of the steps of DP-SGD: a page, and the accountant's curve beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.report.facts import Fact, Tile, certified_tile
from dpaudit.report.figures import CLAIM, EXACT
from dpaudit.report.pages import embed, render_result
from dpaudit.report.style import (
    as_png,
    as_svg,
    data_address,
    house_style,
    legend,
    new_figure,
    pyplot_axes,
    tidy,
)
from dpaudit.report.tables import attacker_table
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import count, counted, equation, number, percent, plain
from dpaudit.verdict.record import section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 4.4)  # inches, of the figure
ADVICE = {
    "violated": (
        "Do not release with this ε: the steps do not keep what it was computed from.",
        "Look at what the reason names: clipping, noise or sampling.",
    ),
    "not violated": (
        "This is no proof of privacy: other canaries and later steps may show more.",
        "Several canaries of their own features, and shift and noise of each step, show more.",
    ),
    "inconclusive": (
        "Do not read this as a pass: these steps could not have shown a fault.",
        "Watch more steps, or more canaries with orthogonal directions.",
    ),
}


def files(record: Mapping[str, Any]) -> dict[str, bytes | str]:
    """The content of report.html and steps.png, by name. Raises `InvalidInput`."""
    with house_style():
        picture, drawn = as_png(figure(record)), as_svg(figure(record))
    page = render_result(
        "steps.html",
        record,
        embedded=embed(record),
        tiles=tiles(record),
        advice=ADVICE[record["verdict"]],
        figure=data_address(drawn, "svg+xml"),
        facts=facts(record),
        attacker=attacker_table(record),
    )
    return {"steps.png": picture, "report.html": page}


def tiles(record: Mapping[str, Any]) -> tuple[Tile, ...]:
    """The accountant's ε, certified or ruled out, canaries and the e-value, in this order."""
    head, steps = Headline.of(record["headline"]), record["steps"]
    at = f"reached at step {steps['largest_at']}" if steps["largest_at"] else "at the start"
    return (
        Tile("Accountant", equation(head.symbol, head.claimed_text), head.at),
        certified_tile(head, record["level"]),
        Tile(
            "Canaries", count(steps["canaries"]), f"watched for {counted(steps['steps'], 'step')}"
        ),
        Tile("Largest e-value", number(steps["largest_e_value"], 3), at),
    )


def facts(record: Mapping[str, Any]) -> list[Fact]:
    """What was audited and how, as names and short texts."""
    steps, certified = record["steps"], record["certified"]
    values = ", ".join(f"{name} {number(value, 3)}" for name, value in steps["e_values"].items())
    versions = ", ".join(f"{name} {plain(text)}" for name, text in record["versions"].items())
    return [
        ("Claim", plain(section(record, "claim").get("text") or "")),
        ("Claimed noise multiplier σ", number(steps["noise_multiplier"])),
        ("Claimed sampling rate q", number(steps["sample_rate"])),
        ("Confidence", percent(record["level"])),
        ("Directions of canaries", "orthogonal" if steps["orthogonal"] else "not orthogonal"),
        ("Shift of the canaries", "passed at each step" if steps["shifts"] else "estimated"),
        ("Certified μ of a step", number(certified["mu"], 3, down=True)),
        (
            "Composed over",
            f"{counted(certified['steps'], 'step')} at rate {number(certified['sample_rate'])}",
        ),
        (
            f"Certified ε at δ = {number(certified['delta'])}",
            number(certified["epsilon"], 3, down=True),
        ),
        ("e-values at the end", values),
        ("Versions", versions),
    ]


def figure(record: Mapping[str, Any]) -> Figure:
    """A figure of δ(ε): the accountant's curve and the certified one, on a log axis."""
    drawn = new_figure(*SIZE)
    ax = _panel(drawn.subplots(), record)
    legend(drawn, *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def plot(record: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw `figure` on axes with their own legend, by default of a new pyplot figure."""
    ax = _panel(ax or pyplot_axes(*SIZE), record)
    legend(ax, *ax.get_legend_handles_labels(), loc="best")
    return ax


def _panel(ax: Axes, record: Mapping[str, Any]) -> Axes:
    curves, delta = record["curves"], float(record["certified"]["delta"])
    epsilon, claim, low = (np.array(curves[name], float) for name in ("epsilon", "claim", "low"))
    ax.plot(
        epsilon, claim, label="accountant, if its premise is kept", **{**CLAIM, "marker": "None"}
    )
    positive = low > 0.0
    ax.plot(epsilon[positive], low[positive], label="certified from the steps", **EXACT)
    ax.axhline(delta, color="0.6", linewidth=0.8)
    ax.set(xlabel="ε (nats)", ylabel="δ", yscale="log", ylim=(0.1 * delta, 1.5))
    return tidy(ax)
