"""The headline: ε at the claim's own δ, μ or ρ, in agreement with the verdict."""

from functools import cache

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certify import Certificate, Direction, Estimate, Region
from dpaudit.verdict import Headline, Reference, read_headline
from tests.sparse import one_in

PAIR = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)


def shifted(mu):
    def shift(data, size, *, rng):
        return mu * data.sum() + rng.normal(size=(size, 1))

    return shift


@cache  # a frozen result, of which tests ask different things
def audit_of_shift(mu, claim, stop=None):
    return audit(shifted(mu), claim, stop=stop)


def audit(mechanism, claim, **options):
    settings = {"draws": 20_000, "rng": 3, "classifier": "logistic", "level": 0.999, **options}
    return dp.audit(mechanism, PAIR, claim=claim, **settings)


def band_of(delta, epsilon):
    """The band of one lower bound δ at one ε, as a region that touches no more."""
    region = Region(np.array([0.0, (1.0 - delta) / np.exp(epsilon)]), np.array([delta, 1.0]))
    return Certificate.of([region], [True], 0.95)


def random_band(rng, regions=6, points=5):
    """Regions of both directions around random (P(S), Q(S)), not all of them convex."""
    made = []
    for p, q in zip(rng.random(regions), rng.random(regions) ** rng.integers(1, 9), strict=True):
        at = np.sort(q * rng.uniform(0.3, 1.8, points))
        made.append(Region(at, np.clip(p * np.sort(rng.uniform(0.5, 1.0, points)), 0.0, 1.0)))
    return Certificate.of(made, rng.random(regions) < 0.5, 0.95)


def estimate_of(band, epsilon):
    low = [np.clip(band.direction(way).delta_at(epsilon), 0.0, 1.0) for way in (True, False)]
    ways = [Direction(one, one) for one in low]
    return Estimate(epsilon, *ways, 1000, np.full(len(epsilon), 0.01), band)


def random_claim(rng):
    epsilon, delta = float(rng.choice([0.0, 3.0 * rng.random(), 9.0])), float(rng.random() ** 3)
    scale = float(rng.random())
    return (
        dp.Claim(epsilon, float(rng.choice([0.0, delta]))),
        dp.Claim.gdp(float(3.0 * rng.random())),
        dp.Claim.zcdp(float(3.0 * rng.random() ** 2)),
        dp.Claim.tcdp(float(3.0 * rng.random() ** 2), float(1.1 + 9.0 * rng.random())),
        dp.Claim.from_function(lambda one: scale * np.exp(-one)),
        dp.Claim.from_function(lambda one: 0.0 * one),
    )[rng.integers(6)]


def old_rule(estimate, claim):
    """The verdict "violated" as it was: a bound above what is allowed at an ε of the grid."""
    return bool(np.any(estimate.low > claim.delta_at(estimate.epsilon) + 1e-12))


def read(band, claim, grid):
    own = [] if claim.epsilon is None else [claim.epsilon]
    epsilon = np.unique([*(np.linspace(0.0, 4.0, 41) if grid is None else grid), *own])
    estimate = estimate_of(band, epsilon)
    return read_headline(estimate, Reference.of(claim, epsilon), 0.95), estimate


CLAIMS = {
    "ε": (dp.Claim(0.2, 0.05), 0.2, 0.05),
    "μ": (dp.Claim.gdp(0.4), 0.4, None),
    "ρ": (dp.Claim.zcdp(0.05), 0.05, None),
    "ρ truncated": (dp.Claim.tcdp(0.05, 30.0), 0.05, None),
}


@pytest.mark.parametrize(
    ("stop", "name"),
    [*one_in(2, [(None, one) for one in CLAIMS]), *one_in(4, [("verdict", one) for one in CLAIMS])],
)
def test_a_false_claim_is_read_in_its_own_parameter(name, stop):
    """A shift by 1 is 1-GDP, and refutes all of these with probability above 1 - 1e-9."""
    claim, claimed, delta = CLAIMS[name]
    result = audit_of_shift(1.0, claim, stop)
    head = result.headline
    assert (head.symbol, head.claimed, head.delta) == (name[0], claimed, delta)
    assert result.verdict == "violated"
    assert head.exceeded
    assert head.certified >= head.claimed
    assert stop is not None or head.certified > head.claimed
    assert result.reason.startswith(f"Claimed {name[0]} = {claimed}")
    assert "row 2 zeroed" in head.text
    assert result.to_dict()["headline"]["text"] == head.text


@pytest.mark.quick
def test_the_least_parameter_meets_the_band():
    band, epsilon = band_of(0.2, 0.5), np.linspace(0.0, 3.0, 31)
    for claim in (dp.Claim.zcdp(1.0), dp.Claim.tcdp(1.0, 8.0), dp.Claim.gdp(1.0)):
        least = band.least_parameter(claim.family.curve, epsilon)
        low = band.delta_at(epsilon)
        assert np.any(claim.family.curve(least * (1.0 - 1e-8))(epsilon) < low)
        assert np.all(claim.family.curve(least * (1.0 + 1e-8))(epsilon) >= low)


