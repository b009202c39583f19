"""Output laws: what a mechanism maps a database to.

A law draws, and gives the density of its draws. `families` holds the pairs of laws that changing a
row gives, for all rows at once. This room knows nothing of mechanisms, privacy curves or audits.
"""

from dpaudit.laws.base import CHUNK, Law, log_ratio
from dpaudit.laws.density import Density
from dpaudit.laws.discrete import Branches, Discrete, DiscreteGaussian, DiscreteLaplace
from dpaudit.laws.families import (
    ComposedRows,
    ReplacedRows,
    ReplacedStudentRows,
    ReplacedWishartRows,
    ScaleRows,
    ShiftRows,
    SketchRows,
    StudentRows,
    WishartRows,
    ZeroedRows,
)
from dpaudit.laws.matrices import GaussianRows, InverseWishart, ShiftedWishart, bartlett
from dpaudit.laws.sparse_vector import NoisyComparison, ReleasedAnswers
from dpaudit.laws.vectors import Gaussian, GaussianNoise, Laplace, Product, SharedLaplace, StudentT

__all__ = [
    "CHUNK",
    "Branches",
    "ComposedRows",
    "Density",
    "Discrete",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "GaussianNoise",
    "GaussianRows",
    "InverseWishart",
    "Laplace",
    "Law",
    "NoisyComparison",
    "Product",
    "ReleasedAnswers",
    "ReplacedRows",
    "ReplacedStudentRows",
    "ReplacedWishartRows",
    "ScaleRows",
    "SharedLaplace",
    "ShiftRows",
    "ShiftedWishart",
    "SketchRows",
    "StudentRows",
    "StudentT",
    "WishartRows",
    "ZeroedRows",
    "bartlett",
    "log_ratio",
]
