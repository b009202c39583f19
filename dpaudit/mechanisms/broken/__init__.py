"""Broken mechanisms: the claim that is made for each does not hold.

Each has its claim, its true law and a pair of databases on which the claim fails.
"""

# ruff: noqa: F401 -- `__all__` lists what is imported here

from dpaudit.mechanisms.broken.calibration import (
    HalvedSensitivity,
    LocalSensitivity,
    MeanSensitivity,
    NaturalLogGeometric,
    NoisyHistogram2,
    NonDPGaussian1,
    NonDPGaussian2,
    NonDPLaplace1,
    NonDPLaplace2,
    RootTwoSensitivity,
    UnequalCoin,
    VarianceForDeviation,
)
from dpaudit.mechanisms.broken.floats import FloatLaplace
from dpaudit.mechanisms.broken.handling import (
    CachedNoise,
    LateClipping,
    MissingPassed,
    ReportNoisyMax3,
    ReportNoisyMax4,
    ReusedNoise,
)
from dpaudit.mechanisms.broken.least_squares import (
    ResidualScaleLS,
    RowBoundProjection,
    SquaredNoiseLS,
)
from dpaudit.mechanisms.broken.sparse_vector import (
    SparseVector3,
    SparseVector4,
    SparseVector5,
    SparseVector6,
    SVT34Parallel,
)

__all__ = sorted(name for name, kind in globals().items() if isinstance(kind, type))
