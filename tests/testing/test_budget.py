"""Draws and false failures of one test."""

import pytest

import dpaudit as dp
from dpaudit.testing.budget import FALSE_FAILURE, SAMPLES, SEED, Budget, granted, spending

pytestmark = pytest.mark.quick


def test_without_a_budget_what_is_given_or_usual():
    assert granted(None, None, None) == (SAMPLES, FALSE_FAILURE, SEED)
    assert granted(500, 0.1, 3) == (500, 0.1, 3)


def test_a_budget_is_spent():
    with spending(Budget(1000, 0.01, 9)) as budget:
        assert granted(300, None, None) == (300, 0.005, 9)
        assert granted(None, None, 4) == (700, 0.0025, 4)
        assert (budget.left, budget.audits) == (0, 2)
        with pytest.raises(
            dp.InvalidInput, match="budget of 1,000 a side has 0 left, too few for another audit"
        ):
            granted(None, None, None)
    assert granted(None, None, None).samples == SAMPLES


def test_more_than_is_left_is_refused():
    budget = Budget(1000)
    with spending(budget), pytest.raises(dp.InvalidInput, match="too few for an audit of 1,001"):
        granted(1001, None, None)
    assert (budget.spent, budget.audits) == (0, 0)


def test_however_many_audits_the_rates_add_up_to_that_of_the_test():
    budget = Budget(false_failure=0.2)
    rates = [budget.grant(10, None, None).false_failure for _ in range(50)]
    assert sum(rates) <= 0.2
    assert budget.grant(10, 0.3, None).false_failure == 0.3


@pytest.mark.parametrize("settings", [{"draws": 0}, {"false_failure": 1.0}, {"seed": -1}])
def test_bad_settings_are_named(settings):
    with pytest.raises(dp.InvalidInput, match=f"{next(iter(settings))} must be"):
        Budget(**settings)
