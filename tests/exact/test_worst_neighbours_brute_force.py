"""The worst neighbour against every pair, on data where rounding and ties are likely.

Each pair is computed from its two laws, without the families of rows that `worst_case` uses.
Where a database of the pair has no law, since its columns are dependent, the two share no output
and δ = 1.
"""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    AnalyzeGauss,
    Composition,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from tests.cases import database
from tests.sparse import one_in

GRID = np.array([0.0, 0.5, 3.0])
MECHANISMS = (
    GaussianLS(sigma=0.3),
    RandomProjection(rows=6, padding=2.0),
    RandomLinearCombination(),
    GaussMix(rows=5, sigma=3.0),
    WishartDraw(dof=9),
    InverseWishartDraw(dof=9, padding=1.0),
    AnalyzeGauss(sigma=20.0),
    GaussianInverse(sigma=0.01),
    SufficientStatistics(sigma_gram=15.0, sigma_cross=20.0),
    Composition((GaussianLS(sigma=0.5), RandomProjection(rows=3))),
    ALS(rows=12),
    RPLS(rows=12, padding=1.0),
    AdditiveWishart(dof=12, scale=4.0),
)


def small(rows=5):
    return database(rows, 2, seed=5)


def leverage_near_one():
    """Row 4 has leverage 1 − 1e-6 or so."""
    data = small()
    data[4] = [1.0, 1e3, -300.0]
    return data


def leverage_one():
    """Row 2 alone has a second feature: without it the columns are dependent."""
    data = small()
    data[:, 1] = 0.0
    data[2, 1] = 2.0
    return data


def duplicates():
    """Rows 2 and 4 are equal, rows 1 and 3 opposite."""
    data = small()
    data[4], data[3] = data[2], -data[1]
    return data


# the long runs cover the others
DEFAULT = ("leverage near one", "no row to spare")
DATA = {
    "leverage near one": leverage_near_one(),
    "leverage one": leverage_one(),
    "duplicates": duplicates(),
    "one row to spare": small(4),
    "no row to spare": small(3),
}


NAMES = [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.slow) for name in DATA]


def delta(mechanism, left, right):
    """δ of the two laws at each ε; 1 where one of them does not exist."""
    if isinstance(mechanism, GaussianLS):  # its law refuses data that the features fit exactly
        return of_least_squares(mechanism.sigma, left, right)
    try:
        return dp.exact.spectrum(mechanism, dp.NeighbourPair(left, right), GRID).delta
    except dp.DegenerateData:
        return np.ones_like(GRID)


def of_least_squares(sigma, left, right):
    """δ of Gaussian noise on two least-squares solutions."""
    fits = [np.linalg.lstsq(one[:, :-1], one[:, -1]) for one in (left, right)]
    if min(fit[2] for fit in fits) < left.shape[1] - 1:
        return np.ones_like(GRID)
    return dp.exact.gaussian_shift(np.linalg.norm(fits[0][0] - fits[1][0]) / sigma, GRID)


def changed(data, index, row):
    other = data.copy()
    other[index] = row
    return other


def assert_worst(worst, every, entry):
    """`worst` is the largest of `every` (entries, ε), and the entry that it names attains it."""
    np.testing.assert_allclose(worst.delta, every.max(axis=0), rtol=1e-7, atol=1e-12)
    at = every[entry, np.arange(len(GRID))]
    np.testing.assert_allclose(at, worst.delta, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_of_zeroed_rows(name, mechanism):
    data = DATA[name]
    worst = dp.exact.worst_case(mechanism, data, GRID)
    every = [delta(mechanism, data, changed(data, row, 0.0)) for row in range(len(data))]
    assert_worst(worst, np.array(every), worst.index)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_of_replaced_rows(name, mechanism):
    """Candidates: a row of the data, zero, one near another row, and a very long one."""
    data = DATA[name]
    candidates = np.vstack([data[1], 0.0 * data[1], data[0] * (1.0 + 1e-6), [3e3, -1e3, 2e3]])
    every = np.zeros((len(data), len(candidates), len(GRID)))
    for i, j in np.ndindex(*every.shape[:2]):
        if not np.array_equal(data[i], candidates[j]):
            every[i, j] = delta(mechanism, data, changed(data, i, candidates[j]))
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=candidates)
    entry = worst.index * len(candidates) + worst.candidate
    assert_worst(worst, every.reshape(-1, len(GRID)), entry)


