"""Tests of the order of yes-or-no features: halves of the run, runs of ones, and the two sides.

Given how many of n independent draws of one law have a feature, any arrangement of them is as
likely as any other. Then four counts are hypergeometric.

- Halves. The draws of a node of a binary tree are those of its left child, then of its right one.
  Given the ones of a node, those of its left child are hypergeometric, and given these, the two
  children are arranged independently of each other. So each p-value is one given those above and
  beside it, and Fisher's method combines the nodes of one level.
- Runs. n₁ ones among n₀ zeros form j runs in C(n₁ − 1, j − 1)·C(n₀ + 1, j) of C(n, n₁)
  arrangements, by where the ones are parted and between which zeros the runs stand. This is a
  hypergeometric law: j of n₁ draws are among the n₀ + 1 of n.
- Sides. Where the sides are independent, the ones of Q fall on those of P as on any other draws.
- Calls. The ones of a call fall on those of the call before, at the same places, as on any others.

Runs and sides are counted in strata of whole calls, calls in strata of two of them, given the ones
of each stratum: what changes slowly over the run, or is shared by a call, is left to the halves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaincc, gammaln, xlogy

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.sampling.independence.features import FEATURES, Calls, features

INSIDE, CALLS = 0, 1  # levels of the tree: halves of a call, then neighbouring calls
TERMS = 32  # number of terms of a tail that are summed at a time
NEGLIGIBLE = 1e-9  # summing stops once the rest of a tail is at most this share of its sum
ROUNDING = 1e-6  # added to log p: `gammaln` of 1e7 is rounded by 2e-8
AT_ONCE = 1 << 13  # tails that are summed together, so that memory stays small
UNDERFLOW = 1e-290  # below this, a tail of the gamma law is bounded by a geometric series


@value_class
class Evidence:
    """p-values of each of f features, to be combined. logs : Σ log p, (f,). number : how many
    p-values the sum has.
    """

    logs: Array
    number: int


def log_p(parts: Sequence[Evidence]) -> Array:
    """log p of each feature, (f,), from independent parts of the evidence together."""
    return combined(np.sum([part.logs for part in parts], axis=0), sum(p.number for p in parts))


def halves(bits: np.ndarray, keys: np.ndarray, calls: Calls) -> list[Evidence]:
    """The evidence from each level of the tree, from halves of a call up to halves of the run.

    bits : the features of the keys, (4c, n) bool. keys : (c, n). The counts of the first and second
    half of a call are level 0, those of two neighbouring calls level 1, with features of their own.
    The last of an odd number of nodes goes up alone.
    """
    sizes = np.stack([calls.sizes // 2, calls.sizes - calls.sizes // 2], axis=1).ravel()
    counts = _counts(bits, np.cumsum(sizes) - sizes)
    levels: list[tuple[np.ndarray, np.ndarray]] = []
    while len(sizes) > 1:
        even = len(sizes) // 2 * 2
        level = len(levels)
        own = _neighbours(keys, calls) if level == CALLS else counts[:, :even]
        levels.append((sizes[:even], own))
        sizes, counts = _paired(sizes, even), _paired(counts, even)
    # all levels in one sum of tails, then apart again
    sizes = np.concatenate([level[0] for level in levels])
    counts = np.concatenate([level[1] for level in levels], axis=1)
    total, ones = _paired(sizes, len(sizes)), _paired(counts, len(sizes))
    logs = two_sided(total, ones, sizes[0::2], counts[:, 0::2])
    telling = (total > 2) & (sizes[0::2] > 0)  # for the other nodes p is always 1
    ends = np.cumsum([len(level[0]) // 2 for level in levels])[:-1]
    return [
        Evidence(part.sum(axis=1), int(counted.sum()))
        for part, counted in zip(np.split(logs, ends, axis=1), np.split(telling, ends), strict=True)
    ]


def _neighbours(keys: np.ndarray, calls: Calls) -> np.ndarray:
    """Counts of features in both calls of each pair, (4c, 2·pairs), with cuts from the pair's own
    values.

    Calls that rise from first to last, say, hardly differ from their neighbours by the median of
    all draws. Given the values of each pair, the counts of different pairs are independent.
    """
    sizes = calls.sizes[: len(calls.sizes) // 2 * 2].reshape(-1, 2)
    out = np.zeros((FEATURES * len(keys), *sizes.shape), dtype=np.int32)
    for first, second in np.unique(sizes, axis=0).tolist():
        pairs = np.flatnonzero((sizes == (first, second)).all(axis=1))
        places = calls.starts[2 * pairs, None] + np.arange(first + second)
        own = keys[:, places].reshape(-1, first + second)
        bits = features(own, np.sort(own, axis=1))
        bits = bits.reshape(len(out), len(pairs), -1)
        out[:, pairs, 0] = np.count_nonzero(bits[..., :first], axis=-1)
        out[:, pairs, 1] = np.count_nonzero(bits[..., first:], axis=-1)
    return out.reshape(len(out), -1)


def _counts(bits: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The number of ones from each start up to the next one, (f, starts)."""
    ends = np.append(starts[1:], bits.shape[1])
    filled = ends > starts
    out = np.zeros((len(bits), len(starts)), dtype=np.int32)
    for row, ones in zip(out, bits.view(np.int8), strict=True):
        # a row at a time, since reduceat copies what it is given as int32
        row[filled] = np.add.reduceat(ones, starts[filled], dtype=np.int32)
    return out


