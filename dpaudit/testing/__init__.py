"""Privacy tests for a project's own test suite: two assertions and a pytest plugin.

`assert_private(mechanism, pair_or_data, claim)` fails where an audit refutes the claim.
`assert_matches(mechanism, pair, spectrum)` fails where draws disagree with a curve δ(ε). The
probability of a false failure is a parameter, `false_failure`. A test that passes is no proof of
privacy: `dpaudit plan` shows what its draws could have found.

`budget` shares out the draws and the false failures of a test, `rows` chooses the neighbour,
`target` is the curve of `assert_matches`, and `failure` writes the messages. `audited` says what an
audit showed and could have shown, `reporting` keeps that for the test that runs, and `plugin` puts
it into pytest's summary; `frames` takes values of the data out of tracebacks. Every pytest run
beside an installed dpaudit loads the plugin, so nothing heavy is imported here before it is used.
The room knows no scenario files.
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
    """Load on first use (PEP 562)."""
    if name in _ATTRIBUTES:
        return getattr(importlib.import_module(f"dpaudit.testing.{_ATTRIBUTES[name]}"), name)
    raise AttributeError(f"module 'dpaudit.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
