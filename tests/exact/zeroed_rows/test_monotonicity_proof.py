"""The steps of docs/theory/monotonicity.md, each against quadrature or the exact curves."""

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit as dp

POWERS = [(1, 2), (1, 5), (2, 3), (3, 2), (7, 6), (2, 1), (3, 1)]  # (n, p)
PLACES = [0.05, 0.4, 0.9, 1.3, 5.0]  # z


def slow(*arguments):
    return pytest.param(*arguments, marks=pytest.mark.slow)


def k_of(z, n, p):
    """K(z), from its definition, with τ = cos ψ."""
    y = mp.sqrt(z)
    if p == 1:
        ends = (y - 1, y + 1)
        return y * sum(x * abs(x) ** n for x in ends) / sum(abs(x) ** n for x in ends)
    knots = [0, mp.acos(-y), mp.pi] if y < 1 else [0, mp.pi]
    top, below = (
        mp.quad(lambda psi, f=f: mp.sin(psi) ** (p - 2) * f(y + mp.cos(psi)), knots)
        for f in (lambda x: x * abs(x) ** n, lambda x: abs(x) ** n)
    )
    return y * top / below


def slope(z, kappa, a, b):
    """κ′ by equation (5)."""
    right = kappa * (1 - 2 * z) + z * (1 - z) + (a + b) * z * kappa - a * b * kappa**2
    return right / (2 * z * (1 - z))


def bend(z, kappa, g, a, b):
    """2z(1 − z)g′ by equation (6)."""
    return 1 - 2 * z + (a + b - 2) * kappa + ((a + b + 2) * z - 1 - 2 * a * b * kappa) * g


@pytest.mark.parametrize(("n", "p"), [(3, 4), *(slow(*one) for one in POWERS)])
def test_k_solves_its_equation_and_is_concave_and_above_the_line(n, p):
    a, b, step = n + 1, n + p - 1, mp.mpf(10) ** -7
    with mp.workdps(32):
        for z in map(mp.mpf, PLACES):
            before, here, after = (k_of(z + i * step, n, p) / a for i in (-1, 0, 1))
            g = (after - before) / (2 * step)
            if p > 1:
                assert abs(g - slope(z, here, a, b)) < 1e-12
            assert a * g > 1 - 1e-12
            assert (after - 2 * here + before) / step**2 < 1e-12


@pytest.mark.slow  # 2 s
def test_the_slope_of_k_does_not_rise_where_its_formula_changes():
    with mp.workdps(25):
        step = mp.mpf(10) ** -7
        for n, p in POWERS:
            low, here, high = (k_of(1 + i * step, n, p) for i in (-1, 0, 1))
            assert (high - here) / step < (here - low) / step + 1e-9


def test_the_equations_of_the_proof_follow_from_the_first():
    """(6) by differentiating (5) along its solution; (7) by differentiating (6) where g′ = 0."""
    rng, h = np.random.default_rng(0), 1e-20j
    for _ in range(200):
        z, kappa, a, b = rng.uniform(0.05, 3.0, size=4)
        g = slope(z, kappa, a, b)
        second = slope(z + h, kappa + g * h, a, b).imag / h.imag
        assert np.isclose(2 * z * (1 - z) * second, bend(z, kappa, g, a, b), rtol=1e-9)
        third = bend(z + h, kappa + g * h, g, a, b).imag / h.imag
        assert np.isclose(third, -2 * (1 - a * g) * (1 - b * g), rtol=1e-9)


