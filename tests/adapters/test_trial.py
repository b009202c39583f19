"""A few draws beside an audit: mechanisms that no seed repeats, and what mechanisms warn of."""

import random
import warnings

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from dpaudit.report import render_html

DATA = np.full((5, 1), 43.25)
PAIR = dp.neighbours.zero_row(DATA, 0)


def warned(data, *, rng):
    if data[0, 0]:
        warnings.warn(f"bounds taken from the data, such as {data[0, 0]}", stacklevel=1)
    return rng.random()


def unseeded(data, size, *, rng):
    return [random.SystemRandom().random() for _ in range(size)]


def audit(mechanism, draws=300, **options):
    return dp.audit(
        mechanism, PAIR, draws=draws, claim=(1.0, 0.1), classifier="qda", rng=3, **options
    )


@pytest.mark.parametrize(
    ("mechanism", "repeatable"),
    [
        (lambda data, size, *, rng: rng.random((size, 1)), True),
        (unseeded, False),
        (adapters.global_seeds(unseeded), False),
        (adapters.one_draw(adapters.global_seeds(lambda data: random.random())), True),
    ],
)
def test_two_calls_with_one_seed_show_whether_it_repeats_the_draws(mechanism, repeatable):
    result = audit(mechanism)
    assert result.trial.repeatable is repeatable
    page = render_html(result.to_dict())
    assert ("which does not repeat the draws" in page) is not repeatable


def test_a_report_says_first_what_the_mechanism_warned_of():
    """8 draws a call of 10,000 draws, twice on D; D' has no warning. No value of the data."""
    result = audit(adapters.one_draw(warned), 10_000)
    text = "UserWarning: bounds taken from the data, such as …"
    assert result.reason.startswith(
        f"The mechanism warns (16 times in 24 draws of a trial): {text}"
    )
    assert result.to_dict()["trial"]["warnings"] == [{"text": text, "times": 16}]
    assert "43" not in result.reason


def test_nothing_is_tried_where_the_law_is_known():
    pair = dp.neighbours.zero_row(np.vander(np.arange(6.0), 3) % 5, 1)
    assert dp.audit(dp.mechanisms.ALS(12), pair, draws=300, rng=1).trial is None
