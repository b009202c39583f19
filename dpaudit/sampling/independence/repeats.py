"""Tests of values that come again: within a call, in different calls, or in the same order.

The first test needs a random order σ of the draws x, independent of them. Let y be x in the order
σ. For exchangeable draws, P(y = v, σ = s) = P(x = v in the order s⁻¹)·P(σ = s) = P(x = v)·P(σ = s):
y tells nothing of σ. Equal values of y are paired off in any way that depends on y alone. The
places of these K pairs in x, which σ tells, are then K disjoint pairs drawn at random from all
places. Given those before it, a pair is drawn from n − 2K + 2 places or more, so with r ordered
pairs of places in a relation (of one call, say), it has that relation with probability at most
r/((n − 2K + 2)(n − 2K + 1)) = π. The number of pairs that have it is stochastically at most
binomial(K, π).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from dpaudit._core.types import Array
from dpaudit.sampling.independence.calls import Calls
from dpaudit.sampling.independence.tails import binomial_upper

SEED = 15_485_863  # of the random order
LOOKED_AT = 1 << 16  # draws among which pairs are looked for
MOST_PAIRS = 8  # one pair at most for so many draws, which keeps π near its least value


@lru_cache(maxsize=4)
def random_order(draws: int) -> np.ndarray:
    """Up to `LOOKED_AT` places in random order. The generator has a fixed seed."""
    order = np.random.default_rng(SEED).choice(draws, min(draws, LOOKED_AT), replace=False)
    order.flags.writeable = False
    return order


def come_again(keys: np.ndarray, calls: Calls) -> Array:
    """Bounds on log p of each column: pairs of equal draws of one call; at one place of two calls.

    keys : (c, n). Returns (c, 2).
    """
    order = random_order(keys.shape[1])
    seen = keys[:, order]
    ordered = np.sort(seen, axis=1)
    out = np.zeros((len(keys), 2))
    for column in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        out[column] = _related(_pairs(seen[column], order), calls)
    return out


def _pairs(seen: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The places of the pairs, (2, K); of many pairs some that are evenly spaced in value."""
    by_value = np.argsort(seen)
    equal = np.diff(seen[by_value]) == 0
    place = np.arange(len(seen))
    first_of_value = np.maximum.accumulate(np.where(np.append(False, equal), 0, place))
    heads = np.flatnonzero(equal & ((place - first_of_value)[:-1] % 2 == 0))
    return order[by_value[np.stack([heads, heads + 1])]]


def _related(pairs: np.ndarray, calls: Calls) -> tuple[float, float]:
    n, most = calls.draws, calls.draws // MOST_PAIRS
    if pairs.shape[1] > most:
        pairs = pairs[:, np.linspace(0, pairs.shape[1] - 1, most).astype(int)]
    K = pairs.shape[1]
    if K == 0:
        return 0.0, 0.0
    one_call = np.diff(calls.number[pairs], axis=0)[0] == 0
    one_place = (np.diff(calls.offset[pairs], axis=0)[0] == 0) & ~one_call
    calls_with = len(calls.sizes) - np.searchsorted(  # a place of a call
        np.sort(calls.sizes), np.arange(calls.sizes.max()), side="right"
    )
    places = (n - 2.0 * K + 2.0) * (n - 2.0 * K + 1.0)
    log_p = [
        binomial_upper(int(found.sum()), K, float((part * (part - 1.0)).sum() / places))
        for found, part in ((one_call, calls.sizes), (one_place, calls_with))
    ]
    return log_p[0], log_p[1]


def copied_calls(rows: np.ndarray, calls: Calls) -> float:
    """log p of neighbouring calls that return the same draws in the same order.

    rows : a key of each draw, (n,). Of calls of different sizes the beginnings are compared. Given
    the draws of two calls, the second equals the first with probability q (`log_copies`), or not at
    all where a value comes an odd number of times. A stake of one half on this, ½ + ½/q if they are
    equal and ½ if not, has mean 1. So has the product over disjoint pairs of calls, and the mean of
    the products over the pairs that begin with an even and with an odd call. By Markov's
    inequality, P(mean ≥ 1/p) ≤ p.
    """
    starts, m = calls.starts, np.minimum(calls.sizes[:-1], calls.sizes[1:])
    begin = rows[starts]
    near = np.flatnonzero((begin[1:] == begin[:-1]) & (m > 1))
    beginnings = [[rows[starts[i] : starts[i] + m[c]] for i in (c, c + 1)] for c in near]
    equal = {
        int(c) for c, pair in zip(near, beginnings, strict=True) if np.array_equal(pair[0], pair[1])
    }
    logs = [
        sum(_stake(rows, starts, int(m[c]), c, c in equal) for c in range(first, len(m), 2))
        if any(c % 2 == first for c in equal)
        else -np.inf
        for first in (0, 1)
    ]
    return min(0.0, float(np.log(2.0) - np.logaddexp(logs[0], logs[1])))


def _stake(rows: np.ndarray, starts: np.ndarray, m: int, call: int, equal: bool) -> float:
    """log of what a stake on one pair of calls returns; there is none on single draws."""
    if m == 1:
        return 0.0
    if equal:
        log_q = log_copies(rows[starts[call] : starts[call] + m], 2)
        return float(np.logaddexp(0.0, -log_q) - np.log(2.0))
    both = np.concatenate([rows[starts[i] : starts[i] + m] for i in (call, call + 1)])
    even = all(count % 2 == 0 for count in Counter(both.tolist()).values())
    return -float(np.log(2.0)) if even else 0.0


def log_copies(block: np.ndarray, times: int) -> float:
    """log of the probability that draws are one block `times` over, given their values.

    block : keys, (m,), value v of which comes s_v times. Of the (times·m)!/Π(times·s_v)! orders
    of the values, m!/Πs_v! are such.
    """
    s, m = np.unique(block, return_counts=True)[1], len(block)
    once = gammaln(m + 1.0) - gammaln(s + 1.0).sum()
    return float(once - gammaln(times * m + 1.0) + gammaln(times * s + 1.0).sum())


def repeated_to_the_end(rows: np.ndarray, lag: int) -> float:
    """log p of draws that come again after every `lag`, in the same order to the end.

    rows : a key of each draw, (n,). The whole repetitions of one block are compared; where there
    is not even one, the last n − lag draws with the first. Any lag below n could have been found,
    so p is n times as large.
    """
    n = len(rows)
    times = n // lag
    log_q = log_copies(rows[:lag], times) if times > 1 else log_copies(rows[: n - lag], 2)
    return min(0.0, float(np.log(n)) + log_q)
