"""The plugin in a pytest of its own: marker, fixture, option, messages, and what it costs."""

import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET

import pytest

import dpaudit as dp

pytest_plugins = ["pytester"]
dp.testing.assert_private  # noqa: B018  (an inner pytest forgets what it was the first to import)
HEAD = """
import numpy as np
import pytest
import dpaudit as dp

PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 1)

def coin(data, size, *, rng):
    return (rng.random((size, 1)) < (0.9 if data[1, 0] else 0.1)).astype(float)
"""
MOST_MS = 50.0


@pytest.fixture
def run(pytester):
    """run(body, *options) → the result of an inner pytest on it."""

    def run(body, *options):
        pytester.makepyfile(HEAD + body)
        return pytester.runpytest_inprocess(
            "--strict-markers", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options
        )

    return run


def test_a_leak_fails_and_says_how_to_see_it_again(run):
    """P(1) = 0.9 and 0.1: 2000 draws show δ(1) = 0.63 > 0.1 but for 1e-9."""
    result = run(
        """
@pytest.mark.privacy(draws=2000)
def test_leak(dp_audit):
    dp_audit.private(coin, PAIR, (1.0, 0.1), classifier="qda")
""",
        "--dpaudit-seed",
        "3",
    )
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "VIOLATED: Claimed ε = 1 at δ = 0.1. At 99.9999" in text
    assert re.search(r"run again +pytest '\S+\.py::test_leak' --dpaudit-seed 3", text)
    assert re.search(r"draws +2,000 a side, seed 3", text)
    assert "assertions.py" not in text, "the traceback ends in the test"


def test_a_leak_that_a_thread_finds_fails_the_test(run):
    hook = threading.excepthook
    result = run(
        """
import threading

@pytest.mark.filterwarnings("ignore")
@pytest.mark.privacy(draws=2000)
def test_leak(dp_audit):
    thread = threading.Thread(target=dp_audit.private, args=(coin, PAIR, (1.0, 0.1)))
    thread.start()
    thread.join()
"""
    )
    result.assert_outcomes(failed=1)
    assert "VIOLATED: Claimed ε = 1 at δ = 0.1" in result.stdout.str()
    assert threading.excepthook is hook


def test_a_verbose_run_says_what_an_audit_costs_before_its_draws(run):
    body = """
@pytest.mark.privacy(draws=100_000)
def test_coin(dp_audit):
    dp_audit.private(coin, [[1.0], [1.0]], (3.0, 0.1), classifier="qda")
"""
    cost = r"test_coin: A few seconds for .*draws.* They show an excess of \S+ over the claimed δ"
    assert re.search(cost, run(body, "-v").stdout.str())
    assert "About" not in run(body).stdout.str()


FLAT = """
def flat(data, size, *, rng):
    return 1e-9 * data.sum() + rng.normal(size=(size, 1))

@pytest.mark.privacy(draws=MARKED)
def test_flat(dp_audit):
    dp_audit.private(flat, [[1.0], [2.0]], (3.0, 1e-6), classifier="qda")
"""


def test_the_draws_that_a_failure_asks_for_pass_as_a_marker_counts_them(run):
    """A marker's draws include the search; the failure says how many times the audit's."""
    text = run(FLAT.replace("MARKED", "3000")).stdout.str()
    assert "INCONCLUSIVE" in text
    needed = int(re.search(r"Take ([\d,]+) draws a side", text)[1].replace(",", ""))
    times = int(re.search(r"a marker counts the search, too: (\d+) times as many", text)[1])
    run(FLAT.replace("MARKED", str(needed * times))).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_budget_is_of_the_test_however_its_audits_are_called(run):
    result = run(
        """
@pytest.mark.privacy(draws=3000, false_failure=0.01, seed=5)
def test_three(dp_audit):
    dp_audit.private(coin, PAIR, (3.0, 0.1), draws=1000, classifier="qda")
    dp.testing.assert_private(coin, PAIR, (3.0, 0.1), draws=1500, classifier="qda")
    assert dp_audit.budget.left == 500
    with pytest.raises(dp.InvalidInput, match="has 500 left"):
        dp.testing.assert_private(coin, PAIR, (3.0, 0.1), draws=501)
    found = dp_audit.matches(coin, PAIR, ([0.0, 1.0], [0.8, 0.9 - 0.1 * np.e]), classifier="qda")
    assert sum((found.sizes.train, found.sizes.choose, found.sizes.certify)) == 500
    assert len(dp_audit.results) == 2

@pytest.mark.privacy(draws=400)
class TestMarkedClass:
    def test_without_the_fixture(self):
        found = dp.testing.assert_private(coin, PAIR, (3.0, 0.1), classifier="qda")
        assert sum((found.sizes.train, found.sizes.choose, found.sizes.certify)) == 400

def test_without_a_marker(dp_audit):
    assert dp_audit.budget.left is None
    dp_audit.private(coin, PAIR, (3.0, 0.1), draws=400, classifier="qda")
"""
    )
    result.assert_outcomes(passed=3)


