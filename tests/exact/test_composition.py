"""Composed privacy losses: algebra, closed forms, Rényi divergences.

Values by dp-accounting are in tests/curves/test_composed.py, and values at 40 digits, of bounds
with additive Wishart noise too, in tests/oracle.
"""

import numpy as np
import pytest

from dpaudit import InvalidInput
from dpaudit.exact import (
    PrivacyLoss,
    additive_wishart,
    compose,
    gaussian_shift,
)
from tests.exact.comparing import assert_close

EPSILON = np.array([0.0, 0.1, 0.3, 1.0, 3.0, 10.0])
ORDERS = (0.3, 0.999999999, 1.0, 1.000001, 1.5, 2.0)


def line(shift, ratio):
    return PrivacyLoss.gaussian_pair([0.0], [[1.0]], [shift], [[ratio]])


def releases():
    """One of every kind."""
    return [
        PrivacyLoss.gaussian_shift(0.4),
        PrivacyLoss.gaussian_sketch(0.05, rows=20),
        PrivacyLoss.gaussian_sketch(0.3, rows=2).reversed(),
        line(0.3, 1.4),
        PrivacyLoss.gaussian_pair(
            [0.0, 0.0], np.eye(2), [0.2, -0.1], np.array([[0.9, 0.1], [0.1, 1.2]])
        ),
    ]


# --- algebra --------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [2, 3, 7])
def test_times_is_repeated_addition(times):
    for loss in releases():
        added = loss
        for _ in range(times - 1):
            added = added + loss
        assert_close((times * loss).delta(EPSILON), added.delta(EPSILON), 1e-10)
        assert_close((times * loss).delta(EPSILON), compose([loss], [times]).delta(EPSILON), 1e-14)
        assert_close((2 * (times * loss)).delta(EPSILON), (2 * times * loss).delta(EPSILON), 1e-10)


def test_the_zero_loss_changes_nothing():
    zero = PrivacyLoss.gaussian_shift(0.0)
    for loss in [*releases(), zero]:
        assert_close((loss + zero).delta(EPSILON), loss.delta(EPSILON), 1e-10)
    assert np.all(np.stack((5 * zero).delta(EPSILON)) == 0.0)


def test_directions_swap_together():
    losses = releases()
    there, back = compose(losses).delta(EPSILON)
    swapped = compose([loss.reversed() for loss in losses]).delta(EPSILON)
    assert_close((back, there), swapped, 1e-10)
    assert_close((back, there), compose(losses).reversed().delta(EPSILON), 1e-14)


@pytest.mark.parametrize("certain", [PrivacyLoss.gaussian_sketch(1.0, 3), line(1.0, 0.0)])
def test_a_release_that_gives_all_away_decides(certain):
    for whole in (
        certain,
        2 * certain,
        certain + PrivacyLoss.gaussian_shift(0.1),
        releases()[1] + certain,
    ):
        assert np.all(np.stack(whole.delta(EPSILON)) == 1.0)
        assert whole.supremum == (np.inf, np.inf)


def test_a_spectrum_carries_its_loss():
    whole = compose(releases(), [1, 2, 1, 3, 1])
    found = whole.spectrum(EPSILON)
    assert found.curve is whole
    np.testing.assert_array_equal(found.delta, np.maximum(*whole.delta(EPSILON)))
    assert "2 × Gaussian rows" in found.law


# --- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mus", [[0.3, 0.4], [1e-3, 1e-4, 2e-3], [2.0, 0.1, 0.0, 1.0], [0.1] * 50])
def test_shifts_compose_to_one_shift(mus):
    curve = gaussian_shift(float(np.sqrt(np.sum(np.square(mus)))), EPSILON)
    assert_close(
        compose([PrivacyLoss.gaussian_shift(mu) for mu in mus]).delta(EPSILON),
        (curve, curve),
        1e-10,
    )


# --- Rényi divergences and the largest loss -------------------------------------------------------


def test_renyi_divergences_add():
    losses, times = releases(), [1, 2, 1, 3, 1]
    for order in ORDERS:
        parts = np.array([loss.renyi(order) for loss in losses])
        np.testing.assert_allclose(compose(losses, times).renyi(order), times @ parts, rtol=1e-9)


def test_renyi_divergences_of_a_shift_and_of_a_sketch():
    """Of a shift αμ²/2; of r rows those of N(0, 1) and N(0, 1 − q), each way."""
    v, rows = np.array([1.0, 0.95]), 20
    for order in (0.3, 1.5, 2.0):
        np.testing.assert_allclose(
            PrivacyLoss.gaussian_shift(0.7).renyi(order), 0.5 * order * 0.49, rtol=1e-9
        )
        mixed = order * v[::-1] + (1.0 - order) * v
        expected = 0.5 * rows * (np.log(v[::-1] / v) - np.log(mixed / v[::-1]) / (order - 1.0))
        found = PrivacyLoss.gaussian_sketch(0.05, rows).renyi(order)
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_suprema_add():
    one, other = (
        PrivacyLoss.gaussian_sketch(0.3, rows=2),
        PrivacyLoss.gaussian_sketch(0.05, rows=20),
    )
    whole = compose([one, other], [3, 1])
    assert whole.supremum == pytest.approx((np.inf, 3.0 * one.supremum[1] + other.supremum[1]))
    limit = whole.supremum[1]
    assert limit == pytest.approx(-3.0 * np.log(0.7) - 10.0 * np.log(0.95))
    backward = whole.delta([0.98 * limit, limit, 1.02 * limit])[1]
    assert backward[0] > 0.0
    assert np.all(backward[1:] == 0.0)
    assert (whole + PrivacyLoss.gaussian_shift(0.1)).supremum == (np.inf, np.inf)


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda loss: compose([]), "times"),
        (lambda loss: compose([loss], [1, 2]), "times"),
        (lambda loss: compose([loss], [0]), "times"),
        (lambda loss: compose([loss], [1.5]), "times"),
        (lambda loss: compose([loss, 0.3]), "losses"),
        (lambda loss: 0 * loss, "times"),
        (lambda loss: PrivacyLoss.gaussian_shift(-0.1), "mu"),
        (lambda loss: PrivacyLoss.gaussian_sketch(1.1, 3), "leverage"),
        (lambda loss: additive_wishart(0.1, 2, 3, 1.0), "dof"),
        (lambda loss: PrivacyLoss.gaussian_pair([0.0], [[1.0]], [0.0], [[-1.0]]), "cov2"),
        (lambda loss: (2 * loss).delta(-1.0), "epsilon"),
        (lambda loss: (2 * loss).renyi(0.0), "order"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(InvalidInput, match=f"^{name} "):
        call(PrivacyLoss.gaussian_sketch(0.1, 3))


def test_only_losses_add():
    loss = PrivacyLoss.gaussian_shift(0.1)
    assert sum([loss]) is loss
    with pytest.raises(TypeError):
        loss + 1
    with pytest.raises(TypeError):
        loss * loss
