"""The report of an audit of the steps of DP-SGD: a page, and the accountant's curve beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpaudit.curves.readings import grid_tradeoff
from dpaudit.report import style
from dpaudit.report.facts import Fact, Tile, certified_tile, versions
from dpaudit.report.figures import CLAIM, EXACT
from dpaudit.report.pages import embed, render_result
from dpaudit.report.style import Record
from dpaudit.report.tables import attacker_table
from dpaudit.verdict.attacker import roc_of
from dpaudit.verdict.headline import PREMISE, Headline
from dpaudit.verdict.numbers import count, counted, equation, number, percent, plain
from dpaudit.verdict.record import section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEYOND = "over 10³⁰⁸"  # in place of ∞, of an e-value that float64 cannot hold
SIZE = (4.6, 3.9)  # inches, of a panel; fit to be read on a telephone
ACCOUNTANT, CERTIFIED = "accountant, if its premise is kept", "certified from the steps"
LINE = {**CLAIM, "marker": "None"}
FPR = np.logspace(-4.0, 0.0, 101)  # of the ROC curves
ADVICE = {
    "violated": (
        "Do not release with this ε: the steps do not keep what it was computed from.",
        "Look at what the reason names: clipping, noise or sampling.",
    ),
    "exceeded": (
        "Do not release with this claim: the steps certify a larger ε.",
        "State the accountant's ε, or train with more noise or fewer steps.",
    ),
    "not violated": (
        "This is no proof of privacy: other canaries and later steps may show more.",
        "The claim is the accountant's: compare its ε with the one that you publish.",
    ),
    "inconclusive": (
        "Do not read this as a pass: these steps could not have shown a fault.",
        "Watch more steps, or more canaries with orthogonal directions; pass the sum before noise.",
    ),
}


def files(record: Record) -> dict[str, bytes | str]:
    with style.house_style():
        picture = style.as_png(figure(record))
        panels = [panel] if record.get("attacker") is None else [panel, _roc]
        drawn = [style.svg_address(style.one_panel(draw, record, SIZE)) for draw in panels]
    # whether the certified ε alone refutes a claim
    exceeded = record["verdict"] == "violated" and record["steps"]["violated_at"] is None
    page = render_result(
        "steps.html",
        record,
        embedded=embed(record),
        tiles=tiles(record),
        advice=ADVICE["exceeded" if exceeded else record["verdict"]],
        figures=drawn,
        facts=facts(record),
        attacker=attacker_table(record),
    )
    return {"steps.png": picture, "report.html": page}


def tiles(record: Record) -> tuple[Tile, ...]:
    head, steps = Headline.of(record["headline"]), record["steps"]
    claimant = "Accountant" if head.claimant == PREMISE else "Claimed"
    at = f"at step {steps['largest_at']}" if steps["largest_at"] else "at the start"
    refutes, largest = number(1.0 / (1.0 - record["level"]), 3), steps["largest_e_value"]
    largest = BEYOND if float(largest) == np.inf else number(largest, 3)
    return (
        Tile(claimant, equation(head.symbol, head.claimed_text), head.at),
        certified_tile(head, record["level"]),
        Tile(
            "Canaries", count(steps["canaries"]), f"watched for {counted(steps['steps'], 'step')}"
        ),
        Tile("Largest e-value", largest, f"{at}; {refutes} refutes"),
    )


def facts(record: Record) -> list[Fact]:
    steps, certified = record["steps"], record["certified"]
    values = ", ".join(f"{name} {number(value, 3)}" for name, value in steps["e_values"].items())
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
        ("Versions", versions(record)),
    ]


def figure(record: Record) -> Figure:
    return style.one_panel(panel, record, SIZE)


def panel(ax: Axes, record: Record) -> Axes:
    epsilon, claim, low = _known(record)
    delta, positive = float(record["certified"]["delta"]), low > 0.0
    ax.plot(epsilon, claim, label=ACCOUNTANT, **LINE)
    ax.plot(epsilon[positive], low[positive], label=CERTIFIED, **EXACT)
    ax.axhline(delta, color="0.6", linewidth=0.8)
    ax.set(xlabel="ε (nats)", ylabel="δ", yscale="log", ylim=(0.1 * delta, 1.5))
    return style.tidy(ax)


def _roc(ax: Axes, record: Record) -> Axes:
    """True against false positive rates: the accountant's upper limit, and what is certified."""
    epsilon, claim, _ = _known(record)
    roc = roc_of(record)
    low = np.interp(FPR, roc.fpr, FPR if roc.low is None else roc.low)
    ax.plot(FPR, 1.0 - grid_tradeoff(epsilon, claim, FPR), label=ACCOUNTANT, **LINE)
    ax.plot(FPR, low, label=CERTIFIED, **EXACT)
    ax.plot(FPR, FPR, color="0.6", linewidth=0.8)
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xscale="log", yscale="log")
    return style.tidy(ax)


def _known(record: Record) -> tuple[np.ndarray, ...]:
    """ε of the curves, and δ of the accountant and certified at each, (m,)."""
    return tuple(np.array(record["curves"][name], float) for name in ("epsilon", "claim", "low"))
