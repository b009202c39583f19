"""Seeds that a function takes by keyword, from a draw's own generator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

KEYWORDS = ("rng", "random_state", "seed")
LARGEST = 2**31 - 1


def seed_keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Those of `KEYWORDS` that the function has among its parameters; none where that is not known.

    >>> seed_keywords(lambda values, epsilon=1.0, random_state=None: None)
    ('random_state',)
    >>> seed_keywords(sum)
    ()
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions need not say theirs
        return ()
    named = [one.name for one in parameters.values() if one.kind is not one.POSITIONAL_ONLY]
    return tuple(name for name in KEYWORDS if name in named)


def seeds(names: Iterable[str], rng: np.random.Generator) -> dict[str, Any]:
    """Keyword arguments: `rng` is the generator itself, all others are integers that it draws."""
    return {name: rng if name == "rng" else int(rng.integers(LARGEST)) for name in names}
