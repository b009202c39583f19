"""The exact curves of `ZeroedRows` families: one row's two directions, and which rows can be the worst."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from dpaudit._check import Array
from dpaudit.exact.als import als
from dpaudit.exact.gaussian import gaussian_shift
from dpaudit.exact.rows import gaussian_sketch
from dpaudit.laws import ShiftRows, SketchRows, StudentRows


@singledispatch
def curves(family: Any, index: int, epsilon: Array, law: str) -> tuple[Array, Array, str]:
    """(forward, backward, name of the law) when row `index` is zeroed."""
    raise TypeError(f"no exact curve for {type(family).__name__}")


@curves.register
def _(family: ShiftRows, index: int, epsilon: Array, law: str) -> tuple[Array, Array, str]:
    mu = family.mu[index]
    delta = gaussian_shift(mu, epsilon) if np.isfinite(mu) else np.ones_like(epsilon)
    return delta, delta, "Gaussian shift"


@curves.register
def _(family: SketchRows, index: int, epsilon: Array, law: str) -> tuple[Array, Array, str]:
    return (*gaussian_sketch(family.leverage[index], family.rows, epsilon), "Gaussian rows (chi-square)")


@curves.register
def _(family: StudentRows, index: int, epsilon: Array, law: str) -> tuple[Array, Array, str]:
    h, t = family.leverage[index], family.residual_share[index]
    name = "Student t (finite rows)" if law == "finite" else "Gaussian (rows to infinity)"
    return (*als(h, t, family.features, family.rows, epsilon, law), name)


@singledispatch
def front(family: Any) -> np.ndarray:
    """Rows among which the worst is found at every ε."""
    raise TypeError(f"no exact curve for {type(family).__name__}")


@front.register
def _(family: ShiftRows) -> np.ndarray:
    """δ grows with μ."""
    return np.array([int(np.argmax(family.mu))])


@front.register
def _(family: SketchRows) -> np.ndarray:
    """δ grows with q: with monotone likelihood ratio every set {L > ε} tells more distant scales apart better."""
    return np.array([int(np.argmax(family.leverage))])


@front.register
def _(family: StudentRows) -> np.ndarray:
    """Rows that no other row exceeds in both leverage and residual share.

    RELIED ON, not proved: δ is non-decreasing in h and in t, at finite r and asymptotically. Tested over random
    settings in tests/exact/test_worst_case.py, and against all rows of real data.
    """
    return pareto(family.leverage, family.residual_share)


def pareto(first: Array, second: Array) -> np.ndarray:
    """Indices of the points that no other point dominates, by descending `first`."""
    order = np.lexsort((-second, -first))
    best = np.maximum.accumulate(second[order])
    keep = np.concatenate([[True], second[order][1:] > best[:-1]])
    return np.asarray(order[keep])
