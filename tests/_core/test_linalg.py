"""A database is factorised once, known by its content, and never taken for another content."""

import gc

import numpy as np
import pytest
import scipy

import dpaudit as dp


@pytest.fixture
def factorisations(monkeypatch):
    """The shapes of the matrices that are factorised."""
    shapes, qr = [], scipy.linalg.qr
    counted = lambda a, **how: shapes.append(a.shape) or qr(a, **how)  # noqa: E731
    monkeypatch.setattr("dpaudit._core.linalg.qr", counted)
    return shapes


def database(seed, rows=40, columns=3):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def leverage(data):
    return np.sum(np.linalg.qr(data[:, :-1])[0] ** 2, axis=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.__setitem__((0, 0), a[0, 0] + 1e-300),
        lambda a: a.__setitem__(slice(None), a[::-1].copy()),
        lambda a: a.__setitem__(slice(None), np.sort(a, axis=0)),
    ],
)
def test_an_array_changed_in_place_is_another_content(change, factorisations):
    array = database(1)
    array[0, 0] = 0.0
    dp.neighbours.row_statistics(array)
    change(array)
    found = dp.neighbours.row_statistics(array)
    assert len(factorisations) == 2
    np.testing.assert_allclose(found.leverage, leverage(array), rtol=1e-9)
    assert not found.leverage.flags.writeable  # it is shared


def test_another_shape_or_layout_is_another_content(factorisations):
    array = database(2, 6, 4)
    for other in (array, array.reshape(8, 3), array[:, :3], array[:, :2]):
        np.testing.assert_allclose(
            dp.neighbours.row_statistics(other).leverage, leverage(other), rtol=1e-9
        )
    assert len(factorisations) == 4


def test_the_last_four_are_at_hand_while_they_live(factorisations):
    arrays = [database(seed) for seed in range(4, 9)]
    for array in (*arrays, *arrays[:0:-1]):
        dp.neighbours.row_statistics(array)
    assert len(factorisations) == 5
    dp.neighbours.row_statistics(arrays[0])
    assert len(factorisations) == 6
    del arrays, array
    gc.collect()
    dp.neighbours.row_statistics(database(4))
    assert len(factorisations) == 7


def test_a_database_and_its_neighbour_are_factorised_once_each(factorisations):
    """By the worst case, the spectrum of the pair, the sampler of either side and the record."""
    data, mechanism = database(7, 60, 4), dp.mechanisms.ALS(rows=50)
    worst = dp.exact.worst_case(mechanism, data, [0.1])
    pair = dp.neighbours.zero_row(data, int(worst.index[0]))
    dp.exact.spectrum(mechanism, pair, [0.1])
    for side in (pair.left, pair.right):
        mechanism.prepare(side)
    dp.neighbours.row_statistics(pair.left)
    assert factorisations == [(60, 3), (60, 3)]
