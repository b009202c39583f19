"""The worst row of a database is the worst of ALL its rows, zeroed one at a time."""

from dataclasses import dataclass

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import ALS, RPLS, RandomProjection
from tests.cases import database

GRID = np.array([0.0, 0.05, 0.5, 2.0])


def brute_force(mechanism, data, epsilon, law="finite"):
    """(forward, backward), each (n, m): every row by itself."""
    found = [
        dp.exact.spectrum(mechanism, dp.neighbours.zero_row(data, i), epsilon, law=law)
        for i in range(len(data))
    ]
    return np.stack([one.forward for one in found]), np.stack([one.backward for one in found])


def assert_worst(mechanism, data, epsilon, law="finite"):
    forward, backward = brute_force(mechanism, data, epsilon, law)
    delta = np.maximum(forward, backward)
    worst = dp.exact.worst_case(mechanism, data, epsilon, law=law)
    np.testing.assert_allclose(worst.delta, delta.max(axis=0), rtol=1e-9, atol=1e-13)
    at = worst.index, np.arange(len(epsilon))
    np.testing.assert_allclose(delta[at], delta.max(axis=0), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(worst.forward, forward.max(axis=0), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(worst.backward, backward.max(axis=0), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_worst_case_of_als_on_small_data_of_any_kind(seed):
    rng = np.random.default_rng(seed)
    features = 1 + seed
    data = database(10 + seed, features, seed=seed) * 10.0 ** rng.uniform(-4, 4, features + 1)
    assert_worst(ALS(features + 1 + 3 * seed), data, GRID)


def test_worst_rows_differ_by_epsilon():
    """A row of high leverage is worst at some ε, one of high share at others.

    This is a reason for the Pareto set.
    """
    worst = dp.exact.worst_case(ALS(12), database(40, 3, seed=28), np.linspace(0.0, 2.0, 21))
    assert len(set(worst.index)) > 1


def heavy_row(seed, factor):
    """Small data whose longest row may also lead in leverage and residual share.

    That row sets the norm bound.
    """
    rng = np.random.default_rng(seed)
    features = int(rng.integers(1, 3))
    data = rng.standard_normal((12, features + 1)) * rng.uniform(0.1, 3.0, features + 1)
    data[3] *= factor
    return data


@pytest.mark.parametrize(("seed", "factor"), [(14, 3.0), (25, 3.0), (75, 1.5), (145, 3.0)])
@pytest.mark.parametrize("rows", [4, 30])
def test_rows_behind_the_one_that_sets_the_padding_are_not_forgotten(seed, factor, rows):
    """Row 3 has the largest norm, so zeroing it changes the padding.

    The worst of the other rows is found among themselves. In these data row 3 exceeds some of them
    in leverage and share, and yet one of those is worse (by up to a third).
    """
    data = heavy_row(seed, factor)
    mechanism = RPLS(rows, epsilon=40.0, delta=0.5)
    assert mechanism.exceptional_rows(data) == (3,)
    assert_worst(mechanism, data, GRID)


def test_the_row_that_sets_the_padding_is_treated_as_such():
    """Zeroing the row shrinks c₂.

    The pair of laws differs from the one where the same bound is public.
    """
    data = database(40, 3, seed=28)
    largest = int(np.argmax(np.linalg.norm(data, axis=1)))
    private = RPLS(200, epsilon=10.0, delta=0.1)
    public = RPLS(200, epsilon=10.0, delta=0.1, row_bound=float(np.linalg.norm(data, axis=1).max()))
    pair = dp.neighbours.zero_row(data, largest)
    one, other = (
        dp.exact.spectrum(private, pair, 0.0).delta,
        dp.exact.spectrum(public, pair, 0.0).delta,
    )
    assert max(one / other, other / one) > 1.3
    ordinary = dp.neighbours.zero_row(data, (largest + 1) % 40)
    curves = (dp.exact.spectrum(mechanism, ordinary, GRID).delta for mechanism in (private, public))
    np.testing.assert_allclose(*curves, rtol=1e-6, atol=1e-15)


def test_zero_rows_do_no_harm():
    data = database(40, 3, seed=28)
    padded = np.vstack([np.zeros((2, 4)), data])
    for mechanism in (ALS(12), RandomProjection(3)):
        plain, moved = (
            dp.exact.worst_case(mechanism, data, GRID),
            dp.exact.worst_case(mechanism, padded, GRID),
        )
        np.testing.assert_allclose(moved.delta, plain.delta, rtol=1e-9)
        np.testing.assert_array_equal(moved.index, plain.index + 2)


# --- the asymptotic law has no Pareto set to rely on ----------------------------------------------


def test_the_asymptotic_curve_is_not_monotone_in_leverage():
    """A fact about Lemma 3's law, where the axis variance (1 − t)/(1 − h) passes 1.

    There, little is left at large ε.
    """
    low, high = (
        max(dp.exact.als(h, 0.49744, 1, 2, 8.0, law="asymptotic")) for h in (0.097973, 0.4396)
    )
    assert low > 1e4 * high > 0.0


def test_the_asymptotic_curve_is_not_monotone_in_residual_share():
    low, high = (
        max(dp.exact.als(0.9424, t, 6, 7, 100.0, law="asymptotic")) for t in (0.786, 0.817)
    )
    assert low > 1.2 * high


@pytest.mark.parametrize(("features", "rows", "seed"), [(1, 2, 45), (1, 4, 314), (2, 5, 293)])
def test_worst_case_of_the_asymptotic_law(features, rows, seed):
    """Seven rows: the worst at large ε is behind another in leverage and share.

    The share is that of the residual.
    """
    data = database(7, features + 1, seed=seed)[:, 1:]
    assert_worst(ALS(rows), data, np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0]), law="asymptotic")


def test_of_a_mechanism_with_a_law_alone_a_pair_is_known_and_the_worst_row_is_not():
    @dataclass(frozen=True)
    class Sum(dp.mechanisms.LawMechanism):
        def law(self, data):
            return dp.laws.Laplace(data.sum(axis=0), 1.0)

    data = np.array([[0.2], [1.0]])
    pair = dp.neighbours.zero_row(data, 1)
    assert dp.exact.spectrum(Sum(), pair, 0.0).delta == pytest.approx(1.0 - np.exp(-0.5))
    with pytest.raises(dp.NoExactSpectrum, match=r"Sum does not say .*spectrum takes a pair"):
        dp.exact.worst_case(Sum(), data, 0.0)
