"""Mechanisms whose output law is known: callables `mech(data, size, *, rng)` → (size, k) draws.

`OWN` lists the mechanisms of this package that a scenario can name. `REGISTRY` adds the papers'
algorithms, `PAPERS`. `ZOO` holds the textbook mechanisms and the broken ones, at their published
parameters, each with its claim and a pair of databases. The law of `DPSGD` and of its broken
versions `BROKEN_DPSGD` is not known: they are audited by watching their steps, and an accountant
bounds δ(ε) of `DPSGD`. Nothing in this package imports the code of spectra, sampling or audits.
"""

from __future__ import annotations

from dpaudit._core.lazy import on_first_use
from dpaudit.mechanisms import broken, textbook
from dpaudit.mechanisms.base import ExampleMechanism, LawMechanism
from dpaudit.mechanisms.composition import Composition
from dpaudit.mechanisms.dp_sgd import BROKEN_DPSGD, DPSGD
from dpaudit.mechanisms.integers import DiscreteGaussian, DiscreteLaplace
from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
from dpaudit.mechanisms.scatter import (
    AdditiveWishart,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    WishartDraw,
)
from dpaudit.mechanisms.second_moment import AnalyzeGauss, GaussianInverse, SufficientStatistics

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
ZOO: dict[str, ExampleMechanism] = {
    **{name: getattr(textbook, name)() for name in textbook.__all__},
    **{name: getattr(broken, name)() for name in broken.__all__},
    "MissingPassed at rate 0.01": broken.MissingPassed(rate=0.01),
    "NonDPGaussian1 at 0.1": broken.NonDPGaussian1(epsilon=0.1),
    "NonDPGaussian2 at 0.1": broken.NonDPGaussian2(epsilon=0.1),
    "NonDPLaplace1 at 0.1": broken.NonDPLaplace1(epsilon=0.1),
    "NonDPLaplace2 at 0.1": broken.NonDPLaplace2(epsilon=0.1),
}

__all__ = [
    "BROKEN_DPSGD",
    "DPSGD",
    "OWN",
    "PAPERS",
    "REGISTRY",
    "ZOO",
    "Composition",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExampleMechanism",
    "LawMechanism",
    "broken",
    "textbook",
    *(kind.__name__ for kind in OWN),
]

# `PAPERS` and `REGISTRY` are imported from `dpaudit.papers` when they are first used.
__getattr__ = on_first_use(__name__, {}, modules="PAPERS REGISTRY")[0]
