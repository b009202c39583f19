"""The report of an audit of one run: a page, and the figure of right guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpaudit.report import style
from dpaudit.report.facts import NOTE_WIDTH, Fact, Tile, certified_tile, versions
from dpaudit.report.figures import BARS, CLAIM, EXACT, PERFECT
from dpaudit.report.pages import embed, render_result
from dpaudit.report.style import Record
from dpaudit.report.tables import attacker_table
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import assignments, count, equation, label, number, percent, plain
from dpaudit.verdict.record import TITLE_WIDTH, section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = {
    "likelihood": "likelihood ratio of the right guesses",
    "f-dp": "recursion for f-DP",
}
# advice on what to do, by the verdict
ADVICE = {
    "violated": (
        "Do not release with this claim: the run remembers its canaries more than it allows.",
        "Look at clipping, sampling and noise of the training, and at what else it returns.",
    ),
    "not violated": (
        "This is no proof of privacy: other canaries, or another score, may show more.",
        "More canaries, or scores from inside the training, show more.",
    ),
    "inconclusive": (
        "Do not read this as a pass: the audit could not have shown what it was to look for.",
        "Mend what the reason names, or use more canaries.",
    ),
}
TABLE_ADVICE = {  # of a finished table
    **ADVICE,
    "violated": (
        "Do not release this table with this claim: it remembers records more than that allows.",
        "Look for near copies of records, and make the synthesizer forget single records.",
    ),
    "not violated": (
        "This is no proof of privacy: a better attack may show more.",
        "More records in train and hold-out show more; so do many tables, if it can run again.",
    ),
}
ROWS = 14  # most rows of the table of guesses
SIZE = (6.4, 4.4)  # inches, of the figure
TOP = 0.95  # the quantile of right guesses by chance up to which the figure is shaded


def files(record: Record) -> dict[str, bytes | str]:
    with style.house_style():
        picture = style.as_png(figure(record))
    return {"guesses.png": picture, "report.html": render_page(record)}


def render_page(record: Record) -> str:
    canaries, right = record["canaries"], record["guesses"]["right"]
    name = label(record.get("scenario") or "", TITLE_WIDTH)
    mechanism, data = (section(record, key).get("name") for key in ("mechanism", "dataset"))
    subject = label(f"{mechanism} on {data}" if mechanism else name, TITLE_WIDTH)
    of_table = "table" in record
    if of_table:
        subject = "a synthetic table"
    title = ", ".join(filter(None, (subject, f"one run, {count(canaries['count'])} canaries")))
    sizes = record["guesses"]["count"]
    step = max(1, -(-len(sizes) // ROWS))
    rows = [
        (count(sizes[at]), count(right[at]), f"{number(100.0 * right[at] / sizes[at], 3)} %")
        for at in range(len(sizes) - 1, -1, -step)
    ]
    with style.house_style():
        drawn = style.svg_address(figure(record))
    return render_result(
        "one_run.html",
        record,
        embedded=embed(record),
        title=title,
        tiles=tiles(record),
        advice=(TABLE_ADVICE if of_table else ADVICE)[record["verdict"]],
        figure=drawn,
        facts=facts(record),
        rows=rows[::-1],
        attacks=attacks(record),
        attacker=attacker_table(record),
    )


def attacks(record: Record) -> list[tuple[str, ...]]:
    return [
        (
            plain(attack["name"]),
            count(attack["attacks"]),
            *(percent(attack[group]) for group in ("train", "holdout", "random")),
            percent(attack["risk"]),
            " to ".join(percent(end) for end in attack["interval"]),
        )
        for attack in section(record, "table").get("attacks") or ()
    ]


def tiles(record: Record) -> tuple[Tile, ...]:
    head, canaries = Headline.of(record["headline"]), record["canaries"]
    text = plain(section(record, "claim").get("text") or "")
    claimed = "none" if head.claimed is None else equation(head.symbol, head.claimed_text)
    guesses = Tile("Right guesses", "none made", "all scores are equal")
    if sizes := record["guesses"]["count"]:
        share = percent(record["guesses"]["right"][-1] / sizes[-1])
        guesses = Tile("Right guesses", share, f"of {count(sizes[-1])}")
    return (
        Tile("Claimed", claimed, head.at or label(text, NOTE_WIDTH)),
        certified_tile(head, record["level"]),
        Tile("Canaries", count(canaries["count"]), f"{count(canaries['included'])} of them in"),
        guesses,
    )


def facts(record: Record) -> list[Fact]:
    mechanism, canaries, certified = (
        section(record, key) for key in ("mechanism", "canaries", "certified")
    )
    subject = [
        ("Scenario", record.get("scenario")),
        ("Mechanism", mechanism.get("name")),
        ("Parameters", assignments(section(mechanism, "parameters"))),
        ("Data", section(record, "dataset").get("name")),
        ("Kind of canaries", section(record, "inserted").get("kind")),
        ("Score", record.get("score")),
        ("Seed", None if record.get("seed") is None else str(record["seed"])),
    ]
    table = section(record, "table")
    if records := table.get("records"):
        subject += [(f"Records of {name}", count(size)) for name, size in records.items()]
    subject += [
        (f"Records of {name} with a copy in synthetic", percent(share))
        for name, share in section(table, "copies").items()
        if share is not None
    ]
    low, high = canaries["inclusion"]
    shares = record["method"]["shares"].items()
    assumed = section(record, "assumed")
    return [
        *((name, plain(value)) for name, value in subject if value),
        ("Claim", plain(section(record, "claim").get("text") or "none")),
        ("Confidence", percent(record["level"])),
        ("Canaries", f"{count(canaries['count'])}, {count(canaries['included'])} of them in"),
        (
            "Probability of a canary to be in",
            number(low) if low == high else f"{number(low)} to {number(high)}",
        ),
        (
            "Bounds for ε, with their shares of the error probability",
            ", ".join(f"{METHODS.get(name, name)} ({percent(share)})" for name, share in shares),
        ),
        *((f"Assumed {name}", plain(value)) for name, value in assumed.items() if value),
        (
            f"Certified ε at δ = {number(certified['delta'])}",
            number(certified["epsilon"], 3, down=True),
        ),
        (
            "Certified μ, if the mechanism is Gaussian DP",
            number(certified["gdp_mu"], 3, down=True),
        ),
        ("Versions", versions(record)),
    ]


def figure(record: Record) -> Figure:
    return style.one_panel(panel, record, SIZE, ncols=2)


def panel(ax: Axes, record: Record) -> Axes:
    from scipy.stats import binom  # here: slow to import

    size, right = (np.array(record["guesses"][key], dtype=float) for key in ("count", "right"))
    low, high = record["canaries"]["inclusion"]
    chance = max(float(high), 1.0 - float(low))  # the largest probability of a side of the coins
    epsilon = None if record["claim"] is None else record["claim"]["epsilon"]
    if size.size:
        marker = {"marker": "o", "markersize": 3.5}
        ax.plot(size, right / size, label="this run", **{**EXACT, **marker})
        ax.axhline(chance, label="chance", **{**PERFECT, "linewidth": 1.4})
        most = binom.ppf(TOP, size.astype(int), chance) / size
        shaded = {"facecolor": BARS["colors"], "alpha": 0.12, "linewidth": 0}
        ax.fill_between(size, 0.0, most, label="19 of 20 runs by chance", **shaded)
        if epsilon is not None:
            allowed = float(expit(np.log(chance / (1.0 - chance)) + epsilon))
            name = "average that the claimed ε allows"
            ax.axhline(allowed, label=name, **{**CLAIM, "marker": "None"})
    ax.set(xlabel="number of guesses, the strongest first", ylabel="share of right guesses")
    ax.set(xscale="log", ylim=(0.0, 1.04))
    return style.tidy(ax)
