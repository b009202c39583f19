"""Exact privacy spectra: analytic, to relative accuracy in the tail. Knows nothing of the empirical
side.

Building blocks return (forward, backward) = (full → zeroed, zeroed → full); ε in nats.
"""

from __future__ import annotations

import importlib
from typing import Any

from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.exact.calibrate import Calibration, calibrate
from dpaudit.exact.pairs.gaussian import gaussian_pair
from dpaudit.exact.privacy_loss import PrivacyLoss, compose
from dpaudit.exact.spectrum import privacy_loss, spectrum
from dpaudit.exact.worst_case import worst_case
from dpaudit.exact.zeroed_rows.additive_wishart import additive_wishart
from dpaudit.exact.zeroed_rows.als import als
from dpaudit.exact.zeroed_rows.gaussian_sketch import gaussian_sketch

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
    """`dpaudit.exact.printed`, the formulas as the papers print them, is loaded on first use (PEP
    562).
    """
    if name == "printed":
        return importlib.import_module("dpaudit.papers.printed")
    raise AttributeError(f"module 'dpaudit.exact' has no attribute {name!r}")
