"""What a claim about one row says of groups of rows."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.curves import GroupCurve, about_others

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.3, 0.9, 1.0, 2.0, 2.9, 3.0, 5.0])


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("mu", [0.2, 1.0])
def test_the_curve_of_a_group_is_that_of_the_shifted_gaussian(mu, size):
    """Shifts by equal steps attain the bound (Dong, Roth & Su 2022, theorem 2.14)."""
    exact = dp.Claim.gdp(size * mu).delta_at(EPSILON)
    found = GroupCurve.of(dp.Claim.gdp(mu).delta_at, size)(EPSILON)
    seen = exact > 1e-12
    assert np.all(found >= exact * (1.0 - 1e-9))
    np.testing.assert_allclose(found[seen], exact[seen], rtol=1e-3)


@pytest.mark.parametrize("size", [2, 3])
def test_of_a_pure_claim_it_is_the_curve_of_geometric_noise(size):
    """P(X ≥ a) of two-sided geometric noise falls by powers of e: it attains the bound."""
    near = np.arange(-200, 201)
    P, Q = (np.exp(-np.abs(near - shift)) * np.tanh(0.5) for shift in (0, size))
    exact = [np.maximum(P - np.exp(at) * Q, 0.0).sum() for at in EPSILON]
    found = dp.Claim.from_function(dp.Claim(1.0).delta_at).group(size)
    np.testing.assert_allclose(found.delta_at(EPSILON), exact, atol=1e-9)
    assert found.epsilon_at(0.0) == pytest.approx(size)
    assert np.all(found.delta_at(EPSILON) <= dp.Claim(1.0).group(size).delta_at(EPSILON) + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-3), (0.5, 1e-5), (2.0, 1e-3)])
def test_delta_grows_as_vadhan_says(epsilon, delta):
    factor = 3.0 if epsilon == 0.0 else np.expm1(3 * epsilon) / np.expm1(epsilon)
    claim = dp.Claim(epsilon, delta).group(3)
    assert (claim.epsilon, claim.delta) == (3 * epsilon, pytest.approx(delta * factor, rel=1e-12))


def test_parameters_grow_as_the_papers_say():
    assert dp.Claim.gdp(0.5).group(3).family.value == 1.5
    assert dp.Claim.zcdp(0.1).group(3).family.value == pytest.approx(0.9)
    assert dp.Claim.gdp(0.5).group(1) == dp.Claim.gdp(0.5)


def test_a_claim_says_of_how_many_rows_it_is():
    claim = dp.Claim(1.0, 1e-5).group(2).group(3)
    assert claim.group_size == 6
    assert claim.text.startswith("(6, ")
    assert "group of 3 under (2, " in claim.text
    with pytest.raises(dp.errors.InvalidInput, match="size"):
        dp.Claim(1.0).group(0)


def noisy_sum(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))


def judged(claim, pair):
    return dp.audit(noisy_sum, pair, claim=claim, draws=60, classifier=KNOWN, rng=1)


KNOWN = dp.scoring.KnownScore(lambda outcome: -outcome[:, 0], "sum")
DATA = np.arange(5.0)[:, None] / 5
THREE = dp.neighbours.replace_group(DATA, [0, 1, 2], DATA[:3] + 1.0)


def test_a_pair_of_more_rows_than_the_claim_is_about_is_said_first():
    message = "The databases differ in 3 rows, and (1, 0)-DP is held to be about all of them"
    assert judged((1.0, 0.0), THREE).reason.startswith(message)
    found = judged(dp.Claim(1.0).group(3), THREE)
    assert found.headline.text.startswith("Claimed ε = 3 at δ = 0 (group of 3).")
    assert "differ in" not in found.reason


def test_rows_that_differ_are_counted_in_any_order():
    moved = dp.NeighbourPair(DATA, np.append(DATA[2:][::-1], [[9.0]], axis=0))
    assert moved.rows == 2
    assert dp.NeighbourPair(DATA, DATA[1:]).rows == 1
    assert dp.NeighbourPair(DATA, np.append(DATA[1:], DATA[1:], axis=0)).rows == 4
    assert dp.NeighbourPair(DATA[:2], DATA + 9.0).rows == 5
    assert (THREE.rows, dp.neighbours.add_row(DATA, [1.0]).rows) == (3, 1)
    assert about_others(dp.Claim(1.0), moved.rows).startswith("The databases differ in 2 rows")
    assert about_others(dp.Claim(1.0).group(2), moved.rows) is None


def test_a_group_has_a_size_that_databases_have():
    with pytest.raises(dp.InvalidInput, match="size must be at most 1,000,000,000 rows"):
        dp.Claim(1.0, 1e-5).group(10**400)
