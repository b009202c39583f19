"""Entries of paper 3 by other ways: draws, literal sketches, and direct sums."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from reports.make.findings.paper_3 import logistic_regression, theorem_1_steps, theorem_3
from reports.make.findings.paper_3.algorithm_1 import shown
from reports.make.findings.paper_3.solved_sketch import middle_excess

pytestmark = pytest.mark.quick


def certain(hits, size, upper):
    """A bound on a probability that fails with one chance in 10 million."""
    if upper:
        return beta.ppf(1 - 1e-7, hits + 1, size - hits)
    return beta.ppf(1e-7, hits, size - hits + 1)


def test_many_columns_show_the_private_eigenvalue():
    """k = 10, γ = 20, η = 0.2 and 10,000 columns: the sum of squares, by draws, at a fixed cut."""
    k, gamma, eta, delta, columns, size = 10, 20.0, 0.2, 0.01, 10_000, 40_000
    rng, tau = np.random.default_rng(3), math.sqrt(2.0 * math.log(3.0 / delta))
    lowest = 2.0 + eta * (tau + 6.0)

    def mean_square(eigenvalue):
        estimate = np.maximum(eigenvalue - eta * (tau - rng.standard_normal(size)), 0.0)
        noise = np.maximum(gamma - estimate, 0.0)
        dof = k * (columns - 1)
        return (1.0001 * lowest + noise) * rng.chisquare(dof, size) / dof

    epsilon = 3.0
    found = shown(k, gamma, eta, delta, columns, epsilon)
    less, more = mean_square(lowest), mean_square(lowest - 1.0)
    gaps = [
        certain(np.sum(more > cut), size, False)
        - math.exp(epsilon) * certain(np.sum(less > cut), size, True)
        for cut in np.median(more) + np.linspace(-0.4, 0.4, 9)
    ]
    assert max(gaps) > 0.5
    assert max(gaps) <= found <= 1.0


def test_the_median_of_the_excess_is_that_of_literal_sketches():
    rows, mixtures, square, size = 4, 30, 5.0, 20_000
    rng = np.random.default_rng(4)
    mixed = math.sqrt(rows) * rng.standard_normal((size, mixtures))
    x, y = (mixed + math.sqrt(square) * rng.standard_normal((size, mixtures)) for _ in range(2))
    theta = np.sum(x * y, axis=1) / np.sum(x * x, axis=1)
    drawn = np.quantile(rows * (1.0 - theta) ** 2, [0.48, 0.52])
    assert drawn[0] < middle_excess(rows, mixtures, square) < drawn[1]


def test_no_solution_makes_the_left_side_of_corollary_2_small():
    share, radius, chi = 0.6, 1.0, 0.1
    value, slope, bend, error = logistic_regression._parabola(radius)
    least, grown = logistic_regression._left(share, radius, chi), (1.0 + chi) ** 2

    def loss(theta):  # L of (64)
        return -share * np.log1p(np.exp(-theta)) - (1.0 - share) * np.log1p(np.exp(theta))

    theta = np.linspace(-radius, radius, 2001)
    best = math.log(share / (1.0 - share))
    rest = (1.0 - grown) * (value - slope**2 / (4.0 * bend)) - (1.0 + grown) * error
    assert least == pytest.approx(np.min(loss(best) - grown * loss(theta) + rest), rel=1e-5)
    assert least > 0.1


def test_the_epsilon_of_theorem_1_is_negative_where_delta_is_large():
    """k = 1, γ = 100, η = γ, δ = ½, by a sum over α as printed."""
    order = np.linspace(1.001, 99.0, 100_000)
    renyi = (order * math.log(0.99) - np.log1p(-order / 100.0)) / (2.0 * (order - 1.0))
    rest = (math.log(6.0) + (order - 1.0) * np.log1p(-1.0 / order) - np.log(order)) / (order - 1.0)
    epsilon = math.sqrt(2.0 * math.log(7.5)) / 100.0 + np.min(renyi + rest)
    assert -0.17 < epsilon < -0.16
    assert theorem_1_steps._power(1, 100.0, 0.5) == pytest.approx(math.exp(epsilon), rel=1e-6)


def test_the_noise_of_algorithm_2_stays_as_epsilon_grows():
    """γ is above 5/2 at any ε, and half of that noise stays in the loss of five equal rows."""
    assert theorem_3._excess(1000, 1e6, 1e-6) == pytest.approx(1.25, rel=1e-3)
    assert theorem_3._by_rate(1000, 1e6, 1e-6) < 0.2
