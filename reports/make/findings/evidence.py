"""What is printed and what is so: evidence at one setting, and the letters of its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    "columns": "d",
    "chi": "χ",
    "share_of_ones": "P(y = 1)",
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
    "sigma": "σ",
    "sigma_1": "σ₁",
    "sigma_2": "σ₂",
    "other_epsilon": "ε′",
    "norm": "‖a‖",
}
# where a paper has a letter of its own
OWN_SYMBOLS = {
    (2, "rows"): "n",
    (2, "scale"): "s",
    (2, "signal"): "s",
    (2, "bound"): "X",
    (2, "dispersion"): "r(φ)",
    (2, "share"): "±‖Σ⁻¹‖‖G‖",
    (2, "condition"): "κ(Σ)",
    (3, "rows"): "n",
    (3, "row_bound"): "C",
    (3, "features"): "d",
    (3, "failure"): "ϱ",
    (3, "ratio"): "σ/√k",
    (3, "share"): "place of α in its range",
    (3, "eigenvalue"): "λ_min",
    (3, "noise"): "σ²",
    (3, "first"): "√Σ₁",
    (3, "second"): "√Σ₂",
    (3, "shift"): "μ₁ − μ₂",
    (3, "slope"): "b₁",
    (3, "bend"): "b₂",
} | {
    (4, name): letter
    for name, letter in {
        "constant": "C",
        "share": "α/m",
        "part": "Δ/k",
        "beta": "β",
        "norm": "‖β̂‖",
        "other_norm": "‖v′‖/B",
        "turn": "∠(v, v′)/90°",
        "base": "A",
        "change": "B",
        "size": "XᵀX",
    }.items()
}


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


def symbol(paper: int, name: str) -> str:
    """A paper's letter for a parameter, or its name."""
    return OWN_SYMBOLS.get((paper, name), SYMBOLS.get(name, name))


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
