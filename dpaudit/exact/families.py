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


def front(family: Any, law: str, left_out: tuple[int, ...] = ()) -> np.ndarray:
    """Rows among which the worst is found at every ε; `left_out` are not looked at."""
    found = []
    for rows, *coordinates in orders(family, law):
        rows = rows[~np.isin(rows, left_out)] if left_out else rows
        found.append(rows[pareto(np.column_stack([values[rows] for values in coordinates]))])
    return np.unique(np.concatenate(found))


@singledispatch
def orders(family: Any, law: str) -> list[tuple[np.ndarray, ...]]:
    """Groups (rows, coordinate, …): within a group a row that is larger in every coordinate has the larger δ(ε)."""
    raise TypeError(f"no exact curve for {type(family).__name__}")


@orders.register
def _(family: ShiftRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with μ."""
    return [(np.arange(len(family.mu)), family.mu)]


@orders.register
def _(family: SketchRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with q: with monotone likelihood ratio every set {L > ε} tells more distant scales apart better."""
    return [(np.arange(len(family.leverage)), family.leverage)]


@orders.register
def _(family: StudentRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """At finite r by leverage and residual share; asymptotically by three numbers on either side of h = t.

    Finite: RELIED ON, not proved, that δ is non-decreasing in h and in t (tests/core: random settings, all rows).
    The asymptotic curve is NOT: its axis variance v = (1−t)/(1−h) may come closer to 1 as h or t grows. There δ grows
    with t at a fixed axis law (the other axes are scales), with m at fixed v (Anderson's theorem), and with |1 − v|
    at fixed m²/|1 − v|, since scaling by a and adding N(0, 1 − a²) takes (m, 1 − v) to (am, a²(1 − v)).
    """
    h, t = family.leverage, family.residual_share
    if law == "finite":
        return [(np.arange(len(h)), h, t)]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.abs(t - h)
        spread = np.where(h < 1.0, gap / (1.0 - h), np.inf)
        pull = np.where(h * t > 0.0, h * t / gap, 0.0)
    return [(side, t, spread, pull) for side in (np.flatnonzero(t > h), np.flatnonzero(t <= h)) if len(side)]


def pareto(points: Array) -> np.ndarray:
    """Indices of rows of `points` ≥ 0, (n, k), such that every row is reached by one of them in every coordinate."""
    left, kept = np.arange(len(points)), []
    size = np.log(np.clip(points, 1e-300, 1e300)).sum(axis=1)  # any increasing function finds a point of the front
    while len(left):
        best = left[np.argmax(size[left])]
        kept.append(best)
        left = left[(points[left] > points[best]).any(axis=1)]
    return np.array(kept, dtype=np.intp)
