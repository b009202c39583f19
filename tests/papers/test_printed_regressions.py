"""What paper 3 prints for its algorithms: inverses that invert, sweeps against exact curves."""

import itertools
import math

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import gaussian_shift, gaussian_sketch
from tests.sparse import one_in

printed = dp.papers.printed

ROWS, DELTAS = (1, 20, 1_000, 100_000), (1e-2, 1e-6, 1e-10)
EPSILONS = (0.01, 0.3, 2.0, 20.0)
BUDGETS = list(itertools.product(ROWS, EPSILONS, DELTAS))


def leak(gamma, rows, epsilon):
    """The worst exact δ of a sketch with λ_min + σ² = γC²."""
    return max(gaussian_sketch(1.0 / gamma, rows, epsilon))


@pytest.mark.parametrize(("rows", "epsilon", "delta"), one_in(5, BUDGETS))
def test_gammas_are_the_least_and_hold(rows, epsilon, delta):
    gamma = printed.gaussmix_gamma(rows, epsilon, delta)
    assert leak(gamma, rows, epsilon) <= delta
    if gamma > 1.0001:
        assert printed.gaussmix_epsilon(rows, gamma, delta) == pytest.approx(epsilon, rel=1e-6)
    mixing = printed.linear_mixing_gamma(rows, epsilon, delta)
    assert mixing > 2.5
    found = printed.theorem_1_epsilon(rows, mixing, delta, mixing / math.sqrt(rows))
    assert found == pytest.approx(epsilon, rel=1e-6) if mixing > 2.5001 else found <= epsilon
    assert printed.sheffet_renyi_gamma(rows, epsilon, delta) == printed.gaussmix_gamma(
        rows, 0.5 * epsilon, delta
    )


def test_the_epsilon_below_theorem_1_fails_for_few_rows():
    """No noise to save: a row of norm C and nothing else on its axis, so that q = 1/(1 + γ)."""
    epsilon = printed.after_theorem_1_epsilon(1, 5.0, 1e-10)
    assert epsilon == pytest.approx(0.02 + 2.0 * math.sqrt(2.0 * math.log(4e10)) / 5.0)
    assert leak(6.0, 1, epsilon) > 100.0 * 1e-10
    assert leak(6.0, 1, printed.theorem_1_epsilon(1, 5.0, 1e-10, 5.0)) <= 1e-10
    assert leak(101.0, 1_000, printed.after_theorem_1_epsilon(1_000, 100.0, 1e-6)) <= 1e-6


def test_ada_ssp_does_not_hold_by_parts():
    """One of its three releases leaks more than a third of δ; tests of AdaSSP hold the whole."""
    deviation = printed.ada_ssp_deviation(1.0, 1e-6)
    assert gaussian_shift(1.0 / deviation, 1.0 / 3.0) > 2.0 * 1e-6 / 3.0


def test_objective_perturbation_by_hand():
    assert printed.objective_sigma(3.0, 2.0, 0.1) == pytest.approx(
        3.0 * math.sqrt(8.0 + 8.0 * math.log(20.0)) / 2.0
    )
    assert printed.objective_ridge(3.0, 2.0) == pytest.approx(9.0 / 4.0)


def test_a_bound_read_off_the_data_leaks():
    """Section J divides by the largest norm: without the longest row all others grow.

    γ is for ε = 1, δ = 10⁻⁵.
    """
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (200, 3))
    left = np.vstack([[5.0, 0.0, 0.0], rows])
    right = np.vstack([[0.0, 0.0, 0.0], rows])
    mechanism = dp.mechanisms.RandomProjection(
        50, padding=math.sqrt(printed.gaussmix_gamma(50, 1.0, 1e-5))
    )
    own = dp.NeighbourPair(*(side / np.linalg.norm(side, axis=1).max() for side in (left, right)))
    assert dp.exact.spectrum(mechanism, own, 1.0).delta > 0.5
    public = dp.NeighbourPair(left / 5.0, right / 5.0)
    assert dp.exact.spectrum(mechanism, public, 1.0).delta < 1e-5
