"""Rényi divergences of the finite ALS law: skew symmetry, the spectrum's own integral, limits."""

import time

import numpy as np
import pytest
from scipy.integrate import simpson

from dpaudit.exact import StudentCurve

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("seed", range(8))
def test_orders_are_skew_symmetric(seed):
    """(1 − α)D_α(P‖Q) = α D_{1−α}(Q‖P): the two directions meet, each by its own quadrature."""
    rng = np.random.default_rng(seed)
    leverage, share = 10.0 ** rng.uniform(-6, -0.01, 2)
    features = int(rng.integers(1, 14))
    rows = features + 1 + int(10.0 ** rng.uniform(0, 5))
    order = rng.uniform(0.05, 0.95)
    curve = StudentCurve(leverage, share, features, rows)
    near = [curve.renyi(1.0 + at)[0] for at in (-1e-4, 0.0, 1e-4)]
    assert near[1] == pytest.approx(0.5 * (near[0] + near[2]), rel=1e-6)
    there = StudentCurve(leverage, share, features, rows).renyi(order)[0] * (1.0 - order) / order
    back = StudentCurve(leverage, share, features, rows).renyi(1.0 - order)[1]
    assert there == pytest.approx(back, rel=1e-9)


def test_a_mesh_that_is_too_coarse_is_refined():
    """By skew symmetry: the backward divergence was off by 1.8e-6, and nothing was said."""
    row, order = (0.9994989455743788, 0.010846657498789315, 7, 36), 0.9536192186011508
    back = StudentCurve(*row).renyi(order)[1] * (1.0 - order) / order
    assert StudentCurve(*row).renyi(1.0 - order)[0] == pytest.approx(back, rel=1e-9)


def test_a_very_large_order_is_quick():
    """Took 12 s and 1.5 GB: its mesh grew as the root of the order."""
    curve = StudentCurve(0.1, 0.1, 3, 200)
    start = time.process_time()
    np.testing.assert_allclose(curve.renyi(1e8), curve.supremum, rtol=1e-5)
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize(
    ("leverage", "share", "features", "rows"),
    [(0.1, 0.05, 3, 40), (0.4, 0.0, 1, 9), (0.0, 0.3, 6, 20)],
)
@pytest.mark.parametrize("s", [0.5, 3.0])
def test_a_moment_is_an_integral_of_the_spectrum(leverage, share, features, rows, s):
    """E[e^{sL}] = s(s + 1)∫ δ(ε)e^{sε} dε over all ε; δ(−ε) = 1 − e^{−ε} + e^{−ε}δ'(ε)."""
    curve = StudentCurve(leverage, share, features, rows)
    end = max(curve.supremum)
    epsilon = np.linspace(0.0, end, 2_001)
    forward, backward = curve.delta(epsilon)
    negative = -np.expm1(-epsilon) + np.exp(-epsilon) * backward
    inside = simpson(forward * np.exp(s * epsilon) + negative * np.exp(-s * epsilon), x=epsilon)
    beyond = np.exp(-s * end) / s - np.exp(-(s + 1.0) * end) / (s + 1.0)
    expected = np.log(s * (s + 1.0) * (inside + beyond)) / s
    assert curve.renyi(1.0 + s)[0] == pytest.approx(expected, rel=1e-6)
