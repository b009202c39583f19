"""Scores of draws as auditing tools are fed them, and a threshold for tools that need one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from dpaudit import scoring
from dpaudit._core.types import Array, ArrayLike
from dpaudit.certify.split import split

SIGNIFICANCE = 0.05
PLAIN, FITTED = "first number", "dpaudit's"
FREE = 0.1  # share of the draws that chooses a threshold where the score needs no training
CANDIDATES = 500  # thresholds considered, at quantiles of the choosing scores
Scores = tuple[Array, Array]  # of draws of P, of draws of Q


@dataclass(frozen=True)
class Feed:
    """Scores as tools are given them.

    choose : for a threshold that `test` then certifies. own : for a tool that finds its threshold
    itself.
    """

    name: str
    choose: Scores
    test: Scores
    own: Scores


def plain_feed(P: Array, Q: Array, _: int = 0) -> Feed:
    """Minus the first number, which is larger under Q if its mean moves; nine tenths certify."""
    scores = -P[:, 0], -Q[:, 0]
    first = int(FREE * len(P))
    return Feed(
        PLAIN,
        (scores[0][:first], scores[1][:first]),
        (scores[0][first:], scores[1][first:]),
        scores,
    )


def fitted_feed(P: Array, Q: Array, seed: int) -> Feed:
    """dpaudit's score. What fitted it cannot certify, so tools see the certifying draws only."""
    sizes = split(len(P), columns=P.shape[1])
    train, choose, test = (
        scoring.Sides(*part) for part in zip(sizes.parts(P), sizes.parts(Q), strict=True)
    )
    score = scoring.fit("auto", train, choose, np.random.SeedSequence(seed)).score
    chosen, tested = (
        (scoring.evaluate(score, part.P), scoring.evaluate(score, part.Q))
        for part in (choose, test)
    )
    return Feed(FITTED, chosen, tested, tested)


def _upper(count: ArrayLike, size: int) -> Array:
    """Clopper–Pearson upper bounds at half of α, from real-valued counts below `size`."""
    count = np.asarray(count)
    return np.asarray(betaincinv(count + 1.0, size - count, 1.0 - 0.5 * SIGNIFICANCE))


def fixed_threshold(choose: Scores, size: int, worth: Callable[[Array, Array], Array]) -> float:
    """The threshold that promises most; `size` draws a side are to certify.

    worth : (hits, false) → what is certified, hits a lower and false an upper bound of the two
    laws' masses of a set. Sets are {score ≥ t} for P against Q and {score < t} for Q against P. The
    bounds are those of the geometric mean of `size` and the number of choosing draws: at `size`
    itself small sets are chosen by selection bias, and certify less.
    """
    size = int(np.sqrt(size * len(choose[0])))
    pooled = np.concatenate(choose)
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, CANDIDATES), method="lower"))
    miss, kept = (
        size * (np.searchsorted(np.sort(x), thresholds) + 0.5) / (len(x) + 1.0) for x in choose
    )
    miss_up, false_up = _upper(miss, size), _upper(size - kept, size)
    return float(
        thresholds[
            np.argmax(np.maximum(worth(1.0 - miss_up, false_up), worth(1.0 - false_up, miss_up)))
        ]
    )
