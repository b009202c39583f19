"""Predicted draws: arguments, order, and agreement with what certifies."""

import numpy as np
import pytest
from scipy.special import ndtri

import dpaudit as dp
from dpaudit import power
from dpaudit.certify.split import samples_for

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("stop", [None, "verdict"])
def test_more_draws_for_less_excess_and_more_power(stop):
    draws = [
        power.draws_to_detect(1.0, 1e-3, excess, stop=stop)
        for excess in (0.3, 0.1, 0.03, 0.01, 1e-3)
    ]
    assert np.all(np.diff(draws) > 0)
    likely = [
        power.draws_to_detect(1.0, 1e-3, 0.1, chance, stop=stop) for chance in (0.5, 0.8, 0.99)
    ]
    assert np.all(np.diff(likely) > 0)
    sure = [
        power.draws_to_detect(1.0, 1e-3, 0.1, level=level, stop=stop)
        for level in (0.8, 0.95, 0.999)
    ]
    assert np.all(np.diff(sure) > 0)


def test_the_fixed_number_is_that_of_a_test_of_two_binomials():
    """At ε = 0 and P(S) − Q(S) = 0.1 about one half, n draws certify.

    n = 2·¼(1 − 0.01)((z₀.₈ + z₀.₉₇₅)/0.1)².
    """
    certify = 2 * 0.25 * (1 - 0.01) * ((ndtri(0.8) + ndtri(0.975)) / 0.1) ** 2
    assert power.draws_to_detect(0.0, 0.0, 0.1) == samples_for(int(np.ceil(certify)))
    assert power.smallest_excess(0.0, 0.0, certify, 0.025) == pytest.approx(0.1, rel=1e-3)


def test_small_excesses_cost_the_inverse_square():
    near, far = (
        power.draws_to_detect(0.5, 0.05, excess, stop="verdict") for excess in (2e-3, 1e-3)
    )
    assert far / near == pytest.approx(4.0, rel=0.1)
    many, few = (power.smallest_excess(0.5, 0.05, draws, 0.025) for draws in (4_000_000, 1_000_000))
    assert few / many == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_the_smallest_excess_inverts_the_number_of_draws(epsilon):
    excess = power.smallest_excess(epsilon, 0.02, 5000, 0.025)
    assert power.draws_to_detect(epsilon, 0.02, excess) == pytest.approx(
        samples_for(5000), rel=0.01
    )
    excess = power.excess_shown(epsilon, 0.02, 5000, 0.05)
    assert power.draws_to_detect(epsilon, 0.02, excess, stop="verdict") == pytest.approx(
        5000, rel=0.01
    )


def test_nothing_shows_above_one():
    assert power.smallest_excess(0.0, 1.0, 100, 0.05) == np.inf
    assert power.excess_shown(0.0, 1.0, 100, 0.05) == np.inf


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"excess": 0.0}, "excess must be a finite number in \\(0, 0.9\\)"),
        ({"excess": 0.9}, "excess must be"),
        ({"delta": -0.1}, "delta must be"),
        ({"power": 1.0}, "power must be"),
        ({"stop": "early"}, "stop must be one of 'verdict'"),
        ({"statements": 0}, "statements must be"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"epsilon": 1.0, "delta": 0.1, "excess": 0.05} | changes
    with pytest.raises(dp.InvalidInput, match=message):
        power.draws_to_detect(**arguments)
