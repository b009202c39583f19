"""Rows of leverage near 1: 1 − h comes from the other rows, and is not 1 less a float."""

import mpmath as mp
import numpy as np
import pytest

import dpaudit as dp
from tests.oracle import reference


def database(size, label=1.0):
    """30 rows, of which the first has a feature of that size."""
    rng = np.random.default_rng(5)
    features = np.column_stack([np.ones(30), rng.standard_normal(30)])
    labels = features @ [1.0, 0.5] + rng.standard_normal(30)
    features[0, 1], labels[0] = size, label * labels[0]
    return np.column_stack([features, labels])


def missing(data):
    """1 − vᵀ(DᵀD)⁻¹v of the first row v of D, by the Gram matrix G of the others."""
    own, others = mp.matrix(data[:1].tolist()), mp.matrix(data[1:].tolist())
    return 1 / (1 + (own * mp.lu_solve(others.T * others, own.T))[0])


def shares(data):
    """1 − h and 1 − t of the first row; (1 − h)(1 − t) is 1 − q of all columns."""
    room = missing(data[:, :-1])
    return room, missing(data) / room


@pytest.mark.parametrize("size", [1e5, 1e8, 1e10])
def test_sketches_and_least_squares_keep_the_digits_of_1_minus_leverage(size):
    """δ was off by up to 1e-2 from 1e8 on, and 1 beyond 1e9."""
    data = database(size)
    with mp.workdps(60):
        whole, (room, rest) = missing(data), shares(data)
    family = dp.mechanisms.ALS(5).zeroed_rows(data)
    assert float(family.room[0] / room) == pytest.approx(1.0, rel=1e-12)
    assert float(family.share_room[0] / rest) == pytest.approx(1.0, rel=1e-12)
    epsilon = float(-2.5 * mp.log(whole)) - 3.0  # 3 less than the largest loss backward
    spectrum = dp.exact.worst_case(dp.mechanisms.RandomProjection(5), data, epsilon)
    with mp.workdps(60):
        row = {"leverage": 1 - whole, "rows": 5}
        truth = max(reference.by_parts("gaussian-sketch", row, epsilon))
    assert float(spectrum.delta) == pytest.approx(float(truth), rel=1e-9)
    assert spectrum.index == 0


def test_rows_whose_leverages_are_1_in_floats_are_told_apart():
    """Two rows outweigh all others on an axis each; the heavier one is the worst."""
    rng = np.random.default_rng(6)
    data = rng.standard_normal((30, 3))
    data[3] *= [1e9, 1.0, 1.0]
    data[7] *= [1.0, 1e11, 1.0]
    worst = dp.exact.worst_case(dp.mechanisms.RandomProjection(3), data, [1.0, 60.0])
    assert list(worst.index) == [7, 7]
    assert list(dp.exact.worst_case(dp.mechanisms.ALS(4), data, [40.0]).index) == [7]
