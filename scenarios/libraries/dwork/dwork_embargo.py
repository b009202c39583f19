"""What dwork releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from dwork_calls import _batch


def mean(epsilon: float) -> Any:
    """(ds["weight"].sum() / ds.len()).dp(ε), the README's example."""
    return _batch(True, lambda people: (people["weight"].sum() / people.len()).dp(epsilon))


def both(epsilon: float, operation: str) -> Any:
    """(ds["weight"].sum() + ds["height"].sum()).dp(ε) of floats, or their difference."""

    def release(people: Any) -> Any:
        weight, height = people["weight"].sum(), people["height"].sum()
        return (weight + height if operation == "add" else weight - height).dp(epsilon)

    return _batch(False, release)
