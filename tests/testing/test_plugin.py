"""The plugin in a pytest of its own: marker, fixture, option, messages, and what it costs."""

import re
import subprocess
import sys

import pytest

from dpaudit.testing import matches, private  # noqa: F401  (an inner pytest forgets what it was the first to import)

pytest_plugins = ["pytester"]
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
    assert "VIOLATED, (1, 0.1)-DP: At 99.9999" in text
    assert re.search(r"run again +pytest '\S+\.py::test_leak' --dpaudit-seed 3", text)
    assert re.search(r"draws +2,000 a side, seed 3", text)
    assert "private.py" not in text, "the traceback ends in the test"


def test_a_budget_is_of_the_test_however_its_audits_are_called(run):
    result = run(
        """
@pytest.mark.privacy(draws=3000, false_failure=0.01, seed=5)
def test_three(dp_audit):
    dp_audit.private(coin, PAIR, (3.0, 0.1), samples=1000, classifier="qda")
    dp.testing.assert_private(coin, PAIR, (3.0, 0.1), samples=1500, classifier="qda")
    assert dp_audit.budget.left == 500
    with pytest.raises(dp.InvalidInput, match="has 500 left"):
        dp.testing.assert_private(coin, PAIR, (3.0, 0.1), samples=501)
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
    dp_audit.private(coin, PAIR, (3.0, 0.1), samples=300, classifier="qda")
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
            "*privacy takes only the keywords draws, false_failure, seed*",
            "*@pytest.mark.privacy: draws must be an integer >= 1, got 0*",
        ]
    )


def test_it_is_loaded_known_to_help_and_can_be_left_out(run):
    listed = run("def test_nothing(): pass", "--markers").stdout.str()
    assert "@pytest.mark.privacy(draws=None, false_failure=1e-6, seed=0)" in listed
    without = run("def test_nothing(dp_audit): pass", "-p", "no:dpaudit")
    without.assert_outcomes(errors=1)
    without.stdout.fnmatch_lines(["*fixture 'dp_audit' not found*"])


def test_unused_it_imports_nothing_of_weight_and_takes_no_time(tmp_path):
    """The least of three, in ms, over what pytest alone imports."""
    heavy = "{'numpy', 'dpaudit.auditing', 'dpaudit.testing.budget'}"
    (tmp_path / "test_other.py").write_text(
        f"import sys\ndef test_other(): assert not {heavy} & set(sys.modules)"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:hypothesispytest",
            "-p",
            "no:cacheprovider",
            "test_other.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    command = [sys.executable, "-X", "importtime", "-c", "import pytest, dpaudit.testing.plugin"]
    assert min(_plugin_ms(command) for _ in range(3)) < MOST_MS


def _plugin_ms(command):
    """Cumulative milliseconds of the plugin's own import, from -X importtime."""
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    (own,) = (line for line in lines if line.endswith(" dpaudit.testing.plugin"))
    return int(own.split("|")[1]) / 1000.0
