"""Mechanisms: callables `mech(data, size, *, rng)`; those below also know their output law."""

from dpaudit.mechanisms.base import LawMechanism, Mechanism, describe
from dpaudit.mechanisms.least_squares import ALS, RPLS, GaussianLS
from dpaudit.mechanisms.sketching import RandomLinearCombination, RandomProjection

REGISTRY: dict[str, type[LawMechanism]] = {
    mechanism.__name__: mechanism for mechanism in (ALS, GaussianLS, RPLS, RandomProjection, RandomLinearCombination)
}

__all__ = [
    "ALS",
    "REGISTRY",
    "RPLS",
    "GaussianLS",
    "LawMechanism",
    "Mechanism",
    "RandomLinearCombination",
    "RandomProjection",
    "describe",
]
