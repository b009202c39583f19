"""Every mechanism that a scenario can name: those of this room, and the papers' algorithms.

The papers' algorithms stand on a higher floor. This is the one place where this room names them,
and they are loaded when `REGISTRY` is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dpaudit.mechanisms.base import LawMechanism
from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
from dpaudit.mechanisms.second_moment import AnalyzeGauss, GaussianInverse, SufficientStatistics
from dpaudit.mechanisms.sketching import GaussMix, RandomLinearCombination, RandomProjection
from dpaudit.mechanisms.wishart import AdditiveWishart, InverseWishartDraw, WishartDraw

if TYPE_CHECKING:
    from dpaudit.papers import Algorithm

OWN: tuple[type[LawMechanism], ...] = (
    ALS,
    GaussianLS,
    RPLS,
    RandomProjection,
    RandomLinearCombination,
    GaussMix,
    WishartDraw,
    InverseWishartDraw,
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    SufficientStatistics,
)
PAPERS: dict[str, type[Algorithm]] = importlib.import_module("dpaudit.papers").PAPERS
REGISTRY: dict[str, type[LawMechanism]] = {**{one.__name__: one for one in OWN}, **PAPERS}