def _paired(values: np.ndarray, even: int) -> np.ndarray:
    paired = values[..., 0:even:2] + values[..., 1:even:2]
    return np.concatenate([paired, values[..., even:]], axis=-1)


def runs(bits: np.ndarray, calls: Calls) -> Evidence:
    """The evidence from the number of runs of ones in each stratum. bits : (f, n) bool."""
    starts = calls.strata
    begins = bits.copy()
    begins[:, 1:] &= ~bits[:, :-1]
    begins[:, starts] = bits[:, starts]
    total = np.diff(starts, append=bits.shape[1])
    ones = _counts(bits, starts)
    zeros_and_end = np.minimum(total - ones + 1, total)
    logs = two_sided(total, zeros_and_end, ones, _counts(begins, starts))
    return Evidence(logs.sum(axis=1), len(starts))


def fellows(bits: np.ndarray, calls: Calls) -> Evidence:
    """The evidence from how often a call and the next one have a feature at the same place."""
    left, right, pairs = calls.fellows
    if pairs.draws == 0:
        return Evidence(np.zeros(len(bits)), 0)
    return _matched(bits[:, left], bits[:, right], pairs.starts)


def together(left: np.ndarray, right: np.ndarray, calls: Calls) -> Evidence:
    """The evidence from how often both sides have a feature in the draw of the same number.

    left, right : features of the sides, (f, n) and (f, m) bool; surplus draws of the longer side
    are left out. calls : the calls of `left`, which give the strata.
    """
    draws = min(left.shape[1], right.shape[1])
    starts = calls.strata[calls.strata < draws]
    return _matched(left[:, :draws], right[:, :draws], starts)


def _matched(left: np.ndarray, right: np.ndarray, starts: np.ndarray) -> Evidence:
    """The evidence from how often `left` and `right`, (f, n) bool, both hold in a stratum; strata
    begin at `starts`.
    """
    total = np.diff(starts, append=left.shape[1])
    counts = [_counts(part, starts) for part in (left, right, left & right)]
    logs = two_sided(total, *counts)
    return Evidence(logs.sum(axis=1), len(starts))


# --- tails ----------------------------------------------------------------------------------------
#
# Each is exact or an upper bound, so that a p-value made from it stays a p-value. They are summed
# here since `scipy.stats.hypergeom` sums every term: it is 4 times slower in strata of 512 draws,
# and 27 times in those of 20,000.


def two_sided(total: Array, ones: Array, left: Array, count: Array) -> Array:
    """log p of `count` ones among the first `left` of `total` places, of which `ones` hold a one.

    All four arguments broadcast together. p = min(1, 2·tail), with the tail on the side of the mean
    on which the count lies, so P(p ≤ u) ≤ u/2 + u/2.
    """
    shape = np.broadcast_shapes(*map(np.shape, (total, ones, left, count)))
    N, K, n, x = (
        np.broadcast_to(np.asarray(part, dtype=np.int64), shape).ravel()
        for part in (total, ones, left, count)
    )
    above = x * N > n * K
    K, x = np.where(above, N - K, K), np.where(above, n - x, x)  # count zeros instead
    counts, place = _distinct(N, K, n, x)
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(counts[0]), AT_ONCE)]
    tails = [_lower_tail(*(count[part] for count in counts)) for part in parts]
    log_p = np.log(2.0) + np.concatenate([*tails, np.empty(0)]) + ROUNDING
    return np.minimum(0.0, log_p)[place].reshape(shape)


