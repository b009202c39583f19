"""The gallery as one HTML page in the look of an audit's report.

It has no script, fetches nothing, and holds its figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpaudit.verdict.numbers import NONE, number, plain
from reports.make import page
from reports.make.findings.evidence import LOOSE
from reports.make.gallery.calibrations import PUBLIC
from reports.make.gallery.mixing import BOUNDS

INVERSES = {
    "epsilon_at_delta": "ε at δ = {delta}",
    "delta_at_1": "δ at ε = 1",
    "total_variation": "Total variation δ(0)",
    "gdp_mu_at_1": "GDP μ at ε = 1",
    "renyi_2": "Rényi, order 2 (nats)",
    "pure_epsilon": "Pure ε",
}
PRINTED_BOUNDS = {name: label for name, (label, _) in BOUNDS.items() if name != "exact"}


def render(content: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    """The page for the content of numbers.json and its figures as PNG."""
    return page.render(
        "gallery.html",
        content=content,
        findings=findings(content),
        pictures={name: page.image(picture) for name, picture in pictures.items()},
        spectra=_spectra(content),
        mixing=_mixing(content["mixing"]),
        calibrations=[
            _calibration(mechanism, content["calibrations"]["epsilon"])
            for mechanism in content["calibrations"]["mechanisms"]
        ],
        compositions=_compositions(content),
        formulas=_formulas(content["formulas"]),
    )


def _table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], marked: Sequence[bool] = ()
) -> dict[str, Any]:
    """A table for the template, whose rows are (cells, whether they are marked)."""
    listed = list(rows)
    marks = marked or [False] * len(listed)
    return {"caption": caption, "heads": heads, "rows": list(zip(listed, marks, strict=True))}


def short(value: Any) -> str:
    """Three digits, as a table of many columns has room for."""
    return NONE if value is None else number(value, 3)


def times(value: Any, exact: Any) -> str:
    """A value with its ratio to the exact one: "159,000 (1.05×)"."""
    known = isinstance(exact, int | float) and isinstance(value, int | float) and exact > 0
    return f"{short(value)} ({number(value / exact, 3)}×)" if known else short(value)


def findings(content: Mapping[str, Any]) -> list[str]:
    """What stands out, in sentences made of the numbers."""
    mixing, formulas = content["mixing"]["table"], content["formulas"]
    spans = []
    for name, label in PRINTED_BOUNDS.items():
        both = [zip(part[name], part["exact"], strict=True) for part in mixing.values()]
        spans.append(f"{_span([a / b for pairs in both for a, b in pairs])} ({label})")
    epsilon = next(iter(mixing.values()))["epsilon"]
    failing = sum(row["verdict"] != LOOSE for row in formulas)
    return [
        f"Gaussian mixing, ε from {epsilon[0]:g} to {epsilon[-1]:g}: the γ asked for is "
        f"{'; '.join(spans)} the exact one.",
        *filter(None, map(_asked, content["calibrations"]["mechanisms"])),
        f"{failing} settings of printed formulas claim too much privacy or give no value; in "
        f"{len(formulas) - failing} others the formulas hold, and are loose by the factors in the "
        "last table.",
    ]


def _asked(mechanism: Mapping[str, Any]) -> str:
    """The printed bounds of a mechanism as ratios to its exact parameter, where they are stated.

    Empty where none is.
    """
    exact, spans = mechanism["series"][mechanism["exact"][-1]], []
    for name, values in mechanism["series"].items():
        if name not in mechanism["exact"]:
            both = zip(values, exact, strict=True)
            ratios = [value / least for value, least in both if value is not None and least > 0]
            low = ", too little where below 1" if ratios and min(ratios) < 1.0 else ""
            spans += [f"{_span(ratios)} ({name}{low})"] if ratios else []
    if not spans:
        return ""
    asked = f"{mechanism['mechanism']}: the printed {mechanism['parameter']}"
    return f"{asked} is {'; '.join(spans)} the exact one."


def _span(ratios: list[float]) -> str:
    low, high = number(min(ratios), 3), number(max(ratios), 3)
    return f"{low} times" if low == high else f"{low} to {high} times"


def _spectra(content: Mapping[str, Any]) -> dict[str, Any]:
    delta = number(content["delta"])
    heads = [label.format(delta=delta) for label in INVERSES.values()]
    rows = []
    for curve in content["spectra"]:
        parameters = ", ".join(
            f"{name} = {plain(value)}"
            for name, value in curve["parameters"].items()
            if name != "release"
        )
        inverses = [short(curve["inverses"][key]) for key in INVERSES]
        rows.append([curve["mechanism"], parameters, number(curve["row"]), *inverses])
    caption = "What is read off each curve, the larger direction."
    return _table(caption, ["Mechanism", "Parameters", "Worst row", *heads], rows)


def _mixing(mixing: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        [
            k,
            number(epsilon),
            short(part["exact"][at]),
            *(times(part[name][at], part["exact"][at]) for name in PRINTED_BOUNDS),
        ]
        for k, part in mixing["table"].items()
        for at, epsilon in enumerate(part["epsilon"])
    ]
    caption = f"Required γ at δ = {number(mixing['delta'])}, with the ratio to the exact one."
    return _table(caption, ["k", "ε (nats)", "exact γ", *PRINTED_BOUNDS.values()], rows)


def _calibration(mechanism: Mapping[str, Any], epsilons: Sequence[float]) -> dict[str, Any]:
    """The parameter of a mechanism by every analysis.

    Ratios are to the exact value for any data, or for these data if there is none. A row is marked
    where a printed bound is below that at some ε.
    """
    series, exact = mechanism["series"], mechanism["exact"]
    least, whole = series[exact[-1]], mechanism["parameter"] in ("rows", "dof")
    rows, marked = [], []
    for name, values in series.items():
        both = list(zip(values, least, strict=True))
        if name in exact:  # rows and degrees of freedom in full
            cells = [number(int(value)) if whole else short(value) for value in values]
        else:
            cells = [times(*each) for each in both]
        rows.append([name, *cells])
        below = any(value is not None and value < enough for value, enough in both)
        marked.append(name not in exact and below)
    against = "for any data within B" if PUBLIC in exact else "for these data"
    ratio = (
        f" In brackets the ratio to the exact value {against}." if len(rows) > len(exact) else ""
    )
    caption = f"{mechanism['title']}, {mechanism['label']}.{ratio} {mechanism['note']}"
    heads = [mechanism["parameter"], *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    return _table(caption, heads, rows, marked)


def _compositions(content: Mapping[str, Any]) -> dict[str, Any]:
    rows = []
    for release in content["compositions"]:
        for n, curves in release["curves"].items():
            at = curves["epsilon_at_delta"]
            bounds = [times(at[name], at["exact"]) for name in ("concentrated", "parts")]
            rows.append([release["title"], n, short(at["exact"]), *bounds])
    heads = ["Release", "n", "exact ε", "concentrated privacy", "basic or advanced composition"]
    caption = f"ε at δ = {number(content['delta'])} of n releases, with the ratio to the exact one."
    return _table(caption, heads, rows)


def _formulas(formulas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rows = [
        [
            *(row[name] for name in ("formula", "source", "setting", "quantity")),
            short(row["printed"]),
            short(row["exact"]),
            NONE if row["factor"] is None else f"{number(row['factor'], 3)}×",
            row["verdict"],
        ]
        for row in formulas
    ]
    caption = (
        "Each formula at one setting. Where it fails, the δ that it claims and the exact one, and "
        "by how many times it is exceeded; where it holds, what it asks for and the least that "
        "keeps the same target exactly."
    )
    heads = ["Formula", "Source", "Setting", "Quantity", "Printed", "Exact", "Factor", "Verdict"]
    return _table(caption, heads, rows, [row["verdict"] != LOOSE for row in formulas])
