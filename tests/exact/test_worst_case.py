"""The worst neighbour is the worst of all, in either direction, at every ε.

Each pair is computed from its two laws, without the families of rows that `worst_case` uses, on
data where rounding and ties are likely. Where a database of the pair has no law, since its columns
are dependent, the two share no output and δ = 1.
"""

from dataclasses import dataclass

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
PRIVATE_PADDING = RPLS(rows=7, epsilon=50.0, delta=0.1)  # padded by its longest row
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


HEAVY = np.random.default_rng(0).standard_t(2, (8, 3))
DATA = {
    "leverage near one": leverage_near_one(),
    "leverage one": leverage_one(),
    "duplicates": duplicates(),
    "one row to spare": small(4),
    "no row to spare": small(3),
    "heavy tails": HEAVY,
}
# the long runs cover the others
DEFAULT = ("leverage near one", "no row to spare", "heavy tails")
NAMES = [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.slow) for name in DATA]
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def both(mechanism, left, right, epsilon=GRID, law="finite"):
    """δ of the two laws in both directions, (2, ε); 1 where one of them does not exist."""
    if isinstance(mechanism, GaussianLS):  # its law refuses data that the features fit exactly
        return np.tile(of_least_squares(mechanism.sigma, left, right, epsilon), (2, 1))
    try:
        found = dp.exact.spectrum(mechanism, dp.NeighbourPair(left, right), epsilon, law=law)
    except dp.DegenerateData:
        return np.ones((2, np.size(epsilon)))
    return np.stack([found.forward, found.backward])


def of_least_squares(sigma, left, right, epsilon):
    """δ of Gaussian noise on two least-squares solutions."""
    fits = [np.linalg.lstsq(side[:, :-1], side[:, -1]) for side in (left, right)]
    if min(fit[2] for fit in fits) < left.shape[1] - 1:
        return np.ones_like(epsilon)
    return dp.exact.gaussian_shift(np.linalg.norm(fits[0][0] - fits[1][0]) / sigma, epsilon)


def changed(data, index, row):
    """The data with another row, or without it where `row` is None."""
    if row is None:
        return np.delete(data, index, axis=0)
    other = data.copy()
    other[index] = row
    return other


def of_every_row(mechanism, data, row, **how):
    """`both` for each row of the data, (n, 2, ε)."""
    return np.array([both(mechanism, data, changed(data, i, row), **how) for i in range(len(data))])


def assert_worst(worst, every, entry, relative=1e-7):
    """Both directions, δ and the curve are the largest of `every` (entries, 2, ε).

    entry : at each ε the entry that attains δ.
    """
    largest = every.max(axis=0)
    for curve in ([worst.forward, worst.backward], worst.curve.delta(worst.epsilon)):
        np.testing.assert_allclose(curve, largest, rtol=relative, atol=1e-12)
    np.testing.assert_array_equal(worst.delta, np.maximum(worst.forward, worst.backward))
    at = every.max(axis=1)[entry, np.arange(len(worst.epsilon))]
    np.testing.assert_allclose(at, worst.delta, rtol=relative, atol=1e-12)


@every_mechanism
@pytest.mark.parametrize("name", NAMES)
def test_of_zeroed_rows(name, mechanism):
    data = DATA[name]
    worst = dp.exact.worst_case(mechanism, data, GRID)
    assert_worst(worst, of_every_row(mechanism, data, 0.0), worst.index)


class MeanOfRows(dp.mechanisms.LawMechanism):
    """The mean of the rows plus Gaussian noise: a row of zeros is not nothing."""

    name = "MeanOfRows"

    def __repr__(self):
        return "MeanOfRows()"

    def law(self, data):
        return dp.laws.Gaussian(data.mean(axis=0), np.eye(data.shape[1]))

    def parameters(self):
        return {}


@pytest.mark.parametrize("mechanism", [*MECHANISMS, PRIVATE_PADDING, MeanOfRows()], ids=repr)
def test_of_removed_rows(mechanism):
    worst = dp.exact.worst_case(mechanism, HEAVY, GRID, relation="remove")
    assert_worst(worst, of_every_row(mechanism, HEAVY, None), worst.index, relative=1e-6)
    pair = np.vstack([HEAVY, np.zeros(3)]), HEAVY
    assert (both(mechanism, *pair)[0, 0] > 1e-6) == mechanism.zero_rows_matter