def test_where_the_slope_is_the_last_one_it_moves_away_from_it():
    """(8) and (9), and the signs that they give."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        z, n, p = rng.uniform(0.01, 5.0), rng.uniform(1.01, 30.0), float(rng.integers(2, 30))
        a, b = n + 1, n + p - 1
        for x in np.roots([b, 1 - p * z, -n * z]):
            kappa = (z - x) / a
            assert np.isclose(2 * z * (1 - z) * (slope(z, kappa, a, b) - 1 / a), 0, atol=1e-9)
            assert np.isclose(bend(z, kappa, 1 / a, a, b), (n + p * x) / a, atol=1e-9)
            assert n + p * x > 0


class Direction:
    """The law of the angle from u under P, by quadrature, and the functions of the proof."""

    def __init__(self, h, t, p, rows):
        self.h, self.t, self.p, self.k, self.n = h, t, p, rows + 1, rows - p
        self.u = np.sqrt([t / ((1 - h) * (1 - t)), h / (1 - h)])
        self.theta = np.arctan2(self.u[1], self.u[0])
        tau, weight = np.polynomial.legendre.leggauss(400)
        self.tau, self.weight = tau, weight * (1 - tau**2) ** (0.5 * (p - 3))
        self.mass = quad(self.density, 0, np.pi / 2, points=[np.pi / 2 - self.theta], limit=200)[0]

    def mean(self, alpha, times):
        """E of times(ξ₀)|ξ₀|ⁿ over τ."""
        first = np.cos(alpha) * np.cos(self.theta)
        coordinate = first + np.sin(alpha) * np.sin(self.theta) * self.tau
        return np.sum(self.weight * times(coordinate) * np.abs(coordinate) ** self.n)

    def square(self, alpha):
        return np.sum(self.u**2) * np.cos(alpha) ** 2

    def density(self, alpha):
        outside = np.sin(alpha) ** (self.p - 1) * (1 + self.square(alpha)) ** (-0.5 * self.k)
        return outside * self.mean(alpha, np.ones_like)

    def g_0(self, alpha):
        s = np.sqrt(self.square(alpha))
        product = s * self.mean(alpha, lambda x: x) / self.mean(alpha, np.ones_like)
        return product / (1 + s**2)

    def g_1(self, alpha):
        square = self.square(alpha)
        return (square / (1 + square) - self.u[0] * self.g_0(alpha)) / self.u[1]

    def expected(self, function, stop=np.pi / 2):
        found = quad(lambda a: function(a) * self.density(a), 0, stop, limit=200)[0]
        return found / self.mass

    def covariance(self, function, epsilon):
        """With 1{s² > c}, the best set of Q against P at ε."""
        constant = -0.5 * np.log1p(-self.h) - 0.5 * (self.n + 1) * np.log1p(-self.t)
        least = np.expm1(2 * (epsilon + constant) / self.k)
        stop = np.arccos(np.sqrt(least / np.sum(self.u**2)))
        inside, share = self.expected(function, stop), self.expected(np.ones_like, stop)
        return inside - share * self.expected(function)


CASES = [(0.3, 0.2, 3, 7), slow(0.1, 0.4, 4, 9), slow(0.5, 0.05, 3, 6)]


@pytest.mark.parametrize(("h", "t", "p", "rows"), CASES)
def test_the_two_functions_and_their_means(h, t, p, rows):
    law = Direction(h, t, p, rows)
    (u_0, u_1), k, nu = law.u, law.k, law.n + 1
    size = u_0**2 + u_1**2
    for alpha in (0.2, 0.7, 1.2):
        z = (np.tan(alpha) * np.tan(law.theta)) ** -2
        below = 1 + z * (u_1 / u_0) ** 2 * (1 + size)
        g_0 = u_1**2 / u_0 * float(k_of(z, law.n, p)) / below
        assert np.isclose(law.g_0(alpha), g_0, rtol=1e-3)
        whole = u_1**2 * (1 + (u_1 / u_0) ** 2) * z / below
        assert np.isclose(u_0 * law.g_0(alpha) + u_1 * law.g_1(alpha), whole, rtol=1e-9)
    assert np.isclose(law.expected(law.g_0), nu * u_0 / (k * (1 + size)), rtol=1e-4)
    slope_1 = u_1 * ((1 - nu) / (1 + u_1**2) + nu / (1 + size))
    assert np.isclose(law.expected(law.g_1), slope_1 / k, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("h", "t", "p", "rows"), CASES)
def test_the_derivative_of_delta_is_the_covariance(h, t, p, rows):
    law, epsilon, step = Direction(h, t, p, rows), 0.2, 1e-5
    u_0, u_1 = law.u
    scale = law.k * np.exp(epsilon)
    ways = {
        (0.0, step): u_0 / (2 * t * (1 - t)) * law.covariance(law.g_0, epsilon),
        (step, 0.0): (
            u_0 * law.covariance(law.g_0, epsilon)
            + (1 + u_1**2) / u_1 * law.covariance(law.g_1, epsilon)
        )
        / (2 * (1 - h)),
    }
    for (dh, dt), found in ways.items():
        high, low = (
            dp.exact.als(h + sign * dh, t + sign * dt, p, rows, epsilon)[1] for sign in (1, -1)
        )
        assert np.isclose((high - low) / (2 * step), scale * found, rtol=2e-3)
        assert found > 0


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_delta_rises_with_the_rows(count):
    """δ of ALS at a given leverage and residual share, r rows against a larger number."""
    rng = np.random.default_rng(0)
    epsilon = np.array([0.0, 0.1, 0.5, 1.0, 3.0, 10.0])
    for _ in range(count):
        h, t = 10 ** rng.uniform(-5, 0, size=2) * 0.999
        p = int(rng.integers(1, 14))
        r = p + int(rng.choice([1, rng.integers(1, 12), 10 ** rng.integers(1, 5)]))
        more = r + int(rng.choice([1, rng.integers(1, 12), 10 ** rng.integers(1, 5)]))
        low, high = (np.maximum(*dp.exact.als(h, t, p, n, epsilon)) for n in (r, more))
        np.testing.assert_array_less(low, high * (1 + 1e-9) + 1e-13)
