"""One run: a statistic is what the algorithm adds up, and the page has every table measured."""

import numpy as np
import pytest

from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD
from reports.make.one_run import report, steps
from reports.make.one_run.canaries import CASES, DELTA, moments, pmtrr


def test_the_statistic_of_a_row_is_what_the_algorithm_adds_up():
    setting = pmtrr("statistics", 100)
    made = setting.canaries(100, 0)
    noisy = setting.mechanism.mechanism
    both = [
        noisy.law(made.inserted(setting.data, np.full(100, inside), relation="zero-out")).mean
        for inside in (True, False)
    ]
    np.testing.assert_allclose(both[0] - both[1], moments(made.rows).sum(axis=0) / 600, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "released", "made"), CASES, ids=[f"{a}, {b}" for a, b, _ in CASES]
)
def test_no_run_certifies_more_than_the_worst_pair_leaks(name, released, made):
    """At level .95, one seed a case; half a CPU second a case."""
    setting = made(100)
    worst = float(setting.worst.epsilon_at(DELTA))
    found = setting.certified(100, 0)
    assert 0.0 <= found <= worst
    if released == "noisy moments":
        assert found > 0.0


@pytest.mark.quick
def test_the_page_has_each_table_once(monkeypatch, tmp_path):
    tables = ("bounds_table", "response_table", "canaries_table", "false_table")
    for name in tables:
        monkeypatch.setattr(report, name, lambda name=name: f"| {name} |")
    monkeypatch.setattr(report, "zoo_table", lambda: [("a bug", *["0 of 20"] * 8)])
    monkeypatch.setattr(report, "false_alarms", lambda runs: 7)
    report.report(tmp_path / "one-run.md")
    text = (tmp_path / "one-run.md").read_text()
    assert [text.count(f"| {name} |") for name in tables] == [1, 1, 1, 1]
    assert "| a bug | 0 of 20 |" in text
    assert "7 of 1,000 runs" in text


@pytest.mark.quick
def test_randomised_response_is_set_beside_the_limit_of_its_right_answers():
    found, limit = report.responded(1.0, 0)
    assert 0.9 * limit <= found <= limit


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DPSGD, *BROKEN_DPSGD], ids=lambda kind: kind.__name__)
def test_two_samples_of_one_step_show_each_bug_of_a_step(kind):
    """At level .99, one seed a bug (1 to 3 CPU seconds each); reused noise takes a second step."""
    found = steps.violated(kind, 1, steps.STEP_DRAWS, 0)
    assert bool(found) == (not kind.sound and kind.__name__ != "ReusedStepNoise")
