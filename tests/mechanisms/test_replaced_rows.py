"""All replacements of rows by candidates at once, against the two matrices at 50 digits."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.laws import ScaleRows
from dpaudit.mechanisms import (
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomProjection,
    SufficientStatistics,
)
from tests.mechanisms.by_matrices import changes, replaced
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS, database

pytestmark = pytest.mark.quick

CLOSED = tuple(m for m in MECHANISMS if m.name not in ("ALS", "RPLS", "AdditiveWishart"))
every_closed = pytest.mark.parametrize("mechanism", CLOSED, ids=repr)
every_kind = pytest.mark.parametrize(
    "mechanism",
    [
        GaussianLS(sigma=0.5),
        RandomProjection(5),
        GaussMix(5, sigma=3.0),
        InverseWishartDraw(7, padding=3.0),
        AnalyzeGauss(50.0),
        GaussianInverse(0.1),
        GaussianInverse(0.02, padding=1.0),
        SufficientStatistics(50.0, 80.0),
    ],
    ids=repr,
)
EPS = np.finfo(float).eps


def numbers(family):
    """(1, n·m) or (2, n·m)."""
    return np.stack([family.up, family.down] if isinstance(family, ScaleRows) else [family.mu])


def by_matrices(mechanism, data, candidates):
    pairs = [replaced(data, i, row) for i in range(len(data)) for row in candidates]
    return np.stack([changes(mechanism, data, other) for other in pairs], axis=1)


@every_kind
def test_every_pair_is_that_of_the_two_databases(mechanism):
    rng = np.random.default_rng(1)
    candidates = np.vstack(
        [
            rng.standard_normal((2, 4)) * [1.0, 1.0, 10.0, 10.0],
            [5.0 * DATA[2], DATA[7] + 0.1, 0.0 * DATA[0]],
        ]
    )
    found = numbers(mechanism.replaced_rows(DATA, candidates))
    exact = by_matrices(mechanism, DATA, candidates)
    # 5 times row 2 shrinks no axis: down = 0, and a row of zeros stretches none: up = 0
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-25)


@every_kind
def test_columns_of_very_different_scales(mechanism):
    scale = 10.0 ** np.array([-6.0, 4.0, 0.0, 5.0])
    data = database(n=7, seed=3) * scale
    candidates = database(n=2, seed=4) * scale
    found = numbers(mechanism.replaced_rows(data, candidates))
    np.testing.assert_allclose(found, by_matrices(mechanism, data, candidates), rtol=1e-7)


@every_closed
def test_a_row_replaced_by_itself_changes_nothing(mechanism):
    found = numbers(mechanism.replaced_rows(DATA, DATA)).reshape(-1, len(DATA), len(DATA))
    same = np.eye(len(DATA), dtype=bool)
    np.testing.assert_array_equal(found[:, same], 0.0)
    assert np.all(np.max(found, axis=0)[~same] > 0.0)


@every_kind
@pytest.mark.parametrize("size", [1e-3, 1e-7])
def test_a_small_change_keeps_its_digits(mechanism, size):
    """The error is relative to the change: only the rounding of the rows, of order EPS."""
    candidates = DATA[4] + size * np.random.default_rng(2).standard_normal((1, 4))
    found = numbers(mechanism.replaced_rows(DATA, candidates))[:, 4]
    expected = changes(mechanism, DATA, replaced(DATA, 4, candidates[0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12 + 2e3 * EPS / size)


def alone():
    """Data of which row 3 alone has a first column, and candidates with and without one."""
    data = DATA.copy()
    data[:, 0] = 0.0
    data[3, 0] = 2.0
    candidates = np.array([[0.0, 1.0, 2.0, 3.0], [0.5, 1.0, 2.0, 3.0]])
    return data, candidates


@pytest.mark.parametrize(
    "mechanism",
    [
        GaussianLS(sigma=0.5),
        GaussianInverse(sigma=0.1),
        RandomProjection(5),
        GaussianInverse(0.1, 1.0),
    ],
)
def test_a_candidate_may_lose_the_rank_or_keep_it(mechanism):
    data, candidates = alone()
    found = numbers(mechanism.replaced_rows(data, candidates)).reshape(-1, len(data), 2)[:, 3]
    if mechanism.parameters().get("padding"):
        np.testing.assert_allclose(
            found[:, 0], changes(mechanism, data, replaced(data, 3, candidates[0])), rtol=1e-9
        )
    else:
        assert found[-1, 0] == (1.0 if isinstance(mechanism, RandomProjection) else np.inf)
    np.testing.assert_allclose(
        found[:, 1], changes(mechanism, data, replaced(data, 3, candidates[1])), rtol=1e-9
    )


@every_closed
def test_the_order_is_row_by_row_whatever_the_block(mechanism, monkeypatch):
    candidates = database(n=5, seed=8)
    whole = numbers(mechanism.replaced_rows(DATA, candidates))
    monkeypatch.setattr("dpaudit.mechanisms.replacement.BLOCK", 10)
    np.testing.assert_allclose(
        numbers(mechanism.replaced_rows(DATA, candidates)), whole, rtol=1e-11
    )
    one = numbers(mechanism.replaced_rows(DATA, candidates[3:4]))
    np.testing.assert_allclose(whole.reshape(-1, len(DATA), 5)[:, :, 3], one, rtol=1e-11)


def test_candidates_are_rows_like_those_of_the_data():
    mechanism = GaussMix(5, sigma=3.0)
    with pytest.raises(dp.InvalidInput, match="candidates must be rows of 4 columns, as data"):
        mechanism.replaced_rows(DATA, np.zeros((2, 3)))
    with pytest.raises(dp.InvalidInput, match="candidates must be a 2-D array of finite numbers"):
        mechanism.replaced_rows(DATA, [[0.0, np.nan, 0.0, 0.0]])


def test_padding_by_the_longest_row_has_no_family():
    """A replacement may change the longest row, and with it the padding of every other pair."""
    with pytest.raises(dp.NoExactSpectrum, match="pads by the longest row of the data"):
        dp.mechanisms.RPLS(7, epsilon=1.0, delta=1e-5).replaced_rows(DATA, DATA)
