"""The pytest plugin: marker `privacy`, fixture `dp_audit`, section "privacy audits", options.

Where dpaudit is installed, every pytest run loads this module, so it imports little beside pytest;
`-p no:dpaudit` disables it.

    @pytest.mark.privacy(draws=200_000)
    def test_mean_is_private(dp_audit):
        dp_audit.private(release, data, claim=(1.0, 1e-5))

A test that has the marker or the fixture, and audits nothing, fails. Each test that audits gets a
line in the summary, and properties in the JUnit file. For a failure that dpaudit raises, and any
failure of a privacy test, pytest shows no arguments and local variables, since these hold data.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import pytest

from dpaudit.testing.reporting import PASSING, Reporting, reporting

if TYPE_CHECKING:
    from dpaudit import AuditResult, NeighbourPair
    from dpaudit._core.types import ArrayLike, Mechanism
    from dpaudit.curves.claims import ClaimLike
    from dpaudit.testing.assertions import SpectrumLike
    from dpaudit.testing.budget import Budget

PACKAGE = Path(__file__).resolve().parents[1]
MARKER = (
    "privacy(draws=None, false_failure=1e-6, seed=0, show_data=False): a privacy test of dpaudit, "
    "which fails if it audits nothing. draws: a side, for all audits and searches of the test "
    "together. false_failure: the probability, at most, that the test fails although all claims "
    "hold. seed: of its draws. show_data: whether a failure shows values of the data."
)
KNOWN = ("draws", "false_failure", "seed", "show_data")
NOTHING = (
    "marked privacy but audited nothing. Audit with dp_audit.private(...), dp_audit.matches(...) "
    "or the assertions of dpaudit.testing (dpaudit.audit alone asserts nothing), in the test's own "
    "thread or through dp_audit. A test that need not audit goes without the marker `privacy` and "
    "the fixture `dp_audit`: mark the tests that audit one by one, not their class or module "
    "(pytestmark)."
)
SWALLOWED = " (the test passed all the same)"
SUMMARY = "dpaudit.summary"  # the property with the line of the summary
_BUDGET: pytest.StashKey[Budget] = pytest.StashKey()
_REPORTING: pytest.StashKey[Reporting] = pytest.StashKey()
_ENDED: pytest.StashKey[bool] = pytest.StashKey()  # whether the test function has returned


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dpaudit", "audits of differential privacy")
    group.addoption(
        "--dpaudit-seed",
        type=int,
        metavar="N",
        help="seed of the draws of all privacy tests, in place of their own seeds (by default 0)",
    )
    group.addoption(
        "--dpaudit-show-data",
        action="store_true",
        help="show values of the data in failures: rows, arguments and local variables",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.pluginmanager.register(Summary(), "dpaudit-summary")


class Summary:
    """The section "privacy audits" of pytest's output; `-p no:dpaudit-summary` disables it."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the line of the test, which its report has also if a worker of xdist ran it."""
        line = dict(report.user_properties).get(SUMMARY)
        if line is None:
            return
        swallowed = report.when == "call" and report.passed and not str(line).startswith(PASSING)
        before = self.lines.get(report.nodeid, "").endswith(SWALLOWED)
        self.lines[report.nodeid] = f"{line}{SWALLOWED if swallowed or before else ''}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.lines:
            terminalreporter.section("privacy audits")
        for nodeid, line in self.lines.items():
            terminalreporter.write_line(f"{nodeid}: {line}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Report the audits that the test's fixtures make."""
    if _REPORTING in item.stash:  # a rerun
        del item.stash[_REPORTING]
    item.stash[_ENDED] = False
    with reporting(_report(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Report the audits of the test; with the marker or the fixture they spend its budget."""
    with reporting(_report(item)) as report, _heard_in_threads(report.lost):
        try:
            if not _is_privacy_test(item):
                return (yield)
            from dpaudit.testing.budget import spending

            with spending(_started(item)):
                return (yield)
        finally:
            item.stash[_ENDED] = True


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Start and end the budget at each call of the test function: plugins may call it again."""
    if _BUDGET not in pyfuncitem.stash:
        return (yield)
    budget = _started(pyfuncitem)
    try:
        value = yield
    except BaseException as error:
        budget.end(error)
        raise
    budget.end(None)
    return value


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the audits to the report, remove values from a failure, and fail a test without audits.

    The failure of a `unittest.TestCase` reaches the budget here, where pytest first shows it.
    """
    reports = _report(item)
    if reports.audits:  # they replace the properties of an earlier run of the test
        others = [pair for pair in item.user_properties if not str(pair[0]).startswith("dpaudit.")]
        item.user_properties[:] = [*others, *reports.properties]
    report = yield
    budget = item.stash.get(_BUDGET, None)
    if budget is not None and call.when == "call":
        budget.end(None if call.excinfo is None else call.excinfo.value)
    if call.excinfo is not None:
        _hide_values(item, call.excinfo, report)
        return report
    over = call.when == "call" and report.passed and item.stash.get(_ENDED, False)
    nothing = budget is not None and budget.unused and not reports.audits
    if over and (nothing or reports.lost):
        try:
            pytest.fail(str(reports.lost[0]) if reports.lost else NOTHING, pytrace=False)
        except pytest.fail.Exception:
            failure = pytest.ExceptionInfo.from_current()
        report.outcome, report.longrepr = "failed", item.repr_failure(failure)
    return report


@contextmanager
def _heard_in_threads(lost: list[BaseException]) -> Iterator[None]:
    """Keep what dpaudit raised in threads that nobody caught: the test would pass all the same."""
    before = threading.excepthook

    def hook(raised: threading.ExceptHookArgs) -> None:
        if raised.exc_value is not None and _went_through_dpaudit(raised.exc_value):
            lost.append(raised.exc_value)
        before(raised)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _hide_values(
    item: pytest.Item, raised: pytest.ExceptionInfo[BaseException], report: pytest.TestReport
) -> None:
    """Rewrite the traceback without arguments and local variables, unless values may be shown, and
    without the frames of dpaudit, unless there are no others.
    """
    own = isinstance(raised.value, pytest.fail.Exception) and not raised.value.pytrace
    if not hasattr(report.longrepr, "reprtraceback") or own or _report(item).show_data:
        return
    if not (_is_privacy_test(item) or _went_through_dpaudit(raised.value)):
        return

    def frames(info: pytest.ExceptionInfo[BaseException]) -> Any:
        filtered = getattr(item, "_traceback_filter", None)  # the frames from the test on
        every = info.traceback if filtered is None else filtered(info)
        others = every.filter(lambda frame: PACKAGE not in Path(str(frame.path)).parents)
        return others or every

    everything = item.config.getoption("fulltrace", False)
    report.longrepr = raised.getrepr(
        style="short",
        showlocals=False,
        funcargs=False,
        tbfilter=False if everything else frames,
    )


def _went_through_dpaudit(error: BaseException | None) -> bool:
    """Whether dpaudit raised the error or one of its causes, or is in one of their tracebacks."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if any(base.__module__.partition(".")[0] == "dpaudit" for base in type(error).__mro__):
            return True
        for frame, _ in walk_tb(error.__traceback__):
            if PACKAGE in Path(frame.f_code.co_filename).parents:
                return True
        error = error.__cause__ or error.__context__
    return False


def _is_privacy_test(item: pytest.Item) -> bool:
    has_fixture = "dp_audit" in getattr(item, "fixturenames", ())
    return has_fixture or item.get_closest_marker("privacy") is not None


def _report(item: pytest.Item) -> Reporting:
    if _REPORTING not in item.stash:
        marker = item.get_closest_marker("privacy")
        by_marker = marker is not None and marker.kwargs.get("show_data") is True
        by_option = bool(item.config.getoption("dpaudit_show_data"))
        item.stash[_REPORTING] = Reporting(by_marker or by_option, _look(item))
    return item.stash[_REPORTING]


def _look(item: pytest.Item) -> Callable[[str], None] | None:
    plugins = item.config.pluginmanager
    terminal, capture = map(plugins.get_plugin, ("terminalreporter", "capturemanager"))
    if terminal is None or item.config.get_verbosity() < 1:
        return None

    def look(text: str) -> None:
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            terminal.write_line(f"\n{item.nodeid}: {text}")

    return look


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """The assertions `private(...)` and `matches(...)` with the budget of the marker `privacy`."""
    budget = _budget(request.node)
    budget.start()
    return Auditor(budget, _report(request.node))


class Auditor:
    """The value of the fixture `dp_audit`: the assertions of `dpaudit.testing` with the test's
    budget. results : the `AuditResult` of each assertion that passed.
    """

    def __init__(self, budget: Budget, report: Reporting) -> None:
        self.budget, self.report = budget, report
        self.results: list[AuditResult] = []

    def private(
        self,
        mechanism: Mechanism,
        pair_or_data: NeighbourPair | ArrayLike,
        claim: ClaimLike,
        **options: Any,
    ) -> AuditResult:
        """Call `dpaudit.testing.assert_private`, which spends the budget."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_private

        return self._audit(assert_private, mechanism, pair_or_data, claim, **options)

    def matches(
        self, mechanism: Mechanism, pair: NeighbourPair, spectrum: SpectrumLike, **options: Any
    ) -> AuditResult:
        """Call `dpaudit.testing.assert_matches`, which spends the budget."""
        __tracebackhide__ = True
        from dpaudit.testing import assert_matches

        return self._audit(assert_matches, mechanism, pair, spectrum, **options)

    def _audit(self, assertion: Any, *arguments: Any, **options: Any) -> AuditResult:
        __tracebackhide__ = True
        from dpaudit.testing.budget import spending

        # set both contexts here too, for a thread that the test has started
        with spending(self.budget), reporting(self.report):
            result: AuditResult = assertion(*arguments, **options)
        self.results.append(result)
        return result


def _started(item: pytest.Item) -> Budget:
    budget = _budget(item)
    budget.start()
    budget.repeat_failure()
    return budget


def _budget(item: pytest.Item) -> Budget:
    if _BUDGET not in item.stash:
        from dpaudit.errors import InvalidInput
        from dpaudit.testing.budget import Budget

        fault = ""
        try:
            item.stash[_BUDGET] = Budget(**_settings(item))
        except InvalidInput as error:
            fault = str(error)
        if fault:  # outside `except`, so that the report has no traceback of the InvalidInput
            pytest.fail(f"@pytest.mark.privacy: {fault}", pytrace=False)
    return item.stash[_BUDGET]


def _settings(item: pytest.Item) -> dict[str, Any]:
    marker = item.get_closest_marker("privacy")
    settings = {} if marker is None else dict(marker.kwargs)
    if marker is not None and (marker.args or not settings.keys() <= set(KNOWN)):
        unknown = [name for name in settings if name not in KNOWN]
        got = ", ".join(unknown) or "a value without a keyword"
        pytest.fail(
            f"@pytest.mark.privacy takes only the keywords {', '.join(KNOWN)}, got {got}",
            pytrace=False,
        )
    from dpaudit._core import check

    check.boolean("show_data", settings.pop("show_data", False))
    if (seed := item.config.getoption("dpaudit_seed")) is not None:
        settings["seed"] = seed
    return settings
