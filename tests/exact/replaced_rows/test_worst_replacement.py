"""The worst replacement for ALS, RPLS and additive Wishart noise is the worst of all pairs."""

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


def of_all_pairs(mechanism, data, candidates):
    """δ of each row and candidate, (n, m, ε); 0 where they are equal, 1 where a law is lost."""
    delta = np.zeros((len(data), len(candidates), len(GRID)))
    for i, j in np.ndindex(delta.shape[:2]):
        if not np.array_equal(data[i], candidates[j]):
            pair = dp.neighbours.replace_row(data, i, candidates[j])
            try:
                delta[i, j] = dp.exact.spectrum(mechanism, pair, GRID).delta
            except dp.DegenerateData:
                delta[i, j] = 1.0
    return delta


def awkward(rows, features, seed):
    """A row of leverage near 1, two equal rows, and candidates that are among the rows."""
    data = database(rows, features, seed)
    data[2, -2] = 300.0
    data[-1] = data[-2]
    others = database(3, features, seed + 1)
    return data, np.vstack([data[:2], others, data[-1:]])


def check(mechanism, data, candidates):
    every = of_all_pairs(mechanism, data, candidates)
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=candidates)
    largest = every.max(axis=(0, 1))
    np.testing.assert_allclose(worst.delta, largest, rtol=1e-7, atol=1e-12)
    at = every[worst.index, worst.candidate, np.arange(len(GRID))]
    np.testing.assert_allclose(at, worst.delta, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(worst.delta, np.maximum(worst.forward, worst.backward))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("dof", [3, 4, 5, 6, 10, 40, 60])
def test_beside_wishart_noise_of_any_freedom(dof):
    """From as few degrees of freedom as columns on."""
    for scale in (20.0, 300.0):
        check(AdditiveWishart(dof, scale), *(part[:5] for part in awkward(9, 2, seed=5)))


def test_pairs_without_an_overlap_have_delta_1():
    """Without the only row in which a column is not 0 the other database has no law."""
    data = database(9, 2, seed=4)
    data[1:, 1] = 0.0
    candidate = np.array([[1.0, 0.0, 2.0]])
    worst = dp.exact.worst_case(ALS(9), data, GRID, relation="replace", candidates=candidate)
    assert np.array_equal(worst.delta, np.ones(4))
    assert np.array_equal(worst.index, np.zeros(4))


@pytest.mark.parametrize("mechanism", [ALS(9), AdditiveWishart(4, 2.0)], ids=repr)
def test_a_row_in_place_of_an_equal_row_leaks_nothing(mechanism):
    data = np.vstack([database(7, 2, seed=4)] * 2)
    equal = np.repeat(data[:1], 3, axis=0)
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=equal)
    assert np.all(worst.delta > 0.0)
    assert not np.any(np.isin(worst.index, (0, 7)))


@pytest.mark.parametrize(
    "mechanism", [ALS(9), AdditiveWishart(4, 2.0), RandomProjection(rows=6)], ids=repr
)
def test_candidates_in_blocks_are_the_same_candidates(mechanism, monkeypatch):
    data, kind = database(8, 2, seed=4), {"relation": "replace"}
    kind["candidates"] = database(7, 2, seed=5)
    whole = dp.exact.worst_case(mechanism, data, GRID, **kind)
    monkeypatch.setattr("dpaudit.exact.worst_neighbour.PAIRS", 17)
    parts = dp.exact.worst_case(mechanism, data, GRID, **kind)
    np.testing.assert_allclose(parts.delta, whole.delta, rtol=1e-12)
    assert np.array_equal(whole.index, parts.index)
    assert np.array_equal(whole.candidate, parts.candidate)


def test_its_curve_searches_at_other_epsilons():
    data, candidates = awkward(9, 2, seed=5)
    kind = {"relation": "replace", "candidates": candidates}
    worst = dp.exact.worst_case(ALS(12), data, 0.05, **kind)
    assert worst.delta.shape == worst.index.shape == ()
    np.testing.assert_allclose(
        worst.delta_at(GRID), dp.exact.worst_case(ALS(12), data, GRID, **kind).delta, rtol=1e-12
    )
    assert worst.delta_at(worst.pure_epsilon * (1.0 + 1e-9)) == 0.0
    assert worst.delta_at(0.98 * worst.pure_epsilon) > 0.0
    with pytest.raises(dp.NoExactSpectrum, match="delta_at"):
        worst.renyi(2.0)


@pytest.mark.parametrize(
    ("mechanism", "law", "says"),
    [
        (RPLS(9, epsilon=50.0, delta=0.1), "finite", "give one of them"),
        (ALS(9), "asymptotic", "law='finite'"),
        (Composition((GaussianLS(sigma=0.3), ALS(9))), "finite", "take each alone"),
    ],
    ids=["RPLS", "asymptotic", "composition"],
)
def test_what_is_not_known_says_why(mechanism, law, says):
    data = database(9, 2, seed=4)
    with pytest.raises(dp.NoExactSpectrum, match=says):
        dp.exact.worst_case(mechanism, data, GRID, law=law, relation="replace", candidates=data[:2])


def test_a_candidate_longer_than_a_public_bound_is_refused():
    data = database(9, 2, seed=4)
    mechanism = RPLS(9, epsilon=50.0, delta=0.1, row_bound=50.0)
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=100.0 * data[:1])


def test_where_delta_is_1_no_other_pair_is_computed():
    """Took minutes of 4,000 pairs: the bound of each is 1, too."""
    data = np.random.default_rng(0).standard_normal((80, 3))
    mechanism = AdditiveWishart(50, 1e-3)
    worst = dp.exact.worst_case(
        mechanism, data, [0.0, 1.0], relation="replace", candidates=data[:20]
    )
    np.testing.assert_allclose(worst.delta, 1.0, rtol=1e-12)
