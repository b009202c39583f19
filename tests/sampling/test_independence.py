"""Tests of independence: exact under the null, silent for sound mechanisms, and able to see slips.

Probabilities of a false alarm are stated where a test is statistical.
"""

from itertools import permutations
from math import comb

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpaudit.auditing.bettor import batch_sizes
from dpaudit.sampling.independence import LEVEL, copies, examine, order
from dpaudit.sampling.independence.features import (
    EXAMINED,
    FEATURES,
    calls_of,
    column_blocks,
    features,
    keys_of,
)
from tests.sparse import one_in

quick = pytest.mark.quick


def exact_two_sided(N, K, n, x):
    """min(1, 2·tail), the tail on the side of the mean, in whole numbers."""
    below = x * N <= n * K
    places = range(max(0, n + K - N), x + 1) if below else range(x, min(n, K) + 1)
    return min(1.0, 2 * sum(comb(K, j) * comb(N - K, n - j) for j in places) / comb(N, n))


@quick
def test_hypergeometric_tails_are_those_of_whole_numbers():
    grid = [
        (N, K, n, x)
        for N in (1, 2, 7, 24, 61)
        for K in range(N + 1)
        for n in range(0, N + 1, 3)
        for x in range(max(0, n + K - N), min(n, K) + 1)
    ]
    found = np.exp(order.two_sided(*np.array(grid).T))
    exact = np.array([exact_two_sided(*case) for case in grid])
    np.testing.assert_allclose(found, exact, rtol=3e-6)
    assert np.all(found >= exact * (1.0 - 1e-12))  # never too small


@quick
@pytest.mark.parametrize("x", [250_000, 248_500, 400_000])
def test_tails_of_a_million_draws_hold_to_six_digits_of_p(x):
    N, K, n = 1_000_000, 499_000, 500_500
    law = stats.hypergeom(N, K, n)
    tail = law.logcdf(x) if x * N <= n * K else law.logsf(x - 1)
    exact = min(0.0, np.log(2.0) + tail)
    (found,) = order.two_sided(*np.array([[N], [K], [n], [x]]))
    assert exact * (1.0 + 1e-9) - 1e-9 <= found <= exact + 2e-6


@quick
def test_fishers_combination_is_a_tail_of_chi_square_and_far_out_a_bound():
    for number in (1, 2, 7, 64, 5000):
        y = number * np.array([0.0, 0.5, 1.0, 1.3, 2.0])
        expected = stats.chi2.logsf(2.0 * y, 2 * number)
        usual = expected > -600
        np.testing.assert_allclose(order.combined(-y, number)[usual], expected[usual], rtol=1e-9)
    assert order.combined(np.array(-5000.0), 1) == pytest.approx(-5000.0)
    far = float(order.combined(np.array(-20_000.0), 100))
    with mpmath.workdps(30):
        exact = float(mpmath.log(mpmath.gammainc(100, 20_000, regularized=True)))
    assert exact - 1e-9 <= far <= exact + 0.01
    assert order.combined(np.zeros(3), 0).tolist() == [0.0, 0.0, 0.0]


@quick
def test_the_binomial_bound_is_above_the_tail():
    for trials, share in ((1, 0.3), (20, 0.05), (300, 0.5), (300, 0.01)):
        count = np.arange(trials + 1)
        bound = np.array([copies.binomial_upper(int(c), trials, share) for c in count])
        assert np.all(bound >= stats.binom.logsf(count - 1, trials, share) - 1e-9)
    assert copies.binomial_upper(5, 5, 0.1) == pytest.approx(5 * np.log(0.1))
    assert copies.binomial_upper(5, 5, 1.5) == 0.0


def bits_of(keys):
    return features(keys, np.sort(keys, axis=1))


@quick
def test_keys_are_in_the_order_of_the_values_and_nan_is_above_all():
    tiny = np.nextafter(0.0, 1.0)
    values = np.array([-np.inf, -2.0, -tiny, -0.0, 0.0, tiny, 1.0, 1e308, np.inf, np.nan])
    assert np.all(np.diff(keys_of(values)) > 0)
    payload = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float)
    assert len(set(keys_of(np.append(payload, np.nan)).tolist())) == 1


