"""The report of an audit by draws: one HTML page without scripts, and the figure of δ(ε).

A figure is a function of `figures`, has a name in `FIGURES`, and stands in templates/report.html.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dpaudit.report.facts import advice, facts, hint, process, tiles
from dpaudit.report.figures import (
    estimate_floor,
    is_close,
    key_figure,
    log_floor,
    panel_figure,
    spectrum_figure,
    tradeoff_figure,
)
from dpaudit.report.pages import embed, render_result
from dpaudit.report.style import as_png, house_style, svg_address
from dpaudit.report.tables import (
    SHORT,
    attacker_table,
    spectrum_table,
    tradeoff_table,
    tried_table,
    values_table,
)
from dpaudit.verdict.numbers import moment
from dpaudit.verdict.record import Curves, lookup, read_curves, section, selected_rows

FIGURES: dict[str, Callable[[Curves], Any]] = {  # of the page, by their names in the template
    "linear": partial(panel_figure, log=False),
    "log": partial(panel_figure, log=True),
    "key": key_figure,
    "tradeoff": tradeoff_figure,
}


def files(result: Mapping[str, Any]) -> dict[str, bytes | str]:
    curves = read_curves(result)
    page = render_html(result, curves)
    with house_style():
        picture = as_png(spectrum_figure(curves))
    return {"spectrum.png": picture, "report.html": page}


def render_html(result: Mapping[str, Any], curves: Curves | None = None) -> str:
    """The page for `result`, the content of result.json.

    curves : the curves of `result`, if they have been read already. Raises `InvalidInput` if
    `result` is not the content of a result.json.
    """
    embedded = embed(result)
    curves = read_curves(result) if curves is None else curves
    with house_style():
        figures = {name: svg_address(draw(curves)) for name, draw in FIGURES.items()}
    return render_result(
        "report.html",
        result,
        embedded=embedded,
        curves=curves,
        title=curves.title,
        tiles=tiles(result, curves),
        advice=advice(result, curves),
        hint=hint(result),
        started=moment(lookup(result, "timings.started")),
        facts=facts(result),
        process=process(result),
        detectable=section(result, "detectable"),
        relation=lookup(result, "neighbour.relation"),
        figures=figures,
        is_close=is_close(curves),
        log_floor=log_floor(curves),
        estimate_floor=estimate_floor(curves),
        short=spectrum_table(curves, selected_rows(curves, SHORT), full=False),
        full=spectrum_table(curves, range(curves.epsilon.size), full=True),
        tradeoff=tradeoff_table(curves),
        attacker=attacker_table(result),
        worst=tried_table(result, SHORT),
        tried=tried_table(result),
        values=values_table(result),
    )
