"""One run: a statistic is what the algorithm adds up, and the page has every table measured."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD
from reports.make import page
from reports.make.one_run import final, report, steps
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
    tables = (
        *("bounds_table", "response_table", "independent_table", "canaries_table"),
        "false_table",
    )
    for name in tables:
        monkeypatch.setattr(report, name, lambda name=name: f"| {name} |")
    monkeypatch.setattr(report, "zoo_table", lambda: [("a bug", *["0 of 20"] * 7)])
    monkeypatch.setattr(report, "false_alarms", lambda runs: 7)
    monkeypatch.setattr(page, "REPORTS", tmp_path)
    report.report()
    text = (tmp_path / "one-run.md").read_text()
    assert [text.count(f"| {name} |") for name in tables] == [1] * 5
    assert "| a bug | 0 of 20 |" in text
    assert "7 of 1,000 runs" in text


@pytest.mark.quick
def test_randomised_response_is_set_beside_the_limit_of_its_right_answers():
    found, limit = report.responded(1.0, 0)
    assert 0.9 * limit <= found <= limit


def test_many_runs_at_once_are_full_batch_training():
    """Without noise, against a loop over rows; and the noise of the last weights is σCη√T."""
    train, rng = final.FullBatch(final.ZERO, 0.0), np.random.default_rng(1)
    weights = final.ZERO.copy()
    for _ in range(final.STEPS):
        total = np.zeros_like(weights)
        for *row, label in final.PRIVATE:
            gradient = (1.0 / (1.0 + np.exp(-np.dot(row, weights))) - label) * np.array(row)
            total += gradient / max(1.0, np.linalg.norm(gradient))
        weights -= final.RATE * total
    np.testing.assert_allclose(train(final.PRIVATE, 2, rng=rng), [weights, weights], atol=1e-4)
    ink = final.PRIVATE[:, :-1].any(axis=0)
    noisy = final.FullBatch(final.ZERO, 2.0)(final.PRIVATE, 4_000, rng=rng)
    spread = noisy[:, ~ink].std() / (2.0 * final.RATE * final.STEPS**0.5)
    assert abs(spread - 1.0) < 0.02  # 64,000 values: 7 standard errors


def test_a_final_model_refutes_noise_that_is_too_small_and_not_the_claim():
    """At level .95, 100 runs a side, one seed; μ is 4 where 2 is claimed."""
    canary = final.quiet(final.pre_trained())
    initial = final.against(final.pre_trained(), [canary])
    sound = final.audited(initial, canary, 100, 0)
    assert sound.verdict == "not violated"
    assert 6.0 < final.epsilon_of(sound.certified.gdp_mu) < final.EPSILON
    pair = dp.NeighbourPair(np.vstack([final.PRIVATE, canary]), final.PRIVATE)
    halved = final.FullBatch(initial, final.FullBatch(initial).noise / 2.0)
    known = dp.scoring.KnownScore(lambda weights: final.score(canary, weights))
    result = dp.audit(
        halved, pair, draws=100, claim=dp.Claim.gdp(final.MU), classifier=known, rng=0
    )
    assert result.verdict == "violated"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DPSGD, *BROKEN_DPSGD], ids=lambda kind: kind.__name__)
def test_two_samples_of_one_step_show_each_bug_of_a_step(kind):
    """At level .99, one seed a bug (1 to 3 CPU seconds each); reused noise takes a second step."""
    found = steps.violated(kind, 0)
    assert bool(found) == (not kind.sound and kind.__name__ != "ReusedStepNoise")
