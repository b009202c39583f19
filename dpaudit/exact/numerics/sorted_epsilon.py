"""Compute a curve on ascending ε, check it, and return it in the caller's shape.

The check rests on what is true of any two laws. With γ = e^ε the curve ∫(p − γq)₊ is convex and
non-increasing on γ > 0, and at 1/γ it is 1 − 1/γ plus 1/γ times the other direction's: so both
directions are parts of one convex function, and their values at ε = 0 are one number. They come
from different integrals, so an error in either shows as a bend the wrong way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.numerics.special import unresolved

Curves = tuple[Array, Array]
Number = TypeVar("Number", float, Array)

ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
SMALLEST = 1e-280  # smallest δ that is checked
APART = 1e-6  # relative, of ε: closer ones differ by less than ε's own rounding may move δ


@dataclass(frozen=True)
class Accuracy:
    """The largest error of a computed δ: a relative part plus an absolute one."""

    relative: float = 1e-8
    absolute: float = 0.0

    @classmethod
    def of_squares(cls, count: float) -> Accuracy:
        """The accuracy of a function of √(sum of `count` squares), which is rounded."""
        return cls(max(1e-8, ROUNDING * float(np.sqrt(count))))


PROMISED = Accuracy()


def by_sorted_epsilon(
    epsilon: ArrayLike, method: Callable[[Array], Curves], accuracy: Accuracy = PROMISED
) -> Curves:
    """(forward, backward) δ in the shape of `epsilon`, checked.

    method : sorted distinct ε → (forward, backward). Raises `InvalidInput`; `NoExactSpectrum` where
    the check fails.
    """
    epsilon = check.epsilon(epsilon)
    distinct, back = np.unique(epsilon, return_inverse=True)
    forward, backward = method(distinct)
    check_shape(distinct, forward, backward, accuracy)
    back = back.reshape(epsilon.shape)
    return forward[back] + 0.0, backward[back] + 0.0  # never −0.0


def check_shape(
    epsilon: Array, forward: Array, backward: Array, accuracy: Accuracy = PROMISED
) -> None:
    """Raises `NoExactSpectrum` where two curves on ascending ε ≥ 0 cannot be those of two laws."""
    both = np.stack([forward, backward])
    if not (both.min() >= 0.0 and both.max() <= 1.0):  # NaN too
        _refuse("a value is outside [0, 1]", epsilon[0])
    _check_convex(epsilon, both, accuracy)
    # by the one or two smallest ε, whether the two directions fit together
    near, ahead, back = (side[:2].tolist() for side in (epsilon, forward, backward))
    if near[0] == 0.0 and max(ahead[0], back[0]) > _above(min(ahead[0], back[0]), accuracy):
        _refuse("the two directions disagree", 0.0)
    points = [*zip(near, ahead, strict=True)]
    for e, delta in zip(near, back, strict=True):
        if e > 0.0:
            points.insert(0, (-e, -math.expm1(-e) + math.exp(-e) * delta))
    for (a, left), (b, middle), (c, right) in zip(points, points[1:], points[2:], strict=False):
        share = math.expm1(b - c) / math.expm1(a - c)
        chord = share * _above(left, accuracy) + (1.0 - share) * _above(right, accuracy)
        if min(b - a, c - b) > APART * c and middle > chord:
            _refuse("the two directions disagree", b)


def _above(delta: Number, accuracy: Accuracy) -> Number:
    """The largest value that rounding may give for a true δ of `delta`."""
    return delta * (1.0 + accuracy.relative) + (2.0 * accuracy.absolute + SMALLEST)


def _check_convex(epsilon: Array, delta: Array, accuracy: Accuracy) -> None:
    """δ, (2, m), must be convex in e^ε and non-increasing at ascending ε, (m,)."""
    step = np.diff(epsilon)
    apart = step > APART * np.abs(epsilon[1:])
    bound = _above(delta, accuracy)
    rises = apart & (delta[:, 1:] > bound[:, :-1])
    if rises.any():
        _refuse("δ rises", epsilon[1:][rises.any(axis=0)][0])
    right = -np.expm1(-step[1:])
    left = np.exp(-step[1:]) * -np.expm1(-step[:-1])
    chord = (right * bound[:, :-2] + left * bound[:, 2:]) / (right + left)
    bends = apart[1:] & apart[:-1] & (delta[:, 1:-1] > chord)
    if bends.any():
        _refuse("δ is not convex in e^ε", epsilon[1:-1][bends.any(axis=0)][0])


def _refuse(what: str, epsilon: float) -> NoReturn:
    unresolved(f"{what} at ε = {abs(epsilon):.6g}")
