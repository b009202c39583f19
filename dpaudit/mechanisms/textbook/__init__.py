"""Sound mechanisms of textbooks and of published audits.

Each has its law, its claim and a pair of databases that uses up the claim.
"""

# ruff: noqa: F401 -- `__all__` lists what is imported here

from dpaudit.mechanisms.textbook.additive import (
    Gaussian,
    Laplace,
    LaplaceParallel,
    NoisyHistogram1,
    PrefixSum,
    TruncatedGeometric,
)
from dpaudit.mechanisms.textbook.choices import PrivateQuantile, ReportNoisyMax1, ReportNoisyMax2
from dpaudit.mechanisms.textbook.means import DPGaussian, DPLaplace
from dpaudit.mechanisms.textbook.responses import (
    MixedRelease,
    OneTimeRappor,
    RandomisedResponse,
    Rappor,
)
from dpaudit.mechanisms.textbook.sparse_vector import NumericalSVT, SparseVector1, SparseVector2

__all__ = sorted(name for name, kind in globals().items() if isinstance(kind, type))
