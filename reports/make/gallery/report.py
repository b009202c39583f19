"""The gallery as one HTML page in the look of an audit's report.

It has no script, fetches nothing, and holds its figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.report.text import NONE, number, plain
from reports.make import page
from reports.make.findings.evidence import LOOSE
from reports.make.gallery.calibrations import PUBLIC
from reports.make.gallery.mixing import BOUNDS

Table = dict[str, Any]  # caption, heads, rows of (cells, whether it is marked)


def render(content: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    """The page for the content of numbers.json and its figures as PNG."""
    return page.render(
        "gallery.html",
        content=content,
        findings=findings(content),
        pictures={name: page.image(picture) for name, picture in pictures.items()},
        spectra=spectra_table(content),
        mixing=mixing_table(content),
        calibrations=[
            calibration_table(one, content) for one in content["calibrations"]["mechanisms"]
        ],
        compositions=composition_table(content),
        formulas=formula_table(content),
    )


def short(value: Any) -> str:
    """Three digits, as a table of many columns has room for."""
    return NONE if value is None else number(value, 3)


def times(value: Any, exact: Any) -> str:
    """A value with its ratio to the exact one: "159,000 (1.05×)"."""
    if value is None:
        return NONE
    known = isinstance(exact, int | float) and isinstance(value, int | float) and exact > 0
    return f"{short(value)} ({number(value / exact, 3)}×)" if known else short(value)


def findings(content: Mapping[str, Any]) -> list[str]:
    """What stands out, in sentences made of the numbers."""
    mixing, formulas = content["mixing"]["table"], content["formulas"]
    spans = [
        f"{_span(_over(mixing, bound))} ({BOUNDS[bound][0]})"
        for bound in BOUNDS
        if bound != "exact"
    ]
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


def _over(table: Mapping[str, Any], name: str) -> list[float]:
    return [
        a / b for part in table.values() for a, b in zip(part[name], part["exact"], strict=True)
    ]


def _asked(one: Mapping[str, Any]) -> str:
    """The printed bounds of a mechanism as ratios to its exact parameter, where they are stated.

    Empty where none is.
    """
    exact, spans = one["series"][one["exact"][-1]], []
    for name, values in one["series"].items():
        if name not in one["exact"]:
            both = zip(values, exact, strict=True)
            ratios = [value / least for value, least in both if value is not None and least > 0]
            low = ", too little where below 1" if ratios and min(ratios) < 1.0 else ""
            spans += [f"{_span(ratios)} ({name}{low})"] if ratios else []
    return (
        f"{one['mechanism']}: the printed {one['parameter']} is {'; '.join(spans)} the exact one."
        if spans
        else ""
    )


def _span(ratios: list[float]) -> str:
    low, high = number(min(ratios), 3), number(max(ratios), 3)
    return f"{low} times" if low == high else f"{low} to {high} times"


def spectra_table(content: Mapping[str, Any]) -> Table:
    """What is read off each curve."""
    heads = [
        "Mechanism",
        "Parameters",
        "Worst row",
        f"ε at δ = {number(content['delta'])}",
        "δ at ε = 1",
        "Total variation δ(0)",
        "GDP μ at ε = 1",
        "Rényi, order 2 (nats)",
        "Pure ε",
    ]
    rows = []
    for one in content["spectra"]:
        read = [one["inverses"][key] for key in INVERSES]
        given = ", ".join(
            f"{name} = {plain(value)}"
            for name, value in one["parameters"].items()
            if name != "release"
        )
        rows.append(([one["mechanism"], given, number(one["row"]), *map(short, read)], False))
    return {
        "caption": "What is read off each curve, the larger direction.",
        "heads": heads,
        "rows": rows,
    }


INVERSES = (
    "epsilon_at_delta",
    "delta_at_1",
    "total_variation",
    "gdp_mu_at_1",
    "renyi_2",
    "pure_epsilon",
)


def mixing_table(content: Mapping[str, Any]) -> Table:
    """The required γ by each bound."""
    mixing = content["mixing"]
    rows = []
    for k, part in mixing["table"].items():
        for at, epsilon in enumerate(part["epsilon"]):
            bounds = [
                times(part[name][at], part["exact"][at]) for name in BOUNDS if name != "exact"
            ]
            rows.append(([f"{k}", number(epsilon), short(part["exact"][at]), *bounds], False))
    heads = [
        "k",
        "ε (nats)",
        "exact γ",
        *(label for name, (label, _) in BOUNDS.items() if name != "exact"),
    ]
    caption = f"Required γ at δ = {number(mixing['delta'])}, with the ratio to the exact one."
    return {"caption": caption, "heads": heads, "rows": rows}


def calibration_table(one: Mapping[str, Any], content: Mapping[str, Any]) -> Table:
    """The parameter of a mechanism by every analysis.

    Ratios are to the exact value for any data, or for these data if there is none. A row is marked
    where a printed bound is below that at some ε.
    """
    least = one["series"][one["exact"][-1]]
    rows = []
    for name, values in one["series"].items():
        exact = name in one["exact"]
        cells = [
            _written(v, one) if exact else times(v, e) for v, e in zip(values, least, strict=True)
        ]
        below = not exact and any(
            v is not None and v < e for v, e in zip(values, least, strict=True)
        )
        rows.append(([name, *cells], below))
    heads = [
        one["parameter"],
        *(f"ε = {epsilon:g}" for epsilon in content["calibrations"]["epsilon"]),
    ]
    against = "for any data within B" if PUBLIC in one["exact"] else "for these data"
    ratio = (
        f" In brackets the ratio to the exact value {against}."
        if len(rows) > len(one["exact"])
        else ""
    )
    return {
        "caption": f"{one['title']}, {one['label']}.{ratio} {one['note']}",
        "heads": heads,
        "rows": rows,
    }


def _written(value: float, one: Mapping[str, Any]) -> str:
    """Rows and degrees of freedom in full."""
    return number(int(value)) if one["parameter"] in ("rows", "dof") else short(value)


def composition_table(content: Mapping[str, Any]) -> Table:
    """ε at δ = DELTA of n releases, exactly and by composition theorems."""
    rows = []
    for one in content["compositions"]:
        for n, curves in one["curves"].items():
            at = curves["epsilon_at_delta"]
            bounds = [times(at[name], at["exact"]) for name in ("concentrated", "parts")]
            rows.append(([one["title"], n, short(at["exact"]), *bounds], False))
    heads = ["Release", "n", "exact ε", "concentrated privacy", "basic or advanced composition"]
    caption = f"ε at δ = {number(content['delta'])} of n releases, with the ratio to the exact one."
    return {"caption": caption, "heads": heads, "rows": rows}


def formula_table(content: Mapping[str, Any]) -> Table:
    """Each printed formula at its settings."""
    rows = []
    for row in content["formulas"]:
        factor = NONE if row["factor"] is None else f"{number(row['factor'], 3)}×"
        shown = [
            row["source"],
            row["setting"],
            row["quantity"],
            short(row["printed"]),
            short(row["exact"]),
            factor,
        ]
        rows.append(([row["formula"], *shown, row["verdict"]], row["verdict"] != LOOSE))
    caption = (
        "Each formula at one setting. Where it fails, the δ that it claims and the exact one, and "
        "by how many times it is exceeded; where it holds, what it asks for and the least that "
        "keeps the same target exactly."
    )
    heads = ["Formula", "Source", "Setting", "Quantity", "Printed", "Exact", "Factor", "Verdict"]
    return {"caption": caption, "heads": heads, "rows": rows}
