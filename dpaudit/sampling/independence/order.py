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
AT_ONCE = 1 << 10  # tails that are summed together: their terms fit a CPU cache
TOGETHER = 1 << 17  # counts in tables that are summed together, so that memory stays small
UNDERFLOW = 1e-290  # below this, a tail of the gamma law is bounded by a geometric series


@value_class
class Table:
    """Counts of f features at t nodes or strata: `count` ones among the first `left` of `total`
    places, of which `ones` hold a one. `count` is (f, t); the others broadcast to that.

    number : how many of the p-values of a feature can differ from 1, or more.
    """

    total: np.ndarray
    ones: np.ndarray
    left: np.ndarray
    count: np.ndarray
    number: int


def halves(bits: np.ndarray, keys: np.ndarray, calls: Calls) -> list[Table]:
    """The counts at each level of the tree, from halves of a call up to halves of the run.

    bits : the features of the keys, (4c, n) bool. keys : (c, n). The counts of the first and second
    half of a call are level 0, those of two neighbouring calls level 1, with features of their own.
    The last of an odd number of nodes goes up alone.
    """
    sizes = np.stack([calls.sizes // 2, calls.sizes - calls.sizes // 2], axis=1).ravel()
    counts = _counts(bits, np.cumsum(sizes) - sizes)
    tables: list[Table] = []
    while len(sizes) > 1:
        even = len(sizes) // 2 * 2
        own = _neighbours(keys, calls) if len(tables) == CALLS else counts[:, :even]
        total, left = sizes[0:even:2] + sizes[1:even:2], sizes[0:even:2]
        telling = int(np.count_nonzero((total > 2) & (left > 0)))  # elsewhere p is always 1
        tables.append(Table(total, own[:, 0::2] + own[:, 1::2], left, own[:, 0::2], telling))
        sizes = np.append(total, sizes[even:])
        paired = counts[:, 0:even:2] + counts[:, 1:even:2]
        counts = np.concatenate([paired, counts[:, even:]], axis=1)
    return tables


def _neighbours(keys: np.ndarray, calls: Calls) -> np.ndarray:
    """Counts of features in both calls of each pair, (4c, 2·pairs), with cuts from the pair's own
    values.

    Calls that rise from first to last, say, hardly differ from their neighbours by the median of
    all draws. Given the values of each pair, the counts of different pairs are independent.
    """
    sizes = calls.sizes[: len(calls.sizes) // 2 * 2].reshape(-1, 2)
    out = np.zeros((FEATURES * len(keys), *sizes.shape), dtype=np.int32)
    for first, second in sorted(set(map(tuple, sizes.tolist()))):
        pairs = np.flatnonzero((sizes == (first, second)).all(axis=1))
        places = calls.starts[2 * pairs, None] + np.arange(first + second)
        own = keys[:, places].reshape(-1, first + second)
        bits = features(own, np.sort(own, axis=1)).reshape(len(out), len(pairs), -1)
        out[:, pairs, 0] = np.count_nonzero(bits[..., :first], axis=-1)
        out[:, pairs, 1] = np.count_nonzero(bits[..., first:], axis=-1)
    return out.reshape(len(out), -1)


def _counts(bits: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The number of ones from each start up to the next one, (f, starts). The last is below n."""
    counts = np.add.reduceat(bits.view(np.int8), starts, axis=1, dtype=np.int32)
    counts[:, :-1][:, starts[1:] == starts[:-1]] = 0  # where reduceat takes one entry
    return counts


def runs(bits: np.ndarray, calls: Calls) -> Table:
    """The number of runs of ones in each stratum. bits : (f, n) bool."""
    starts = calls.strata
    begins = bits.copy()
    begins[:, 1:] &= ~bits[:, :-1]
    begins[:, starts] = bits[:, starts]
    total, ones = np.diff(starts, append=bits.shape[1]), _counts(bits, starts)
    zeros_and_end = np.minimum(total - ones + 1, total)
    return Table(total, zeros_and_end, ones, _counts(begins, starts), len(starts))


def fellows(bits: np.ndarray, calls: Calls) -> Table:
    """How often a call and the next one have a feature at the same place. bits : (f, n) bool."""
    even = len(calls.sizes) // 2 * 2
    common = np.minimum(calls.sizes[0:even:2], calls.sizes[1:even:2])
    starts = np.cumsum(common) - common
    place = np.arange(common.sum()) - np.repeat(starts, common)
    left, right = np.repeat(calls.starts[:even].reshape(-1, 2).T, common, axis=1) + place
    return together(bits[:, left], bits[:, right], starts)


def together(left: np.ndarray, right: np.ndarray, starts: np.ndarray) -> Table:
    """How often `left` and `right`, (f, n) bool, both hold in each of the strata from `starts`."""
    total, both = np.diff(starts, append=left.shape[1]), _counts(left & right, starts)
    return Table(total, _counts(left, starts), _counts(right, starts), both, len(starts))


def sums_of_logs(tables: Sequence[Table]) -> list[Array]:
    """Σ log p of each feature of each table, (f,), from one sum of the tails of all tables, or of
    a part of them if they are large.
    """
    ends = np.cumsum([table.count.size for table in tables])
    if ends[-1] > TOGETHER and len(tables) > 1:
        middle = len(tables) // 2
        return [*sums_of_logs(tables[:middle]), *sums_of_logs(tables[middle:])]
    counts = np.empty((4, ends[-1]), dtype=np.int64)
    for table, part in zip(tables, np.split(counts, ends[:-1], axis=1), strict=True):
        rows = part.reshape(4, *table.count.shape)
        rows[0], rows[1], rows[2], rows[3] = table.total, table.ones, table.left, table.count
    parts = zip(np.split(two_sided(*counts), ends[:-1]), tables, strict=True)
    return [logs.reshape(table.count.shape).sum(axis=1) for logs, table in parts]


# --- tails ----------------------------------------------------------------------------------------
#
# Each is exact or an upper bound, so that a p-value made from it stays a p-value. They are summed
# here since `scipy.stats.hypergeom` sums every term: it is 4 times slower in strata of 512 draws,
# and 27 times in those of 20,000.


def two_sided(total: np.ndarray, ones: np.ndarray, left: np.ndarray, count: np.ndarray) -> Array:
    """log p of `count` ones among the first `left` of `total` places, of which `ones` hold a one.

    All four are (t,) int64. p = min(1, 2·tail), with the tail on the side of the mean on which
    the count lies, so P(p ≤ u) ≤ u/2 + u/2.
    """
    above = count * total > left * ones  # count zeros instead
    K, x = np.where(above, total - ones, ones), np.where(above, left - count, count)
    counts = np.stack([total, K, left, x])
    # strata of equal size repeat most of their tails: each different tail is summed once
    spans = counts.max(axis=1, initial=0) + 1
    place: np.ndarray | slice = slice(None)
    if np.prod(spans.astype(float)) < 2.0**63:  # larger tuples hardly repeat
        _, first, place = np.unique(
            np.ravel_multi_index(tuple(counts), tuple(spans)),
            return_index=True,
            return_inverse=True,
        )
        counts = counts[:, first]
    log_p = np.empty(counts.shape[1])
    for start in range(0, len(log_p), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        log_p[part] = np.log(2.0) + _lower_tail(*counts[:, part].astype(float)) + ROUNDING
    return np.minimum(0.0, log_p)[place]


def _lower_tail(N: Array, K: Array, n: Array, x: Array) -> Array:
    """log P(X ≤ x), or a bound on it, for hypergeometric X and x at most the mean: X is the number
    of ones in n of N places, of which K hold a one; f is its probability function.

    The ratios f(j − 1)/f(j) = j (N − K − n + j)/((K − j + 1)(n − j + 1)) decrease as j decreases to
    its least possible value, where they are 0, and none is above 1 up to the mean. So the rest of
    the sum after a term t is at most t·r/(1 − r) with r the next ratio; this bound is added once it
    is negligible.
    """
    sums, term, place, active = np.ones_like(x), np.ones_like(x), x.copy(), np.arange(len(x))
    steps, rest = np.arange(TERMS + 1), N - K - n
    while len(a := active):
        j = place[a, None] - steps
        ratios = j * (rest[a, None] + j) / ((K[a, None] - j + 1.0) * (n[a, None] - j + 1.0))
        products, r = np.cumprod(ratios[:, :-1], axis=1), ratios[:, -1]
        sums[a] += term[a] * products.sum(axis=1)
        term[a] *= products[:, -1]
        place[a] -= TERMS
        left = np.divide(term[a] * r, 1.0 - r, out=np.full(len(a), np.inf), where=r < 1.0)
        done = left <= NEGLIGIBLE * sums[a]
        sums[a[done]] += left[done]
        active = a[~done]
    mass = log_choose(K, x) + log_choose(N - K, n - x) - log_choose(N, n)  # log P(X = x)
    return np.log(sums) + mass


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
