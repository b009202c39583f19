"""Tests for values that occur repeatedly on one side, or on both sides.

The first test needs a random order σ of the draws x, independent of them. Let y be x in the order
σ. For exchangeable draws, P(y = v, σ = s) = P(x = v in the order s⁻¹)·P(σ = s) = P(x = v)·P(σ = s):
y tells nothing of σ. Equal values of y are paired off in any way that depends on y alone. The
places of these K pairs in x, which σ tells, are then K disjoint pairs drawn at random from all
places. Given those before it, a pair is drawn from n − 2K + 2 places or more, so with r ordered
pairs of places in a relation (of one call, say), it has that relation with probability at most
r/((n − 2K + 2)(n − 2K + 1)) = π. The number of pairs that have it is stochastically at most
binomial(K, π).

P and Q are n and m independent draws of two laws, of any kind. Value v comes N times in P and M
times in Q.

- Shared draws. Were n and m Poisson numbers with these means, the N and M of all values would be
  independent and Poisson. Given its total T = N + M, N is then binomial(T, r), with an r that the
  laws decide, and for even T it is T/2 with probability C(T, T/2)(r(1 − r))^{T/2}, at most
  c = C(T, T/2)/2^T ≤ ½. So of K values of even T the number that stands as often on one side as on
  the other is a sum of independent indicators with means of at most c each. Their Chernoff bound is
  at most that of a binomial variable of K trials with the mean of the c. Given n and m, no event is
  likelier than with Poisson numbers, divided by the probability that these are n and m.
- Copied draws. Q equals given values x in the same order with probability Πᵢ q(xᵢ), which is
  largest where q(v) is the share of v among them. So it is for x that begin a draw later.

Values of a continuous law come once. So draws that stand on both sides have T = 2 and N = 1, and
each of them counts with probability ½. Atoms that the laws share are no evidence.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, xlogy

from dpaudit._core.types import Array
from dpaudit.outcomes import as_bytes
from dpaudit.sampling.independence.features import Calls

SEED = 15_485_863  # seed of the random order
PAIRED = 1 << 16  # most draws in which pairs are sought
MOST_PAIRS = 8  # at most one pair for this many draws, which keeps π near its least value
COMPARED = 1 << 18  # about as many draws a side are compared: of more, those with certain hashes
TRIED = 1 << 14  # periods to try, at most: places where the first draw occurs again
SOON = 64  # draws to compare first, since most wrong periods fail within them
RARE = 30.0  # nats: a repetition of probability e^−30 or less is no coincidence


# --- on one side ----------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def random_order(draws: int) -> np.ndarray:
    """Up to `PAIRED` places in random order. The generator has a fixed seed."""
    order = np.random.default_rng(SEED).choice(draws, min(draws, PAIRED), replace=False)
    order.flags.writeable = False
    return order


def come_again(keys: np.ndarray, ordered: np.ndarray, calls: Calls) -> Array:
    """Bounds on log p of each column, (c, 2), for two kinds of pairs of equal draws: in one call,
    and at the same place of two calls.

    keys : (c, n), as of `features.keys_of`. ordered : the same, each column ascending.
    """
    order = random_order(keys.shape[1])
    out = np.zeros((len(keys), 2))
    for column in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        out[column] = _related(_pairs(keys[column, order], order), calls)
    return out


def _pairs(seen: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The places of the pairs of equal draws, (2, K); if there are many, a part of them, evenly
    spaced in value.
    """
    by_value = np.argsort(seen)
    equal = np.diff(seen[by_value]) == 0
    place = np.arange(len(seen))
    first_of_value = np.maximum.accumulate(np.where(np.append(False, equal), 0, place))
    heads = np.flatnonzero(equal & ((place - first_of_value)[:-1] % 2 == 0))
    return order[by_value[np.stack([heads, heads + 1])]]


