"""Leverage, residual share and displacement against removing the row and solving again."""

import numpy as np
import pytest
from mpmath import mp

import dpaudit as dp
from dpaudit.neighbours import row_statistics
from tests.cases import database

pytestmark = pytest.mark.quick


def removed(data, index):
    """(1 − h, t, ‖x_opt − x'_opt‖) of a row, from both least-squares fits at 100 digits."""

    def fit(rows):
        x, y = mp.matrix(rows[:, :-1].tolist()), mp.matrix(rows[:, -1].tolist())
        gram = x.T * x
        coef = mp.lu_solve(gram, x.T * y)
        return gram, coef, mp.norm(y - x * coef) ** 2

    with mp.workdps(100):
        (_, coef, rest), (gram, other, kept) = fit(data), fit(np.delete(data, index, axis=0))
        row = mp.matrix(data[index, :-1].tolist())
        room = 1 / (1 + mp.fdot(row, mp.lu_solve(gram, row)))
        return float(room), float(1 - kept / rest), float(mp.norm(coef - other))


@pytest.mark.parametrize("shape", [(3, 1), (5, 4), (20, 3)])
def test_statistics_agree_with_removal_in_many_digits(shape):
    data = database(*shape)
    room, share, moved = np.transpose([removed(data, index) for index in range(len(data))])
    rows = row_statistics(data)
    np.testing.assert_allclose(rows.leverage, 1.0 - room, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(rows.residual_share, share, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(rows.displacement, moved, rtol=1e-8)


@pytest.mark.parametrize("offset", [0, 1_000, 30_000])
def test_nearly_collinear_features_against_many_digits(offset):
    """Columns 1, x, x² of years far from 0: condition number up to 1e9 after column scaling."""
    x = offset + np.array([0, 1, 2, 4, 7, 11, 16, 22])
    data = np.column_stack([np.ones(8), x, x**2, x**2 % 13])
    room, share, _ = np.transpose([removed(data, index) for index in range(8)])
    rows = row_statistics(data)
    np.testing.assert_allclose(rows.leverage, 1.0 - room, rtol=1e-6)
    np.testing.assert_allclose(rows.residual_share, share, rtol=1e-6, atol=1e-9)


def indicator(n=30, index=4, scale=1.0, seed=6):
    """A database whose row `index` alone has a value in the last feature."""
    data = database(n, 4, seed=seed)
    data[:, 3] = 0.0
    data[index, 3] = scale
    return data


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e7, -3.0])
def test_a_row_that_alone_spans_a_direction_has_leverage_one(scale):
    data = indicator(scale=scale)
    rows = row_statistics(data)
    assert rows.leverage[4] == 1.0
    assert rows.residual_share[4] == 0.0
    assert rows.displacement[4] == np.inf
    assert np.all(np.delete(rows.leverage, 4) < 1.0)
    assert np.isfinite(np.delete(rows.displacement, 4)).all()


def test_leverage_one_is_certain_disclosure():
    data, epsilon = indicator(), [0.0, 1.0, 20.0]
    pair = dp.neighbours.zero_row(data, 4)
    sketched = data.copy()
    sketched[:, -1] = np.arange(30) % 5 + 1.0
    worst = dp.exact.worst_case(dp.mechanisms.RandomProjection(3), sketched, [0.0, 5.0])
    np.testing.assert_array_equal([worst.delta, worst.index], [[1.0, 1.0], [4, 4]])
    for mechanism in (dp.mechanisms.ALS(9), dp.mechanisms.GaussianLS(sigma=1.0)):
        np.testing.assert_array_equal(
            dp.exact.spectrum(mechanism, pair, epsilon).delta, [1.0, 1.0, 1.0]
        )
        worst = dp.exact.worst_case(mechanism, data, epsilon)
        np.testing.assert_array_equal(worst.delta, [1.0, 1.0, 1.0])
        np.testing.assert_array_equal(worst.index, [4, 4, 4])


def test_a_row_that_alone_has_a_residual_takes_the_whole_share():
    data = database(30, 3)
    data[:, -1] = data[:, :-1] @ [1.0, 2.0, 3.0]
    data[8, -1] += 5.0
    rows = row_statistics(data)
    assert rows.residual_share[8] == 1.0
    assert rows.displacement[8] == pytest.approx(
        np.linalg.norm(np.linalg.lstsq(data[:, :-1], data[:, -1], rcond=None)[0] - [1.0, 2.0, 3.0]),
        rel=1e-9,
    )
    spectrum = dp.exact.spectrum(dp.mechanisms.ALS(9), dp.neighbours.zero_row(data, 8), [0.0, 3.0])
    np.testing.assert_array_equal(spectrum.delta, [1.0, 1.0])


