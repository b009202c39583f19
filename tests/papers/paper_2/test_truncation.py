"""Algorithm 1 of paper 2: public rows, where rows are cut, the most that a replaced row changes."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.papers import PMT

printed = dp.papers.printed

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(5)
DATA = RNG.standard_normal((30, 3)) @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.1]])
PUBLIC = 10


def moment(rows):
    return rows.T @ rows / len(rows)


def test_rows_are_whitened_and_cut():
    data = DATA.copy()
    data[20] *= 50.0
    values, axes = np.linalg.eigh(moment(data[:PUBLIC]))
    white = data[PUBLIC:] @ (axes @ np.diag(values**-0.5) @ axes.T)
    radius = printed.algorithm_1_radius(3, 20, 0.05)
    found = PMT(1.0, public_rows=PUBLIC).truncated(data)
    assert np.linalg.norm(found[10]) == pytest.approx(radius)
    np.testing.assert_allclose(found[10] / radius, white[10] / np.linalg.norm(white[10]))
    np.testing.assert_allclose(
        np.delete(found, 10, axis=0), np.delete(white, 10, axis=0), rtol=1e-9
    )


def test_a_public_moment_serves_as_public_rows():
    by_rows = PMT(1.0, public_rows=PUBLIC).law(DATA)
    by_moment = PMT(1.0, public_moment=moment(DATA[:PUBLIC])).law(DATA[PUBLIC:])
    np.testing.assert_array_equal(by_rows.mean, by_moment.mean)
    np.testing.assert_array_equal(by_rows.deviation, by_moment.deviation)


def test_replaced_rows_are_the_pairs_of_laws(rng):
    mechanism = PMT(0.7, public_rows=PUBLIC)
    candidates = np.vstack([3.0 * rng.standard_normal((2, 3)), 1e3 * DATA[:1]])
    found = mechanism.replaced_rows(DATA, candidates).mu.reshape(len(DATA), 3)
    np.testing.assert_array_equal(found[:PUBLIC], 0.0)
    for i, j in ((PUBLIC, 0), (17, 1), (29, 2)):
        pair = dp.neighbours.replace_row(DATA, i, candidates[j])
        left, right = mechanism.law(pair.left), mechanism.law(pair.right)
        assert found[i, j] == pytest.approx(
            np.linalg.norm((left.mean - right.mean) / left.deviation), rel=1e-9
        )
    worst = dp.exact.worst_case(mechanism, DATA, 0.3, relation="replace", candidates=candidates)
    assert worst.index >= PUBLIC
    np.testing.assert_array_equal(mechanism.zeroed_rows(DATA).mu[:PUBLIC], 0.0)


@pytest.mark.parametrize(
    ("mechanism", "share"),
    [
        (PMT(2.0, public_rows=5), 0.5**0.5),
        (PMT(2.0, public_rows=1), 0.5),
        (PMT(2.0, public_moment=moment(DATA)), 0.5**0.5),
    ],
)
def test_the_pair_is_the_worst_there_is(mechanism, share):
    pair = mechanism.pair()
    exact = dp.exact.spectrum(mechanism, pair, [0.0, 0.5])
    np.testing.assert_allclose(
        exact.delta, dp.exact.gaussian_shift(share * mechanism.mu, [0.0, 0.5]), rtol=1e-7
    )
    assert exact.delta[0] < mechanism.claim.delta_at(0.0)
    rows = 100.0 * np.random.default_rng(1).standard_normal((2000, pair.left.shape[1]))
    start = np.array(pair.left)
    start[pair.index] = rows[0]
    assert mechanism.replaced_rows(start, rows).mu.max() <= share * mechanism.mu * (1 + 1e-12)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "public_rows"),
        ({"public_rows": 3, "public_moment": moment(DATA)}, "public_rows"),
        ({"public_rows": -1}, "public_rows"),
        ({"public_moment": DATA}, "public_moment"),
        ({"public_moment": [[1.0, 2.0], [0.0, 1.0]]}, "public_moment"),
    ],
)
def test_a_wrong_parameter_is_named(given, name):
    with pytest.raises(dp.InvalidInput, match=f"^{name} must be"):
        PMT(**({"mu": 1.0} | given))


def test_too_few_or_dependent_public_rows_have_no_inverse_root():
    for public in (2, 10):
        data = DATA.copy()
        data[:PUBLIC, 2] = data[:PUBLIC, 0]
        with pytest.raises(dp.DegenerateData, match="public second moment"):
            PMT(1.0, public_rows=public)(data, 2, rng=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"public_rows": 30}, "data must be"),
        ({"public_moment": np.eye(2)}, "public_moment must be of 3 columns"),
    ],
)
def test_public_data_that_do_not_suit_the_rest_are_refused(given, message):
    with pytest.raises(dp.InvalidInput, match=message):
        PMT(1.0, **given)(DATA, 2, rng=1)
