"""assert_matches with few draws, of which those that train choose as well."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.testing import PrivacyFailure

PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 0)
CURVE = dp.Claim.gdp(1.0)


def noisy(data, size, *, rng):
    return data.sum() + rng.normal(size=size)


def bare(data, size, *, rng):
    return np.full(size, data.sum())


def blind(data, size, *, rng):
    return rng.normal(size=size)


def loss(rows):
    return rows[:, 0]


@pytest.mark.parametrize("draws", [20, 21, 100, 500])
@pytest.mark.parametrize("classifier", ["auto", loss])
def test_a_true_curve_matches(draws, classifier):
    result = dp.testing.assert_matches(
        noisy, PAIR, CURVE, draws=draws, classifier=classifier, rng=1
    )
    assert result.sizes.total == draws


@pytest.mark.parametrize("classifier", ["auto", loss])
def test_false_curves_do_not_match(classifier):
    options = {"draws": 500, "classifier": classifier, "rng": 1}
    with pytest.raises(PrivacyFailure, match="ABOVE THE CURVE"):
        dp.testing.assert_matches(bare, PAIR, CURVE, **options)
    with pytest.raises(PrivacyFailure, match="FAR BELOW THE CURVE"):
        dp.testing.assert_matches(blind, PAIR, dp.Claim.gdp(5.0), **options)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [40, 400])
def test_a_true_curve_fails_no_more_often_than_allowed(draws):
    """0.2 of the tests may fail; 30 of 80 or more is a chance of 3e-4."""
    failures = 0
    for seed in range(80):
        try:
            dp.testing.assert_matches(
                noisy, PAIR, CURVE, draws=draws, classifier=loss, false_failure=0.2, rng=seed
            )
        except PrivacyFailure:
            failures += 1
    assert failures < 30
