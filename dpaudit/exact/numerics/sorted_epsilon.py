"""Every curve is computed on ascending ε and handed back in the caller's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array

Curves = tuple[Array, Array]


def by_sorted_epsilon(epsilon: Any, compute: Callable[[Array], Curves]) -> Curves:
    """Call `compute` on the sorted distinct ε; return its (forward, backward) in the shape of
    `epsilon`.
    """
    epsilon = check.epsilon(epsilon)
    distinct, back = np.unique(epsilon, return_inverse=True)
    forward, backward = compute(distinct)
    back = back.reshape(epsilon.shape)
    return forward[back], backward[back]
