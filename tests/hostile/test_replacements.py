"""Each row replaced by each other row, where no order of the pairs is known: none is missed."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import AdditiveWishart
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


def beside_an_outlier(rows):
    """One long row and many short ones: every pair of it has nearly the same two eigenvalues."""
    data = np.random.default_rng(3).uniform(-0.01, 0.01, (rows, 3))
    data[rows // 2] = [3.0, 1.0, 2.0]
    return data


@pytest.mark.parametrize("dof", one_in(4, [4, 3, 5, 9]))
def test_the_worst_of_nearly_equal_pairs(dof):
    """Against every pair; the curve of a pair is good to 1e-6, at dof = columns to 2e-7."""
    data, mechanism = beside_an_outlier(9), AdditiveWishart(dof, 4.0)
    found = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=data)
    np.testing.assert_allclose(found.delta, largest_of_all(mechanism, data), rtol=3e-7)
