"""Tests of privacy in a project's own test suite: two assertions, and a pytest plugin with a
fixture and a marker.

`assert_private(mechanism, pair_or_data, claim)` fails where an audit refutes the claim, and
`assert_matches(mechanism, pair, spectrum)` where draws disagree with a curve δ(ε). How often either
fails for nothing is a parameter, `false_failure`. A test that passes is no proof of privacy:
`dpaudit plan` says what its draws could have shown.

The plugin (`dpaudit.testing.plugin`) is loaded by every pytest run beside an installed dpaudit, so
nothing is imported here before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.testing.budget import Budget
    from dpaudit.testing.failure import PrivacyFailure
    from dpaudit.testing.matches import assert_matches
    from dpaudit.testing.private import assert_private

__all__ = ["Budget", "PrivacyFailure", "assert_matches", "assert_private"]
_ATTRIBUTES = {
    "Budget": "budget",
    "PrivacyFailure": "failure",
    "assert_matches": "matches",
    "assert_private": "private",
}


def __getattr__(name: str) -> Any:
    if name in _ATTRIBUTES:
        return getattr(importlib.import_module(f"dpaudit.testing.{_ATTRIBUTES[name]}"), name)
    raise AttributeError(f"module 'dpaudit.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
