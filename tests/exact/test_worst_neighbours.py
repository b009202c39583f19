"""The worst replacement and the worst added row are the worst of all, by brute force.

So are the orders on which the Pareto sets rely.
"""

import itertools

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    Composition,
    GaussianLS,
    RandomProjection,
)
from tests.cases import database

GRID = np.array([0.0, 0.05, 0.5, 2.0])


def test_candidates_in_blocks_are_the_same_candidates(monkeypatch):
    data, candidates = database(14, 2, seed=5), database(9, 2, seed=6)
    kind = {"relation": "replace", "candidates": candidates}
    whole = dp.exact.worst_case(RandomProjection(rows=6), data, GRID, **kind)
    monkeypatch.setattr("dpaudit.exact.worst_neighbour.PAIRS", 30)
    parts = dp.exact.worst_case(RandomProjection(rows=6), data, GRID, **kind)
    assert np.array_equal(whole.delta, parts.delta)
    assert np.array_equal(whole.index, parts.index)
    assert np.array_equal(whole.candidate, parts.candidate)


def test_als_says_why_it_has_no_worst_added_row():
    for mechanism in (ALS(12), RPLS(12, padding=1.0)):
        with pytest.raises(dp.NoExactSpectrum, match="no order of the rows in between is proved"):
            dp.exact.worst_case(mechanism, database(), GRID, relation="add", row_bound=1.0)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"relation": "swap"}, "relation"),
        ({"relation": "replace"}, "candidates"),
        ({"candidates": np.ones((1, 4))}, "candidates"),
        ({"relation": "add"}, "row_bound"),
        ({"relation": "add", "row_bound": 0.0}, "row_bound"),
        ({"row_bound": 1.0}, "row_bound"),
        ({"relation": "replace", "candidates": np.ones((1, 3))}, "candidates"),
    ],
)
def test_neighbours_that_make_no_sense_are_refused(wrong, named):
    with pytest.raises(dp.InvalidInput, match=named):
        dp.exact.worst_case(RandomProjection(rows=6), database(), GRID, **wrong)


@pytest.mark.parametrize("seed", range(12))
def test_additive_wishart_leaks_more_of_a_longer_row(seed):
    """The Pareto set uses it: δ is non-decreasing in q, in either direction, at every ε."""
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 9))
    dof = dim + int(rng.choice([0, 1, 2, 3, 10, 100, 1000]))
    q = np.sort(10.0 ** rng.uniform(-4, 2, 6))
    epsilon = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 25)])
    for low, high in itertools.pairwise(q):
        for less, more in zip(
            *(dp.exact.additive_wishart(x, dof, dim, epsilon) for x in (low, high)), strict=True
        ):
            assert np.all(less <= more * (1.0 + 1e-10))


@pytest.mark.slow
def test_a_composition_on_data_is_the_composition_of_its_parts():
    data = database(20, 2, seed=3)
    parts = GaussianLS(sigma=0.4), RandomProjection(rows=3), AdditiveWishart(dof=20, scale=8.0)
    pair = dp.neighbours.zero_row(data, 4)
    losses = [dp.exact.privacy_loss(part, pair) for part in parts]
    expected = dp.exact.compose(losses, [2, 1, 3]).spectrum(GRID)
    found = dp.exact.spectrum(Composition(parts, times=(2, 1, 3)), pair, GRID)
    np.testing.assert_allclose(found.delta, expected.delta, rtol=1e-12)
    general = dp.exact.spectrum(
        Composition(parts, times=(2, 1, 3)), dp.NeighbourPair(pair.left, pair.right), GRID
    )
    np.testing.assert_allclose(general.delta, expected.delta, rtol=1e-8)


@pytest.mark.slow
def test_the_worst_row_of_a_composition_with_wishart_noise():
    data, both = (
        database(10, 2, seed=3),
        Composition((AdditiveWishart(dof=30, scale=6.0), GaussianLS(sigma=0.2))),
    )
    every = [
        dp.exact.spectrum(both, dp.neighbours.zero_row(data, row), GRID[:2]).delta
        for row in range(10)
    ]
    worst = dp.exact.worst_case(both, data, GRID[:2])
    np.testing.assert_allclose(worst.delta, np.max(every, axis=0), rtol=1e-12)
    assert np.array_equal(worst.index, np.argmax(every, axis=0))


def test_a_composition_with_als_says_what_to_use_instead():
    pair = dp.neighbours.zero_row(database(20, 2, seed=3), 4)
    both = Composition((ALS(rows=12), GaussianLS(sigma=0.4)))
    with pytest.raises(dp.NoExactSpectrum, match="asymptotic"):
        dp.exact.spectrum(both, pair, GRID)
    assert np.all(np.diff(dp.exact.spectrum(both, pair, GRID, law="asymptotic").delta) < 0.0)


def test_curves_go_with_their_spectra():
    """For every mechanism the curve repeats the grid's values and goes beyond the grid."""
    data = database(20, 2, seed=3)
    for mechanism in (ALS(rows=9), GaussianLS(sigma=0.4), AdditiveWishart(dof=20, scale=8.0)):
        for found in (
            dp.exact.worst_case(mechanism, data, GRID),
            dp.exact.spectrum(mechanism, dp.neighbours.zero_row(data, 2), GRID),
        ):
            np.testing.assert_allclose(found.delta_at(GRID), found.delta, rtol=1e-12)
            assert found.delta[1] > 0.0
            np.testing.assert_allclose(found.epsilon_at(found.delta[1]), GRID[1], rtol=1e-8)
            np.testing.assert_allclose(found.total_variation, found.delta[0], rtol=1e-12)
            assert found.renyi(2.0) > 0.0