def _related(pairs: np.ndarray, calls: Calls) -> tuple[float, float]:
    n = int(calls.sizes.sum())
    most = n // MOST_PAIRS
    if pairs.shape[1] > most:
        pairs = pairs[:, np.linspace(0, pairs.shape[1] - 1, most).astype(int)]
    K = pairs.shape[1]
    if K == 0:
        return 0.0, 0.0
    one_call = np.diff(calls.number[pairs], axis=0)[0] == 0
    one_place = (np.diff(calls.offset[pairs], axis=0)[0] == 0) & ~one_call
    calls_with = len(calls.sizes) - np.searchsorted(  # for each place in a call
        np.sort(calls.sizes), np.arange(calls.sizes.max()), side="right"
    )
    places = (n - 2.0 * K + 2.0) * (n - 2.0 * K + 1.0)
    log_p = [
        binomial_upper(int(related.sum()), K, float((part * (part - 1.0)).sum() / places))
        for related, part in ((one_call, calls.sizes), (one_place, calls_with))
    ]
    return log_p[0], log_p[1]


def copied_calls(rows: np.ndarray, calls: Calls) -> float:
    """A bound on log p for neighbouring calls that return the same draws in the same order.

    rows : a key of each draw, (n,). If calls differ in size, their beginnings are compared. Given
    the draws of two calls, the second equals the first with probability q (`log_copies`), or never
    if a value occurs an odd number of times. A stake of one half on this, which pays ½ + ½/q if
    they are equal and ½ if not, has mean 1. So has the product over disjoint pairs of calls, and
    the mean of the products over the pairs that begin with an even and with an odd call. By
    Markov's inequality, P(mean ≥ 1/p) ≤ p.
    """
    starts, m = calls.starts, np.minimum(calls.sizes[:-1], calls.sizes[1:])
    begin = rows[starts]
    near = np.flatnonzero((begin[1:] == begin[:-1]) & (m > 1))
    equal = set()
    for c in near.tolist():
        first, second = starts[c : c + 2]
        if np.array_equal(rows[first : first + m[c]], rows[second : second + m[c]]):
            equal.add(c)
    if not equal:
        return 0.0
    logs = np.full(2, -np.inf)
    for parity in {c % 2 for c in equal}:
        pairs = range(parity, len(m), 2)
        logs[parity] = sum(_stake(rows, starts, int(m[c]), c, c in equal) for c in pairs)
    return min(0.0, float(np.log(2.0) - np.logaddexp(*logs)))


def _stake(rows: np.ndarray, starts: np.ndarray, m: int, call: int, equal: bool) -> float:
    """The log of the payoff of a stake on one pair of calls; 0 for single draws."""
    if m == 1:
        return 0.0
    first, second = (rows[start : start + m] for start in starts[call : call + 2])
    if equal:
        return float(np.logaddexp(0.0, -log_copies(first, 2)) - np.log(2.0))
    counts = np.unique(np.concatenate([first, second]), return_counts=True)[1]
    return 0.0 if (counts % 2).any() else -float(np.log(2.0))


def log_copies(block: np.ndarray, times: int) -> float:
    """The log of the probability that draws are one block repeated `times` times, given the values.

    block : keys, (m,), in which value v occurs s_v times. Of the (times·m)!/Π(times·s_v)! orders
    of the values, m!/Πs_v! are such repetitions.
    """
    s, m = np.unique(block, return_counts=True)[1], len(block)
    once = gammaln(m + 1.0) - gammaln(s + 1.0).sum()
    return float(once - gammaln(times * m + 1.0) + gammaln(times * s + 1.0).sum())


