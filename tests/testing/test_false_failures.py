"""How often the assertions fail although nothing is wrong, by simulation over seeds.

Each bound on the number of failures has probability below 1e-4 of being exceeded where the rate is
kept: the binomial quantile at 1 − 1e-5 for each of fewer than ten counts.
"""

import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit import testing
from tests.testing.release_cases import PAIR, TRUE, Shifted

RATE = 0.25
AUDIT = {"classifier": "qda", "epsilon": [0.0, 0.6], "draws": 500}


def most(runs):
    return int(binom.ppf(1.0 - 1e-5, runs, RATE))


def failures(assertion, mechanism, curve, seeds, **options):
    count = 0
    for seed in seeds:
        try:
            assertion(mechanism, PAIR, curve, rng=seed, **AUDIT, **options)
        except testing.PrivacyFailure:
            count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("assertion", [testing.assert_private, testing.assert_matches])
@pytest.mark.parametrize("case", range(len(TRUE)))
def test_what_is_true_fails_no_more_often_than_said(assertion, case):
    """A rate of 0.42 would be seen with probability 0.999."""
    assert failures(assertion, *TRUE[case], range(400), false_failure=RATE) <= most(400)


@pytest.mark.slow
def test_the_rate_is_spent_and_a_false_curve_is_seen():
    """At a rate of 0.95 a true claim fails now and then, and a false one fails at any rate."""
    assert failures(testing.assert_private, *TRUE[0], range(15), false_failure=0.95) >= 2
    claim, far, seeds = dp.Claim.gdp(1.0), dp.Claim.gdp(3.0), range(3)
    assert failures(testing.assert_private, Shifted(3.0), claim, seeds, false_failure=RATE) == 3
    assert failures(testing.assert_matches, Shifted(1.0), far, seeds, false_failure=RATE) == 3
