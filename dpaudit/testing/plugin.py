"""The pytest plugin: the marker `privacy`, the fixture `dp_audit`, and the option --dpaudit-seed.

Every pytest run beside an installed dpaudit loads this module, so it imports pytest alone; `-p
no:dpaudit` leaves it out. A test without marker and fixture runs as if it were not there.

    @pytest.mark.privacy(draws=200_000)
    def test_mean_is_private(dp_audit):
        dp_audit.private(release, data, claim=(1.0, 1e-5))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dpaudit import AuditResult
    from dpaudit.testing.budget import Budget

MARKER = (
    "privacy(draws=None, false_failure=1e-6, seed=0): a test of privacy; draws a side for all its audits together, the "
    "probability with which it may fail for nothing, and the seed of its draws (dpaudit)"
)
KNOWN = ("draws", "false_failure", "seed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """--dpaudit-seed."""
    group = parser.getgroup("dpaudit", "audits of differential privacy")
    group.addoption(
        "--dpaudit-seed",
        type=int,
        metavar="N",
        help="seed of the draws of tests of privacy, instead of their own (0): another N looks at other draws",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Audits inside a marked test take from its budget."""
    if item.get_closest_marker("privacy") is None and "dp_audit" not in getattr(
        item, "fixturenames", ()
    ):
        return (yield)
    from dpaudit.testing.budget import spending

    with spending(_budget(item)):
        return (yield)


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """`private(...)` and `matches(...)` with the budget of the marker `privacy`; `results` keeps
    what was found.
    """
    return Auditor(_budget(request.node))


class Auditor:
    """The assertions of `dpaudit.testing` under a budget.

    budget : what the marker gives, and what is left of it. results : an `AuditResult` for each
        audit that passed.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.results: list[AuditResult] = []

    def private(self, mechanism: Any, pair_or_data: Any, claim: Any, **options: Any) -> AuditResult:
        """`dpaudit.testing.assert_private`."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_private

        return self._kept(assert_private, mechanism, pair_or_data, claim, **options)

    def matches(self, mechanism: Any, pair: Any, spectrum: Any, **options: Any) -> AuditResult:
        """`dpaudit.testing.assert_matches`."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_matches

        return self._kept(assert_matches, mechanism, pair, spectrum, **options)

    def _kept(self, assertion: Any, *arguments: Any, **options: Any) -> AuditResult:
        __tracebackhide__ = True
        from dpaudit.testing.budget import spending

        with spending(self.budget):  # in a thread that the test started too
            found: AuditResult = assertion(*arguments, **options)
        self.results.append(found)
        return found


_BUDGET: pytest.StashKey[Budget] = pytest.StashKey()


def _budget(item: Any) -> Budget:
    """One for each test, made of its marker; a marker that says something else fails the test."""
    if _BUDGET not in item.stash:
        from dpaudit.errors import InvalidInput
        from dpaudit.testing.budget import Budget

        said = ""
        try:
            item.stash[_BUDGET] = Budget(**_settings(item))
        except InvalidInput as error:
            said = str(error)
        if said:
            pytest.fail(f"@pytest.mark.privacy: {said}", pytrace=False)
    return item.stash[_BUDGET]


def _settings(item: Any) -> dict[str, Any]:
    """Of the nearest marker, with the seed of the command line."""
    marker = item.get_closest_marker("privacy")
    settings = {} if marker is None else dict(marker.kwargs)
    if marker is not None and (marker.args or not settings.keys() <= set(KNOWN)):
        pytest.fail(
            f"@pytest.mark.privacy takes the keywords {', '.join(KNOWN)} alone", pytrace=False
        )
    if (seed := item.config.getoption("dpaudit_seed")) is not None:
        settings["seed"] = seed
    return settings
