"""The headline: ε at the claim's own δ, μ or ρ, in agreement with the verdict."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.headline import Headline
from dpaudit.certify.band import Certificate, Region

PAIR = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)


def shifted(mu):
    def shift(data, size, *, rng):
        return mu * data.sum() + rng.normal(size=(size, 1))

    return shift


def audit(mechanism, claim, **options):
    settings = {"samples": 20_000, "rng": 3, "classifier": "logistic", "level": 0.999, **options}
    return dp.audit(mechanism, PAIR, claim=claim, **settings)


def band_of(delta, epsilon):
    """The band of one lower bound δ at one ε, as a region that touches no more."""
    region = Region(np.array([0.0, (1.0 - delta) / np.exp(epsilon)]), np.array([delta, 1.0]))
    return Certificate.of([region], [True], 0.95)


CLAIMS = {
    "ε": (dp.Claim(0.2, 0.05), 0.2, 0.05),
    "μ": (dp.Claim.gdp(0.4), 0.4, None),
    "ρ": (dp.Claim.zcdp(0.05), 0.05, None),
    "ρ truncated": (dp.Claim.tcdp(0.05, 30.0), 0.05, None),
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("stop", [None, "verdict"])
def test_a_false_claim_is_read_in_its_own_parameter(name, stop):
    """A shift by 1 is 1-GDP, and refutes all of these with probability above 1 - 1e-9."""
    claim, claimed, delta = CLAIMS[name]
    result = audit(shifted(1.0), claim, stop=stop)
    head = result.headline
    assert (head.symbol, head.claimed, head.delta) == (name[0], claimed, delta)
    assert result.verdict == "violated"
    assert head.exceeded
    assert stop is not None or head.certified > head.claimed
    assert result.reason.startswith(f"Claimed {name[0]} = {claimed}")
    assert "row 2 zeroed" in head.text
    assert result.to_dict()["headline"]["text"] == head.text


def test_a_certified_parameter_is_no_larger_than_the_truth():
    """Each fails with probability at most 0.001: N(0, 1) against N(1, 1) is 1-GDP and 1/2-zCDP."""
    assert audit(shifted(1.0), dp.Claim.gdp(0.4)).headline.certified <= 1.0
    assert audit(shifted(1.0), dp.Claim.zcdp(0.05)).headline.certified <= 0.5
    true_epsilon = float(dp.Claim.gdp(1.0).epsilon_at(0.05))
    assert audit(shifted(1.0), dp.Claim(0.2, 0.05)).headline.certified <= true_epsilon


@pytest.mark.quick
def test_the_least_epsilon_is_that_of_the_dominating_pair():
    """A claim holds up to exactly where its own curve meets the bound."""
    for delta, epsilon, low in ((0.0, 0.0, 0.3), (0.01, 0.5, 0.2), (0.05, 1.0, 0.4)):
        least = band_of(low, epsilon).least_epsilon(delta)
        assert dp.Claim(least, delta).delta_at(epsilon) == pytest.approx(low, rel=1e-12)
        assert least >= band_of(low, epsilon).epsilon_at(delta)
    assert band_of(0.3, 0.0).least_epsilon(1.0) == 0.0
    assert Certificate.of([], [], 0.95).least_epsilon(0.0) == 0.0


@pytest.mark.quick
def test_the_least_parameter_meets_the_band():
    band, epsilon = band_of(0.2, 0.5), np.linspace(0.0, 3.0, 31)
    for claim in (dp.Claim.zcdp(1.0), dp.Claim.tcdp(1.0, 8.0), dp.Claim.gdp(1.0)):
        least = band.least_parameter(claim.family.curve, epsilon)
        low = band.delta_at(epsilon)
        assert np.any(claim.family.curve(least * (1.0 - 1e-8))(epsilon) < low)
        assert np.all(claim.family.curve(least * (1.0 + 1e-8))(epsilon) >= low)


@pytest.mark.quick
def test_a_bound_below_the_claims_own_epsilon_counts():
    """(0.5, 0.1)-DP allows δ(0) = 0.32, in both directions: 0.33 refutes it, though such a bound
    alone leaves room for δ(0.5) = 0.
    """
    band = band_of(0.33, 0.0)
    assert band.delta_at(0.5) == 0.0
    assert band.epsilon_at(0.1) < 0.5 < band.least_epsilon(0.1)


@pytest.mark.parametrize("seed", range(2))
def test_verdict_and_headline_agree(seed):
    claims = (dp.Claim(0.9, 0.01), dp.Claim(1.0, 0.0), dp.Claim.gdp(1.0), dp.Claim.zcdp(0.5))
    for claim in claims:
        for mu in (1.0, 1.1):
            result = audit(shifted(mu), claim, samples=3_000, rng=seed, level=0.5)
            head = result.headline
            assert (result.verdict == "violated") == head.exceeded
            assert head.exceeded == (head.certified > head.claimed)
            assert not np.any(
                result.spectrum.low > claim.delta_at(result.spectrum.epsilon) + 1e-12
            ) or (head.exceeded)


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
    assert held.text.endswith("At 95 % confidence no ε above 0.501 is certified.")
    betted = Headline("μ", None, 0.5, 0.4, True, 0.0, 0.1, 0.2, 0.95)
    assert betted.text == "Claimed μ = 0.5. At 95 % confidence more than that."
    assert betted.in_delta == ""
