"""Each direction of a worst case is the largest over all neighbours, not that of one neighbour.

Against every pair, computed from its two laws by `dpaudit.exact.spectrum`.
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
    RandomProjection,
    SufficientStatistics,
)
from tests.cases import database

GRID = np.array([0.0, 0.5, 2.0, 4.0])
DATA = np.random.default_rng(0).standard_t(2, (8, 3))
BOUND = 2.0
ZERO_OUT = [
    ALS(5),
    ALS(40),
    RPLS(7, padding=1.0),
    RPLS(7, epsilon=50.0, delta=0.1),  # padded by its longest row, which is an exceptional one
    RandomProjection(6),
    GaussMix(5, 2.0),
    InverseWishartDraw(9, padding=1.0),
    AdditiveWishart(6, 20.0),
    AnalyzeGauss(20.0),
    GaussianInverse(0.1),
    GaussianLS(0.5),
    SufficientStatistics(10.0, 20.0),
    Composition((GaussianLS(0.5), RandomProjection(3))),
]
REPLACE = [ALS(5), RPLS(7, padding=1.0), AdditiveWishart(6, 20.0), RandomProjection(6)]


def both(mechanism, pair, epsilon=GRID):
    """(forward, backward), (2, ε)."""
    found = dp.exact.spectrum(mechanism, pair, epsilon)
    return np.array([found.forward, found.backward])


def changed(data, relation, candidates=DATA[:3]):
    """Every neighbour by the entry that `worst_case` names: a row, or a row and a candidate."""
    rows = range(len(data))
    if relation == "replace":
        return {
            (i, j): dp.neighbours.replace_row(data, i, candidates[j])
            for i in rows
            for j in range(len(candidates))
            if not np.array_equal(data[i], candidates[j])
        }
    change = {"zero-out": dp.neighbours.zero_row, "remove": dp.neighbours.remove_row}[relation]
    return {i: change(data, i) for i in rows}


def assert_largest(worst, every):
    """Both directions and δ at every ε of the grid, on the curve between, and the entry named."""
    directions = np.array(list(every.values())).max(axis=0)
    np.testing.assert_allclose(worst.forward, directions[0], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(worst.backward, directions[1], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(worst.delta, directions.max(axis=0), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(worst.curve.delta(GRID), directions, rtol=1e-6, atol=1e-12)
    for at, row in enumerate(worst.index):
        entry = int(row) if worst.candidate is None else (int(row), int(worst.candidate[at]))
        if worst.delta[at] > 1e-12:
            assert every[entry][:, at].max() == pytest.approx(worst.delta[at], rel=1e-6)


def test_the_row_that_is_worst_backward_is_not_the_row_that_is_worst():
    worst = dp.exact.worst_case(ALS(5), DATA, 4.0)
    every = np.array([both(ALS(5), pair, 4.0) for pair in changed(DATA, "zero-out").values()])
    assert worst.backward == pytest.approx(every[:, 1].max(), rel=1e-9)
    assert worst.backward == pytest.approx(0.284, abs=5e-4)
    # its own row is another one, of a larger δ forward and a smaller one backward
    assert every[worst.index, 1] == pytest.approx(0.026, abs=5e-4)


@pytest.mark.parametrize("relation", ["zero-out", "remove"])
@pytest.mark.parametrize("mechanism", ZERO_OUT, ids=repr)
def test_of_rows_that_go(mechanism, relation):
    every = {entry: both(mechanism, pair) for entry, pair in changed(DATA, relation).items()}
    assert_largest(dp.exact.worst_case(mechanism, DATA, GRID, relation=relation), every)


@pytest.mark.parametrize("relation", ["zero-out", "remove"])
def test_of_the_asymptotic_law(relation):
    every = {}
    for entry, pair in changed(DATA, relation).items():
        found = dp.exact.spectrum(ALS(5), pair, GRID, law="asymptotic")
        every[entry] = np.array([found.forward, found.backward])
    worst = dp.exact.worst_case(ALS(5), DATA, GRID, law="asymptotic", relation=relation)
    assert_largest(worst, every)


@pytest.mark.parametrize("mechanism", REPLACE, ids=repr)
def test_of_replaced_rows(mechanism):
    every = {entry: both(mechanism, pair) for entry, pair in changed(DATA, "replace").items()}
    worst = dp.exact.worst_case(mechanism, DATA, GRID, relation="replace", candidates=DATA[:3])
    assert_largest(worst, every)


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomProjection(6),
        GaussMix(5, 2.0),
        InverseWishartDraw(9, padding=1.0),
        AdditiveWishart(6, 20.0),
        AnalyzeGauss(20.0),
        SufficientStatistics(10.0, 20.0),
    ],
    ids=repr,
)
def test_of_an_added_row_forward_is_the_data_against_one_row_more(mechanism):
    """No row within the bound is worse in either direction, and a row near the worst nearly is."""
    worst = dp.exact.worst_case(mechanism, DATA, GRID, relation="add", row_bound=BOUND)
    rows = np.random.default_rng(1).normal(size=(30, 3))
    rows = np.vstack([np.eye(3), np.linalg.svd(DATA)[2], rows])
    rows *= BOUND / np.linalg.norm(rows, axis=1, keepdims=True)
    every = np.array([both(mechanism, dp.neighbours.add_row(DATA, row)) for row in rows])
    directions = np.array([worst.forward, worst.backward])
    assert np.all(every <= directions * (1.0 + 1e-7) + 1e-12)
    np.testing.assert_allclose(every.max(axis=0), directions, rtol=0.05, atol=1e-9)
    np.testing.assert_allclose(worst.curve.delta(GRID), directions, rtol=1e-9, atol=1e-14)
    ahead, back = worst.curve.supremum
    zeroed = dp.neighbours.zero_row(np.vstack([DATA, rows[0]]), len(DATA))
    reverse = dp.exact.spectrum(mechanism, zeroed, GRID).curve.supremum
    assert np.isinf([back, ahead]).tolist() == np.isinf(reverse).tolist()


class MeanOfRows(dp.mechanisms.LawMechanism):
    """The mean of the rows plus Gaussian noise: a row of zeros is not nothing."""

    name = "MeanOfRows"

    def law(self, data):
        return dp.laws.Gaussian(data.mean(axis=0), np.eye(data.shape[1]))

    def parameters(self):
        return {}


def test_where_a_row_of_zeros_counts_every_removed_row_is_looked_at():
    mechanism, data = MeanOfRows(), 4.0 * DATA
    every = {entry: both(mechanism, pair) for entry, pair in changed(data, "remove").items()}
    assert_largest(dp.exact.worst_case(mechanism, data, GRID, relation="remove"), every)
    shifts = np.linalg.norm(data - data.mean(axis=0), axis=1) / (len(data) - 1)
    worst = dp.exact.worst_case(mechanism, data, 1.0, relation="remove")
    assert worst.index == np.argmax(shifts)
    assert worst.delta == pytest.approx(float(dp.exact.gaussian_shift(shifts.max(), 1.0)))


@pytest.mark.parametrize(
    "mechanism",
    [one for one in ZERO_OUT if not isinstance(one, Composition)]
    + [Composition((GaussianLS(0.5), MeanOfRows()))],
    ids=repr,
)
def test_a_mechanism_says_whether_a_row_of_zeros_matters(mechanism):
    data = database(9, 2, seed=3)
    pair = dp.NeighbourPair(np.vstack([data, np.zeros(3)]), data)
    apart = dp.exact.spectrum(mechanism, pair, 0.0).delta
    assert (apart > 1e-6) == mechanism.zero_rows_matter


def test_one_row_cannot_be_removed():
    with pytest.raises(dp.InvalidInput, match="data"):
        dp.exact.worst_case(AnalyzeGauss(1.0), DATA[:1], 1.0, relation="remove")
