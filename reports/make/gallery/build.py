"""The gallery: the exact analysis beside what the papers print, as figures and one page.

`spectra`, `mixing`, `calibrations` and `compositions` each have `numbers(settings)`, plain content
for JSON, and `figure(numbers)`, drawn from nothing else; matplotlib is loaded by the first figure.
Here they are put together, with a table of printed formulas, into numbers.json, four figures and
report.html.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.report.study import as_json
from dpaudit.report.style import as_png, house_style
from reports.make.findings import STATEMENTS
from reports.make.findings.evidence import CERTIFIED, LOOSE, UNDEFINED, WRONG, Evidence
from reports.make.findings.outcome import Case, cases
from reports.make.findings.words import setting
from reports.make.gallery import calibrations, compositions, mixing, spectra
from reports.make.gallery.report import render
from reports.make.gallery.settings import DELTA, Settings
from reports.make.page import REPORTS, command, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIGITS = 8  # a calibration is good to ten
SCENARIOS = Path("scenarios/exact")
PARTS: dict[str, Any] = {
    "spectra": spectra,
    "mixing": mixing,
    "calibrations": calibrations,
    "compositions": compositions,
}
# privacy, or a parameter that keeps it; other statements are not about formulas
QUANTITIES = ("δ", "ε", "σ/Δ", "w/B", "w/C", "k")
ORDER = (WRONG, UNDEFINED, LOOSE)


def formulas() -> list[dict[str, Any]]:
    """Every printed formula at each setting that its statement names, those that fail first."""
    rows = [
        row(statement.place, statement.paper, case)
        for statement in STATEMENTS.values()
        if not statement.aside
        for case in cases(statement.test)
        if shown(case.evidence)
    ]
    return sorted(rows, key=lambda one: ORDER.index(one["verdict"]))


def shown(evidence: Evidence) -> bool:
    """Whether there is an exact value of a quantity that the page is about."""
    known = evidence.kind != CERTIFIED and evidence.verdict in ORDER
    return known and evidence.quantity in QUANTITIES


def row(place: str, paper: int, case: Case) -> dict[str, Any]:
    """One line of the table: `quantity` as printed and as it is.

    factor : ≥ 1, by how many times the formula fails (in δ) or is loose.
    """
    evidence = case.evidence
    return {
        "formula": place,
        "source": f"paper {paper}",
        "setting": ", ".join(filter(None, (setting(case.setting, paper), evidence.at))),
        "quantity": evidence.quantity,
        "printed": evidence.printed,
        "exact": evidence.found,
        "factor": evidence.factor,
        "verdict": evidence.verdict,
    }


def numbers(settings: Settings) -> dict[str, Any]:
    """Everything that is shown, as JSON has it: infinity is "inf", what does not exist null."""
    data = {
        "name": settings.name,
        "rows": len(settings.database),
        "row_bound": settings.row_bound,
    }
    content = {
        "data": data,
        "delta": DELTA,
        **{name: part.numbers(settings) for name, part in PARTS.items()},
        "formulas": formulas(),
    }
    plain: dict[str, Any] = as_json(content, DIGITS)
    return plain


def figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """The figures of `numbers`, by name."""
    return {name: part.figure(content[name]) for name, part in PARTS.items()}


def build(settings: Settings, folder: str | Path) -> dict[str, Any]:
    """Compute, draw and write; returns the content of numbers.json.

    The same settings give the same bytes.
    """
    folder = Path(folder)
    content = numbers(settings)
    with house_style():
        pictures = {name: as_png(figure, dpi=100) for name, figure in figures(content).items()}
    for name, picture in pictures.items():
        write(folder / f"{name}.png", picture)
    write(folder / "report.html", render(content, pictures))
    as_text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    write(folder / "numbers.json", as_text + "\n")
    return content


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the exact analysis beside what the papers print: figures, numbers, one page."""
    parser = argparse.ArgumentParser(prog=command("gallery"), description=main.__doc__)
    out = REPORTS / "exact"
    parser.add_argument("--out", type=Path, default=out, help=f"folder to write ({out})")
    about = f"folder of the scenario files ({SCENARIOS})"
    parser.add_argument("--scenarios", type=Path, default=SCENARIOS, help=about)
    options = parser.parse_args(arguments)
    build(Settings.of_scenarios(list(options.scenarios.glob("*.toml"))), options.out)
    print(options.out / "report.html")
    return 0
