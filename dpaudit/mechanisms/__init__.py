"""Mechanisms that know their output law: callables `mech(data, size, *, rng)` → (size, k) draws.

`REGISTRY` names every mechanism that a scenario can name, those of the papers too. `ZOO` holds the
textbook mechanisms and the broken ones, each with its claim and a pair of databases. `DPSGD` and
its broken versions `BROKEN_DPSGD` know no law: they are watched step by step. This room knows
nothing of spectra, sampling or audits. Its names are loaded on first use (PEP 562), so that
one mechanism can be had without the zoo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.mechanisms import broken, textbook
    from dpaudit.mechanisms.base import LawMechanism
    from dpaudit.mechanisms.broken.dp_sgd import BROKEN_DPSGD
    from dpaudit.mechanisms.composition import Composition
    from dpaudit.mechanisms.dp_sgd import DPSGD
    from dpaudit.mechanisms.example import ExampleMechanism
    from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
    from dpaudit.mechanisms.registry import PAPERS, REGISTRY
    from dpaudit.mechanisms.second_moment import AnalyzeGauss, GaussianInverse, SufficientStatistics
    from dpaudit.mechanisms.sketching import GaussMix, RandomLinearCombination, RandomProjection
    from dpaudit.mechanisms.wishart import AdditiveWishart, InverseWishartDraw, WishartDraw
    from dpaudit.mechanisms.zoo import ZOO

_MODULES = {
    "base": ("LawMechanism",),
    "broken.dp_sgd": ("BROKEN_DPSGD",),
    "composition": ("Composition",),
    "dp_sgd": ("DPSGD",),
    "example": ("ExampleMechanism",),
    "least_squares": ("ALS", "RPLS", "GaussianLS"),
    "registry": ("PAPERS", "REGISTRY"),
    "second_moment": ("AnalyzeGauss", "GaussianInverse", "SufficientStatistics"),
    "sketching": ("GaussMix", "RandomLinearCombination", "RandomProjection"),
    "wishart": ("AdditiveWishart", "InverseWishartDraw", "WishartDraw"),
    "zoo": ("ZOO",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ALS",
    "BROKEN_DPSGD",
    "DPSGD",
    "PAPERS",
    "REGISTRY",
    "RPLS",
    "ZOO",
    "AdditiveWishart",
    "AnalyzeGauss",
    "Composition",
    "ExampleMechanism",
    "GaussMix",
    "GaussianInverse",
    "GaussianLS",
    "InverseWishartDraw",
    "LawMechanism",
    "RandomLinearCombination",
    "RandomProjection",
    "SufficientStatistics",
    "WishartDraw",
    "broken",
    "textbook",
]


def __getattr__(name: str) -> Any:
    """Load on first use (PEP 562)."""
    if name in ("broken", "textbook"):
        return importlib.import_module(f"dpaudit.mechanisms.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"dpaudit.mechanisms.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit.mechanisms' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
