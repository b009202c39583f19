"""The report as one HTML page: no script, nothing fetched, names escaped, result.json inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.readings import grid_tradeoff
from dpaudit.report.columns import Column, lower_bound, table, upper_bound
from dpaudit.report.data import Curves, lookup, read_curves, section, selected_rows
from dpaudit.report.facts import facts, process
from dpaudit.report.figures import (
    as_svg,
    house_style,
    log_floor,
    spectrum_figure,
    tradeoff_figure,
)
from dpaudit.report.pages import embed, render
from dpaudit.report.text import NONE, number
from dpaudit.report.tradeoff import tradeoff_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# α at which the trade-off curves are printed
ALPHA = np.array([0.0, 1e-4, 1e-3, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 1.0])
# symbol and word carry the verdict, colour only repeats it
BADGES = {"violated": "✕", "not violated": "○", "inconclusive": "?"}


def render_html(result: Mapping[str, Any], curves: Curves | None = None) -> str:
    """The page for the content of `result.json`.

    curves : those of `result`, where they have been read already.

    Raises `InvalidInput` where `result` is not the content of a result.json.
    """
    embedded = embed(result)
    curves = read_curves(result) if curves is None else curves
    return render(
        "report.html",
        result=result,
        curves=curves,
        title=curves.title,
        symbol=BADGES[result["verdict"]],
        facts=facts(result),
        process=process(result),
        detectable=section(result, "detectable"),
        relation=lookup(result, "neighbour.relation"),
        figures=_figures(curves),
        log_floor=log_floor(curves),
        short=_table(curves, selected_rows(curves), full=False),
        full=_table(curves, range(curves.epsilon.size), full=True),
        tradeoff=_tradeoff_table(curves),
        embedded=embedded,
    )


def _figures(curves: Curves) -> dict[str, str]:
    """The figures as data addresses; the page takes the wide or the stacked one by its width."""
    with house_style():
        return {
            "wide": _address(spectrum_figure(curves)),
            "stacked": _address(spectrum_figure(curves, stacked=True)),
            "tradeoff": _address(tradeoff_figure(curves)),
        }


def _address(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(as_svg(figure)).decode("ascii")


def _table(curves: Curves, rows: Iterable[int], *, full: bool) -> dict[str, Any]:
    """The spectrum table at the grid positions `rows`; `full` has every curve.

    A row is marked where the certified bound exceeds the curve that it is compared with.
    """
    rows = list(rows)
    heads, cells = table(_spectrum_columns(curves, full), rows)
    over = [bool(curves.excess[row] > 0) for row in rows]
    return {"heads": heads, "rows": list(zip(cells, over, strict=True))}


def _spectrum_columns(curves: Curves, full: bool) -> list[Column]:
    excess = None if curves.reference is None else curves.excess
    more = [
        Column("Bound, D against D′", curves.forward, lower_bound),
        Column("Bound, D′ against D", curves.backward, lower_bound),
    ]
    return [
        Column("ε (nats)", curves.epsilon),
        Column("Exact δ", curves.exact),
        *([Column("Asymptotic δ", curves.asymptotic)] if full else []),
        Column("Estimated δ", curves.estimate),
        Column("Certified lower bound", curves.low, lower_bound),
        *(more if full else []),
        Column("Claimed δ", curves.claim),
        Column("Excess", excess, _positive),
    ]


def _positive(excess: float) -> str:
    return number(excess) if excess > 0 else NONE


def _tradeoff_table(curves: Curves) -> dict[str, Any]:
    """β of every curve of the trade-off figure at a few α."""
    above = np.minimum(tradeoff_above(curves.epsilon, curves.low, ALPHA), 1.0 - ALPHA)

    def implied(delta: Array | None) -> Array | None:
        return None if delta is None else grid_tradeoff(curves.epsilon, delta, ALPHA)

    columns = [
        Column("α", ALPHA),
        Column("Exact β", implied(curves.exact)),
        Column("Estimated β", implied(curves.estimate)),
        Column("Certified upper bound", above, upper_bound),
        Column("Claimed β", implied(curves.claim)),
        Column("Perfect privacy", 1.0 - ALPHA),
    ]
    heads, cells = table(columns, range(len(ALPHA)))
    return {"heads": heads, "rows": [(row, False) for row in cells]}
