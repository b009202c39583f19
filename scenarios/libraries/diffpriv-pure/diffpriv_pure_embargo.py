"""What diffpriv-pure releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from diffpriv_pure_calls import _batch


def private_count(epsilon: float) -> Any:
    """private_count of the values above 0.5: (ε, 0)."""
    from diffpriv_pure import private_count as count

    return _batch(lambda values: count(sum(value > 0.5 for value in values), epsilon))
