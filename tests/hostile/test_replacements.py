"""Each row replaced by each other row, where no order of the pairs is known: none is missed."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import ALS, RPLS, AdditiveWishart
from tests.cases import database

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
    [(ALS(30), 8), (RPLS(30, padding=1.0), 6), (AdditiveWishart(30, 20.0), 3)],
    ids=["ALS", "RPLS", "AdditiveWishart"],
)
def test_the_worst_of_a_databases_own_rows(mechanism, rows):
    data = database(rows, 2, seed=12)
    data[2] = data[1]
    found = dp.exact.worst_case(mechanism, data, GRID, relation="replace", candidates=data)
    np.testing.assert_allclose(found.delta, largest_of_all(mechanism, data), rtol=1e-7)
