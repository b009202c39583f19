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

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.sampling.independence.calls import Calls
from dpaudit.sampling.independence.tails import combined, two_sided
from dpaudit.sampling.independence.values import FEATURES, features

INSIDE, CALLS = 0, 1  # levels of the tree: halves of a call, neighbouring calls; then coarser ones


@value_class
class Evidence:
    """p-values of each feature, to be combined. logs : Σ log p, (f,). number : of p-values."""

    logs: Array
    number: int


def nothing(features: int) -> Evidence:
    """No p-value of any feature."""
    return Evidence(np.zeros(features), 0)


def log_p(parts: Sequence[Evidence]) -> Array:
    """log p of each feature, of independent parts of the evidence together, (f,)."""
    return combined(np.sum([part.logs for part in parts], axis=0), sum(p.number for p in parts))


def halves(bits: np.ndarray, keys: np.ndarray, calls: Calls) -> list[Evidence]:
    """The evidence of each level of the tree, from halves of a call up to halves of the run.

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
    return _evidence(levels)


def _neighbours(keys: np.ndarray, calls: Calls) -> np.ndarray:
    """Counts of both calls of each pair, by features that have the pair's own quartiles.

    Returns (4c, 2·pairs).
    Calls that rise from first to last, say, hardly differ from their neighbours by the median of
    all draws. Given the values of each pair, the counts of different pairs are independent.
    """
    sizes = calls.sizes[: len(calls.sizes) // 2 * 2].reshape(-1, 2)
    out = np.zeros((FEATURES * len(keys), *sizes.shape), dtype=np.int32)
    for first, second in np.unique(sizes, axis=0).tolist():
        pairs = np.flatnonzero((sizes == (first, second)).all(axis=1))
        places = calls.starts[2 * pairs, None] + np.arange(first + second)
        bits = features(keys[:, places].reshape(-1, first + second))
        bits = bits.reshape(len(out), len(pairs), -1)
        out[:, pairs, 0] = np.count_nonzero(bits[..., :first], axis=-1)
        out[:, pairs, 1] = np.count_nonzero(bits[..., first:], axis=-1)
    return out.reshape(len(out), -1)


def _counts(bits: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """How many ones there are from each start to the next, (f, starts); 0 where these are equal."""
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


def _evidence(levels: list[tuple[np.ndarray, np.ndarray]]) -> list[Evidence]:
    """All levels in one sum of tails, then apart again."""
    sizes = np.concatenate([level[0] for level in levels])
    counts = np.concatenate([level[1] for level in levels], axis=1)
    total, ones = _paired(sizes, len(sizes)), _paired(counts, len(sizes))
    logs = two_sided(total, ones, sizes[0::2], counts[:, 0::2])
    telling = (total > 2) & (sizes[0::2] > 0)  # of the other nodes p is always 1
    ends = np.cumsum([len(level[0]) // 2 for level in levels])[:-1]
    return [
        Evidence(part.sum(axis=1), int(told.sum()))
        for part, told in zip(np.split(logs, ends, axis=1), np.split(telling, ends), strict=True)
    ]


def runs(bits: np.ndarray, calls: Calls) -> Evidence:
    """The evidence of the numbers of runs of ones in each stratum. bits : (f, n) bool."""
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
    """The evidence of how often a call and the next one have a feature at the same place."""
    left, right, pairs = calls.fellows
    if pairs.draws == 0:
        return nothing(len(bits))
    return _matched(bits[:, left], bits[:, right], pairs.starts)


def together(left: np.ndarray, right: np.ndarray, calls: Calls) -> Evidence:
    """The evidence of how often both sides have a feature in the same draw of a stratum.

    left, right : (f, n), (f, m) bool; draws that have no fellow are left out. calls : of `left`.
    """
    draws = min(left.shape[1], right.shape[1])
    starts = calls.strata[calls.strata < draws]
    return _matched(left[:, :draws], right[:, :draws], starts)


def _matched(left: np.ndarray, right: np.ndarray, starts: np.ndarray) -> Evidence:
    """From strata that begin at `starts`; left, right : (f, n) bool."""
    total = np.diff(starts, append=left.shape[1])
    counts = [_counts(part, starts) for part in (left, right, left & right)]
    logs = two_sided(total, *counts)
    return Evidence(logs.sum(axis=1), len(starts))