@pytest.mark.quick
def test_a_claim_given_by_a_curve_is_read_at_the_delta_it_allows():
    claim = dp.Claim.from_function(lambda epsilon: 0.05 * np.exp(-epsilon), text="a curve")
    head = audit(shifted(1.0), claim).headline
    assert head.symbol == "ε"
    assert head.delta == pytest.approx(0.05 * np.exp(-head.claimed))
    assert head.certified > head.claimed
    assert head.text.startswith("The claim of a curve allows ε = ")


@pytest.mark.quick
def test_a_certified_number_is_rounded_down_and_told_from_the_claimed_one():
    head = Headline("ε", 0.0, 0.98, 0.980049, True, 0.98, 0.01, 0.0, 0.95, "row 1 zeroed")
    assert (
        head.text
        == "Claimed ε = 0.98 at δ = 0. At 95 % confidence at least 0.98004 (row 1 zeroed)."
    )
    held = Headline("ε", 0.0, 1.0, 0.50001, False, 1.0, 0.0, 0.0, 0.95)
    assert held.text.endswith("Ruled out at 95 % confidence: every ε below 0.5.")
    betted = Headline("μ", None, 0.5, 0.4, True, 0.0, 0.1, 0.2, 0.95)
    assert betted.text == "Claimed μ = 0.5. At 95 % confidence the true μ is larger."
    assert betted.in_delta == ""


GRIDS = (None, [0.0], [2.0], np.linspace(0.0, 6.0, 13))


@pytest.mark.slow
def test_what_a_bound_on_the_grid_refutes_is_violated():
    """And nothing else but for claims that say more than on the grid: an excess between its ε."""
    rng, found = np.random.default_rng(16), []
    for _ in range(60):
        claim, band = random_claim(rng), random_band(rng)
        head, estimate = read(band, claim, GRIDS[rng.integers(4)])
        old = old_rule(estimate, claim)
        assert head.exceeded or not old
        if head.exceeded and not old:
            dense = np.linspace(0.0, 12.0, 801)
            assert np.any(band.delta_at(dense) > claim.delta_at(dense))
        assert head.exceeded == (head.certified > head.claimed)
        assert head.exceeded or head.in_delta == ""
        if head.delta is not None and not head.exceeded:
            assert band.epsilon_at(head.delta) <= head.claimed * (1.0 + 1e-9) + 1e-12
        found.append((old, head.exceeded))
    assert {(True, True), (False, False)} <= set(found)  # about half of them each


@pytest.mark.quick
def test_the_least_epsilon_and_no_smaller_one_is_consistent_with_a_band_of_many_regions():
    rng, epsilon = np.random.default_rng(18), np.linspace(0.0, 60.0, 15_001)
    for _ in range(40):
        band, delta = random_band(rng), float(rng.choice([0.0, 1e-3, 0.1]))
        least, low = band.least_epsilon(delta), band.delta_at(epsilon)
        assert np.all(low <= dp.Claim(least, delta).delta_at(epsilon) + 1e-12)
        if least > 0.01:
            assert np.any(low > dp.Claim(least - 0.01, delta).delta_at(epsilon))


@pytest.mark.quick
def test_a_claim_of_no_leak_is_refuted_at_any_order():
    for claim in (dp.Claim.tcdp(0.0, 1.5), dp.Claim.zcdp(0.0), dp.Claim.gdp(0.0), dp.Claim(0.0)):
        head, _ = read(band_of(0.1, 0.5), claim, None)
        assert head.exceeded
        assert head.certified > 0.0


@pytest.mark.quick
def test_a_curve_is_read_where_it_allows_less_than_everything():
    claim = dp.Claim.from_function(lambda epsilon: np.minimum(1.0, 2.0 * np.exp(-epsilon)))
    head, _ = read(Certificate.of([], [], 0.95), claim, np.linspace(0.0, 3.0, 4))
    assert (head.claimed, head.allowed_delta) == (1.0, 2.0 * np.exp(-1.0))


@pytest.mark.quick
def test_bets_refute_a_curve_and_not_one_point_of_it():
    """The e-value is against all of a curve. A parameter is above the claimed one."""
    claim = dp.Claim.from_function(lambda epsilon: 0.05 * np.exp(-epsilon), text="a curve")
    head = audit(shifted(1.0), claim, stop="verdict").headline
    assert head.exceeded
    assert head.certified <= head.claimed
    assert head.text.endswith("At 99.9 % confidence that curve is exceeded (row 2 zeroed).")


@pytest.mark.quick
def test_an_infinite_parameter_is_told_in_words():
    """No audit of draws certifies one; regions given by hand may."""
    sure = Certificate.of([Region(np.zeros(1), np.array([0.3]))], [True], 0.95)
    head, _ = read(sure, dp.Claim(1.0, 0.1), None)
    assert head.certified == np.inf
    assert head.exceeded
    assert head.text == "Claimed ε = 1 at δ = 0.1. At 95 % confidence no finite ε holds."
    nothing = Headline("ε", 1e-5, None, np.inf, False, 0.0, 0.3, None, 0.95)
    assert nothing.text.endswith("At 95 % confidence no finite ε holds at δ = 10⁻⁵.")
