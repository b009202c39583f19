"""The pytest plugin: the marker `privacy`, the fixture `dp_audit`, and the option --dpaudit-seed.

Every pytest run beside an installed dpaudit loads this module, so it imports pytest alone; `-p
no:dpaudit` leaves it out. It does nothing in a test that has neither the marker nor the fixture.

    @pytest.mark.privacy(draws=200_000)
    def test_mean_is_private(dp_audit):
        dp_audit.private(release, data, claim=(1.0, 1e-5))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dpaudit import AuditResult, NeighbourPair
    from dpaudit._core.types import ArrayLike, Mechanism
    from dpaudit.curves.claims import ClaimLike
    from dpaudit.testing.budget import Budget
    from dpaudit.testing.target import SpectrumLike

MARKER = (
    "privacy(draws=None, false_failure=1e-6, seed=0): a privacy test of dpaudit. draws: a side, "
    "for all audits of the test together. false_failure: the probability, at most, that the test "
    "fails although all claims hold. seed: of its draws."
)
KNOWN = ("draws", "false_failure", "seed")
_BUDGET: pytest.StashKey[Budget] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --dpaudit-seed."""
    group = parser.getgroup("dpaudit", "audits of differential privacy")
    group.addoption(
        "--dpaudit-seed",
        type=int,
        metavar="N",
        help="seed of the draws of all privacy tests, in place of their own seeds (by default 0)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Audits of a test with the marker or the fixture spend the test's budget."""
    has_fixture = "dp_audit" in getattr(item, "fixturenames", ())
    if item.get_closest_marker("privacy") is None and not has_fixture:
        return (yield)
    from dpaudit.testing.budget import spending

    with spending(_started(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """A test function that is run again within one call of its test is a rerun too."""
    if _BUDGET not in pyfuncitem.stash:
        return (yield)
    budget = _started(pyfuncitem)
    try:
        found = yield
    except BaseException as error:
        budget.end(error)
        raise
    budget.end(None)
    return found


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the failure of a `unittest.TestCase`, which pytest shows here first."""
    report = yield
    if _BUDGET in item.stash and call.when == "call":
        item.stash[_BUDGET].end(None if call.excinfo is None else call.excinfo.value)
    return report


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """The assertions `private(...)` and `matches(...)` with the budget of the marker `privacy`."""
    budget = _budget(request.node)
    budget.start()
    return Auditor(budget)


class Auditor:
    """The assertions of `dpaudit.testing` with a budget.

    budget : that of the test. results : the `AuditResult` of each assertion that passed.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.results: list[AuditResult] = []

    def private(
        self,
        mechanism: Mechanism,
        pair_or_data: NeighbourPair | ArrayLike,
        claim: ClaimLike,
        **options: Any,
    ) -> AuditResult:
        """`dpaudit.testing.assert_private` with the budget."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_private

        return self._kept(assert_private, mechanism, pair_or_data, claim, **options)

    def matches(
        self, mechanism: Mechanism, pair: NeighbourPair, spectrum: SpectrumLike, **options: Any
    ) -> AuditResult:
        """`dpaudit.testing.assert_matches` with the budget."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_matches

        return self._kept(assert_matches, mechanism, pair, spectrum, **options)

    def _kept(self, assertion: Any, *arguments: Any, **options: Any) -> AuditResult:
        __tracebackhide__ = True
        from dpaudit.testing.budget import spending

        with spending(self.budget):  # again, for a thread that the test has started
            found: AuditResult = assertion(*arguments, **options)
        self.results.append(found)
        return found


def _started(item: pytest.Item) -> Budget:
    """The budget of a run that begins; the failure of an earlier run is raised again."""
    budget = _budget(item)
    budget.start()
    budget.repeat_failure()
    return budget


def _budget(item: pytest.Item) -> Budget:
    """The test's budget, made from its marker; a wrong marker fails the test."""
    if _BUDGET not in item.stash:
        from dpaudit.errors import InvalidInput
        from dpaudit.testing.budget import Budget

        fault = ""
        try:
            item.stash[_BUDGET] = Budget(**_settings(item))
        except InvalidInput as error:
            fault = str(error)
        if fault:  # outside, so that the message has no traceback of the InvalidInput
            pytest.fail(f"@pytest.mark.privacy: {fault}", pytrace=False)
    return item.stash[_BUDGET]


def _settings(item: pytest.Item) -> dict[str, Any]:
    """The keywords of the nearest marker, with the seed of the command line."""
    marker = item.get_closest_marker("privacy")
    settings = {} if marker is None else dict(marker.kwargs)
    if marker is not None and (marker.args or not settings.keys() <= set(KNOWN)):
        pytest.fail(
            f"@pytest.mark.privacy takes only the keywords {', '.join(KNOWN)}", pytrace=False
        )
    if (seed := item.config.getoption("dpaudit_seed")) is not None:
        settings["seed"] = seed
    return settings
