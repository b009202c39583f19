"""Two sparse vector techniques that release the answers above the threshold.

The released values, at most two, are laid on a fine grid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.polynomial.legendre import legint, legval, legvander

from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.pairs.discrete import Atoms
from dpaudit.laws import density
from dpaudit.laws.sparse_vector import TAIL, Pattern, ReleasedAnswers, panels, patterns
from dpaudit.laws.vectors import laplace_log_cdf, laplace_log_density

NODES = density.NODES
MOST = 2


# (16, 16): integrals from −1 to each Gauss node of the interpolating polynomial
RUNNING = np.array(
    [legval(NODES, legint(row, lbnd=-1.0)) for row in np.eye(len(NODES))]
).T @ np.linalg.inv(legvander(NODES, len(NODES) - 1))


def released_curve(left: ReleasedAnswers, right: ReleasedAnswers) -> Atoms:
    """Both laws on the nodes of a grid of the released values, as atoms.

    Given the smaller released value the larger one's loss is constant on both sides of the queries'
    two values: these sides are one atom each, the interval between is on Gauss nodes. The
    boundary of the region where the loss exceeds ε falls between nodes, so the error of δ is some
    1e-7 of the δ at ε = 0 with one released value, and 2e-5 of it with two.

    Raises `NoExactSpectrum` unless the laws share all but the queries and release at most two
    answers.
    """
    names = ("threshold", "threshold_scale", "query_scale")
    first, second = ([getattr(law.comparison, name) for name in names] for law in (left, right))
    if first != second or left.most != right.most or left.most > MOST:
        raise NoExactSpectrum(
            "released answers have an exact spectrum for up to two of them and one kind of noise"
        )
    every = patterns(left.dim - 1, left.most)
    parts = [part for pattern in every for part in _atoms(left, right, pattern)]
    p, q = (np.concatenate(side) for side in zip(*parts, strict=True))
    possible = ~(np.isneginf(p) & np.isneginf(q))
    return Atoms(p[possible], q[possible])


def _atoms(
    left: ReleasedAnswers, right: ReleasedAnswers, pattern: Pattern
) -> Iterator[tuple[Array, Array]]:
    answered, ups = pattern
    if not ups:
        p, q = (law.log_pattern_density(pattern, np.empty((1, 0))) for law in (left, right))
        yield p, q
        return
    start, end = _grid(left, right)
    x, w = density.gauss_legendre(start, end)
    for first in ups:  # the smallest of the released values
        both = [
            np.log(w) + _log_answer(law, first, x) + _log_room(law, start, end, answered, ups)
            for law in (left, right)
        ]
        others = [up for up in ups if up != first]
        if not others:
            yield both[0].ravel(), both[1].ravel()
            continue
        tails = _larger(left, right, others[0], x.ravel())
        yield tuple(
            (mass.ravel()[:, None] + tail).ravel() for mass, tail in zip(both, tails, strict=True)
        )  # type: ignore[misc]


def _grid(left: ReleasedAnswers, right: ReleasedAnswers) -> tuple[Array, Array]:
    law = left.comparison
    kinks = np.union1d(left.comparison.kinks, right.comparison.kinks) + law.threshold
    # of a scale, for half a panel: two released values make many nodes
    share = 0.5 if left.most == 1 else 1.0
    return panels(
        kinks,
        TAIL * max(law.threshold_scale, law.query_scale),
        share * min(law.threshold_scale, law.query_scale),
    )


def _log_answer(released: ReleasedAnswers, query: int, x: Array) -> Array:
    law = released.comparison
    return np.asarray(
        laplace_log_density((x - law.queries[query]) / law.query_scale) - np.log(law.query_scale)
    )


def _log_room(
    released: ReleasedAnswers, start: Array, end: Array, answered: int, ups: tuple[int, ...]
) -> Array:
    """log ∫ over thresholds up to each node of P(the others stay below), (panels, 16)."""
    law = released.comparison
    x, w = density.gauss_legendre(start, end)
    value = np.exp(law.log_others_below(x - law.threshold, answered, ups))
    below = np.concatenate([[0.0], np.cumsum(np.sum(w * value, axis=1))[:-1]])
    inside = 0.5 * (end - start)[:, None] * (value @ RUNNING.T)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(below[:, None] + np.maximum(inside, 0.0)))


def _larger(
    left: ReleasedAnswers, right: ReleasedAnswers, query: int, least: Array
) -> tuple[Array, Array]:
    """Log masses, (m, 18) each, of {v > least}: below both queries, between them, and above."""
    low, high = sorted((left.comparison.queries[query], right.comparison.queries[query]))
    x, w = density.gauss_legendre(np.clip(least, low, high), np.full_like(least, high))
    with np.errstate(divide="ignore"):
        log_w = np.log(w)
    return tuple(  # type: ignore[return-value]
        np.column_stack(
            [
                _log_between(law, query, np.minimum(least, low), low),
                log_w + _log_answer(law, query, x),
                laplace_log_cdf(
                    (law.comparison.queries[query] - np.maximum(least, high))
                    / law.comparison.query_scale
                ),
            ]
        )
        for law in (left, right)
    )


def _log_between(released: ReleasedAnswers, query: int, start: Array, end: float) -> Array:
    """log P(start < answer ≤ end) below the query's value."""
    law = released.comparison
    low, high = (
        laplace_log_cdf((x - law.queries[query]) / law.query_scale) for x in (start, np.array(end))
    )
    with np.errstate(divide="ignore"):
        return np.asarray(high + np.log(-np.expm1(np.minimum(low - high, 0.0))))
