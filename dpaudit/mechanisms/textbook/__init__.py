"""Sound mechanisms of textbooks and of published audits.

Each has its law, its claim and a pair of databases that uses up the claim.
"""

from dpaudit.mechanisms.textbook.additive import (
    Gaussian,
    Laplace,
    LaplaceParallel,
    NoisyHistogram1,
    PrefixSum,
)
from dpaudit.mechanisms.textbook.choices import PrivateQuantile, ReportNoisyMax1, ReportNoisyMax2
from dpaudit.mechanisms.textbook.counts import TruncatedGeometric
from dpaudit.mechanisms.textbook.means import DPGaussian, DPLaplace
from dpaudit.mechanisms.textbook.mixed import MixedRelease
from dpaudit.mechanisms.textbook.responses import OneTimeRappor, RandomisedResponse, Rappor
from dpaudit.mechanisms.textbook.sparse_vector import NumericalSVT, SparseVector1, SparseVector2

__all__ = [
    "DPGaussian",
    "DPLaplace",
    "Gaussian",
    "Laplace",
    "LaplaceParallel",
    "MixedRelease",
    "NoisyHistogram1",
    "NumericalSVT",
    "OneTimeRappor",
    "PrefixSum",
    "PrivateQuantile",
    "RandomisedResponse",
    "Rappor",
    "ReportNoisyMax1",
    "ReportNoisyMax2",
    "SparseVector1",
    "SparseVector2",
    "TruncatedGeometric",
]
