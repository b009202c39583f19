"""Curves of finitely many outcomes: against sums over all events and over all pairs of outcomes."""

from itertools import combinations

import mpmath as mp
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import Atoms, BranchCurve, curve_of_laws
from dpaudit.exact.pairs import discrete
from dpaudit.exact.pairs.discrete import product_curve
from dpaudit.laws import Discrete

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.1, 0.4, 1.0, 2.0, 40.0])


def law(seed, outcomes=6, k=2):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(20)[:outcomes]
    table = np.column_stack([rows, np.where(rows % 3 == 0, np.nan, rows % 2)])[:, :k]
    return Discrete(table.astype(float), np.log(rng.dirichlet(np.ones(outcomes))))


def by_events(left, right, epsilon):
    """sup over ALL sets of outcomes of P(S) − e^ε Q(S)."""
    table = {}
    for side, one in enumerate((left, right)):
        for row, mass in zip(one.outcomes, np.exp(one.log_probability), strict=True):
            table.setdefault(str(row), [0.0, 0.0])[side] += mass
    masses = np.array(list(table.values()))
    sets = [
        list(s) for size in range(len(masses) + 1) for s in combinations(range(len(masses)), size)
    ]
    return np.array(
        [max(masses[s, 0].sum() - np.exp(e) * masses[s, 1].sum() for s in sets) for e in epsilon]
    )


@pytest.mark.parametrize("seed", range(4))
def test_delta_is_the_largest_over_all_events(seed):
    left, right = law(seed), law(seed + 100)
    forward, backward = curve_of_laws(left, right)[0].delta(EPSILON)
    np.testing.assert_allclose(forward, by_events(left, right, EPSILON), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(backward, by_events(right, left, EPSILON), rtol=1e-12, atol=1e-15)


def test_a_value_of_one_law_alone_is_an_infinite_loss():
    left, right = (
        Discrete(np.array([0.0, 1.0]), np.log([0.25, 0.75])),
        Discrete(np.array([1.0, 2.0]), np.log([0.5, 0.5])),
    )
    curve = curve_of_laws(left, right)[0]
    assert curve.supremum == (np.inf, np.inf)
    np.testing.assert_allclose(curve.delta(np.array([300.0])), [[0.25], [0.5]])
    assert curve.renyi(2.0) == (np.inf, np.inf)
    assert curve.renyi(0.5)[0] == pytest.approx(-2.0 * np.log(np.sqrt(0.75 * 0.5)))


def test_nan_and_both_zeros_are_one_outcome_each():
    left = Discrete(np.array([np.nan, 0.0]), np.log([0.5, 0.5]))
    right = Discrete(np.array([-0.0, -np.nan]), np.log([0.5, 0.5]))
    assert curve_of_laws(left, right)[0].delta(np.array([0.0]))[0] == 0.0


def test_deltas_far_below_rounding_keep_their_digits():
    p = np.array([1e-200, 1.0])
    left, right = (Discrete(np.arange(2.0), np.log(x)) for x in (p, p * [1e-50, 1.0]))
    assert curve_of_laws(left, right)[0].delta(np.array([1.0]))[0][0] == pytest.approx(
        1e-200, rel=1e-12
    )


ORDERS = [1e-9, 0.3, 1.0 - 1e-3, 1.0 - 1e-9, 1.0 - 2**-53, 1.0, 1.0 + 2**-52, 1.0 + 1e-9, 2.0, 50.0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-8])
def test_renyi_keeps_its_digits_near_order_one_and_of_nearly_equal_laws(order, apart):
    """Against sums at 60 digits of the laws with these log masses, normalised."""
    rng = np.random.default_rng(9)
    left = np.log(rng.dirichlet(np.ones(6)))
    right = left + apart * rng.standard_normal(6)
    right -= np.log(np.exp(right).sum())
    with mp.workdps(60):
        sides = [[mp.exp(mp.mpf(value)) for value in side.tolist()] for side in (left, right)]
        p, q = ([mass / mp.fsum(side) for mass in side] for side in sides)
        for found, (a, b) in zip(Atoms(left, right).renyi(order), ((p, q), (q, p)), strict=True):
            loss = [mp.log(x / y) for x, y in zip(a, b, strict=True)]
            if order == 1.0:
                expected = mp.fdot(a, loss)
            else:
                s = mp.mpf(order) - 1
                expected = mp.log(mp.fsum(x * mp.exp(s * e) for x, e in zip(a, loss, strict=True)))
                expected /= s
            assert found == pytest.approx(float(expected), rel=1e-13)


def test_renyi_of_a_support_that_shrinks():
    """−log Q(support of P) backward at every order; ln 2 · α/(1 − α) forward below order 1."""
    with np.errstate(divide="ignore"):
        atoms = Atoms(np.log([0.5, 0.5]), np.log([0.0, 1.0]))
    for order in (1e-9, 0.4, 1.0 - 1e-9, 1.0, 3.0):
        forward, backward = atoms.renyi(order)
        assert backward == pytest.approx(np.log(2.0), rel=1e-14)
        if order < 1.0:
            assert forward == pytest.approx(np.log(2.0) * order / (1.0 - order), rel=1e-7 * order)
        else:
            assert forward == np.inf


def test_many_atoms_are_summed_as_few_are():
    rng = np.random.default_rng(4)
    p, q = (np.log(rng.dirichlet(np.ones(discrete.FEW + 1))) for _ in range(2))
    many = Atoms(p, q).delta(EPSILON)
    for side, (one, other) in enumerate(((p, q), (q, p))):
        expected = [np.maximum(np.exp(one) - np.exp(e + other), 0.0).sum() for e in EPSILON]
        np.testing.assert_allclose(many[side], expected, rtol=1e-11, atol=1e-16)


def test_the_sampler_draws_the_law():
    """Each of 7 frequencies misses by more than 5.6 standard errors with probability below 1e-7."""
    one = law(11, outcomes=7)
    draws, n = one.sample(200_000, np.random.default_rng(1)), 200_000
    p = np.exp(one.log_probability)
    seen = np.array([(discrete.row_positions(one.outcomes, draws) == i).mean() for i in range(7)])
    assert np.all(np.abs(seen - p) < 5.6 * np.sqrt(p * (1 - p) / n))
    np.testing.assert_array_equal(one.log_density(one.outcomes), one.log_probability)
    assert one.log_density(np.array([[77.0, 0.0]])) == -np.inf


def test_probabilities_must_sum_to_one():
    with pytest.raises(
        dp.InvalidInput, match=r"log_probability must be a sum of 1, got a sum of 0\.9"
    ):
        Discrete(np.arange(2.0), np.log([0.5, 0.4]))


def test_a_release_too_many_to_multiply_out_is_summed_beside_the_other(monkeypatch):
    rng = np.random.default_rng(6)
    small, large = (Atoms(*np.log(rng.dirichlet(np.ones(size), 2))) for size in (5, 300))
    whole = product_curve([large, small]).delta(EPSILON)
    monkeypatch.setattr("dpaudit.exact.pairs.discrete.MANY", 100)
    beside = product_curve([large, small])
    assert isinstance(beside, BranchCurve)
    np.testing.assert_allclose(beside.delta(EPSILON), whole, rtol=1e-11, atol=1e-16)
    np.testing.assert_allclose(
        beside.renyi(2.0), np.add(small.renyi(2.0), large.renyi(2.0)), rtol=1e-12
    )
    np.testing.assert_allclose(beside.supremum, np.add(small.supremum, large.supremum), rtol=1e-12)