def test_a_marker_that_says_something_else_fails_its_test(run):
    result = run(
        """
@pytest.mark.privacy(drawn=3000)
def test_unknown(dp_audit): pass

@pytest.mark.privacy(draws=0)
def test_none(): pass

@pytest.mark.privacy(3000)
def test_positional(): pass
"""
    )
    result.assert_outcomes(failed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*privacy takes only the keywords draws, false_failure, seed, show_data, got drawn*",
            "*@pytest.mark.privacy: draws must be an integer >= 1, got 0*",
        ]
    )


EMPTY = """
import unittest

@pytest.mark.privacy
def test_marked(): pass

def test_fixture(dp_audit): pass

@pytest.mark.privacy
class TestMarked(unittest.TestCase):
    def test_nothing(self): dp.audit(coin, PAIR, draws=100, claim=(9.0, 0.5), classifier="qda")
    def test_skipped(self): self.skipTest("later")
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")

@pytest.mark.privacy
def test_skipped(): pytest.skip("later")

@pytest.mark.privacy
@pytest.mark.xfail
def test_expected(): assert False

@pytest.mark.privacy
@pytest.mark.xfail(strict=True)
def test_unexpected(): pass

@pytest.mark.privacy
def test_failed(): assert False, "its own"

@pytest.mark.privacy
def test_refused():
    with pytest.raises(dp.MechanismError):
        dp.testing.assert_private(lambda data, size, *, rng: None, PAIR, (1.0, 0.1), draws=100)

@pytest.fixture
def audited(dp_audit):
    return dp_audit.private(coin, PAIR, (3.0, 0.1), draws=400, classifier="qda")

@pytest.mark.privacy
def test_in_a_fixture(audited): assert audited.verdict == "not violated"
"""


@pytest.mark.slow
def test_a_privacy_test_that_audits_nothing_fails(run):
    result = run(EMPTY)
    result.assert_outcomes(failed=5, skipped=2, xfailed=2, passed=2)
    text = result.stdout.str()
    assert text.count("marked privacy but audited nothing. Audit with dp_audit.private") == 3
    for name in ("test_marked", "test_fixture", "TestMarked::test_nothing"):
        assert re.search(rf"FAILED \S+::{name}\b", text)
    assert text.count("(pytestmark)") == 3
    assert "[XPASS(strict)]" in text


AUDITS = """
@pytest.mark.privacy(draws=2000)
def test_held(dp_audit):
    dp_audit.private(coin, PAIR, (1.0, 0.7), draws=800, classifier="qda")
    dp_audit.private(coin, PAIR, (1.0, 0.7), draws=1200, classifier="qda")

def test_leak_without_marker():
    dp.testing.assert_private(coin, [[2.0], [1.0]], (1.0, 0.1), draws=300, classifier="qda")

def test_none(): pass
"""
LINES = [
    "*= privacy audits =*",
    "*::test_held: not violated (2 audits; the weakest one): (1, 0.7)-DP; ε ≥ * certified at "
    "δ = 0.7; excess of any shape detectable with probability 0.8: 0.* in δ(1); row 1 zeroed "
    "(given); 800 draws a side",
    "*::test_leak_without_marker: violated: (1, 0.1)-DP; ε ≥ 1.* certified at δ = 0.1; excess of "
    "any shape detectable with probability 0.8: 0.* in δ(1); row 1 zeroed, worst of 2 neighbours "
    "tried; 300 draws a side",
]


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_what_an_audit_could_have_shown_stands_in_the_summary_and_in_junit(run, tmp_path, workers):
    """P(1) = 0.9 and 0.1 on row 1: 300 draws show δ(1) = 0.63 but for 1e-9."""
    result = run(AUDITS, "-q", f"--junitxml={tmp_path / 'junit.xml'}", f"-n{workers}")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(LINES if workers == 0 else LINES[:1])
    for line in LINES:
        result.stdout.fnmatch_lines([line])
    assert result.stdout.str().count("test_none") == 0
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "junit.xml").iter("testcase")}
    held, leak, none = (
        {one.get("name"): one.get("value") for one in cases[name].iter("property")}
        for name in ("test_held", "test_leak_without_marker", "test_none")
    )
    assert none == {}
    assert held["dpaudit.verdict"] == held["dpaudit.2.verdict"] == "not violated"
    assert (held["dpaudit.draws"], held["dpaudit.2.draws"]) == ("800", "1200")
    assert float(held["dpaudit.2.detectable"]) < float(held["dpaudit.detectable"]) < 1.0
    assert leak["dpaudit.verdict"] == "violated"
    assert leak["dpaudit.claim"] == "(1, 0.1)-DP"
    assert float(leak["dpaudit.certified"]) > 1.0
    assert (leak["dpaudit.at_delta"], leak["dpaudit.neighbours_tried"]) == ("0.1", "2")
    assert leak["dpaudit.headline"].startswith("Claimed ε = 1 at δ = 0.1. At 99.9999 %")
    assert "dpaudit.2.verdict" not in leak


