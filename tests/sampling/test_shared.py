"""Draws that stand on both sides: bounds that hold for any two laws, and slips that are seen."""

from itertools import product

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sampling.independence import LEVEL, copies, examine
from dpaudit.sampling.independence.features import keys_of

quick = pytest.mark.quick


def keys(values):
    return keys_of(np.asarray(values, dtype=float))


def by_laws(test, n):
    """Every pair of n draws of three values: log p by `test`, and the counts of the values."""
    rows = [np.array(row) for row in product(range(3), repeat=n)]
    pairs = [(P, Q) for P in rows for Q in rows]
    log_p = np.array([test(keys(P), keys(Q)) for P, Q in pairs])
    counts = [np.array([np.bincount(side, minlength=3) for side in pair]) for pair in pairs]
    return log_p, np.array(counts)


@pytest.mark.parametrize("test", [copies.copied, copies.shared])
def test_over_all_draws_the_bound_holds_for_any_two_laws(test):
    """P(p ≤ u) ≤ u, summed over all 3⁸ pairs of four draws, for laws of three values."""
    log_p, counts = by_laws(test, 4)
    laws = [np.array(law) / 10 for law in ((1, 1, 8), (3, 3, 4), (0, 5, 5), (1, 4, 5), (0, 0, 10))]
    for p, q in product(laws, laws):
        chance = np.prod(p ** counts[:, 0] * q ** counts[:, 1], axis=1)
        for bound in np.unique(log_p):
            assert chance[log_p <= bound].sum() <= np.exp(bound) * (1 + 1e-9)


@quick
def test_a_copy_of_values_that_come_once_is_n_to_the_n():
    assert copies.copied(keys(range(20)), keys(range(20))) == pytest.approx(
        np.log(3) - 20 * np.log(20)
    )
    assert copies.copied(keys(range(20)), keys(range(20)[::-1])) == 0.0
    assert copies.copied(keys([1] * 20), keys([1] * 20)) == 0.0


@quick
@pytest.mark.parametrize("part", [slice(1, None), slice(None, -1)])
def test_a_copy_but_for_the_first_or_last_draw_is_found(part):
    """As of a file that is read once with its first line and once without. Five values recur."""
    P = np.random.default_rng(7).integers(0, 5, 3000)
    for sides in ((P, P[part]), (P[part], P)):
        with pytest.raises(dp.InvalidInput, match="on both sides, in the same order"):
            dp.audit_samples(*sides, claim=(1.0, 0.0))


@quick
@pytest.mark.parametrize("part", [1.0, 0.5, 0.02])
def test_shuffled_copies_and_parts_of_a_pool_are_found(part):
    rng = np.random.default_rng(3)
    P = rng.normal(size=(10_000, 2))
    Q = rng.permutation(np.concatenate([P[: int(part * 10_000)], rng.normal(size=(10_000, 2))]))
    with pytest.raises(dp.InvalidInput, match="same draws stand on both sides, as in a shuffled"):
        dp.audit_samples(P, Q[:9_000], claim=(1.0, 1e-5))


@quick
def test_a_reversed_copy_is_found_although_each_half_has_no_draw_in_common():
    P = np.random.default_rng(4).normal(size=40_000)
    with pytest.raises(dp.InvalidInput, match="same draws stand on both sides"):
        dp.audit_samples(P, P[::-1], claim=(1.0, 1e-5))


@quick
@pytest.mark.parametrize("stop", [None, "verdict"])
@pytest.mark.parametrize("values", [np.arange(500.0), np.arange(500) % 2])
def test_the_same_draws_in_the_same_order_are_found_in_any_form(stop, values):
    P = np.random.default_rng(5).permutation(values)
    for left, right in ((P, P.copy()), ([str(one) for one in P], [str(one) for one in P])):
        with pytest.raises(dp.InvalidInput, match="same draws stand on both sides, in the same or"):
            dp.audit_samples(left, right, claim=(1.0, 1e-5), stop=stop)


@quick
def test_one_array_or_one_file_twice_is_refused_whatever_it_holds(tmp_path):
    P = np.zeros(500)
    np.save(tmp_path / "P.npy", P)
    (tmp_path / "again").symlink_to(tmp_path)
    files = (tmp_path / "P.npy", tmp_path / "again" / "P.npy")
    for left, right in ((P, P), files):
        with pytest.raises(dp.InvalidInput, match="Q must be other draws than P, got"):
            dp.audit_samples(left, right, claim=(1.0, 1e-5))


@quick
def test_a_mechanism_that_takes_both_sides_from_one_cache_is_found():
    pool = np.random.default_rng(6).normal(size=60_000)

    def cached(data, size, *, rng):
        return pool[rng.integers(0, len(pool) - size) + np.arange(size)]

    pair = dp.neighbours.zero_row([[1.0], [2.0]], 0)
    with pytest.raises(dp.MechanismError, match="not independent"):
        dp.audit(cached, pair, draws=20_000, claim=(1.0, 0.0), rng=1)
    calls = np.full(100, 100)
    half = np.random.default_rng(7).permutation(pool)[:20_000, None]
    found = examine(half[:10_000], half[5_000:15_000], (calls, calls))
    assert [one.kind for one in found] == ["shared"]
    assert "from one pool or cache" in found[0].message


LAWS = {
    "uniform on 2^16": lambda rng, n: rng.integers(0, 2**16, n),
    "uniform on n": lambda rng, n: rng.integers(0, n, n),
    "bits": lambda rng, n: rng.integers(0, 2, n),
    "Poisson": lambda rng, n: rng.poisson(30, n),
    "geometric": lambda rng, n: rng.geometric(0.01, n),
    "heavy tails": lambda rng, n: rng.zipf(1.3, n),
    "an atom among many values": lambda rng, n: rng.integers(0, 4 * n, n) * (rng.random(n) < 0.5),
    "rounded": lambda rng, n: rng.normal(size=n).round(3),
}


@quick
@pytest.mark.parametrize("law", LAWS)
def test_draws_of_one_discrete_law_on_both_sides_are_not_refused(law):
    """False alarms: 1e-6 at most each."""
    for n in (300, 1 << 16):
        rng = np.random.default_rng(n)
        P, Q = (keys(LAWS[law](rng, n)) for _ in range(2))
        assert min(copies.shared(P, Q), copies.copied(P, Q)) > np.log(LEVEL)