def _distinct(*parts: np.ndarray) -> tuple[list[Array], np.ndarray]:
    """The different tuples of some arrays of counts (t,), as floats, and the position of each of
    the t tuples among them: strata of equal size repeat most of their tails.
    """
    code, size = np.zeros(len(parts[0]), dtype=np.int64), 1
    for part in parts:
        span = int(part.max(initial=0)) + 1
        code, size = code * span + part, size * span
    if size > np.iinfo(np.int64).max:  # numbers overflow, and tuples this large hardly repeat
        return [part.astype(float) for part in parts], np.arange(len(code))
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    return [part[first].astype(float) for part in parts], place


def _lower_tail(N: Array, K: Array, n: Array, x: Array) -> Array:
    """log P(X ≤ x), or a bound on it, for hypergeometric X and x at most the mean: X is the number
    of ones in n of N places, of which K hold a one; f is its probability function.

    The ratios f(j − 1)/f(j) = j (N − K − n + j)/((K − j + 1)(n − j + 1)) decrease as j decreases,
    and none is above 1 up to the mean. So the rest of the sum after a term t is at most t·r/(1 − r)
    with r the next ratio; this bound is added once it is negligible.
    """
    sums, term, active = np.ones_like(x), np.ones_like(x), np.arange(len(x))
    steps, lowest = np.arange(TERMS), np.maximum(0.0, n + K - N)
    place = x.copy()
    while len(active):
        a = active
        ratios = _ratio(N[a, None], K[a, None], n[a, None], place[a, None] - steps, lowest[a, None])
        terms = term[a, None] * np.cumprod(ratios, axis=1)
        sums[a] += terms.sum(axis=1)
        term[a], place[a] = terms[:, -1], place[a] - TERMS
        r = _ratio(N[a], K[a], n[a], place[a], lowest[a])
        left = np.divide(term[a] * r, 1.0 - r, out=np.full(len(a), np.inf), where=r < 1.0)
        done = left <= NEGLIGIBLE * sums[a]
        sums[a[done]] += left[done]
        active = a[~done]
    mass = log_choose(K, x) + log_choose(N - K, n - x) - log_choose(N, n)  # log P(X = x)
    return np.log(sums) + mass


def _ratio(N: Array, K: Array, n: Array, j: Array, lowest: Array) -> Array:
    """The ratio f(j − 1)/f(j) of `_lower_tail`; 0 for j at or below the lowest possible value."""
    ratio = j * (N - K - n + j) / ((K - j + 1.0) * (n - j + 1.0))
    return np.where(j > lowest, ratio, 0.0)


def log_choose(n: Array, k: Array) -> Array:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def combined(sum_of_logs: Array, number: int) -> Array:
    """log p of Fisher's combination of `number` p-values, each valid given the ones before it.

    sum_of_logs : Σ log p. If P(pᵢ ≤ u | p₁ … pᵢ₋₁) ≤ u, then −Σ log pᵢ is stochastically at most a
    sum of so many independent exponentials, a gamma variable Y of that shape. For y that is large,
    P(Y ≥ y) = Σ_{j < k} e^{−y} yʲ/j! is at most its last term over 1 − (k − 1)/y.
    """
    y = np.maximum(0.0, -np.asarray(sum_of_logs, dtype=float))
    tail = gammaincc(number, y) if number else np.ones_like(y)
    far = np.maximum(y, number + 1.0)  # where it is not far, the first branch counts
    bound = xlogy(number - 1.0, far) - far - gammaln(max(number, 1))
    bound -= np.log1p(-(number - 1.0) / far)
    return np.where(tail > UNDERFLOW, np.log(np.maximum(tail, UNDERFLOW)), bound)
