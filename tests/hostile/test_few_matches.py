"""assert_matches with few draws, of which those that train choose as well."""

import pytest

import dpaudit as dp

PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 0)
CURVE = dp.Claim.gdp(1.0)


def noisy(data, size, *, rng):
    return data.sum() + rng.normal(size=size)


def loss(rows):
    return rows[:, 0]


@pytest.mark.parametrize("draws", [20, 21, 100, 500])
@pytest.mark.parametrize("classifier", ["auto", loss])
def test_a_true_curve_matches(draws, classifier):
    result = dp.testing.assert_matches(
        noisy, PAIR, CURVE, draws=draws, classifier=classifier, rng=1
    )
    assert result.sizes.total == draws
