"""Every curve is computed on ascending ε and handed back in the caller's shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike

Curves = tuple[Array, Array]


def by_sorted_epsilon(epsilon: ArrayLike, compute: Callable[[Array], Curves]) -> Curves:
    """`compute` on the sorted distinct ε; its (forward, backward) in the shape of `epsilon`."""
    epsilon = check.epsilon(epsilon)
    distinct, back = np.unique(epsilon, return_inverse=True)
    forward, backward = compute(distinct)
    back = back.reshape(epsilon.shape)
    return forward[back] + 0.0, backward[back] + 0.0  # never −0.0
