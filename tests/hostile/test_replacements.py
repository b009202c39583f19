"""Each row replaced by each other row, where no order of the pairs is known: none is missed."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact.replaced_wishart import WishartSearch
from dpaudit.mechanisms import ALS, RPLS, AdditiveWishart
from tests.cases import database
from tests.sparse import one_in

GRID = np.array([0.0, 0.2, 1.0])


def largest_of_all(mechanism, data):
    """The largest δ over all pairs of two rows, at each ε."""
    every = [
        dp.exact.spectrum(mechanism, dp.neighbours.replace_row(data, i, data[j]), GRID).delta
        for i, j in np.ndindex(len(data), len(data))
        if not np.array_equal(data[i], data[j])
    ]
    return np.max(every, axis=0)


@pytest.mark.parametrize(
    ("mechanism", "rows"),
    one_in(3, [(ALS(30), 8), (RPLS(30, padding=1.0), 6), (AdditiveWishart(30, 20.0), 3)]),
    ids=["ALS", "RPLS", "AdditiveWishart"],
)
def test_the_worst_of_a_databases_own_rows(mechanism, rows):
    data = database(rows, 2, seed=12)
    data[2] = data[1]
    found = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=data)
    np.testing.assert_allclose(found.delta, largest_of_all(mechanism, data), rtol=1e-7)


def beside_an_outlier(rows):
    """One long row and many short ones: every pair of it has nearly the same two eigenvalues."""
    data = np.random.default_rng(3).uniform(-0.01, 0.01, (rows, 3))
    data[rows // 2] = [3.0, 1.0, 2.0]
    return data


@pytest.mark.parametrize("dof", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_nearly_equal_pairs_do_not_each_need_an_exact_curve(dof, monkeypatch):
    """With few degrees of freedom beyond the columns, where the first bound is far."""
    seen, exact = [], WishartSearch._with_exact

    def counted(*arguments):
        seen.append(arguments)
        return exact(*arguments)

    monkeypatch.setattr(WishartSearch, "_with_exact", counted)
    data, mechanism = beside_an_outlier(20), AdditiveWishart(dof, 4.0)
    found = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=data)
    assert len(seen) <= 20
    pair = dp.neighbours.replace_row(data, 10, data[3])
    assert np.all(found.delta >= dp.exact.spectrum(mechanism, pair, GRID).delta * (1.0 - 1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("dof", [3, 4, 5, 9])
def test_the_worst_of_nearly_equal_pairs(dof):
    """Against every pair; the curve of a pair is good to 1e-6, at dof = columns to 2e-7."""
    data, mechanism = beside_an_outlier(9), AdditiveWishart(dof, 4.0)
    found = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=data)
    np.testing.assert_allclose(found.delta, largest_of_all(mechanism, data), rtol=3e-7)
