"""Privacy tests for a project's own test suite: assertions and a pytest plugin.

`assert_private(mechanism, pair_or_data, claim)` fails where an audit refutes the claim.
`assert_matches(mechanism, pair, spectrum)` fails where draws disagree with a curve δ(ε). The
probability of a false failure is a parameter, `false_failure`. A test that passes does not prove
privacy: `dpaudit plan` shows which excess its draws could have found.
`assert_private_one_run(scores, included, claim)` does the first for one run with canaries, and
`assert_private_training(audit, claim)` for a training run that a hook has watched.
`assert_bound(printed, exact, domain)` tests a theorem: it fails where a search finds a setting at
which a printed bound is below the exact value (`bound`, over the settings of `ranges`).

`budget` divides draws and the probability of a false failure among the audits of a test, `failure`
writes its messages, `reporting` keeps the outcomes of its audits, and `plugin` adds them to
pytest's summary. Where dpaudit is installed, every pytest run loads the plugin, so this package
imports nothing heavy before its first use. It does not read scenario files.
"""

from typing import TYPE_CHECKING

from dpaudit._core.lazy import on_first_use

if TYPE_CHECKING:
    from dpaudit.testing.assertions import assert_matches as assert_matches
    from dpaudit.testing.assertions import assert_private as assert_private
    from dpaudit.testing.assertions import assert_private_one_run as assert_private_one_run
    from dpaudit.testing.assertions import assert_private_training as assert_private_training
    from dpaudit.testing.bound import BoundFailure as BoundFailure
    from dpaudit.testing.bound import BoundSearch as BoundSearch
    from dpaudit.testing.bound import assert_bound as assert_bound
    from dpaudit.testing.bound import search_bound as search_bound
    from dpaudit.testing.budget import Budget as Budget
    from dpaudit.testing.failure import PrivacyFailure as PrivacyFailure
    from dpaudit.testing.ranges import choices as choices
    from dpaudit.testing.ranges import integers as integers
    from dpaudit.testing.ranges import reals as reals

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.testing.assertions": (
            "assert_matches assert_private assert_private_one_run assert_private_training"
        ),
        "dpaudit.testing.bound": "BoundFailure BoundSearch assert_bound search_bound",
        "dpaudit.testing.budget": "Budget",
        "dpaudit.testing.failure": "PrivacyFailure",
        "dpaudit.testing.ranges": "choices integers reals",
    },
)
