"""A finding: what a paper prints, what is wrong with it, and evidence, computed on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.report.text import number

EXACT, CERTIFIED, HOLDS = "exact", "certified", "loose"
WRONG, UNDEFINED, SLIP = "claims too much privacy", "gives no value", "not so"
LOOSE, TIGHT = "holds, loose", "holds, exactly"

SYMBOLS = {
    "row_bound": "B",
    "rows": "r",
    "dof": "ν",
    "dim": "d",
    "features": "p",
    "leverage": "q",
    "residual_share": "t",
    "mixtures": "k",
    "mu": "μ",
    "public_rows": "n_B",
    "coef_bound": "R_β",
    "steps": "T",
    "gamma": "γ",
    "rho": "ρ",
    "epsilon": "ε",
    "delta": "δ",
    "padding": "w",
    "order": "α",
    "spread": "C₂",
    "eta": "η",
    "nu": "ν",
    "ridge": "λ",
    "coef": "β",
    "trace": "Tr(Σ)",
    "radius": "Q",
    "depth": "−y/(R‖β‖)",
}
# where a paper has a letter of its own
OWN_SYMBOLS = {(2, "rows"): "n", (3, "rows"): "n", (3, "row_bound"): "C"}


@dataclass(frozen=True)
class Evidence:
    """What is printed, and what is so.

    quantity : of the two values: "δ", or the unit of a parameter. printed : None where the printed
    line has no value. found : the exact value (kind "exact" or "loose") or a certified lower bound
    of it ("certified"). factor : ≥ 1, by how many times the printed line fails or is loose; None
    where no ratio exists. at : what follows from the setting.
    """

    quantity: str
    printed: float | None
    found: float
    kind: str
    verdict: str
    factor: float | None
    at: str = ""

    @property
    def violated(self) -> bool:
        """The printed line fails."""
        return self.verdict not in (LOOSE, TIGHT)


Test = Callable[..., Evidence]
Grid = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Finding:
    """A printed claim that fails, or holds with room.

    key : its name on the command line. paper : 1 to 4. place : "theorem B.5". claim : in words, as
        printed.
    formula : as printed. fault : what is wrong, or how loose it is. corrected : the least change
    that makes it true, "" where nothing needs it. setting : parameters by name, which `test` takes.
    grid : values of some of them over which the claim was swept. fixed : the same test of the
    corrected form. more : other settings that are shown beside the first.
    """

    key: str
    paper: int
    place: str
    claim: str
    formula: str
    fault: str
    corrected: str
    setting: Mapping[str, Any]
    test: Test
    grid: Grid = field(default_factory=dict)
    fixed: Test | None = None
    more: Sequence[Mapping[str, Any]] = ()

    def check(self) -> Evidence:
        """The evidence at the setting, computed now."""
        return self.test(**self.setting)

    def checks(self) -> list[tuple[Mapping[str, Any], Evidence]]:
        """The setting and the `more` of them, each with its evidence."""
        return [(setting, self.test(**setting)) for setting in (self.setting, *self.more)]

    def check_fixed(self) -> Evidence | None:
        """The corrected form at the same setting, None where there is no test of it."""
        return None if self.fixed is None else self.fixed(**self.setting)

    def at(self, evidence: Evidence | None = None, setting: Mapping[str, Any] | None = None) -> str:
        """The setting in the paper's symbols: "k = 1, γ = 10, so ε = 0.684"."""
        parts = [
            f"{self.symbol(name)} = {_written(value)}"
            for name, value in (setting or self.setting).items()
        ]
        return ", ".join([*parts, *([evidence.at] if evidence is not None and evidence.at else [])])

    def symbol(self, name: str) -> str:
        """The paper's letter for a parameter, or its name."""
        return OWN_SYMBOLS.get((self.paper, name), SYMBOLS.get(name, name))


def _written(value: Any) -> str:
    return (
        number(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def claimed(
    printed: float, found: float, *, kind: str = EXACT, quantity: str = "δ", at: str = ""
) -> Evidence:
    """A printed δ, or another upper bound, against the exact value or a certified lower bound."""
    printed, found = float(printed), float(found)
    if math.isnan(printed):
        return Evidence(quantity, None, found, kind, UNDEFINED, None, at)
    wrong = found > printed
    large, small = (found, printed) if wrong else (printed, found)
    factor = large / small if small > 0.0 and math.isfinite(large / small) else None
    failing = WRONG if quantity == "δ" else SLIP
    return Evidence(
        quantity, printed, found, kind if wrong else HOLDS, failing if wrong else LOOSE, factor, at
    )


def asked(quantity: str, size: float, needed: float, at: str = "") -> Evidence:
    """A printed noise, padding, ε or number of rows against the least that keeps the target."""
    size, needed = float(size), float(needed)
    if math.isnan(size):
        return Evidence(quantity, None, needed, EXACT, UNDEFINED, None, at)
    if needed == 0.0:
        return Evidence(quantity, size, needed, HOLDS, LOOSE, None, at)
    ratio = size / needed
    wrong = ratio < 1.0
    factor = max(ratio, 1.0 / ratio) if ratio > 0.0 else None
    return Evidence(
        quantity, size, needed, EXACT if wrong else HOLDS, WRONG if wrong else LOOSE, factor, at
    )


def stated(
    quantity: str, printed: float, found: float, at: str = "", tolerance: float = 1e-9
) -> Evidence:
    """A printed value or equality against the true value.

    It holds where the two agree to `tolerance`, relatively.
    """
    printed, found = float(printed), float(found)
    if math.isclose(printed, found, rel_tol=tolerance):
        return Evidence(quantity, printed, found, HOLDS, TIGHT, 1.0, at)
    ratio = abs(found / printed) if printed != 0.0 else math.inf
    factor = max(ratio, 1.0 / ratio) if 0.0 < ratio < math.inf else None
    return Evidence(quantity, printed, found, EXACT, SLIP, factor, at)
