"""Broken mechanisms: the claim that is made for each does not hold.

Each has its claim, its true law and a pair of databases on which the claim fails.
"""

from dpaudit.mechanisms.broken.choices import ReportNoisyMax3, ReportNoisyMax4
from dpaudit.mechanisms.broken.counts import NaturalLogGeometric, NoisyHistogram2, UnequalCoin
from dpaudit.mechanisms.broken.floats import FloatLaplace
from dpaudit.mechanisms.broken.gaussian import (
    HalvedSensitivity,
    LocalSensitivity,
    MeanSensitivity,
    RootTwoSensitivity,
    VarianceForDeviation,
)
from dpaudit.mechanisms.broken.handling import CachedNoise, LateClipping, MissingPassed, ReusedNoise
from dpaudit.mechanisms.broken.least_squares import (
    ResidualScaleLS,
    RowBoundProjection,
    SquaredNoiseLS,
)
from dpaudit.mechanisms.broken.means import (
    NonDPGaussian1,
    NonDPGaussian2,
    NonDPLaplace1,
    NonDPLaplace2,
)
from dpaudit.mechanisms.broken.sparse_vector import (
    SparseVector3,
    SparseVector4,
    SparseVector5,
    SparseVector6,
    SVT34Parallel,
)

__all__ = [
    "CachedNoise",
    "FloatLaplace",
    "HalvedSensitivity",
    "LateClipping",
    "LocalSensitivity",
    "MeanSensitivity",
    "MissingPassed",
    "NaturalLogGeometric",
    "NoisyHistogram2",
    "NonDPGaussian1",
    "NonDPGaussian2",
    "NonDPLaplace1",
    "NonDPLaplace2",
    "ReportNoisyMax3",
    "ReportNoisyMax4",
    "ResidualScaleLS",
    "ReusedNoise",
    "RootTwoSensitivity",
    "RowBoundProjection",
    "SVT34Parallel",
    "SparseVector3",
    "SparseVector4",
    "SparseVector5",
    "SparseVector6",
    "SquaredNoiseLS",
    "UnequalCoin",
    "VarianceForDeviation",
]
