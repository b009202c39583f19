"""What privjail releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from privjail_calls import _revealed


def group_sums(epsilon: float) -> Any:
    """df.groupby("group").sum().reveal(eps): two groups, four columns."""
    return _revealed(lambda table: table.groupby("group").sum(), epsilon)
