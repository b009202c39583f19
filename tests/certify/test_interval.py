"""The two-sided interval of what a score shows."""

import numpy as np
import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.certify import ScoreCells, SortedScores, cells_interval, certify

EPSILON = np.linspace(0.0, 4.0, 21)


def drawn(size, shift=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return SortedScores.of(rng.normal(shift, size=size), rng.normal(-shift, size=size))


def estimate(size, shift=0.5):
    return certify(drawn(size // 5, shift, 1), drawn(size, shift), EPSILON, 0.05)


def audited(P, Q, **options):
    score = lambda rows: rows[:, 0]  # noqa: E731
    return dp.audit_samples(P, Q, classifier=score, **{"epsilon": EPSILON, "rng": 0, **options})


def test_the_interval_holds_the_estimate_and_what_is_certified():
    rng = np.random.default_rng(0)
    result = audited(*(rng.normal(at, size=5_000) for at in (0.5, -0.5))).spectrum
    low, high = result.interval
    assert np.all((low >= 0.0) & (low <= result.delta) & (result.delta <= high) & (high <= 1.0))
    assert np.all(low >= np.minimum(result.low, result.delta))


def test_the_ends_do_not_increase_with_epsilon_on_a_fine_grid():
    fine = np.linspace(0.0, 4.0, 401)
    low, high = cells_interval(estimate(2_000).cells, fine, 0.05)
    assert np.all(np.diff(low) <= 0.0)
    assert np.all(np.diff(high) <= 0.0)


def test_where_the_best_set_is_plain_the_ends_are_those_of_its_two_frequencies():
    """One set and ε only: Newcombe's interval of a difference, from the normal's quantiles."""
    cells = ScoreCells(np.array([0.5]), np.array([30_000, 70_000]), np.array([60_000, 40_000]))
    low, high = cells_interval(cells, np.zeros(1), 0.05)[:, 0]
    error = np.sqrt(0.7 * 0.3 / 1e5 + 0.4 * 0.6 / 1e5)
    z = norm.isf(0.05 * np.array([0.55, 0.2]))
    np.testing.assert_allclose([0.3 - low, high - 0.3], z * error, rtol=0.12)


def test_without_hits_the_upper_end_is_what_a_few_hits_allow():
    same = certify(drawn(400, 0.0, 1), drawn(2_000, 0.0), np.array([0.0, 3.0, 8.0]), 0.05)
    low, high = cells_interval(same.cells, same.epsilon, 0.05)
    assert low[0] == low[1] == low[2] == 0.0
    assert 0.0 < high[2] <= 20.0 / 2_000


@pytest.mark.parametrize(("p", "q", "most"), [(1.0, 1.0, 0.1), (0.0, 1.0, 0.1), (1.0, 0.0, 1.0)])
def test_scores_that_are_equal_or_the_wrong_way_show_nothing(p, q, most):
    sides = SortedScores.of(np.full(300, p), np.full(300, q))
    same = certify(sides, sides, np.array([0.0, 1.0, 300.0]), 0.05)
    low, high = cells_interval(same.cells, same.epsilon, 0.05)
    assert np.all(high <= most)
    assert np.all(low <= high)
    assert (low[1] > 0.9) == (p > q)


def test_there_is_none_where_the_simulation_is_too_small_or_cells_are_missing():
    P, Q = np.random.default_rng(0).normal(size=(2, 1_000))
    assert audited(P, Q, level=1.0 - 1e-6).spectrum.interval is None
    assert audited(P, Q, stop="verdict", claim=(1.0, 0.0)).spectrum.interval is None


def test_a_saved_result_keeps_the_interval():
    rng = np.random.default_rng(0)
    P, Q = rng.normal(1.0, size=(1_000, 1)), rng.normal(size=(1_000, 1))
    result = dp.audit_samples(P, Q, classifier="logistic", rng=0)
    content = result.to_dict()
    again = dp.AuditResult.of(content).spectrum.interval
    assert again.shape == (2, len(result.spectrum.epsilon))
    assert np.array_equal(again, result.spectrum.interval)
    content["empirical"]["interval"] = None
    assert dp.AuditResult.of(content).spectrum.interval is None
    del content["empirical"]["interval"]  # a file of an earlier version
    assert dp.AuditResult.of(content).spectrum.interval is None