@quick
def test_of_many_columns_a_part_is_examined():
    draws = np.arange(2.0 * 600).reshape(2, 600)
    columns, keys = zip(*column_blocks(draws, draws[:1]), strict=True)
    places = np.concatenate(columns)
    assert len(places) == len(set(places.tolist())) == EXAMINED
    np.testing.assert_array_equal(
        np.concatenate([part[0] for part in keys])[:, 1], keys_of(draws[1, places])
    )


# --- exact under the null: every arrangement of the values ----------------------------------------


def assert_p_values(log_p):
    """P(p ≤ u) ≤ u at every u, where each entry of log_p is as likely as any other."""
    p = np.sort(np.exp(log_p))
    share = np.searchsorted(p, p, side="right") / len(p)
    assert np.all(share <= p * (1.0 + 1e-5))
    return p.min()


def order_of(bits, keys, calls, other):
    """log p of each feature, (f,), by every test of order of one side beside the features `other`
    of the other one.
    """
    tables = [*order.halves(bits, keys, calls), order.runs(bits, calls)]
    tables.append(order.together(bits, other, calls.strata))
    sums = order.sums_of_logs(tables)
    return [order.combined(log, table.number) for log, table in zip(sums, tables, strict=True)]


MULTISETS = [
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0],
    [0.0, -0.0, 1.0, np.inf, np.nan, np.nan, np.nan, 3.0],
]


def arrangements(values):
    """Every different order of the values, (orders, n)."""
    return np.array(sorted(set(permutations(values))), dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", one_in(3, MULTISETS[::-1]), ids=["special", "discrete", "distinct"]
)
def test_over_all_arrangements_the_tests_of_order_are_exact(values):
    """All orders of eight draws, as columns; the other side stays as it is."""
    keys = arrangements(keys_of(np.array(values)).tolist())
    bits = bits_of(keys)
    smallest = []
    for sizes in ([4, 4], [3, 2, 2, 1]):
        calls = calls_of(sizes, 8)
        left = np.broadcast_to(bits[:1], bits.shape)
        for log_p in order_of(bits, keys, calls, left):
            smallest += [assert_p_values(part) for part in np.split(log_p, 2)]
    assert min(smallest) < 0.1  # the tests can see something


@quick
@pytest.mark.parametrize("values", ["aabbcc", "aaaabb", "aabbcd", "aaabbb"])
@pytest.mark.parametrize("sizes", [[2, 2, 2], [2, 2, 1, 1], [3, 3], [1, 2, 3]])
def test_over_all_arrangements_copied_calls_are_exact(values, sizes):
    rows = arrangements(map(ord, values))
    assert_p_values(np.array([copies.copied_calls(row, calls_of(sizes, 6)) for row in rows]))


@quick
@pytest.mark.parametrize("values", ["aabbccdd", "aaaabbbb"])
def test_over_all_arrangements_repetition_to_the_end_is_exact(values):
    """The lag of the smallest p counts: the bound holds for the search over all lags."""
    rows = arrangements(map(ord, values))
    log_p = np.zeros(len(rows))
    for lag in range(1, 8):
        for i in np.flatnonzero((rows[:, lag:] == rows[:, :-lag]).all(axis=1)):
            log_p[i] = min(log_p[i], copies.repeated_to_the_end(rows[i], lag))
    assert_p_values(log_p)


@quick
def test_stakes_on_copied_calls_are_won_and_lost():
    """12 12 12 21: won, even but lost; and won. (2·½ + 2)/2 = 3/2."""
    calls = calls_of([2, 2, 2, 2], 8)
    rows = np.array([1, 2, 1, 2, 1, 2, 2, 1])
    assert copies.copied_calls(rows, calls) == pytest.approx(np.log(2 / 3))
    assert copies.copied_calls(np.arange(8), calls) == 0.0
    twice = np.tile(np.arange(16), 2)
    won = 0.5 + 0.5 * np.exp(-copies.log_copies(np.arange(16), 2))
    assert copies.copied_calls(twice, calls_of([16, 16], 32)) == pytest.approx(np.log(2 / won))


