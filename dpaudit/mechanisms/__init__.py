"""Mechanisms: callables `mech(data, size, *, rng)`; those below also know their output law."""

from dpaudit.mechanisms import broken, textbook
from dpaudit.mechanisms.base import LawMechanism, Mechanism, describe
from dpaudit.mechanisms.composition import Composition
from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
from dpaudit.mechanisms.papers import PAPERS, Algorithm
from dpaudit.mechanisms.second_moment import AnalyzeGauss, GaussianInverse, SufficientStatistics
from dpaudit.mechanisms.sketching import GaussMix, RandomLinearCombination, RandomProjection
from dpaudit.mechanisms.specimen import Specimen
from dpaudit.mechanisms.wishart import AdditiveWishart, InverseWishartDraw, WishartDraw
from dpaudit.mechanisms.zoo import ZOO

REGISTRY: dict[str, type[LawMechanism]] = {
    mechanism.__name__: mechanism
    for mechanism in (
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
}
REGISTRY.update(PAPERS)

__all__ = [
    "ALS",
    "PAPERS",
    "REGISTRY",
    "RPLS",
    "ZOO",
    "AdditiveWishart",
    "Algorithm",
    "AnalyzeGauss",
    "Composition",
    "GaussMix",
    "GaussianInverse",
    "GaussianLS",
    "InverseWishartDraw",
    "LawMechanism",
    "Mechanism",
    "RandomLinearCombination",
    "RandomProjection",
    "Specimen",
    "SufficientStatistics",
    "WishartDraw",
    "broken",
    "describe",
    "textbook",
]
