"""Draws and false failures of one test."""

import math

import pytest

import dpaudit as dp
from dpaudit.testing import Budget, PrivacyFailure
from dpaudit.testing import budget as budgets

pytestmark = pytest.mark.quick


def test_a_budget_is_spent():
    with budgets.spending(Budget(1000, 0.01, 9)) as budget:
        assert budgets.granted(300) == (300, 0.005, 9)
        assert budgets.granted(None, 4) == (700, 0.01 / 6, 4)
        assert (budget.left, budget.audits) == (0, 2)
        with pytest.raises(
            dp.InvalidInput, match="budget of 1,000 a side has 0 left, too few for another audit"
        ):
            budgets.granted(None)
    assert budgets.granted(None).draws == budgets.DRAWS


def test_the_draws_of_a_search_are_spent_too():
    with budgets.spending(Budget(20_000)) as budget:
        assert budgets.granted(500, times=10.0).draws == 500
        assert budget.left == 15_000
        with pytest.raises(dp.InvalidInput, match="an audit of 1,501 and its search, 10 times as"):
            budgets.granted(1501, times=10.0)
        assert budgets.granted(None, times=10.0).draws == 1500
        assert budget.left == 0
    assert budgets.granted(None, times=10.0).draws == budgets.DRAWS // 10
    assert budgets.granted(1e5, times=10.0).draws == 100_000


def test_however_many_audits_the_rates_add_up_to_that_of_the_test():
    budget = Budget(false_failure=0.2)
    rates = [budget.grant(10, None, None).false_failure for _ in range(1000)]
    assert 0.199 < math.fsum(rates) <= 0.2
    assert rates[33] == 0.2 / (34 * 35)
    assert budget.grant(10, 0.3, None).false_failure == 0.3


def test_another_run_has_the_draws_again_and_goes_on_with_smaller_rates():
    budget = Budget(1000, 0.01)
    for audit in (1, 2, 3):
        budget.start()
        budget.start()  # a run begins once
        assert budget.grant(1000, None, None).false_failure == 0.01 / (audit * (audit + 1))
        budget.end(ValueError("not a privacy failure") if audit == 1 else None)
        budget.repeat_failure()


def test_the_first_failure_is_raised_again_with_a_note():
    budget = Budget()
    first, second = PrivacyFailure("first", {}, None), PrivacyFailure("second", {}, None)
    budget.end(first)
    budget.end(second)
    for _ in range(2):
        with pytest.raises(PrivacyFailure) as found:
            budget.repeat_failure()
        assert found.value is first
        assert first.__notes__ == [budgets.NOTE]


@pytest.mark.parametrize(
    "settings",
    [{"draws": 0}, {"false_failure": 1.0}, {"false_failure": 1e-60}, {"seed": -1}],
)
def test_bad_settings_are_named(settings):
    with pytest.raises(dp.InvalidInput, match=f"{next(iter(settings))} must be"):
        Budget(**settings)