@pytest.mark.parametrize("row", [0.0, None], ids=["zero-out", "remove"])
def test_of_the_asymptotic_law(row):
    relation = "remove" if row is None else "zero-out"
    worst = dp.exact.worst_case(ALS(5), HEAVY, GRID, law="asymptotic", relation=relation)
    assert_worst(worst, of_every_row(ALS(5), HEAVY, row, law="asymptotic"), worst.index, 1e-6)


@every_mechanism
@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_of_replaced_rows(name, mechanism):
    """Candidates: a row of the data, zero, one near another row, and a very long one."""
    data = DATA[name]
    candidates = np.vstack([data[1], 0.0 * data[1], data[0] * (1.0 + 1e-6), [3e3, -1e3, 2e3]])
    every = np.zeros((len(data), len(candidates), 2, len(GRID)))
    for i, j in np.ndindex(*every.shape[:2]):
        if not np.array_equal(data[i], candidates[j]):
            every[i, j] = both(mechanism, data, changed(data, i, candidates[j]))
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=candidates)
    entry = worst.index * len(candidates) + worst.candidate
    assert_worst(worst, every.reshape(-1, 2, len(GRID)), entry)


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
    ("mechanism", "worst_row"), ADDED, ids=lambda part: getattr(part, "name", "")
)
@pytest.mark.parametrize("name", NAMES)
def test_of_added_rows(name, mechanism, worst_row):
    """No row within the bound is worse, and the row that theory names attains the bound."""
    data, bound = DATA[name], 3.0
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="add", row_bound=bound)
    rows = np.vstack([worst_row(mechanism, data), np.random.default_rng(1).normal(size=(6, 3))])
    rows *= bound / np.linalg.norm(rows, axis=1, keepdims=True)
    every = np.array([both(mechanism, data, np.vstack([data, row])) for row in rows])
    assert np.all(every <= every[0] * (1.0 + 1e-7) + 1e-12)
    assert_worst(worst, every[:1], np.zeros(len(GRID), dtype=int))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("JLRidge", {"rows": 9}),
        ("CalibratedGaussMix", {"rows": 9}),
        ("AnalyzeGaussNoise", {}),
        ("AdditiveWishartNoise", {}),
    ],
)
def test_an_added_row_is_within_the_mechanisms_own_bound(name, parameters):
    """A longer row is refused by the mechanism, so no database would attain its δ."""
    parameters |= {"epsilon": 1.0, "delta": 1e-3, "row_bound": 2.0}
    mechanism = dp.mechanisms.REGISTRY[name](**parameters)
    data = np.random.default_rng(0).uniform(-1.0, 1.0, size=(12, 3))
    at_most = dp.exact.worst_case(mechanism, data, 0.5, relation="add", row_bound=2.0).delta
    assert 0.0 < at_most < 1.0
    with pytest.raises(dp.InvalidInput, match="row_bound must be at most the mechanism"):
        dp.exact.worst_case(mechanism, data, 0.5, relation="add", row_bound=3.0)


# --- which row it is


def test_the_row_that_is_worst_backward_is_not_the_row_that_is_worst():
    worst = dp.exact.worst_case(ALS(5), HEAVY, 4.0)
    every = of_every_row(ALS(5), HEAVY, 0.0, epsilon=np.array([4.0]))[..., 0]
    assert worst.backward == pytest.approx(every[:, 1].max(), rel=1e-7)
    assert worst.backward == pytest.approx(0.284, abs=5e-4)
    # its own row is another one, of a larger δ forward and a smaller one backward
    assert every[worst.index, 1] == pytest.approx(0.026, abs=5e-4)


def heavy_row(seed, factor):
    """Small data whose longest row may also lead in leverage and residual share. That row sets the
    norm bound.
    """
    rng = np.random.default_rng(seed)
    features = int(rng.integers(1, 3))
    data = rng.standard_normal((12, features + 1)) * rng.uniform(0.1, 3.0, features + 1)
    data[3] *= factor
    return data


