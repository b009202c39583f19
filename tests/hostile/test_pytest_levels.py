"""Levels near 1, and plugins that run a failed test again."""

import pytest

import dpaudit as dp
from dpaudit import testing

pytest_plugins = ["pytester"]
PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 1)
QDA = {"classifier": "qda", "epsilon": [1.0]}

HEAD = """
import numpy as np
import pytest
import unittest
import dpaudit as dp

PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 1)
RUNS = []

def coin(data, size, *, rng):
    return (rng.random((size, 1)) < (0.9 if data[1, 0] else 0.1)).astype(float)
"""
# What rerun plugins do: the protocol of one item again, or its function again within one call.
RERUN = """
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for turn in range(3):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
AGAIN = """
import pytest

@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except AssertionError:
        item.runtest()
"""
LEAK = """
@pytest.mark.privacy(draws=2000)
def test_leak(dp_audit):
    RUNS.append(1)
    print("RUN", len(RUNS))
    dp_audit.private(coin, PAIR, (1.0, 0.1 if len(RUNS) == 1 else 0.9), classifier="qda")
"""
NOTE = "*failed before in this session*not audited again*"


def coin(data, size, *, rng):
    """P(1) = 0.9 on D and 0.1 on D′: δ(ε) = 0.9 − 0.1 e^ε."""
    return (rng.random((size, 1)) < (0.9 if data[1, 0] else 0.1)).astype(float)


@pytest.fixture
def run(pytester):
    """run(conftest, body) → the result of an inner pytest on it."""

    def run(conftest, body):
        pytester.makeconftest(conftest)
        pytester.makepyfile(HEAD + body)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest")

    return run


@pytest.mark.parametrize("rate", [pytest.param(1e-16, marks=pytest.mark.slow), 1e-30])
@pytest.mark.parametrize("stop", [None, "verdict"])
def test_a_leak_is_seen_at_a_level_that_rounds_to_one(rate, stop):
    """δ(1) = 0.63 where 0.01 is claimed: 3000 draws miss it with probability below 1e-9."""
    with pytest.raises(testing.PrivacyFailure) as found:
        testing.assert_private(
            coin, PAIR, (1.0, 0.01), draws=3000, false_failure=rate, stop=stop, **QDA
        )
    result = found.value.result
    assert result.settings.alpha == rate
    assert 0.0 < result.to_dict()["level"] < 1.0
    assert result.verdict == "violated"
    assert (0.0 if stop else 0.01) <= result.certified.delta_at(1.0) < 0.63


@pytest.mark.parametrize("conftest", [RERUN, AGAIN])
def test_a_rerun_of_a_failed_test_reports_the_first_failure(run, conftest):
    """The body would pass on its second run. It leaks with δ(1) = 0.63 > 0.1, seen but for 1e-9."""
    result = run(conftest, LEAK)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*VIOLATED: Claimed ε = 1 at δ = 0.1. At 99.9999*", "*certified*", NOTE]
    )
    text = result.stdout.str()
    assert "has 0 left" not in text
    assert "RUN 2" not in text
    assert text.count("failed before in this session") == 1


def test_a_rerun_of_a_failed_test_case_reports_the_first_failure(run):
    body = """
class TestCase(unittest.TestCase):
    @pytest.mark.privacy(draws=2000)
    def test_leak(self):
        dp.testing.assert_private(coin, PAIR, (1.0, 0.1), classifier="qda")
"""
    result = run(RERUN, body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*VIOLATED: Claimed ε = 1 at δ = 0.1. At 99.9999*", NOTE])


@pytest.mark.quick
def test_names_of_mechanisms_do_not_control_a_terminal():
    """The coin leaks with δ(1) = 0.63 > 0.1, seen but for 1e-9."""

    def named(data, size, *, rng):
        return coin(data, size, rng=rng)

    named.__qualname__ = "a\x1b[2J\u202eb\nVIOLATED"
    with pytest.raises(testing.PrivacyFailure) as found:
        testing.assert_private(named, PAIR, (1.0, 0.1), draws=2000, **QDA)
    assert not {"\x1b", "\u202e"} & set(str(found.value))
    assert str(found.value).count("\nVIOLATED") == 0
