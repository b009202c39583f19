"""Betting: fair prices, bounds that hold at every look, type I error and power.

Each test states the probability that it fails by chance.
"""

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.certify import NO_BET, Bet, Cuts, Menu, Null, PairCounts, Side
from tests.sparse import one_in

ALARM = 1e-6
NULLS = {
    "(0, 0)": ([0.0], [0.0]),
    "(1, 0)": ([1.0], [0.0]),
    "(0.1, 0.3)": ([0.1], [0.3]),
    "(2, 1e-5)": ([2.0], [1e-5]),
    "(0, 1)": ([0.0], [1.0]),
    "curve": (np.linspace(0.0, 5.0, 60), dp.exact.gaussian_shift(1.0, np.linspace(0.0, 5.0, 60))),
}
SIDES = (
    Side(0.0, 4.0, 0.0),
    Side(1.0, 1.5, 1.0),
    Side(0.5, 4.0, -0.2, True),
    Side(1.0, 1.001, 2.0, True),
)
PAIRS = [
    (front, back)
    for front in (None, *SIDES)
    for back in (None, *SIDES[:2])
    if front is None or back is None or front.cut + back.cut >= 0.0  # else scores would count twice
]


@pytest.fixture(params=NULLS, ids=str)
def null(request):
    return Null.of(*(np.asarray(one, dtype=float) for one in NULLS[request.param])), NULLS[
        request.param
    ]


def test_the_dominating_pair_keeps_the_curve_and_reaches_it(null):
    atoms, (epsilon, delta) = null
    assert atoms.p.sum() == pytest.approx(1.0, abs=1e-12)
    assert atoms.q.sum() == pytest.approx(1.0, abs=1e-12)
    reached = [np.maximum(atoms.p - np.exp(one) * atoms.q, 0.0).sum() for one in epsilon]
    mirrored = [np.maximum(atoms.q - np.exp(one) * atoms.p, 0.0).sum() for one in epsilon]
    np.testing.assert_allclose(reached, delta, atol=1e-9)
    np.testing.assert_allclose(mirrored, delta, atol=1e-9)


@pytest.mark.parametrize(("front", "back"), one_in(6, PAIRS))
def test_no_pair_of_the_null_makes_a_bet_favourable_and_one_makes_it_fair(null, front, back):
    """E U · E V is at most C over 400 random post-processings of the dominating pair. One of them
    reaches C: it sends each atom to a corner, or to one of two corners at random.
    """
    atoms, _ = null
    bet = Bet.against(atoms, front, back)
    corners = np.array([(1.0, 1.0), bet_corner(bet, 60.0), bet_corner(bet, -60.0)])
    rng = np.random.default_rng(1)
    for sharp in (1.0, 30.0):
        weights = rng.dirichlet(np.full(3, 1.0 / sharp), size=(200, len(atoms.p)))
        up, down = (weights @ corners[:, 0]) @ atoms.p, (weights @ corners[:, 1]) @ atoms.q
        assert np.all(np.log(up * down) <= bet.cost + 1e-10)
    assert best_post_processing(atoms, corners) == pytest.approx(bet.cost, abs=1e-5)


def bet_corner(bet, score):
    at = np.array([score])
    return float(np.exp(bet.up(at)[0])), float(np.exp(bet.down(at)[0]))


def best_post_processing(atoms, corners):
    """The log of the largest E U · E V over post-processings. Each atom gets its best corner for a
    weight t, mixed between two t.
    """
    points = []
    for tilt in np.linspace(-8.0, 8.0, 2001):
        gain = np.exp(0.5 * tilt) * np.outer(atoms.p, corners[:, 0]) + np.exp(
            -0.5 * tilt
        ) * np.outer(atoms.q, corners[:, 1])
        best = np.argmax(gain, axis=1)
        points.append((atoms.p @ corners[best, 0], atoms.q @ corners[best, 1]))
    points = np.unique(np.array(points), axis=0)
    share = np.linspace(0.0, 1.0, 201)[:, None, None]
    mixed = share * points[:-1] + (1.0 - share) * points[1:] if len(points) > 1 else points[None]
    return float(np.log(np.max(mixed[..., 0] * mixed[..., 1])))


def test_at_zero_the_bet_is_the_two_sample_e_variable():
    bet = Bet.against(Null.of(np.zeros(1), np.zeros(1)), Side(0.0, 30.0, 0.0), Side(0.0, 30.0, 0.0))
    x, y = np.array([-2.0, 0.3, 1.0]), np.array([0.5, -1.0, 2.0])
    expected = np.log(4.0) - np.logaddexp(0.0, -x) - np.logaddexp(0.0, y)
    np.testing.assert_allclose(bet.payoff(x, y), expected, atol=1e-9)


def test_no_bet_where_the_score_sees_nothing():
    menu = Menu(Null.of(np.array([1.0]), np.array([0.01])), np.array([1.0]))
    assert menu.by_model(np.zeros(20)) == NO_BET
    draws = np.random.default_rng(2).standard_normal((2, 400))
    assert menu.by_draws(draws[0], draws[1]) == NO_BET


@pytest.mark.slow
def test_lower_bounds_hold_at_every_wave():
    """Counts over 6 batches on N(1, 1) against N(0, 1), looked at after each batch. 50 runs, 2 × 3
    bounds at share 0.05/6 each, so at most 5 % of runs ever err; false alarm 1e-6. The bounds are
    not idle: at the end of most runs δ(0) is certified above 0.25 of 0.383.
    """
    epsilon = np.array([0.0, 0.5, 1.0])
    truth = dp.exact.gaussian_shift(1.0, epsilon)
    wrong, shown = 0, []
    for run in range(50):
        rng = np.random.default_rng([4, run])
        counts, over = PairCounts(epsilon), False
        for size in (60,) * 2 + (150,) * 4:
            x, y = rng.standard_normal(size) + 0.5, rng.standard_normal(size) - 0.5
            counts.add(Cuts(epsilon + rng.normal(0.0, 0.1), epsilon), x, y)
            low = counts.low(0.05 / 6)
            over |= bool(np.any(low > truth))
        wrong += over
        shown.append(low[0, 0])
    assert wrong <= binom.ppf(1 - ALARM, 50, 0.05)
    assert np.median(shown) > 0.25
