"""Regions of (p, q): exact coverage by enumeration, tightness against the normal limit, sums."""

from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpaudit.certify import binomial, constants, lower, ratio_region, region, upper


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def difference_lower(x, n, y, m, gamma, alpha):
    return region(x, n, y, m, (gamma,), alpha).low(gamma)


def exceedance(bound, n: int, m: int, p: float, q: float, truth: float) -> float:
    """P(bound > truth), summed over all outcomes of any weight."""
    px, py = stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q)
    return sum(
        px[x] * py[y]
        for x in range(n + 1)
        for y in range(m + 1)
        if px[x] * py[y] > 1e-6 and bound(x, n, y, m) > truth + 1e-12
    )


CASES = [
    (16, 16, 0.3, 0.3, 1.0),
    (16, 16, 0.1, 0.02, 3.0),
    (16, 16, 0.99, 0.3, 3.0),
    (12, 30, 0.02, 0.001, 20.0),
    (12, 12, 1.0, 1.0, 1.0),
    (16, 16, 0.4, 0.0, 7.0),
]


@pytest.mark.parametrize("alpha", [0.05, pytest.param(0.002, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("n", "m", "p", "q", "gamma"), CASES)
def test_coverage_is_exact_for_small_counts(n, m, p, q, gamma, alpha):
    """Outcomes left out have less than 1e-6 each, 4e-4 in all at most."""

    def bound(x, n, y, m):
        return difference_lower(x, n, y, m, gamma, alpha)

    assert exceedance(bound, n, m, p, q, p - gamma * q) <= alpha


@pytest.mark.parametrize(
    ("p", "q"), [(0.3, 0.3), pytest.param(*(0.5, 0.1), marks=pytest.mark.slow)]
)
def test_one_region_covers_the_difference_at_every_gamma_and_the_ratio_at_once(p, q):
    n, alpha = 12, 0.05

    def wrong(of):
        def bound(x, n, y, m):
            found = of(x, n, y, m)
            gammas = (1.0, 1.5, 2.0, 5.0, 20.0)
            return max(found.ratio() / (p / q), *(found.low(g) - (p - g * q) + 1.0 for g in gammas))

        return exceedance(bound, n, n, p, q, 1.0)

    assert wrong(lambda *counts: region(*counts, (1.5, 2.0), alpha)) <= alpha
    assert wrong(lambda *counts: ratio_region(*counts, alpha)) <= alpha


@pytest.mark.parametrize(
    ("p", "q", "gamma"), [(0.46, 0.26, 1.0), (0.04, 0.0076, np.e), (0.017, 0.0006, np.e**2)]
)
def test_bound_beats_two_intervals_and_stays_near_the_normal_limit(p, q, gamma):
    n, alpha = 500_000, 0.003
    x, y = round(n * p), round(n * q)
    bound = difference_lower(x, n, y, n, gamma, alpha)
    box = lower(x, n, alpha / 2) - gamma * upper(y, n, alpha / 2)
    error = np.sqrt((p * (1 - p) + gamma**2 * q * (1 - q)) / n)
    normal = p - gamma * q - stats.norm.isf(alpha) * error
    assert box < bound < normal + 0.02 * error
    assert normal - bound < 0.15 * error
    pair = region(x, n, y, n, (gamma, 1.1 * gamma), alpha)
    # the second γ costs next to nothing
    assert bound - 0.06 * error < pair.low(gamma) < bound + 0.02 * error


def chance_of_a_miss(n, m, gammas, alpha, p, q):
    """P(the region misses (p, q) and certifies something), summed over y. The least x at which it
    is missed does not fall as y grows: it is found by bisection, and the y at which it grows too,
    but where it grows all the time it is interpolated.
    """

    def missed(x, y):
        bounds = region(int(x), n, int(y), m, gammas, alpha)
        outside = q < bounds.q[0] or q > bounds.q[-1] or p < np.interp(q, bounds.q, bounds.p)
        return bounds.ratio() > 1.0 and outside

    @cache
    def least(y):
        low = max(-1, int(stats.binom.ppf(1e-3, n, p)) - 1)
        high = min(n, int(stats.binom.isf(1e-6 * alpha, n, p)) + 1)
        if not missed(high, y):
            return n + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if missed(middle, y) else (middle, high)
        return high

    # with more hits q is below its interval, whatever x is
    share = constants.LOWER_SHARE * constants.NUISANCE_SHARE * alpha
    most = next(y for y in range(m, -1, -1) if lower(y, m, share) <= q)
    y = np.arange(min(stats.binom.ppf(1e-4 * alpha, m, q), most), most + 1)
    close, ends, shown = 0.1 * np.sqrt(m * q * (1.0 - q)), [(int(y[0]), int(y[-1]))], {}
    while ends:
        first, last = ends.pop()
        shown[first], shown[last] = least(first), least(last)
        growth = shown[last] - shown[first]
        if last - first > 1 and growth > 0 and (growth < 5 or last - first > close):
            middle = (first + last) // 2
            ends += [(first, middle), (middle, last)]
    x = np.ceil(np.interp(y, sorted(shown), [shown[at] for at in sorted(shown)]))
    return stats.binom.sf(most, m, q) + stats.binom.pmf(y, m, q) @ stats.binom.sf(x - 1, n, p)


# With strided sums across the step at 0 hits of Q, the chances of the first two were 2.1 and 3.1 α.
RARE = [
    ((932, 2779, 2, 2779), (56.6,), 1.6e-4, 2.9e-7),
    ((793, 793, 13, 793), (26.8,), 1.7e-14, 4e-4),
    ((8085, 8085, 11, 673), (24.8,), 3.5e-5, 1.8e-3),
    ((1820, 27504, 6, 791), (1.0, 1.6), 3.1e-4, 8.9e-3),
]


@pytest.mark.parametrize(
    ("counts", "gammas", "alpha", "q"), [*RARE[:1], *(slow(*case) for case in RARE[1:])]
)
def test_rare_hits_of_q_are_missed_with_probability_alpha_at_most(counts, gammas, alpha, q):
    x, n, y, m = counts
    bounds = region(x, n, y, m, gammas, alpha)
    p = float(np.interp(q, bounds.q, bounds.p)) * (1.0 - 1e-9)
    assert chance_of_a_miss(n, m, gammas, alpha, p, q) <= alpha


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_what_the_reserve_pays_for_is_less_than_the_reserve(seed):
    """Points of random polygons, vertices and others, are missed with probability α at most."""
    rng = np.random.default_rng([17, seed])
    n = int(10 ** rng.uniform(1.3, 4.3))
    m = n if seed % 3 else int(10 ** rng.uniform(1.3, 4.3))
    gamma = float(np.exp(rng.uniform(0.0, 5.0)))
    y = int(min(m, 10 ** rng.uniform(-0.5, np.log10(m) - 0.3)))
    x = int(min(n, (gamma * y * n / m + 3.0) * 10 ** rng.uniform(0.1, 1.0)))
    alpha = float(10 ** rng.uniform(-5.0, -1.3)) if seed % 5 else 1e-12
    gammas = (gamma,) if seed % 2 else (gamma, gamma * float(rng.uniform(1.02, 1.6)))
    bounds = region(x, n, y, m, gammas, alpha)
    at = rng.integers(len(bounds.q) - 1)
    q = float(bounds.q[at] + rng.choice([0.0, 0.5]) * (bounds.q[at + 1] - bounds.q[at]))
    p = float(np.interp(q, bounds.q, bounds.p)) * (1.0 - 1e-9)
    if bounds.ratio() > 1.0:
        assert chance_of_a_miss(n, m, gammas, alpha, p, q) <= alpha


@pytest.mark.parametrize(
    ("x", "y", "gamma"), [(4_000, 900, 2.0), (2_000, 150, 7.4), (9_000, 8_000, 1.0)]
)
@pytest.mark.parametrize(
    ("gammas", "error"), [((1.0,), 1e-8), ((1.0, 1.05), 2e-3), ((1.0, 1.4), 2e-3)]
)
def test_a_sum_in_strides_equals_the_sum_over_every_value(x, y, gamma, gammas, error):
    n = 50_000
    test = binomial._ExactTest(x, n, y, n, gamma * np.array(gammas), 0.01)
    q = np.linspace(lower(y, n, 1e-4), upper(y, n, 1e-4), 5)
    p = np.clip(np.max(test.limit + test.gammas * q[:, None], axis=1), 1e-6, 1.0)
    every = np.arange(len(q))
    strided, test.stride = test._event(q, p)(p, every), 0.0
    np.testing.assert_allclose(strided, test._event(q, p)(p, every), rtol=error)


def masses(n: int, p: float) -> np.ndarray:
    """Binomial probabilities at 40 digits, (n + 1,), as floats."""
    with mpmath.workdps(40):
        p, rest = mpmath.mpf(p), 1 - mpmath.mpf(p)
        return np.array(
            [float(mpmath.binomial(n, k) * p**k * rest ** (n - k)) for k in range(n + 1)]
        )


@pytest.mark.parametrize("alpha", [1e-16, pytest.param(1e-30, marks=pytest.mark.slow), 1e-80])
@pytest.mark.parametrize(("count", "n"), [(0, 100), (3, 100), (40, 1000)])
def test_clopper_pearson_at_a_tiny_alpha(count, n, alpha):
    """The tail probability at each bound is alpha; computed at 40 digits."""
    above = masses(n, lower(count, n, alpha))[count:].sum()
    below = masses(n, upper(count, n, alpha))[: count + 1].sum()
    np.testing.assert_allclose(below, alpha, rtol=1e-10)
    np.testing.assert_allclose(above, alpha if count else 1.0, rtol=1e-10)


@pytest.mark.parametrize(
    ("n", "m", "gammas", "alpha"),
    [
        (10, 10, (1.0,), 0.002),
        slow(16, 16, (3.0,), 0.05),
        slow(8, 24, (20.0,), 0.01),
        slow(24, 8, (1.5, 2.0), 0.01),
        slow(16, 16, (0.3,), 0.05),
    ],
)
def test_all_outcomes_whose_region_misses_the_truth_and_certifies_anything(n, m, gammas, alpha):
    """Their chance is at most α at every q tried and at every p just below a polygon there."""
    x, y = np.arange(n + 1), np.arange(m + 1)
    regions = [region(i, n, j, m, gammas, alpha) for i in x.tolist() for j in y.tolist()]
    certifies = np.array([each.ratio() > 1.0 for each in regions])
    ends = np.geomspace(1e-5, 0.1, 20)
    for q in np.concatenate([ends, np.linspace(0.12, 0.88, 20), 1.0 - ends]):
        outside = np.array([q < each.q[0] or q > each.q[-1] for each in regions])
        least = np.array([np.interp(q, each.q, each.p) for each in regions])
        for p in np.unique(least) * (1.0 - 1e-9):
            chance = np.outer(stats.binom.pmf(x, n, p), stats.binom.pmf(y, m, q)).ravel()
            assert chance @ (certifies & (outside | (p < least))) <= alpha
