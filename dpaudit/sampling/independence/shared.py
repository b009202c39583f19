"""Tests of whether draws of one side stand on the other side too.

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

import numpy as np
from scipy.special import gammaln, xlogy

from dpaudit.sampling.independence.tails import binomial_upper

LOOKED_AT = 1 << 18  # draws a side, about; of more draws those with some hashes


def copied(P: np.ndarray, Q: np.ndarray) -> float:
    """A bound on log p of Q that equals P draw by draw, or begins one draw before or after it, as
    in a file whose first line was lost. P, Q : keys of draws, (n,) and (m,).
    """
    shifts = [_equal(P, Q), _equal(P[1:], Q), _equal(P, Q[1:])]
    return min(0.0, min(shifts) + np.log(len(shifts)))


def _equal(P: np.ndarray, Q: np.ndarray) -> float:
    """A bound on log p of draws that are equal as far as both sides have some."""
    size = min(len(P), len(Q))
    if abs(len(P) - len(Q)) > 1 or not np.array_equal(P[:size], Q[:size]):
        return 0.0
    P = P[:size]
    counts = np.unique(P, return_counts=True)[1]
    return min(0.0, float(xlogy(counts, counts / len(P)).sum()))


def shared(P: np.ndarray, Q: np.ndarray) -> float:
    """A bound on log p of values that stand as often in P as in Q. P, Q : keys, (n,) and (m,)."""
    left, right = _counts(P, Q)
    total = left + right
    even = total % 2 == 0
    if not even.any():
        return 0.0
    total = total[even]
    most = np.exp(gammaln(total + 1.0) - 2.0 * gammaln(0.5 * total + 1.0) - total * np.log(2.0))
    equal = int(np.count_nonzero((left == right)[even]))
    log_p = binomial_upper(equal, len(total), float(most.mean()))
    return min(0.0, log_p - _log_poisson(len(P)) - _log_poisson(len(Q)))


def _counts(P: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often each value comes in P and in Q.

    Of many draws only the values with some hashes, which are values like any others.
    """
    every = np.uint64(1 << max(0, (max(len(P), len(Q)) // LOOKED_AT).bit_length()))
    if every > 1:
        P, Q = (side[side.view(np.uint64) % every == 0] for side in (P, Q))
    if not _any_again(P, Q):
        return np.zeros(0), np.zeros(0)
    values, place = np.unique(np.concatenate([P, Q]), return_inverse=True)
    parts = place[: len(P)], place[len(P) :]
    left, right = (np.bincount(part, minlength=len(values)) for part in parts)
    return left, right


def _any_again(P: np.ndarray, Q: np.ndarray) -> bool:
    """Whether any value comes twice; of many values that come once, this takes less memory."""
    ordered = np.concatenate([P, Q])
    ordered.sort()
    return bool((ordered[1:] == ordered[:-1]).any())


def _log_poisson(n: int) -> float:
    """log of the probability that a Poisson number of mean n is n."""
    return float(xlogy(n, n) - n - gammaln(n + 1.0))
