"""Noisy gradient descent with cut gradients: step by step, and the pair that uses up its μ."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.papers import DPGD

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(2)
DATA = np.column_stack([RNG.standard_normal((40, 2)), 3.0 * RNG.standard_normal(40)])


def test_without_noise_it_is_descent_with_cut_gradients():
    coef = np.zeros(2)
    for _ in range(7):
        total = np.zeros(2)
        for *row, y in DATA:
            gradient = (np.dot(row, coef) - y) * np.array(row)
            total += gradient * min(1.0, 0.8 / np.linalg.norm(gradient))
        coef = coef - 0.3 * (total / 40 + 0.1 * coef)
    found = DPGD(1e13, steps=7, clip=0.8, rate=0.3, ridge=0.1)(DATA, 2, rng=1)
    np.testing.assert_allclose(found, [coef, coef], rtol=1e-9)


def test_the_pair_uses_up_the_claim():
    """Saturated gradients make the last iterate Gaussian, shifted by μ deviations.

    It is estimated from 20,000 draws.

    The errors are below 0.036 (mean) and 2.5 % (deviation) except with probability 1e-6.
    """
    mechanism = DPGD(0.7, steps=20, clip=2.0, rate=0.05)
    pair = mechanism.pair()
    left, right = (
        mechanism(side, 20_000, rng=k)[:, 0] for k, side in enumerate((pair.left, pair.right))
    )
    deviation = 0.05 * 2.0 * 2.0 * 20 / (0.7 * 2)
    assert left.std() == pytest.approx(deviation, rel=0.025)
    assert (left.mean() - right.mean()) / deviation == pytest.approx(0.7, abs=2 * 0.036)


def test_one_step_has_an_exact_law():
    mechanism = DPGD(1.3, steps=1, clip=0.8, rate=0.3)
    candidates = np.array([[5.0, 1.0, -9.0], [0.1, 0.0, 0.2]])
    found = mechanism.replaced_rows(DATA, candidates).mu.reshape(40, 2)
    pair = dp.neighbours.replace_row(DATA, 6, candidates[0])
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    assert found[6, 0] == pytest.approx(np.linalg.norm((left.mean - right.mean) / left.deviation))
    assert found.max() <= 1.3 * (1 + 1e-12)
    worst = mechanism.pair()
    np.testing.assert_allclose(
        dp.exact.spectrum(mechanism, worst, [0.0, 1.0]).delta,
        mechanism.claim.delta_at([0.0, 1.0]),
        rtol=1e-9,
    )
    draws = mechanism(DATA, 4000, rng=1)
    error = 6.0 * left.deviation / np.sqrt(4000)
    assert np.all(np.abs(draws.mean(axis=0) - mechanism.law(DATA).mean) < error)
    with pytest.raises(dp.NoExactSpectrum, match="one step has one"):
        DPGD(1.0, steps=2).law(DATA)
