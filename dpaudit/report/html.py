"""The report as one HTML page: no script, nothing fetched, names escaped, result.json inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpaudit.report.facts import facts, process
from dpaudit.report.figures import (
    as_svg,
    estimate_floor,
    house_style,
    is_close,
    is_narrow,
    key_figure,
    log_floor,
    panel_figure,
    tradeoff_figure,
)
from dpaudit.report.opening import advice, sentences, tiles
from dpaudit.report.pages import embed, render
from dpaudit.report.tables import (
    SHORT,
    spectrum_table,
    tradeoff_table,
    tried_table,
    values_table,
)
from dpaudit.verdict.numbers import moment
from dpaudit.verdict.record import Curves, lookup, read_curves, section, selected_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# symbol and word carry the verdict, colour only repeats it
BADGES = {"violated": "✕", "not violated": "○", "inconclusive": "?"}


def render_html(result: Mapping[str, Any], curves: Curves | None = None) -> str:
    """The page for the content of result.json.

    Parameters
    ----------
    result : dict
        The content.
    curves : Curves, optional
        Those of `result`, where they have been read already.

    Returns
    -------
    str

    Raises
    ------
    InvalidInput
        Where `result` is not the content of a result.json.
    """
    embedded = embed(result)
    curves = read_curves(result) if curves is None else curves
    return render(
        "report.html",
        result=result,
        curves=curves,
        title=curves.title,
        symbol=BADGES[result["verdict"]],
        tiles=tiles(result, curves),
        sentences=sentences(result),
        advice=advice(result, curves),
        started=moment(lookup(result, "timings.started")),
        facts=facts(result),
        process=process(result),
        detectable=section(result, "detectable"),
        relation=lookup(result, "neighbour.relation"),
        figures=_figures(curves),
        is_close=is_close(curves),
        is_narrow=is_narrow(curves),
        log_floor=log_floor(curves),
        estimate_floor=estimate_floor(curves),
        short=spectrum_table(curves, selected_rows(curves, SHORT), full=False),
        full=spectrum_table(curves, range(curves.epsilon.size), full=True),
        tradeoff=tradeoff_table(curves),
        worst=tried_table(result, SHORT),
        tried=tried_table(result),
        values=values_table(result),
        embedded=embedded,
    )


def _figures(curves: Curves) -> dict[str, str]:
    """The figures as data addresses; the page puts the panels side by side where it is wide."""
    with house_style():
        return {
            "linear": _address(panel_figure(curves, log=False)),
            "log": _address(panel_figure(curves, log=True)),
            "key": _address(key_figure(curves)),
            "tradeoff": _address(tradeoff_figure(curves)),
        }


def _address(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(as_svg(figure)).decode("ascii")
