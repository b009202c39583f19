"""Sparse vector techniques: probabilities of answers and densities of released ones."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit as dp
from dpaudit.exact import curve_of_laws
from dpaudit.laws import NoisyComparison, ReleasedAnswers
from dpaudit.laws.sparse_vector import halting_law, noiseless_law, unlimited_law

pytestmark = pytest.mark.quick

QUERIES, OTHERS = np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, 1.0])
EPSILON = np.array([0.0, 0.2, 0.5])


def comparison(queries=QUERIES):
    return NoisyComparison(queries, 0.7, 1.5, 2.5)


def laplace_below(x):
    return 0.5 * np.exp(x) if x < 0.0 else 1.0 - 0.5 * np.exp(-x)


def probability(answers, queries=QUERIES):
    """By scipy's quadrature over the threshold's noise."""

    def integrand(rho):
        below = [laplace_below((0.7 + rho - q) / 2.5) for q in queries]
        chance = np.prod([1.0 - b if a else b for a, b in zip(answers, below, strict=False)])
        return chance * np.exp(-abs(rho) / 1.5) / 3.0

    return quad(integrand, -60.0, 60.0, points=[0.0, *(queries - 0.7)], limit=400, epsabs=1e-13)[0]


def test_all_answers_against_quadrature():
    law = unlimited_law(comparison())
    assert len(law.outcomes) == 8
    for row, found in zip(law.outcomes, np.exp(law.log_probability), strict=True):
        assert found == pytest.approx(probability(row), rel=1e-9)


@pytest.mark.parametrize("most", [1, 2])
def test_halting_is_all_answers_cut_short(most):
    """The probabilities of all answers, summed over what comes after the halt."""
    expected = {}
    for answers in product([0.0, 1.0], repeat=3):
        ups = np.cumsum(answers)
        stop = int(np.argmax(ups == most)) + 1 if ups[-1] >= most else 3
        key = (float(stop), *answers[:stop])
        expected[key] = expected.get(key, 0.0) + probability(answers)
    law = halting_law(comparison(), most)
    found = {
        tuple(row[~np.isnan(row)]): p
        for row, p in zip(law.outcomes, np.exp(law.log_probability), strict=True)
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-9)


def test_a_fresh_threshold_makes_runs_of_queries_independent():
    law = halting_law(comparison(), 2, fresh=True)
    rows = {
        tuple(row[~np.isnan(row)]): p
        for row, p in zip(law.outcomes, np.exp(law.log_probability), strict=True)
    }
    expected = probability([1.0], QUERIES[:1]) * probability([0.0, 1.0], QUERIES[1:])
    assert rows[(3.0, 1.0, 0.0, 1.0)] == pytest.approx(expected, rel=1e-9)


def test_queries_without_noise():
    law = noiseless_law(np.array([2.0, 0.0, 2.0]), 1.0, 20.0)
    rows = {tuple(row): p for row, p in zip(law.outcomes, np.exp(law.log_probability), strict=True)}
    assert rows[(1.0, 1.0, 1.0)] == pytest.approx(0.5 * np.exp(-1.0 / 20.0))
    assert rows[(1.0, 0.0, 1.0)] == pytest.approx(1.0 - np.exp(-1.0 / 20.0))
    assert rows[(0.0, 0.0, 0.0)] == pytest.approx(0.5 * np.exp(-1.0 / 20.0))


@pytest.mark.parametrize("most", [1, 2])
def test_the_curve_against_simulation_of_the_algorithm(most):
    """δ(ε) = E_P[(1 − e^{ε − L})₊] is a mean of values in [0, 1]. So Hoeffding's bound applies,
    with error probability 1e-7.
    """
    n = 40_000
    laws = [ReleasedAnswers(comparison(queries), most) for queries in (QUERIES, OTHERS)]
    curve = curve_of_laws(*laws)[0].delta(EPSILON)
    room = np.sqrt(np.log(2.0 / 1e-7) / (2.0 * n))
    for side, (one, other) in enumerate((laws, laws[::-1])):
        x = one.sample(n, np.random.default_rng(side))
        loss = one.log_density(x) - other.log_density(x)
        assert np.isfinite(loss).all()
        means = [np.maximum(-np.expm1(e - loss), 0.0).mean() for e in EPSILON]
        np.testing.assert_allclose(curve[side], means, atol=room)


def test_rows_of_no_pattern_have_no_density():
    law = ReleasedAnswers(comparison(), 1)
    x = np.array(
        [[1.0, np.nan, np.nan, np.nan], [3.0, np.nan, 2.0, np.nan], [3.0, np.nan, np.nan, np.nan]]
    )
    np.testing.assert_array_equal(np.isneginf(law.log_density(x)), [True, True, False])


def test_only_the_queries_may_differ():
    other = ReleasedAnswers(NoisyComparison(QUERIES, 0.9, 1.5, 2.5), 1)
    with pytest.raises(dp.NoExactSpectrum, match="one kind of noise"):
        curve_of_laws(ReleasedAnswers(comparison(), 1), other)
