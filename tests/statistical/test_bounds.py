"""The joint binomial bound: exact coverage by enumeration, power against two separate intervals."""

import numpy as np
import pytest
from scipy import stats

from dpaudit.bounds import difference_lower, lower, upper


def exceedance(n: int, m: int, p: float, q: float, gamma: float, alpha: float) -> float:
    """P(bound > p − γq), summed over all outcomes of any weight."""
    px, py = stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q)
    return sum(
        px[x] * py[y]
        for x in range(n + 1)
        for y in range(m + 1)
        if px[x] * py[y] > 1e-9 and difference_lower(x, n, y, m, gamma, alpha) > p - gamma * q
    )


@pytest.mark.parametrize("alpha", [0.05, 0.002])
@pytest.mark.parametrize(
    ("n", "m", "p", "q", "gamma"),
    [
        (25, 25, 0.3, 0.3, 1.0),
        (25, 25, 0.5, 0.1, 2.0),
        (25, 25, 0.1, 0.02, 3.0),
        (25, 25, 0.9, 0.8, 1.0),
        (25, 25, 0.99, 0.3, 3.0),
        (30, 12, 0.6, 0.5, 1.2),
        (12, 30, 0.02, 0.001, 20.0),
        (25, 25, 1.0, 1.0, 1.0),
        (25, 25, 0.4, 0.0, 7.0),
    ],
)
def test_coverage_is_exact_for_small_counts(n, m, p, q, gamma, alpha):
    assert exceedance(n, m, p, q, gamma, alpha) <= alpha


@pytest.mark.parametrize(("p", "q", "gamma"), [(0.46, 0.26, 1.0), (0.04, 0.0076, np.e), (0.017, 0.0006, np.e**2)])
def test_bound_beats_two_intervals_and_stays_near_the_normal_limit(p, q, gamma):
    n, alpha = 500_000, 0.003
    x, y = round(n * p), round(n * q)
    bound = difference_lower(x, n, y, n, gamma, alpha)
    box = lower(x, n, alpha / 2) - gamma * upper(y, n, alpha / 2)
    error = np.sqrt((p * (1 - p) + gamma**2 * q * (1 - q)) / n)
    normal = p - gamma * q - stats.norm.isf(alpha) * error
    assert box < bound < normal + 0.02 * error
    assert normal - bound < 0.3 * error


@pytest.mark.parametrize("size", [200, 5_000])
def test_simulated_coverage_at_moderate_counts(size):
    """4,000 simulations at α = 0.05; false alarm 1e-6 if the rate is 0.05 exactly (it is below)."""
    rng = np.random.default_rng(11)
    p, q, gamma = 0.08, 0.02, 2.5
    x, y = rng.binomial(size, p, 4000), rng.binomial(size, q, 4000)
    pairs, count = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    wrong = sum(c for (a, b), c in zip(pairs, count, strict=True) if exceeds(a, b, size, gamma, p - gamma * q))
    assert wrong <= stats.binom.ppf(1 - 1e-6, 4000, 0.05)
    assert wrong > 0  # a bound that never fails in 4,000 tries at 5 % would be useless, or the test blind


def exceeds(x: int, y: int, n: int, gamma: float, truth: float) -> bool:
    return difference_lower(int(x), n, int(y), n, gamma, 0.05) > truth


def test_no_hits_certify_nothing():
    assert difference_lower(0, 100, 0, 100, 1.0, 0.05) <= 0.0
    assert difference_lower(0, 100, 50, 100, 2.0, 0.05) < -0.5


def test_bound_grows_with_hits_and_shrinks_with_gamma():
    values = [difference_lower(x, 1000, 50, 1000, 2.0, 0.01) for x in (100, 200, 400, 900)]
    assert np.all(np.diff(values) > 0)
    values = [difference_lower(400, 1000, 50, 1000, gamma, 0.01) for gamma in (1.0, 2.0, 5.0, 20.0)]
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("count", [0, 3, 50, 100])
def test_clopper_pearson_agrees_with_scipy(count):
    interval = stats.binomtest(count, 100).proportion_ci(0.9, method="exact")
    assert lower(count, 100, 0.05) == pytest.approx(interval.low, abs=1e-12)
    assert upper(count, 100, 0.05) == pytest.approx(interval.high, abs=1e-12)
