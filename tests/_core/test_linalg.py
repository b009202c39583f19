"""What was worked out for an array is found by its content, and never for another content."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core import linalg
from dpaudit._core.linalg import ByContent, factorise, least_squares


@pytest.fixture
def factorisations(monkeypatch):
    shapes = []
    qr = linalg.qr
    monkeypatch.setattr(linalg, "qr", lambda a, **how: shapes.append(a.shape) or qr(a, **how))
    return shapes


def database(seed, rows=40, columns=3):
    return np.random.default_rng(seed).standard_normal((rows, columns))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.__setitem__((0, 0), a[0, 0] + 1e-300),
        lambda a: a.__setitem__(slice(None), a[::-1].copy()),
        lambda a: a.__setitem__(slice(None), np.sort(a, axis=0)),
    ],
)
def test_an_array_changed_in_place_is_another_content(change):
    array = database(1)
    array[0, 0] = 0.0
    before = least_squares(array)
    change(array)
    after = least_squares(array)
    assert after is not before
    fresh = linalg._fit(array.copy())
    np.testing.assert_array_equal(after.coef, fresh.coef)
    np.testing.assert_array_equal(after.leverage, fresh.leverage)


def test_another_shape_or_layout_is_another_content():
    kept, array = ByContent(), database(2, 6, 4)
    first = kept.get(array, lambda: object())
    others = (array.reshape(4, 6), np.asfortranarray(array), array[:, :3], array.T)
    assert all(kept.get(other, lambda: object()) is not first for other in others)


def test_a_result_goes_with_its_array_and_only_the_last_are_kept():
    class Result:
        pass

    kept, array = ByContent(), database(3)
    result = weakref.ref(kept.get(array, Result))
    del array
    gc.collect()
    assert result() is None
    arrays = [database(seed) for seed in range(4, 10)]
    results = [weakref.ref(kept.get(array, Result)) for array in arrays]
    gc.collect()
    assert [one() is not None for one in results] == [False] * 2 + [True] * 4


def test_what_is_shared_cannot_be_written_to():
    fit = least_squares(database(5))
    for array in (fit.coef, fit.residual, fit.leverage, fit.residual_share, fit.displacement):
        assert not array.flags.writeable
    factor = factorise(database(6))
    assert not factor.basis.flags.writeable
    assert not factor.root.flags.writeable
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fit)).coef, fit.coef)


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