@quick
def test_calls_of_few_values_that_a_cache_repeats_are_refused():
    """Draws of three values: neither their pairs nor the features of so few calls tell."""
    rng, calls, P = np.random.default_rng(5), np.full(64, 32), []
    for _ in calls:
        again = bool(P) and rng.random() < 0.1
        P.append(P[-1] if again else rng.integers(0, 3, (32, 1)).astype(float))
    Q = rng.integers(0, 3, (2048, 1)).astype(float)
    assert [each.kind for each in examine(np.vstack(P), Q, (calls, calls))] == ["same draws"]


def test_pairs_of_equal_draws_lie_anywhere_over_the_random_order(monkeypatch):
    """Draws in a fixed order with many ties: over σ alone, each p-value holds.

    Four thousand orders; a share of p-values above its level by chance: below 1e-8 in all.
    """
    calls, keys = calls_of([5, 9, 2, 8, 16, 8], 48), np.arange(48)[None] // 5
    rng, found = np.random.default_rng(3), []
    for _ in range(4000):
        sigma = rng.permutation(48)
        monkeypatch.setattr(copies, "random_order", lambda draws, sigma=sigma: sigma)
        shuffled = keys[:, rng.permutation(48)]
        found.append(copies.come_again(shuffled, np.sort(shuffled, axis=1), calls)[0])
    assert_super_uniform(np.array(found).T, levels=(0.3, 0.1, 1e-2), alarm=1e-9)


# --- exact under the null: simulated --------------------------------------------------------------


def assert_super_uniform(log_p, levels, alarm):
    """No more p-values at or below each level than chance gives except with probability `alarm`."""
    for row in np.atleast_2d(log_p):
        for u in levels:
            most = stats.binom.isf(alarm, len(row), u)
            assert np.count_nonzero(row <= np.log(u)) <= most


def mixed(rng, shape):
    """Atoms at 0 and 1, and a continuous part."""
    x = rng.normal(size=shape)
    u = rng.random(shape)
    return np.where(u < 0.4, 0.0, np.where(u < 0.5, 1.0, x))


def with_nan(rng, shape):
    return np.where(rng.random(shape) < 0.3, np.nan, rng.normal(size=shape))


LAWS = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "geometric": lambda rng, shape: rng.geometric(0.4, shape).astype(float),
    "Bernoulli": lambda rng, shape: (rng.random(shape) < 0.01).astype(float),
    "mixed": mixed,
    "NaN": with_nan,
}


