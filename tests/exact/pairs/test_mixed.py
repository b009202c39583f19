"""Laws of several forms, and finite releases beside others."""

import numpy as np
import pytest
from scipy.integrate import quad

from dpaudit.exact import Atoms, BranchCurve, PrivacyLoss, curve_of_laws
from dpaudit.laws import Branches, Discrete, GaussianNoise, Laplace, Product

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.2, 0.7, 1.5])


def branches(odds, locs):
    """A tag in column 0; branch 0 has no number, branch 1 one, branch 2 two."""
    templates = np.array([[0.0, np.nan, np.nan], [1.0, np.nan, np.nan], [2.0, np.nan, np.nan]])
    parts = (None, Laplace(locs[:1], np.ones(1)), Laplace(locs, np.ones(2)))
    return Branches(templates, np.log(odds), ((), (1,), (1, 2)), parts)


LEFT = branches(np.array([0.2, 0.3, 0.5]), np.array([0.0, 0.0]))
RIGHT = branches(np.array([0.4, 0.3, 0.3]), np.array([1.0, 1.0]))


def test_branches_against_simulation_of_their_own_densities():
    """δ(ε) = E_P[(1 − e^{ε − L})₊] is a mean of values in [0, 1]. So Hoeffding's bound applies,
    with error probability 1e-7.
    """
    n = 200_000
    curve = curve_of_laws(LEFT, RIGHT)[0]
    room = np.sqrt(np.log(2.0 / 1e-7) / (2.0 * n))
    for side, (one, other) in enumerate(((LEFT, RIGHT), (RIGHT, LEFT))):
        x = one.sample(n, np.random.default_rng(side))
        loss = one.log_density(x) - other.log_density(x)
        means = [np.maximum(-np.expm1(e - loss), 0.0).mean() for e in EPSILON]
        np.testing.assert_allclose(curve.delta(EPSILON)[side], means, atol=room)


def test_branches_by_hand():
    """Σ (P_i δ_i(ε − log P_i/Q_i)): a branch's own ε may be negative."""
    from dpaudit.exact import LaplaceShift

    def signed(count, e):
        value = float(LaplaceShift(1.0, count).delta(abs(e))[0])
        return value if e >= 0.0 else -np.expm1(e) + np.exp(e) * value

    expected = [0.3 * signed(1, e) + 0.5 * signed(2, e - np.log(5.0 / 3.0)) for e in EPSILON]
    np.testing.assert_allclose(
        curve_of_laws(LEFT, RIGHT)[0].delta(EPSILON)[0], expected, rtol=1e-12
    )
    assert curve_of_laws(LEFT, RIGHT)[0].supremum[0] == pytest.approx(2.0 + np.log(5.0 / 3.0))


def test_a_branch_of_one_law_alone():
    without = Branches(LEFT.templates[:2], np.log([0.5, 0.5]), LEFT.slots[:2], LEFT.parts[:2])
    curve = curve_of_laws(LEFT, without)[0]
    np.testing.assert_allclose(curve.delta(np.array([60.0])), [[0.5], [0.0]], atol=1e-15)
    assert curve.supremum[0] == np.inf
    assert curve.renyi(2.0)[0] == np.inf


def test_renyi_of_branches_is_the_sum_of_moments():
    curve = curve_of_laws(LEFT, RIGHT)[0]
    inner = curve_of_laws(LEFT.parts[1], RIGHT.parts[1])[0]
    for order in (0.5, 2.0, 3.0):
        moments = [np.exp((order - 1.0) * k * inner.renyi(order)[0]) for k in (0, 1, 2)]
        p, q = np.exp(LEFT.log_probability), np.exp(RIGHT.log_probability)
        expected = np.log(np.sum(p**order * q ** (1.0 - order) * moments)) / (order - 1.0)
        assert curve.renyi(order)[0] == pytest.approx(expected, rel=1e-12)
    kl = curve.renyi(1.0)[0]
    assert kl == pytest.approx(curve.renyi(1.0 + 1e-6)[0], rel=1e-4)


def test_a_branch_whose_laws_share_nothing_adds_nothing_below_order_one():
    half = np.log([0.5, 0.5])
    curve = BranchCurve(
        Atoms(half, half), (PrivacyLoss.gaussian_shift(0.0), PrivacyLoss.disjoint("disjoint"))
    )
    assert curve.renyi(0.5) == pytest.approx((2.0 * np.log(2.0),) * 2, rel=1e-14)
    assert curve.renyi(0.25) == pytest.approx((np.log(2.0) / 0.75,) * 2, rel=1e-14)
    assert curve.renyi(1.0) == (np.inf, np.inf)


def test_rows_of_no_form_have_no_density():
    x = np.array([[0.0, 1.0, np.nan], [2.0, 1.0, np.nan], [3.0, 1.0, 1.0], [0.0, np.nan, np.nan]])
    np.testing.assert_array_equal(LEFT.log_density(x), [-np.inf, -np.inf, -np.inf, np.log(0.2)])


def test_a_flag_beside_gaussian_noise_against_direct_integration():
    flag = [Discrete(np.array([0.0, 1.0]), np.log(p)) for p in ([0.7, 0.3], [0.4, 0.6])]
    number = [GaussianNoise(np.array([at]), np.ones(1)) for at in (0.0, 0.8)]
    left, right = (Product((f, g)) for f, g in zip(flag, number, strict=True))
    found = curve_of_laws(left, right)[0].delta(EPSILON)[0]

    def gain(x, epsilon):
        p, q = (np.exp(-0.5 * (x - at) ** 2) / np.sqrt(2.0 * np.pi) for at in (0.0, 0.8))
        return sum(max(a * p - np.exp(epsilon) * b * q, 0.0) for a, b in ((0.7, 0.4), (0.3, 0.6)))

    expected = [quad(gain, -9.0, 9.0, args=(e,), limit=500, epsabs=1e-12)[0] for e in EPSILON]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_two_unlike_continuous_releases_have_no_exact_spectrum():
    from dpaudit import NoExactSpectrum

    left, right = (
        Product((Laplace(np.array([at]), np.ones(1)), GaussianNoise(np.array([at]), np.ones(1))))
        for at in (0.0, 1.0)
    )
    with pytest.raises(NoExactSpectrum, match="all parts but one have finitely many outcomes"):
        curve_of_laws(left, right)
