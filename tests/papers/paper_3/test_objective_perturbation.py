"""Objective perturbation: its minimum, the exact law for one feature, the sign of the loss."""

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from scipy.optimize import minimize
from scipy.stats import kstest

import dpaudit as dp
from dpaudit.papers import ObjectivePerturbation
from tests.sparse import one_in

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(7)
X = RNG.uniform(-0.6, 0.6, (30, 2))
DATA = np.column_stack([X, np.where(X[:, 0] + 0.2 * RNG.standard_normal(30) > 0.0, 1.0, -1.0)])
ONE = np.column_stack([np.full(6, 0.8), [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]])


def test_the_printed_sign_has_the_lowest_minimum():
    """One feature, where the objective has two minima for some b: a grid has no lower point."""
    mechanism = ObjectivePerturbation(2.0, 0.5)
    found = mechanism(ONE, 33, rng=3)[:, 0]
    noise = mechanism.sigma * np.random.default_rng(3).standard_normal(33)

    def objective(theta, b):
        margins = np.outer(theta, ONE[:, 0] * ONE[:, 1])
        penalty = 0.5 * mechanism.ridge * theta**2
        return -np.logaddexp(0.0, -margins).sum(axis=1) + b * theta + penalty

    grid = np.linspace(-40.0, 40.0, 40_001)
    for theta, b in zip(found, noise, strict=True):
        assert objective(np.array([theta]), b)[0] <= objective(grid, b).min() + 1e-9


def test_against_a_general_minimiser():
    mechanism = ObjectivePerturbation(2.0, 1e-3, variant="corrected")
    signed = DATA[:, :-1] * DATA[:, -1:]
    noise = mechanism.sigma * np.random.default_rng(3).standard_normal((3, 2))
    for theta, b in zip(mechanism(DATA, 3, rng=3), noise, strict=True):

        def objective(x, b=b):
            return np.logaddexp(0.0, -signed @ x).sum() + b @ x + 0.5 * mechanism.ridge * x @ x

        np.testing.assert_allclose(
            theta, minimize(objective, np.zeros(2), tol=1e-10).x, rtol=1e-3, atol=1e-3
        )


def test_one_feature_has_an_exact_law():
    """20,000 draws; the test misses in 10⁻⁶ of the seeds."""
    mechanism = ObjectivePerturbation(3.0, 0.01, variant="corrected")
    law = mechanism.law(ONE)
    points = np.linspace(law.edges[0], law.edges[-1], 20_001)
    below = cumulative_simpson(np.exp(law.log_p(points)), x=points, initial=0.0)
    assert below[-1] == pytest.approx(1.0, abs=1e-9)
    draws = mechanism(ONE, 20_000, rng=1)[:, 0]
    assert kstest(draws, lambda x: np.interp(x, points, below)).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("bound", one_in(2, [0.1, 1.0, 10.0]))
def test_corrected_holds_exactly(epsilon, bound):
    for others in (1, 20):
        data = np.column_stack([np.full(others + 1, bound), [1.0] + [-1.0] * others])
        pair = dp.neighbours.zero_row(data, 0)
        mechanism = ObjectivePerturbation(epsilon, 1e-2, bound, "corrected")
        exact = dp.exact.spectrum(
            mechanism, dp.NeighbourPair(pair.left, pair.right), [0.0, epsilon]
        )
        assert exact.delta[1] <= 1e-2
        assert exact.delta[0] > 0.0


@pytest.mark.slow
def test_the_printed_sign_breaks_the_claim():
    options = {"draws": 10_000, "epsilon": [0.0, 2.0], "rng": 1}
    for variant, verdict in (("printed", "violated"), ("corrected", "not violated")):
        mechanism = ObjectivePerturbation(2.0, 1e-5, variant=variant)
        result = dp.audit(mechanism, mechanism.pair(), claim=mechanism.claim, **options)
        assert result.verdict == verdict


def test_bad_input_is_named():
    with pytest.raises(dp.InvalidInput, match="labels of -1 and 1"):
        ObjectivePerturbation(1.0, 0.1)(DATA * [1.0, 1.0, 0.5], 2, rng=1)
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        ObjectivePerturbation(1.0, 0.1, row_bound=0.2)(DATA, 2, rng=1)
    with pytest.raises(dp.NoExactSpectrum, match="one feature"):
        ObjectivePerturbation(1.0, 0.1, variant="corrected").law(DATA)
