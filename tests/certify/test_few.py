"""The band from blocks of few draws."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpaudit.certify.few import GRID, Block, CombinedTest, _normal_scores, _order, band
from dpaudit.curves.gaussian_shift import shift_delta

ALPHA = 0.05
EPSILON = np.linspace(0.0, 3.0, 13)


def outcomes(n, m):
    return list(product(range(n + 1), range(m + 1)))


def mass(outcome, n, p, m, q):
    return binom.pmf(outcome[0], n, p) * binom.pmf(outcome[1], m, q)


def test_p_values_of_a_block_are_super_uniform_wherever_the_truth_is():
    n, m, aim = 5, 3, 1.7
    at = np.arange(0, len(GRID), 100)
    tables = [_normal_scores(Block(x, n, y, m, aim))[np.ix_(at, at)] for x, y in outcomes(n, m)]
    values = norm.sf(np.array(tables))
    for (i, q), (j, p) in product(enumerate(GRID[at]), enumerate(GRID[at])):
        weight = np.array([mass(one, n, p, m, q) for one in outcomes(n, m)])
        for level in (0.02, 0.05, 0.2, 0.5):
            assert weight[values[:, i, j] <= level].sum() <= level + 1e-9


def test_scores_fall_with_p_and_rise_with_q():
    table = _normal_scores(Block(7, 10, 2, 8, 1.3))
    assert np.all(np.diff(table, axis=1) <= 1e-9)
    assert np.all(np.diff(table, axis=0) >= -1e-9)


def test_outcomes_are_ordered_monotonically_in_both_counts():
    order = _order(12, 7, 30.0)
    assert np.all(np.diff(order, axis=0) >= 0.0)
    assert np.all(np.diff(order, axis=1) <= 0.0)


def test_the_cells_of_q_leave_out_no_point_of_the_line():
    blocks = [Block(19, 22, 2, 22), Block(16, 20, 2, 21, 2.0)]
    test = CombinedTest.of(blocks, ALPHA)
    for gamma in (1.0, 2.5):
        low = float(test.delta_at(np.array([gamma]))[0])
        q = np.linspace(0.0, (1.0 - low) / gamma, 400)
        worst = [np.min(score_on_line(one, low + gamma * q, q)) for one in blocks]
        assert low > 0.05
        assert test.weights @ np.array(worst) >= test.goal


def score_on_line(block, p, q):
    """Φ⁻¹(1 − π) by direct summation over all outcomes as extreme."""
    order = _order(block.n, block.m, block.aim)
    extreme = [one for one in outcomes(block.n, block.m) if order[one] >= order[block.x, block.y]]
    return norm.isf(sum(mass(one, block.n, p, block.m, q) for one in extreme))


def test_laws_and_set_that_change_places_change_only_the_direction():
    one = band([Block(15, 20, 4, 18, 1.5)], EPSILON, ALPHA)
    other = band([Block(14, 18, 5, 20, 1 / 1.5)], EPSILON, ALPHA)
    delta = one.direction(True).delta_at(EPSILON)
    assert delta[0] > 0.15
    assert other.direction(False).delta_at(EPSILON) == pytest.approx(delta, abs=1e-6)


def test_a_region_says_between_its_points_no_more_than_convexity_does():
    blocks = [Block(40, 50, 8, 50)]
    coarse, fine = (band(blocks, np.linspace(0.0, 2.0, k), ALPHA) for k in (5, 81))
    at = np.linspace(0.0, 2.0, 200)
    assert np.all(coarse.delta_at(at) <= fine.delta_at(at) + 1e-6)
    assert fine.epsilon_at(1e-5) == pytest.approx(coarse.epsilon_at(1e-5), abs=1e-3)


def test_blocks_of_uneven_sides_count_in_full():
    even = band([Block(15, 20, 4, 20)], EPSILON, ALPHA).delta_at(0.0)
    uneven = band([Block(15, 20, 40, 200)], EPSILON, ALPHA).delta_at(0.0)
    assert uneven > even > 0.0


def chosen(p, q, aim):
    """The threshold of largest p − aim·q in the past."""
    at = np.unique(np.concatenate([p, q]))
    gain = np.mean(p > at[:, None], axis=1) - aim * np.mean(q > at[:, None], axis=1)
    return at[np.argmax(gain)]


def blocks_of(p, q, parts, rng):
    """Blocks of scores with sets, and now and then an aim, that the past decides."""
    found = []
    edges = [np.linspace(len(one) / 4, len(one), parts + 1).astype(int) for one in (p, q)]
    for (a, b), (c, d) in zip(*map(pairwise, edges), strict=True):
        aim = float(rng.choice([1.0, 2.0]))
        at = chosen(p[:a], q[:c], aim)
        found.append(Block(int((p[a:b] > at).sum()), b - a, int((q[c:d] > at).sum()), d - c, aim))
    return found


@pytest.mark.slow  # 4 minutes
@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
@pytest.mark.parametrize(("n", "m", "parts"), [(20, 20, 1), (40, 64, 3), (160, 160, 2)])
def test_the_band_is_above_the_truth_in_at_most_five_percent_of_audits(mu, n, m, parts):
    rng = np.random.default_rng([n, parts, int(10 * mu)])
    gamma, truth = np.exp(EPSILON), shift_delta(mu, EPSILON)
    audits, above = 300, 0
    for _ in range(audits):
        p, q = rng.normal(mu, 1.0, n), rng.normal(0.0, 1.0, m)
        blocks = blocks_of(p, q, parts, rng)
        test = CombinedTest.of(blocks, ALPHA)
        above += any(one.rejected(gamma, truth).any() for one in (test, test.backward))
    assert above <= binom.isf(1e-3, audits, ALPHA)
