"""The page of one run: no script, nothing fetched, result.json inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from dpaudit.report.figures import as_svg, house_style
from dpaudit.report.html import BADGES
from dpaudit.report.one_run.figure import Guessed, guesses_figure
from dpaudit.report.opening import Tile, certified_tile, sentences
from dpaudit.report.pages import embed, render
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import assignments, count, equation, label, number, percent, plain
from dpaudit.verdict.record import TITLE_WIDTH, section

METHODS = {
    "likelihood": "likelihood ratio of the right guesses",
    "betting": "betting",
    "steinke": "Steinke, Nasr & Jagielski 2023, theorem 5.2",
    "f-dp": "recursion for f-DP",
}
ROWS = 14  # of the table of guesses


def render_page(record: Mapping[str, Any]) -> str:
    """The page for the content of result.json. Raises `InvalidInput`."""
    with house_style():
        figure = as_svg(guesses_figure(Guessed.of(record)))
    address = "data:image/svg+xml;base64," + base64.b64encode(figure).decode("ascii")
    return render(
        "one_run.html",
        result=record,
        title=_title(record),
        symbol=BADGES[record["verdict"]],
        tiles=tiles(record),
        sentences=sentences(record),
        advice=_advice(record),
        figure=address,
        facts=facts(record),
        rows=_rows(record),
        embedded=embed(record),
    )


def _title(record: Mapping[str, Any]) -> str:
    """ "ALS on flight, one run, 200 canaries"; of scores alone the scenario's name, if any."""
    named = label(record.get("scenario") or "", TITLE_WIDTH)
    mechanism, data = (section(record, key).get("name") for key in ("mechanism", "dataset"))
    what = f"{mechanism} on {data}" if mechanism else named
    canaries = f"one run, {count(record['canaries']['count'])} canaries"
    return ", ".join(filter(None, (label(what, TITLE_WIDTH), canaries)))


def tiles(record: Mapping[str, Any]) -> tuple[Tile, ...]:
    """Claimed, certified or ruled out, canaries and right guesses, in this order."""
    head, canaries = Headline.of(record["headline"]), record["canaries"]
    text = plain(section(record, "claim").get("text") or "")
    claimed = "none" if head.claimed is None else equation(head.symbol, head.claimed_text)
    return (
        Tile("Claimed", claimed, head.at or label(text, 80)),
        certified_tile(head, record["level"]),
        Tile("Canaries", count(canaries["count"]), f"{count(canaries['included'])} of them in"),
        _right(record),
    )


def _right(record: Mapping[str, Any]) -> Tile:
    sizes, right = record["guesses"]["count"], record["guesses"]["right"]
    if not sizes:
        return Tile("Right guesses", "none made", "all scores are equal")
    return Tile("Right guesses", percent(right[-1] / sizes[-1]), f"of {count(sizes[-1])}")


def facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was audited and how, as names and short texts."""
    canaries, certified = record["canaries"], record["certified"]
    low, high = canaries["inclusion"]
    coins = number(low) if low == high else f"{number(low)} to {number(high)}"
    shares = record["method"]["shares"].items()
    bounds = ", ".join(f"{METHODS[name]} ({percent(share)})" for name, share in shares)
    claim = section(record, "claim").get("text")
    return [
        *_subject(record),
        ("Claim", plain(claim) if claim else "none"),
        ("Confidence", percent(record["level"])),
        ("Canaries", f"{count(canaries['count'])}, {count(canaries['included'])} of them in"),
        ("Probability of a canary to be in", coins),
        ("Bounds for ε, with their shares of the error probability", bounds),
        (
            f"Certified ε at δ = {number(certified['delta'])}",
            number(certified["epsilon"], 3, down=True),
        ),
        (
            "Certified μ, if the mechanism is Gaussian DP",
            number(certified["gdp_mu"], 3, down=True),
        ),
        (
            "Versions",
            ", ".join(f"{name} {plain(text)}" for name, text in record["versions"].items()),
        ),
    ]


def _subject(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a scenario says of mechanism, data and canaries; nothing of other audits."""
    mechanism, inserted = section(record, "mechanism"), section(record, "inserted")
    rows = [
        ("Scenario", record.get("scenario")),
        ("Mechanism", mechanism.get("name")),
        ("Parameters", assignments(section(mechanism, "parameters"))),
        ("Data", section(record, "dataset").get("name")),
        ("Kind of canaries", inserted.get("kind")),
        ("Score", record.get("score")),
        ("Seed", None if record.get("seed") is None else str(record["seed"])),
    ]
    return [(name, plain(value)) for name, value in rows if value]


def _rows(record: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Guesses, right ones and their share, at up to `ROWS` numbers of guesses."""
    sizes, right = record["guesses"]["count"], record["guesses"]["right"]
    step = max(1, -(-len(sizes) // ROWS))
    chosen = list(range(len(sizes) - 1, -1, -step))[::-1]
    return [
        (count(sizes[at]), count(right[at]), f"{number(100.0 * right[at] / sizes[at], 3)} %")
        for at in chosen
    ]


def _advice(record: Mapping[str, Any]) -> tuple[str, str]:
    """What now, in two sentences, by the verdict."""
    if record["verdict"] == "violated":
        return (
            "Do not release with this claim: the run remembers its canaries more than it allows.",
            "Look at clipping, sampling and noise of the training, and at what else it returns.",
        )
    if record["verdict"] == "not violated":
        return (
            "This is no proof of privacy: other canaries, or another score, may show more.",
            "More canaries, or scores from inside the training, show more.",
        )
    return (
        "Do not read this as a pass: the audit could not have shown what it was to look for.",
        "Mend what the reason names, or use more canaries.",
    )