def least_axis(mechanism, data):
    return np.linalg.svd(data)[2][-1]


def any_axis(mechanism, data):
    return np.eye(data.shape[1])[1]


def best_split(mechanism, data):
    """On one feature and the label, the split of the square norm by search."""
    share = np.linspace(0.0, 1.0, 100_001)
    square = share**2 / mechanism.sigma_gram**2 + share * (1 - share) / mechanism.sigma_cross**2
    best = share[np.argmax(square)]
    return np.array([np.sqrt(best), 0.0, np.sqrt(1.0 - best)])


ADDED = (
    (RandomProjection(rows=6), least_axis),
    (RandomProjection(rows=6, padding=2.0), least_axis),
    (RandomLinearCombination(), least_axis),
    (GaussMix(rows=5, sigma=3.0), least_axis),
    (WishartDraw(dof=9), least_axis),
    (InverseWishartDraw(dof=9), least_axis),
    (AnalyzeGauss(sigma=20.0), any_axis),
    (AdditiveWishart(dof=12, scale=4.0), any_axis),
    (SufficientStatistics(sigma_gram=15.0, sigma_cross=20.0), best_split),
    (SufficientStatistics(sigma_gram=15.0, sigma_cross=5.0), best_split),
)


@pytest.mark.parametrize(
    ("mechanism", "worst_row"), ADDED, ids=lambda one: getattr(one, "name", "")
)
@pytest.mark.parametrize("name", NAMES)
def test_of_added_rows(name, mechanism, worst_row):
    """No row within the bound is worse, and the row that theory names attains the bound."""
    data, bound = DATA[name], 3.0
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="add", row_bound=bound).delta
    rows = np.vstack([worst_row(mechanism, data), np.random.default_rng(1).normal(size=(6, 3))])
    rows *= bound / np.linalg.norm(rows, axis=1, keepdims=True)
    every = np.array([delta(mechanism, np.vstack([data, row]), data) for row in rows])
    assert np.all(every <= worst * (1.0 + 1e-7) + 1e-12)
    np.testing.assert_allclose(every[0], worst, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_very_different_length_have_a_curve(seed):
    """A row of length 1e6 for one of 1e4 in another direction: variances by 1e7 and 1e-11.

    1 − δ is about the root of the smaller one, 2e-6, which is known to 1e-4 of itself.
    """
    data, row = database(8, 2, seed), 1e4 * np.random.default_rng(seed).normal(size=3)
    data[4] = [1.0, 1e6, -3e5]
    pair, one = dp.neighbours.replace_row(data, 4, row), RandomLinearCombination()
    worst = dp.exact.worst_case(one, data, GRID, relation="replace", candidates=row[None])
    found = dp.exact.spectrum(one, pair, GRID).delta
    assert np.all(found <= worst.delta + 1e-9)
    assert np.all(found > 0.99)


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.mechanisms.REGISTRY[name](**parameters)
        for name, parameters in (
            ("JLRidge", {"rows": 9, "epsilon": 1.0, "delta": 1e-3, "row_bound": 2.0}),
            ("CalibratedGaussMix", {"rows": 9, "epsilon": 1.0, "delta": 1e-3, "row_bound": 2.0}),
            ("AnalyzeGaussNoise", {"epsilon": 1.0, "delta": 1e-3, "row_bound": 2.0}),
            ("AdditiveWishartNoise", {"epsilon": 1.0, "delta": 1e-3, "row_bound": 2.0}),
        )
    ],
    ids=lambda one: one.name,
)
def test_an_added_row_is_within_the_mechanisms_own_bound(mechanism):
    """A longer row is refused by the mechanism, so no database would attain its δ."""
    data = np.random.default_rng(0).uniform(-1.0, 1.0, size=(12, 3))
    at_most = dp.exact.worst_case(mechanism, data, 0.5, relation="add", row_bound=2.0).delta
    assert 0.0 < at_most < 1.0
    with pytest.raises(dp.InvalidInput, match="row_bound must be at most the mechanism"):
        dp.exact.worst_case(mechanism, data, 0.5, relation="add", row_bound=3.0)