def test_a_zero_row_weighs_nothing():
    data = database()
    data[3] = 0.0
    rows = row_statistics(data)
    assert rows.leverage[3] == rows.residual_share[3] == rows.displacement[3] == 0.0


# --- data that leave it undefined


def degenerate():
    data = database(20, 3)
    double = np.column_stack([data[:, :2], 2.0 * data[:, 1] - 3.0 * data[:, 0], data[:, 3]])
    zero = data.copy()
    zero[:, 1] = 0.0
    fitted = np.column_stack([data[:, :-1], data[:, :-1] @ [1.0, -2.0, 0.5]])
    label = data.copy()
    label[:, -1] = 0.0
    return {
        "combination": (
            double,
            "the features of data must have linearly independent columns, got rank below 3",
        ),
        "zero column": (zero, "got only zeros in column 1"),
        "as many rows as features": (
            data[:3],
            "data must have more rows than features, got 3 and 3",
        ),
        "exact fit": (fitted, "the features fit the label exactly"),
        "zero label": (label, "the features fit the label exactly"),
    }


@pytest.mark.parametrize("case", degenerate())
def test_degenerate_data_are_refused_with_the_reason(case):
    data, message = degenerate()[case]
    with pytest.raises(dp.DegenerateData, match=message):
        row_statistics(data)
    mechanisms = [dp.mechanisms.ALS(9), dp.mechanisms.GaussianLS(sigma=1.0)]
    if "exactly" in message:  # Gaussian noise does not come from the residuals
        assert np.all(np.isfinite(mechanisms.pop().law(data).mean))
    for mechanism in mechanisms:
        with pytest.raises(dp.DegenerateData, match=message):
            mechanism.law(data)
        with pytest.raises(dp.DegenerateData, match=message):
            dp.exact.worst_case(mechanism, data, 1.0)


def test_degenerate_databases_are_refused_by_sketches():
    message = "data must have at least as many rows as columns, got 3 rows and 4 columns"
    for mechanism in (dp.mechanisms.RandomProjection(3), dp.mechanisms.RandomLinearCombination()):
        with pytest.raises(dp.DegenerateData, match=message):
            dp.exact.worst_case(mechanism, database(20, 3)[:3], 1.0)


def outlying(size):
    """A constant, a feature that one row holds at `size`, and a label."""
    rng = np.random.default_rng(3)
    data = np.column_stack([np.ones(30), rng.standard_normal((30, 2))])
    data[3, 1] = size
    return data


@pytest.mark.parametrize("size", [1e2, 1e7, 1e12])
def test_a_row_far_from_the_others_keeps_its_digits(size):
    """1 − h is 2e-23 at 1e12, where h rounds to 1."""
    data = outlying(size)
    _, share, moved = removed(data, 3)
    rows = row_statistics(data)
    assert rows.residual_share[3] == pytest.approx(share, rel=1e-13)
    assert rows.displacement[3] == pytest.approx(moved, rel=1e-13)
    mechanism = dp.mechanisms.GaussianLS(sigma=moved)
    assert dp.exact.worst_case(mechanism, data, 0.0).delta == pytest.approx(0.3829249225480263)
    replaced = dp.exact.worst_case(
        mechanism, data, 0.0, relation="replace", candidates=np.zeros((1, 3))
    )
    assert replaced.delta == pytest.approx(0.3829249225480263)


@pytest.mark.parametrize("seed", range(2))
def test_rows_of_very_different_sizes_keep_their_digits(seed):
    """Four rows are 1e3 to 1e12 times as large as the others."""
    data = np.random.default_rng(seed).standard_normal((12, 3))
    data[:4] *= [[1e9], [1e6], [1e3], [1e12]]
    rows = row_statistics(data)
    expected = np.array([removed(data, index) for index in range(12)])
    np.testing.assert_allclose(rows.residual_share, expected[:, 1], rtol=1e-10)
    np.testing.assert_allclose(rows.displacement, expected[:, 2], rtol=1e-12)
