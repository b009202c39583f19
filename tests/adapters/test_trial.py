"""A few draws beside an audit: mechanisms that no seed repeats, and what mechanisms warn of."""

import random
import warnings

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from dpaudit.adapters import trial
from dpaudit.report import facts

DATA = np.full((5, 1), 43.25)
PAIR = dp.neighbours.zero_row(DATA, 0)


def warned(data, *, rng):
    if data[0, 0]:
        warnings.warn(f"bounds taken from the data, such as {data[0, 0]}", stacklevel=1)
    return rng.random()


def unseeded(data, size, *, rng):
    return [random.SystemRandom().random() for _ in range(size)]


def fails(data, size, *, rng):
    raise ArithmeticError


def tried(mechanism, draws=10_000):
    return trial.trial(mechanism, (PAIR.left, PAIR.right), draws, np.random.SeedSequence(1))


@pytest.mark.parametrize(
    ("mechanism", "repeatable"),
    [
        (lambda data, size, *, rng: rng.random((size, 1)), True),
        (unseeded, False),
        (adapters.global_seeds(unseeded), False),
        (adapters.one_draw(adapters.global_seeds(lambda data: random.random())), True),
        (fails, None),
    ],
)
def test_two_calls_with_one_seed_show_whether_it_repeats_the_draws(mechanism, repeatable):
    assert tried(mechanism).repeatable is repeatable


def test_warnings_are_counted_without_values_of_the_data():
    found = tried(adapters.one_draw(warned))
    text = "UserWarning: bounds taken from the data, such as …"
    assert found.warned == ((text, 16),)  # 8 draws a call; D' has no warning
    assert found.notes == (f"The mechanism warns (16 times in 24 draws of a trial): {text}",)
    assert tried(adapters.one_draw(warned), draws=30).warned == ((text, 2),)


def test_a_report_says_first_what_the_mechanism_warned_of():
    found = dp.audit(adapters.one_draw(warned), PAIR, draws=300, claim=(1.0, 0.1), rng=3)
    assert found.reason.startswith("The mechanism warns (2 times in 3 draws of a trial): UserWarn")
    record = found.to_dict()
    assert record["trial"]["warnings"][0]["times"] == 2
    assert dict(facts.facts(record))["Seed"] == "3"
    assert "43" not in record["reason"]


def test_a_report_says_that_a_mechanism_cannot_be_seeded():
    record = dp.audit(unseeded, PAIR, draws=300, claim=(1.0, 0.1), rng=3).to_dict()
    assert dict(facts.facts(record))["Seed"].startswith("3, which does not repeat the draws")


def test_nothing_is_tried_where_the_law_is_known():
    pair = dp.neighbours.zero_row(np.vander(np.arange(6.0), 3) % 5, 1)
    assert dp.audit(dp.mechanisms.ALS(12), pair, draws=300, rng=1).trial is None
