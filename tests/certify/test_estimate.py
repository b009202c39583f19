"""The band itself: shape, monotonicity, agreement with the truth."""

import numpy as np
import pytest

from dpaudit.certify import FOCUS, CandidateSets, SortedScores, certify, choose_sets
from dpaudit.exact import gaussian_shift


def estimate(choose, test, *settings, **options):
    """Estimate and band from scores of the (P, Q) draws that choose and that certify."""
    chosen, certifying = SortedScores.of(*choose), SortedScores.of(*test)
    return certify(chosen, certifying, *settings, fresh=chosen, **options)


GRID = np.linspace(0.0, 3.0, 61)


def scores(size: int, seed: int, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(size) + mu / 2, rng.standard_normal(size) - mu / 2


def test_low_is_below_the_truth_and_near_it():
    """One audit at level 1 − 1e-6, so it exceeds the truth by chance once in a million. Its
    statements share 1e-6, the least of them 1e-9, hence 6 standard errors of at most 0.00183 where
    δ > 0.1; 2.6 more for the draws' own chance, 0.002 for the tangents.
    """
    found = estimate(scores(50_000, 1), scores(200_000, 2), GRID, 1e-6)
    truth = gaussian_shift(1.0, GRID)
    assert np.all(found.low <= truth)
    large = truth > 0.1
    assert np.all(truth[large] - found.low[large] < 8.6 * 0.00183 + 0.002)


@pytest.mark.parametrize("mu", [0.5, 8.0])
def test_no_point_estimate_is_below_what_is_certified(mu):
    """Where nearly all of one law is impossible under the other, sets for other ε may show more."""
    found = estimate(scores(300, 3, mu), scores(3_000, 4, mu), np.linspace(0.0, 60.0, 31), 0.05)
    assert np.all(found.delta >= found.low)
    assert np.all(found.forward.delta >= found.forward.low)


def test_no_bound_depends_on_the_estimate():
    choose, test = (SortedScores.of(*scores(2_000, seed)) for seed in (3, 4))
    plain, more = certify(choose, test, GRID, 0.05), certify(choose, test, GRID, 0.05, fresh=choose)
    np.testing.assert_array_equal(plain.low, more.low)
    np.testing.assert_array_equal(plain.delta, plain.low)  # without fresh draws
    assert np.all(np.diff(more.low) <= 0.0)


@pytest.mark.parametrize("keep", [(), (0.7,), (0.7, 6.0)])
@pytest.mark.parametrize("size", [10, 2_000])
@pytest.mark.parametrize("focus", FOCUS)
def test_shares_sum_to_the_error_and_none_is_nothing(keep, size, focus):
    sets = CandidateSets.of(SortedScores.of(*scores(size, 15)), GRID, 5 * size, 0.05)
    shares = [one.share for one in choose_sets(sets, keep, focus)]
    assert sum(shares) == pytest.approx(0.05)
    assert min(shares) > 0.05 / (1000 if focus == "spectrum" else 2000)


def test_infinite_and_constant_scores_and_a_handful_of_draws():
    few = np.array([np.inf] * 5 + [0.0] * 5)
    for choose, test in (((few, -few), (few, -few)), ((np.zeros(10),) * 2, (np.zeros(50),) * 2)):
        found = estimate(choose, test, np.array([0.0, 1.0, 100.0, 500.0]), 0.05, (500.0,))
        assert np.all((found.low >= 0.0) & (found.low <= 1.0))
        assert found.low[-1] == 0.0