@pytest.mark.parametrize(("seed", "factor"), [(14, 3.0), (75, 1.5)])
@pytest.mark.parametrize("rows", [4, 30])
def test_rows_behind_the_one_that_sets_the_padding_are_not_forgotten(seed, factor, rows):
    """Row 3 has the largest norm, so zeroing it changes the padding. The worst of the other rows is
    found among themselves. In these data row 3 exceeds some of them in leverage and share, and yet
    one of those is worse (by up to a third).
    """
    data = heavy_row(seed, factor)
    mechanism = RPLS(rows, epsilon=40.0, delta=0.5)
    assert mechanism.exceptional_rows(data) == (3,)
    worst = dp.exact.worst_case(mechanism, data, GRID)
    assert_worst(worst, of_every_row(mechanism, data, 0.0), worst.index)


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_very_different_length_have_a_curve(seed):
    """A row of length 1e6 for one of 1e4 in another direction: variances by 1e7 and 1e-11. 1 − δ is
    about the root of the smaller one, 2e-6, which is known to 1e-4 of itself.
    """
    data, row = database(8, 2, seed), 1e4 * np.random.default_rng(seed).normal(size=3)
    data[4] = [1.0, 1e6, -3e5]
    pair, mechanism = dp.neighbours.replace_row(data, 4, row), RandomLinearCombination()
    worst = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=row[None])
    found = dp.exact.spectrum(mechanism, pair, GRID).delta
    assert np.all(found <= worst.delta + 1e-9)
    assert np.all(found > 0.99)


# --- the asymptotic law has no Pareto set of leverage and residual share


@pytest.mark.parametrize(("features", "rows", "seed"), [(1, 2, 45), (1, 4, 314), (2, 5, 293)])
def test_the_asymptotic_worst_row_is_behind_another_in_leverage_and_share(features, rows, seed):
    data = database(7, features + 1, seed=seed)[:, 1:]
    epsilon = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
    worst = dp.exact.worst_case(ALS(rows), data, epsilon, law="asymptotic")
    every = of_every_row(ALS(rows), data, 0.0, epsilon=epsilon, law="asymptotic")
    assert_worst(worst, every, worst.index, relative=1e-6)


# --- what is computed once, what is not known, and wrong arguments


def test_a_composition_with_wishart_noise_says_what_to_use_instead():
    pair = dp.neighbours.zero_row(database(20, 2, seed=3), 4)
    composed = Composition((AdditiveWishart(dof=30, scale=6.0), GaussianLS(sigma=0.2)))
    with pytest.raises(dp.NoExactSpectrum, match="spectrum on one pair"):
        dp.exact.worst_case(composed, pair.left, GRID)
    with pytest.raises(dp.NoExactSpectrum, match="Composition"):
        dp.exact.privacy_loss(AdditiveWishart(dof=30, scale=6.0), pair)
    both = dp.exact.spectrum(composed, pair, GRID)
    assert np.all(both.low <= both.delta)


def test_a_composition_with_als_says_what_to_use_instead():
    pair = dp.neighbours.zero_row(database(20, 2, seed=3), 4)
    composed = Composition((ALS(rows=12), GaussianLS(sigma=0.4)))
    with pytest.raises(dp.NoExactSpectrum, match=r"spectrum on one pair.*asymptotic"):
        dp.exact.worst_case(composed, pair.left, GRID)
    limit = dp.exact.spectrum(composed, pair, GRID, law="asymptotic")
    assert np.all(np.diff(limit.delta) < 0.0)


def test_of_a_mechanism_with_a_law_alone_a_pair_is_known_and_the_worst_row_is_not():
    @dataclass(frozen=True)
    class Sum(dp.mechanisms.LawMechanism):
        def law(self, data):
            return dp.laws.Laplace(data.sum(axis=0), 1.0)

    data = np.array([[0.2], [1.0]])
    pair = dp.neighbours.zero_row(data, 1)
    assert dp.exact.spectrum(Sum(), pair, 0.0).delta == pytest.approx(1.0 - np.exp(-0.5))
    with pytest.raises(dp.NoExactSpectrum, match=r"Sum does not say .*spectrum takes a pair"):
        dp.exact.worst_case(Sum(), data, 0.0)


def test_an_added_row_of_a_law_without_two_known_directions_is_refused():
    class Added(ALS):
        def added_row(self, data, row_bound):
            return self.zeroed_rows(data)

    with pytest.raises(dp.NoExactSpectrum, match="worst added row is not known where"):
        dp.exact.worst_case(Added(12), database(), 0.5, relation="add", row_bound=1.0)


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


def test_one_row_cannot_be_removed():
    with pytest.raises(dp.InvalidInput, match="data"):
        dp.exact.worst_case(AnalyzeGauss(1.0), HEAVY[:1], 1.0, relation="remove")