def p_values(P, Q, calls):
    """log p of every test of order and of values that come again, for each column of draws."""
    left, right = keys_of(P), keys_of(Q)
    bits = bits_of(left), bits_of(right)
    found = order_of(bits[0], left, calls, bits[1])
    again = copies.come_again(left, np.sort(left, axis=1), calls).T
    return np.concatenate([np.concatenate(np.split(np.array(found), FEATURES, axis=1)), again])


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_many_p_values_of_sound_draws_are_not_too_small(law):
    """60,000 columns of 320 draws; a false alarm below 1e-7 in all."""
    rng, sizes = np.random.default_rng(12), [64, 1, 2, 61, 64, 64, 64]
    calls = calls_of(sizes, 320)
    log_p = [p_values(*LAWS[law](rng, (2, 3000, 320)), calls) for _ in range(20)]
    together = np.concatenate(log_p, axis=1)
    assert_super_uniform(together, levels=(1e-1, 1e-2, 1e-3, 1e-4), alarm=1e-9)
    assert together.min() < np.log(1e-2)  # and they do become small


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("law", ["Gaussian", "mixed", "NaN"])
def test_sound_draws_show_nothing(law, columns):
    """6 examinations a case, 72 in all: a false alarm with probability at most 7.2e-5."""
    rng = np.random.default_rng(13)
    for n, sizes in ((3000, [256] * 12), (1500, list(batch_sizes(1500))), (3000, None)):
        for both in (True, False):
            P, Q = LAWS[law](rng, (2, n, columns))
            calls = None if sizes is None else (np.array(sizes),) * 2
            assert examine(P, Q if both else Q[: n // 2], calls) == []


def test_the_level_is_kept_by_all_tests_together():
    """150 examinations at level ½; a false alarm with probability 1e-9."""
    rng, calls = np.random.default_rng(16), ([40, 3, 60, 1, 60, 40],) * 2
    found = [
        bool(examine(*rng.geometric(0.05, (2, 200, 2)).astype(float), calls, level=0.5))
        for _ in range(150)
    ]
    assert sum(found) <= stats.binom.isf(1e-9, 150, 0.5)
    assert any(found)  # the level is not out of reach


@quick
@pytest.mark.parametrize("n", [1, 2, 16, 33])
def test_few_draws_show_nothing(n):
    """A false alarm: 1.4e-5 over all cases."""
    rng = np.random.default_rng(14)
    P, Q = rng.normal(size=(2, n, 2))
    assert examine(P, Q, None) == []
    assert examine(P, Q, (np.ones(n, dtype=int),) * 2) == []


def side(make, sizes, seed):
    """Draws of calls of these sizes. make : (number of the call, size, rng) → draws."""
    rng = np.random.default_rng(seed)
    parts = [np.asarray(make(number, size, rng), float) for number, size in enumerate(sizes)]
    return np.concatenate([part.reshape(len(part), -1) for part in parts])


def found_in(make, sizes, other=None):
    """The findings of calls of a mechanism, on both sides."""
    P, Q = side(make, sizes, 1), side(other or make, sizes, 2)
    return examine(P, Q, (np.array(sizes), np.array(sizes)))


def sound(number, size, rng):
    return rng.laplace(size=size)


def no_size(number, size, rng):
    return np.full(size, 3.0 + rng.laplace())


def no_size_in_one_column(number, size, rng):
    draws = rng.laplace(size=(size, 3))
    draws[:, 1] = rng.laplace()
    return draws


def shared_noise_in_one_column(number, size, rng):
    draws = rng.laplace(size=(size, 3))
    draws[:, 1] += rng.laplace()
    return draws


def repeated(number, size, rng):
    return np.repeat(rng.laplace(size=-(-size // 100)), 100)[:size]


def tiled(number, size, rng):
    return np.tile(rng.laplace(size=100), -(-size // 100))[:size]


def fixed_seed(number, size, rng):
    return np.random.default_rng(5).laplace(size=size)


def clock_seed(number, size, rng):
    return np.random.default_rng([int(rng.bit_generator.seed_seq.entropy), number // 3]).laplace(
        size=size
    )


def sorted_in_calls(number, size, rng):
    return np.sort(rng.laplace(size=size))


def numbered(number, size, rng):
    return number + 0.01 * rng.normal(size=size)


SLIPS = {
    "two calls without size=": (no_size, [256, 256], "call", "size= forgotten"),
    "calls without size=": (no_size, [256] * 40, "repeats", "every draw of a call is the same"),
    "one column without size=": (no_size_in_one_column, [256] * 8, "repeats", "column 2 of 3"),
    "one noise a call": (shared_noise_in_one_column, [256] * 8, "call", "column 2 of 3"),
    "each draw 100 times": (repeated, [1000] * 16, "repeats", "come again within a call"),
    "tiled in short calls": (tiled, [312] * 16, "repeats", "tiled"),
    "fixed seed": (fixed_seed, [256] * 16, "period", "after every 256"),
    "fixed seed, two small calls": (fixed_seed, [16, 16], "period", "after every 16"),
    "clock": (clock_seed, [256] * 16, "same draws", "clock"),
    "sorted": (sorted_in_calls, [250] * 8, "serial", "sorted"),
    "number of the call": (numbered, [256] * 16, "call", "calls differ"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_found_and_named(slip):
    """Far below the level, and on one side alone too."""
    make, sizes, kind, words = SLIPS[slip]
    by_kind = {finding.kind: finding for finding in found_in(make, sizes)}
    assert words in by_kind[kind].message
    assert by_kind[kind].log_p < 1.5 * np.log(LEVEL)
    assert all(finding.refused for finding in by_kind.values())
    if "column" not in slip and "noise" not in slip:
        assert kind in {finding.kind for finding in found_in(make, sizes, sound)}


def autoregressive(n, rng):
    noise, draws = rng.normal(size=n), np.empty(n)
    draws[0] = noise[0]
    for i in range(1, n):
        draws[i] = 0.2 * draws[i - 1] + noise[i]
    return draws


def metropolis(n, rng):
    """A chain with the Laplace law."""
    draws, here = np.empty(n), 0.0
    for i in range(n):
        there = here + 2.0 * rng.normal()
        if rng.random() < np.exp(min(0.0, abs(here) - abs(there))):
            here = there
        draws[i] = here
    return draws


CHAINS = {
    "AR(1)": (autoregressive, "serial"),
    "Metropolis": (metropolis, "serial"),
    "sorted": (lambda n, rng: np.sort(rng.normal(size=n)), "call"),
}


@quick
@pytest.mark.parametrize("chain", CHAINS)
def test_a_chain_is_found_with_calls_and_without(chain):
    make, kind = CHAINS[chain]
    rng = np.random.default_rng(21)
    P, Q = make(5000, rng)[:, None], make(5000, rng)[:, None]
    assert kind in {finding.kind for finding in examine(P, Q, (np.full(20, 250),) * 2)}
    elsewhere = examine(P, Q, None)
    assert {finding.kind for finding in elsewhere} & {"serial", "drift"}
    assert all(finding.refused and finding.log_p < -20 for finding in elsewhere)


MADE_FROM_P = {
    "equal": lambda P, rng: P,
    "shifted": lambda P, rng: P + 1.0,
    "absolute": lambda P, rng: np.abs(P),
}
IN_COMMON = {"equal": ["copied", "shared"], "absolute": ["shared"]}


@quick
@pytest.mark.parametrize("made", MADE_FROM_P)
@pytest.mark.parametrize("calls", [True, False])
def test_sides_made_from_each_other_are_found(made, calls):
    rng = np.random.default_rng(24)
    P = rng.laplace(size=(2000, 1))
    Q = MADE_FROM_P[made](P, rng)
    *others, finding = examine(P, Q, (np.full(8, 250),) * 2 if calls else None)
    assert [one.kind for one in others] == (IN_COMMON.get(made, []) if calls else [])
    assert (finding.kind, finding.refused) == ("sides", True)
    assert "row by row" in finding.message
    assert finding.log_p < 1.5 * np.log(LEVEL)


@pytest.mark.parametrize("size", [256, 4000])
def test_drift_is_reported_and_not_refused(size):
    """The mean rises by 0.3 standard deviations over 64 calls, on both sides alike."""

    def rising(number, size, rng):
        return rng.normal(size=size) + 0.3 * (number + np.arange(size) / size) / 64

    (finding,) = found_in(rising, [size] * 64)
    assert (finding.kind, finding.refused) == ("drift", False)
    assert "during the run" in finding.message


@quick
def test_draws_that_are_all_the_same_show_nothing():
    for draws in (np.zeros((500, 2)), np.full((500, 1), np.nan)):
        assert examine(draws, draws, ([256, 256],) * 2) == []
        assert examine(draws, draws + 1.0, None) == []
    assert examine(np.empty((0, 2)), np.empty((0, 2)), None) == []
    assert examine(np.empty((5, 0)), np.empty((5, 0)), None) == []
