"""The index page of a suite: each scenario, its verdict, a link to its report, what changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dpaudit._core.result_file import STEPS, is_one_run
from dpaudit.report import one_run, steps
from dpaudit.report.facts import tiles
from dpaudit.report.pages import BADGES, render
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import NONE, assignments, counted, number
from dpaudit.verdict.record import read_curves, section

SYMBOLS = {**BADGES, "study": "≡", "error": "!"}
COLUMNS = ("mechanism", "data", "neighbour", "claimed", "certified", "shown")
GRAVEST_FIRST = ("error", "violated", "inconclusive", "not violated", "study")


def render_index(
    rows: Sequence[Mapping[str, Any]], against: Mapping[str, Any] | None = None
) -> str:
    """The page: nothing fetched, no script, every name escaped.

    rows : for each scenario its `name`, `kind`, `reason`, `seconds`, `record` (or None) and `link`,
    the path of the report in parts (or None). against : of the comparison with an earlier run,
    `folder`, `moves` (lines by scenario) and `new` (scenarios that it did not have); or None.
    """
    kinds = [row["kind"] for row in rows]
    return render(
        "index.html",
        rows=[_row(row) for row in rows],
        tally=tally(kinds),
        worst=min(kinds, key=GRAVEST_FIRST.index, default="study"),
        symbols=SYMBOLS,
        seconds=f"{number(sum(row['seconds'] for row in rows), 3)} s",
        against=against,
        moved=[name for name, lines in against["moves"].items() if lines] if against else [],
    )


def tally(kinds: Sequence[str], order: Iterable[str] = GRAVEST_FIRST) -> str:
    """How many outcomes there are of each kind: "1 violated, 2 errors". order : of the kinds."""
    nouns = {"error": "errors", "study": "studies"}  # verdicts have no plural
    counts = [(kind, kinds.count(kind)) for kind in order if kind in kinds]
    return ", ".join(counted(size, kind, nouns.get(kind, kind)) for kind, size in counts)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    record, link = row["record"], None
    if row["link"] is not None:  # to a file, of the bytes that its name has on the disk
        link = "/".join(quote(os.fsencode(part), safe="") for part in row["link"])
    cells = dict.fromkeys(COLUMNS, NONE) if record is None else _cells(record)
    return {**row, "seconds": f"{number(row['seconds'], 3)} s", "link": link, **cells}


def _cells(record: Mapping[str, Any]) -> dict[str, str]:
    """The texts of `COLUMNS`: certified: the values ruled out; shown: the detectable excess."""
    if is_one_run(record):
        page = steps if record["kind"] == STEPS else one_run
        claimed, _, canaries, _ = page.tiles(record)
        head = Headline.of(record["headline"])
        neighbour = f"{canaries.value} canaries"
    else:
        curves = read_curves(record)
        claimed, _, _, change = tiles(record, curves)
        head, neighbour = curves.headline, change.value
    mechanism, detectable = section(record, "mechanism"), section(record, "detectable")
    parameters = assignments(section(mechanism, "parameters"))
    excess = f"{number(detectable.get('excess'), 3)} in δ({number(detectable.get('epsilon'), 3)})"
    return {
        "mechanism": str(mechanism.get("name") or NONE)
        + (f" ({parameters})" if parameters else ""),
        "data": str(section(record, "dataset").get("name") or NONE),
        "neighbour": neighbour,
        "claimed": ", ".join(filter(None, (claimed.value, claimed.note))),
        "certified": head.ruled_out,
        "shown": excess if detectable else NONE,
    }
