"""Exact privacy spectra: analytic, to relative accuracy in the tail.

It holds the spectrum of a mechanism on a pair, the worst case over all neighbours, calibration and
composition. `pairs/` has a file for each kind of pair of laws, `zeroed_rows/` the laws that differ
by one zeroed row, for all rows at once, `numerics/` the numerical methods. A mechanism is asked for
its output law alone: the room imports no mechanism, no paper and nothing of the empirical side.

Building blocks return (forward, backward) = (full → zeroed, zeroed → full); ε in nats.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.curves.gaussian_shift import gaussian_shift
    from dpaudit.exact.calibration import Calibration, calibrate
    from dpaudit.exact.composition import PrivacyLoss, compose
    from dpaudit.exact.pair_spectrum import privacy_loss, spectrum
    from dpaudit.exact.pairs.gaussian import gaussian_pair
    from dpaudit.exact.worst_neighbour import worst_case
    from dpaudit.exact.zeroed_rows.additive_wishart import additive_wishart
    from dpaudit.exact.zeroed_rows.als import als
    from dpaudit.exact.zeroed_rows.gaussian_sketch import gaussian_sketch

# No module of this folder has the name of a function: importing it would hide the function.
_HOME = {
    "Calibration": "dpaudit.exact.calibration",
    "PrivacyLoss": "dpaudit.exact.composition",
    "additive_wishart": "dpaudit.exact.zeroed_rows.additive_wishart",
    "als": "dpaudit.exact.zeroed_rows.als",
    "calibrate": "dpaudit.exact.calibration",
    "compose": "dpaudit.exact.composition",
    "gaussian_pair": "dpaudit.exact.pairs.gaussian",
    "gaussian_shift": "dpaudit.curves.gaussian_shift",
    "gaussian_sketch": "dpaudit.exact.zeroed_rows.gaussian_sketch",
    "privacy_loss": "dpaudit.exact.pair_spectrum",
    "spectrum": "dpaudit.exact.pair_spectrum",
    "worst_case": "dpaudit.exact.worst_neighbour",
}

__all__ = [
    "Calibration",
    "PrivacyLoss",
    "additive_wishart",
    "als",
    "calibrate",
    "compose",
    "gaussian_pair",
    "gaussian_shift",
    "gaussian_sketch",
    "printed",
    "privacy_loss",
    "spectrum",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    """Load on first use (PEP 562); `printed` is another name of `dpaudit.papers.printed`."""
    if name == "printed":
        return importlib.import_module("dpaudit.papers.printed")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit.exact' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
