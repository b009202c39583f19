"""Output laws. A mechanism maps a database to a law; sampling and exact spectra need nothing else
of it.
"""

from dpaudit.laws.base import CHUNK, Law, log_ratio
from dpaudit.laws.branches import Branches
from dpaudit.laws.density import Density
from dpaudit.laws.discrete import Discrete
from dpaudit.laws.families import (
    ComposedRows,
    ScaleRows,
    ShiftRows,
    SketchRows,
    StudentRows,
    WishartRows,
    ZeroedRows,
)
from dpaudit.laws.matrices import GaussianRows, InverseWishart, ShiftedWishart, bartlett
from dpaudit.laws.noise import Laplace, SharedLaplace
from dpaudit.laws.released import ReleasedAnswers
from dpaudit.laws.sparse import Thresholds
from dpaudit.laws.vectors import Gaussian, GaussianNoise, Product, StudentT

__all__ = [
    "CHUNK",
    "Branches",
    "ComposedRows",
    "Density",
    "Discrete",
    "Gaussian",
    "GaussianNoise",
    "GaussianRows",
    "InverseWishart",
    "Laplace",
    "Law",
    "Product",
    "ReleasedAnswers",
    "ScaleRows",
    "SharedLaplace",
    "ShiftRows",
    "ShiftedWishart",
    "SketchRows",
    "StudentRows",
    "StudentT",
    "Thresholds",
    "WishartRows",
    "ZeroedRows",
    "bartlett",
    "log_ratio",
]
