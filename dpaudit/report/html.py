"""The report as one HTML page: no script, nothing fetched, every name escaped, its result.json
inside.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpaudit._core.check import fail
from dpaudit.report.data import Array, Curves, lookup, read_curves, section, spread
from dpaudit.report.facts import facts, process
from dpaudit.report.figures import (
    as_svg,
    house_style,
    log_floor,
    spectrum_figure,
    title,
    tradeoff_figure,
)
from dpaudit.report.text import NONE, number, percent, plain
from dpaudit.report.tradeoff import tradeoff, tradeoff_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# α at which the trade-off curves are printed
ALPHA = np.array([0.0, 1e-4, 1e-3, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 1.0])
# symbol and word carry the verdict, colour only repeats it
BADGES = {"violated": "✕", "not violated": "○", "inconclusive": "?"}


def render_html(result: Mapping[str, Any]) -> str:
    """The page for the content of `result.json`. Raises `InvalidInput` when `result` is not a
    result.
    """
    embedded = embed(result)
    curves = read_curves(result)
    template = environment().get_template("report.html")
    return template.render(
        result=result,
        curves=curves,
        title=title(result),
        symbol=BADGES[result["verdict"]],
        facts=facts(result),
        process=process(result),
        detectable=section(result, "detectable"),
        relation=lookup(result, "neighbour.relation"),
        figures=_figures(result),
        log_floor=log_floor(curves),
        short=_table(curves, spread(curves), full=False),
        full=_table(curves, range(curves.epsilon.size), full=True),
        tradeoff=_tradeoff_table(curves),
        embedded=embedded,
    )


def embed(result: Mapping[str, Any]) -> Markup:
    """`result` as JSON that cannot end the script element it stands in. NaN and infinity are
    refused.
    """
    try:
        text = json.dumps(result, allow_nan=False, indent=1)
    except (TypeError, ValueError) as error:
        fail("result", str(error), "the content of result.json")
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def environment() -> Environment:
    """Templates of this folder, with every value escaped and none left out in silence."""
    environment = Environment(
        loader=PackageLoader("dpaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, percent=percent, plain=plain)
    return environment


def _figures(result: Mapping[str, Any]) -> dict[str, str]:
    """The figures as data addresses. The page chooses between the wide and the stacked one by its
    width.
    """
    with house_style():
        return {
            "wide": _address(spectrum_figure(result)),
            "stacked": _address(spectrum_figure(result, stacked=True)),
            "tradeoff": _address(tradeoff_figure(result)),
        }


def _address(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(as_svg(figure)).decode("ascii")


def _table(curves: Curves, rows: Iterable[int], *, full: bool) -> dict[str, Any]:
    """Column heads and cells of the spectrum table at the grid positions `rows`; `full` has every
    curve.

    Certified bounds are rounded down. A row is marked where the certified bound exceeds its
    reference.
    """
    certified = partial(number, down=True)
    excess = curves.excess if curves.reference is not None else None
    columns: list[tuple[str, Array | None, Callable[[Any], str], bool]] = [
        ("ε (nats)", curves.epsilon, number, True),
        ("Exact δ", curves.exact, number, True),
        ("Asymptotic δ", curves.asymptotic, number, full),
        ("Estimated δ", curves.estimate, number, True),
        ("Certified lower bound", curves.low, certified, True),
        ("Bound, D against D′", curves.forward, certified, full),
        ("Bound, D′ against D", curves.backward, certified, full),
        ("Claimed δ", curves.claim, number, True),
        ("Excess", excess, lambda value: number(value) if value > 0 else NONE, True),
    ]
    shown = [
        (head, values, write)
        for head, values, write, when in columns
        if when and values is not None
    ]
    cells = [
        ([write(values[k]) for _, values, write in shown], bool(curves.excess[k] > 0)) for k in rows
    ]
    return {"heads": [head for head, _, _ in shown], "rows": cells}


def _tradeoff_table(curves: Curves) -> dict[str, Any]:
    """β of every curve of the trade-off figure at a few α; the certified bound, an upper one, is
    rounded up.
    """
    above = np.minimum(tradeoff_above(curves.epsilon, curves.low, ALPHA), 1.0 - ALPHA)

    def implied(delta: Array | None) -> Array | None:
        return None if delta is None else tradeoff(curves.epsilon, delta, ALPHA)

    columns: list[tuple[str, Array | None, Callable[[Any], str]]] = [
        ("α", ALPHA, number),
        ("Exact β", implied(curves.exact), number),
        ("Estimated β", implied(curves.estimate), number),
        ("Certified upper bound", above, partial(number, up=True)),
        ("Claimed β", implied(curves.claim), number),
        ("Perfect privacy", 1.0 - ALPHA, number),
    ]
    shown = [(head, values, write) for head, values, write in columns if values is not None]
    rows = [([write(values[k]) for _, values, write in shown], False) for k in range(len(ALPHA))]
    return {"heads": [head for head, _, _ in shown], "rows": rows}
