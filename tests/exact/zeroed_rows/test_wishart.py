"""Additive Wishart noise at the ends of its parameters, and against draws of the noise itself."""

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from dpaudit.exact import additive_wishart, gaussian_shift
from tests.sparse import one_in


@pytest.mark.parametrize("k", [3, 4])
def test_the_smallest_degrees_of_freedom(k):
    """k = d and k = d + 1, where the exponent (k − d − 1)/2 is −½ and 0. Total variation is still
    P(χ²_{k−d+1} < q).
    """
    there, back = additive_wishart(2.0, k, 3, 0.0)
    assert float(there) == pytest.approx(float(back), rel=1e-12)
    assert float(back) == pytest.approx(stats.chi2.cdf(2.0, k - 2), rel=1e-12)


def test_very_many_degrees_of_freedom_take_no_more_memory():
    """Where χ² is nearly normal the loss is that of a Gaussian shift. It has μ² = q²/(2k): both
    directions, to O(1/√k).
    """
    for dof in (10**9, 10**13, 10**16):
        q = np.sqrt(2.0 * dof)  # μ = 1
        found = additive_wishart(q, dof, 3, [0.0, 1.0, 3.0])
        for delta in found:
            np.testing.assert_allclose(
                delta,
                gaussian_shift(1.0, np.array([0.0, 1.0, 3.0])),
                rtol=60.0 / np.sqrt(dof) + 1e-5,
            )


def tails_apart(q, freedom, epsilon):
    """Both δ(ε) as differences P(L > ε) − e^ε Q(L > ε) of incomplete Γ functions."""
    half, z = mpf(freedom) / 2, mpf(q) / 2
    a = half - 1

    def between(low, high):
        return mp.gammainc(half, low, high, regularized=True)

    t = 1 / mp.expm1((epsilon + z) / a) if a > 0 else mp.inf
    back = between(0, z * (1 + t)) - mp.exp(epsilon) * between(0, z * t) if a > 0 else None
    if a < 0:
        t = 1 / mp.expm1((z - epsilon) / a) if epsilon > z else mp.inf
        ahead = between(0, z * t) - mp.exp(epsilon) * between(z, z * (1 + t))
        return ahead, between(0, z)
    t = 1 / mp.expm1((z - epsilon) / a) if epsilon < z else mp.inf
    ahead = between(z * t, mp.inf) - mp.exp(epsilon) * between(z * (1 + t), mp.inf)
    return ahead if epsilon < z else mpf(0), back


@pytest.mark.parametrize(("q", "k", "d"), [(1.0, 6, 3), (0.01, 7, 2), (30.0, 9, 3), (1.0, 40, 3)])
@pytest.mark.parametrize(
    "steps", one_in(4, [5.0, 20.0, 21.0, 33.5, 37.0, pytest.param(300.0, marks=pytest.mark.slow)])
)
def test_where_the_finite_losses_are_next_to_the_infinite_ones(q, k, d, steps):
    """ε = `steps`·a: as ε grows, the interval of finite losses above it shrinks. It becomes shorter
    than the spacing of floats at its ends.
    """
    a = (k - d - 1) / 2
    found = additive_wishart(q, k, d, [0.0, steps * a])[1][1]
    with mp.workdps(90 + int(steps)):
        truth = tails_apart(q, k - d + 1, mpf(steps * a))[1]
    assert found == pytest.approx(float(truth), rel=1e-10)
    assert found == additive_wishart(q, k, d, steps * a)[1]


@pytest.mark.parametrize("spare", [0, 2, 3])
@pytest.mark.parametrize("q", [1e-12, 1e-6, 1e-3, 0.3, 20.0])
def test_small_and_large_rows_by_differences_at_90_digits(q, spare):
    """At k = d, q = 1e-6 forward δ(0) was 2.9e-4, and another number on another grid."""
    epsilons = np.array([0.0, 0.1 * q, 0.01, 1.0])
    together = additive_wishart(q, 2 + spare, 2, epsilons)
    for epsilon, forward, backward in zip(epsilons, *together, strict=True):
        with mp.workdps(90):
            wanted = tails_apart(q, spare + 1, mpf(epsilon))
        alone = additive_wishart(q, 2 + spare, 2, epsilon)
        for found, one, true in zip((forward, backward), alone, wanted, strict=True):
            assert found == pytest.approx(float(true), rel=1e-11, abs=1e-300)
            assert one == pytest.approx(float(true), rel=1e-11, abs=1e-300)
