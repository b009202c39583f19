"""Privacy tests for a project's own test suite: three assertions and a pytest plugin.

`assert_private(mechanism, pair_or_data, claim)` fails where an audit refutes the claim.
`assert_matches(mechanism, pair, spectrum)` fails where draws disagree with a curve δ(ε). The
probability of a false failure is a parameter, `false_failure`. A test that passes is no proof of
privacy: `dpaudit plan` shows what its draws could have found.
`assert_private_one_run(scores, included, claim)` does the first for one run with canaries.
`assert_bound(printed, exact, domain)` tests a theorem: it fails where a search finds a setting at
which a printed bound is below the exact value (`bound`, over the settings of `ranges`).

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
    from dpaudit.testing.bound import BoundFailure, BoundSearch, assert_bound, search_bound
    from dpaudit.testing.budget import Budget
    from dpaudit.testing.failure import PrivacyFailure
    from dpaudit.testing.matches import assert_matches
    from dpaudit.testing.one_run import assert_private_one_run
    from dpaudit.testing.private import assert_private
    from dpaudit.testing.ranges import choices, integers, reals

__all__ = [
    "BoundFailure",
    "BoundSearch",
    "Budget",
    "PrivacyFailure",
    "assert_bound",
    "assert_matches",
    "assert_private",
    "assert_private_one_run",
    "choices",
    "integers",
    "reals",
    "search_bound",
]
_ATTRIBUTES = {
    "BoundFailure": "bound",
    "BoundSearch": "bound",
    "Budget": "budget",
    "PrivacyFailure": "failure",
    "assert_bound": "bound",
    "assert_matches": "matches",
    "assert_private": "private",
    "assert_private_one_run": "one_run",
    "choices": "ranges",
    "integers": "ranges",
    "reals": "ranges",
    "search_bound": "bound",
}


def __getattr__(name: str) -> Any:
    """Load on first use (PEP 562)."""
    if name in _ATTRIBUTES:
        return getattr(importlib.import_module(f"dpaudit.testing.{_ATTRIBUTES[name]}"), name)
    raise AttributeError(f"module 'dpaudit.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