def period(draws: np.ndarray) -> int | None:
    """After how many draws all draws repeat in the same order to the end; None if they do not.

    The result is also None for a repetition that independent draws would have by chance with
    probability above e^−30. That probability is (Σ pᵢ²)^pairs over the pairs of draws that agree,
    each pᵢ estimated by the share of a value among the draws. So for independent draws with many
    values the result is an integer with probability below `TRIED`·e^−30.
    """
    rows = as_bytes(draws)
    again = np.flatnonzero(rows == rows[0])[1 : 1 + TRIED]
    for lag in again:
        begins = np.array_equal(rows[lag : lag + SOON], rows[: min(SOON, len(rows) - lag)])
        if begins and np.array_equal(rows[lag:], rows[:-lag]):
            share = np.unique(rows, return_counts=True)[1] / len(rows)
            surprise = -(len(rows) - lag) * np.log(np.sum(share**2))  # nats
            return int(lag) if surprise >= RARE else None
    return None


def repeated_to_the_end(rows: np.ndarray, lag: int) -> float:
    """A bound on log p for draws that repeat with period `lag`, in the same order to the end.

    rows : a key of each draw, (n,). The probability is that of the whole repetitions of one block
    or, without a whole one, of the last n − lag draws that equal the first. Any lag below n could
    have been found, so p is multiplied by n.
    """
    n = len(rows)
    times = n // lag
    log_q = log_copies(rows[:lag], times) if times > 1 else log_copies(rows[: n - lag], 2)
    return min(0.0, float(np.log(n)) + log_q)


# --- on both sides --------------------------------------------------------------------------------


def copied(P: np.ndarray, Q: np.ndarray) -> float:
    """A bound on log p if Q equals P draw by draw, perhaps shifted by one draw, as in a file whose
    first line was lost, and up to one draw more at the end of one side; else 0.

    P, Q : keys of draws, (n,) and (m,).
    """
    least = 0.0
    for left, right in ((P, Q), (P[1:], Q), (P, Q[1:])):
        size = min(len(left), len(right))
        if abs(len(left) - len(right)) <= 1 and np.array_equal(left[:size], right[:size]):
            counts = np.unique(left[:size], return_counts=True)[1]
            least = min(least, float(xlogy(counts, counts / size).sum()))
    return min(0.0, least + np.log(3.0))


def shared(P: np.ndarray, Q: np.ndarray) -> float:
    """A bound on log p for the number of values that occur as often in P as in Q. P, Q : keys of
    draws, (n,) and (m,).
    """
    n = np.array([len(P), len(Q)])
    every = np.uint64(1 << max(0, int(n.max() // COMPARED).bit_length()))
    if every > 1:  # of many draws, those with certain hashes, which is a fair sample
        P, Q = P[P.view(np.uint64) % every == 0], Q[Q.view(np.uint64) % every == 0]
    both = np.concatenate([P, Q])
    ordered = np.sort(both)
    if not (ordered[1:] == ordered[:-1]).any():  # uses less memory than `np.unique`
        return 0.0
    values, place = np.unique(both, return_inverse=True)
    left = np.bincount(place[: len(P)], minlength=len(values))
    right = np.bincount(place[len(P) :], minlength=len(values))
    even = (left + right) % 2 == 0
    if not even.any():
        return 0.0
    total = (left + right)[even]
    most = np.exp(gammaln(total + 1.0) - 2.0 * gammaln(0.5 * total + 1.0) - total * np.log(2.0))
    equal = int(np.count_nonzero((left == right)[even]))
    log_p = binomial_upper(equal, len(total), float(most.mean()))
    poisson = xlogy(n, n) - n - gammaln(n + 1.0)  # log P(a Poisson variable of mean n equals n)
    return min(0.0, log_p - float(poisson.sum()))


def binomial_upper(count: int, trials: int, share: float) -> float:
    """A bound on log P(X ≥ count) for X ~ binomial(n = trials, share): Chernoff's
    −n·KL(count/n, share).
    """
    if share >= 1.0 or count <= trials * share:
        return 0.0
    seen = count / trials
    return -trials * float(
        xlogy(seen, seen / share) + xlogy(1.0 - seen, (1.0 - seen) / (1.0 - share))
    )