PLANTED = """
import logging

@pytest.fixture
def data():
    return np.array([[73.1234567], [1.0], [2.0], [3.0]])

def total(data, size, *, rng):
    return data.sum() + rng.normal(size=(size, 1))

def raising(data, size, *, rng):
    own = data * 2
    return np.zeros(size).reshape(7, -1)

@pytest.mark.privacy(draws=500)
def test_violated(data):
    logging.getLogger("mine").warning("logged")
    dp.testing.assert_private(
        total, dp.neighbours.replace_row(data, 0, [-73.1234567]), (1.0, 0.1), classifier="qda"
    )

def test_mechanism(data):
    pair = dp.neighbours.zero_row(data, 0)
    dp.audit(raising, pair, draws=100)

def test_input(data):
    dp.testing.assert_private(total, data[:, 0], (1.0, 0.1))

@pytest.fixture
def failing_fixture(data):
    dp.testing.assert_private(total, dp.neighbours.zero_row(data, 0), (1.0, 0.1), draws=500)

def test_setup(failing_fixture): pass

@pytest.mark.privacy(draws=500)
def test_own_assertion(data, dp_audit):
    found = dp_audit.private(coin, PAIR, (3.0, 0.1), classifier="qda")
    assert found.verdict == "violated"
"""
MOST_SHOWN = ("-rA", "--tb=long", "--showlocals", "-vv", "--log-cli-level=DEBUG")


def test_no_value_of_the_data_is_shown_unless_asked(run):
    result = run(PLANTED, *MOST_SHOWN)
    result.assert_outcomes(failed=4, errors=1)
    text = result.stdout.str()
    assert "73.1" not in text
    assert "146.2" not in text
    for shown in (
        "in raising",
        "return np.zeros(size).reshape(7, -1)",
        "assert 'not violated' == 'violated'",
    ):
        assert shown in text
    assert "dpaudit/sampling" not in text
    assert "dpaudit/testing" not in text
    assert "row           0 of 4 (counted from 0), replaced" in text


@pytest.mark.slow
def test_values_are_shown_where_they_are_asked_for(run):
    text = run(PLANTED, *MOST_SHOWN, "--dpaudit-show-data").stdout.str()
    assert "it was 73.1235, now -73.1235" in text
    assert "data       = array([[73.1234567]" in text
    marked = PLANTED.replace("(draws=500)", "(draws=500, show_data=True)", 1)
    text = run(marked, "-k", "violated or mechanism", *MOST_SHOWN).stdout.str()
    assert "it was 73.1235, now -73.1235" in text
    assert text.count("data       = array([[73.1234567]") == 1


@pytest.mark.slow
def test_unused_it_imports_nothing_of_weight_and_takes_no_time(tmp_path):
    """The least of three, in ms, over what pytest alone imports."""
    heavy = "{'numpy', 'dpaudit.auditing', 'dpaudit.testing.budget'}"
    (tmp_path / "test_other.py").write_text(
        f"import sys\ndef test_other(): assert not {heavy} & set(sys.modules)"
    )
    options = ["-q", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", "test_other.py"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    command = [sys.executable, "-X", "importtime", "-c", "import pytest, dpaudit.testing.plugin"]
    assert min(_plugin_ms(command) for _ in range(3)) < MOST_MS


def _plugin_ms(command):
    """Cumulative milliseconds of the plugin's own import, from -X importtime."""
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    (own,) = (line for line in lines if line.endswith(" dpaudit.testing.plugin"))
    return int(own.split("|")[1]) / 1000.0


def test_the_summary_tells_that_a_failure_was_swallowed(pytester):
    pytester.makepyfile("""
        import numpy as np
        import pytest

        import dpaudit as dp

        def leak(data, size, *, rng):
            return data.sum() + 1e-6 * rng.normal(size=(size, 1))

        def test_swallowed():
            with pytest.raises(AssertionError):
                dp.testing.assert_private(leak, [[1.0], [2.0]], (1.0, 0.0), draws=200, level=0.9)
    """)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_swallowed: violated: *(the test passed all the same)"])
