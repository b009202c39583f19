"""The classifier "auto": the best of many models on the choosing draws.

First come closed forms (quadratic discriminants), because few draws are enough for them and, on the
least squares and sketches of the papers, they are near the true loss. The best of them is corrected
by logistic regression. Then `CANDIDATES` take part in turn, each only where it applies. A candidate
may overfit, so it is taken only if its loss on the choosing draws is clearly less than that of the
best score so far (`Contest.challenge`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Fitted, Score, Sides, losses
from dpaudit.scoring.models import pairs
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.boosted import boosting, fit_boosted
from dpaudit.scoring.models.cells import fit_cells
from dpaudit.scoring.models.closed import (
    STRUCTURES,
    MomentDifference,
    Quadratic,
    fit_by_column,
    fit_elliptical,
    fit_logistic,
)
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.models.network import fit_network
from dpaudit.scoring.models.pairs import Missed
from dpaudit.scoring.models.products import fit_products
from dpaudit.scoring.models.screen import Screen, surplus
from dpaudit.scoring.models.spline import fit_spline, normal_scores

ALL = sys.maxsize
QUADRATICS = {f"qda ({name})": structure for name, structure in STRUCTURES.items()}
BY_COLUMN = "qda (by column)"


@dataclass(repr=False)
class Contest:
    """The scores that take part, by name, and their loss on each of the choosing draws, P's first,
    (2n,), nats.

    table : the mean losses, nats a draw. memorising : names of scores that fit their training draws
    too closely to be corrected on them.
    """

    choose: Sides
    scores: dict[str, Score] = field(default_factory=dict)
    losses: dict[str, Array] = field(default_factory=dict)
    table: dict[str, float] = field(default_factory=dict)
    memorising: set[str] = field(default_factory=set)

    def enter(self, name: str, score: Score | None) -> None:
        """Take a score in; None stands for a model that does not apply to these draws."""
        if score is not None:
            self.scores[name], self.losses[name] = score, losses(score, self.choose)
            self.table[name] = float(self.losses[name].mean())

    def challenge(self, name: str, score: Score | None, memorises: bool = False) -> bool:
        """Take a score in if it is clearly better than the best so far; returns whether it is."""
        if score is None:
            return False
        loss = losses(score, self.choose)
        gain = self.losses[self.best()] - loss
        if gain.mean() <= constants.CLEARLY_BETTER * gain.std() / np.sqrt(len(gain)):
            return False
        self.scores[name], self.losses[name], self.table[name] = score, loss, float(loss.mean())
        if memorises:
            self.memorising.add(name)
        return True

    def best(self, leaving_out: Iterable[str] = ()) -> str:
        """The name of the score with the least mean loss."""
        names = [name for name in self.table if name not in leaving_out]
        return min(names, key=self.table.__getitem__)


@value_class
class Task:
    """The data and scores that a candidate is fitted to.

    base : the best score so far that can be corrected. draws : how many draws a side train.
    screen : finds the columns of wide rows that differ; it remembers its answers, since several
        candidates call it.
    missed : finds the columns and pairs of columns that `base` missed, and remembers them.
    """

    train: Sides
    choose: Sides
    seed: np.random.SeedSequence
    base: Score
    draws: int
    screen: Screen
    missed: Callable[[], Missed]


@value_class
class Candidate:
    """A model that takes part where it applies.

    name : {best} stands for the name of the score in `Task.base`. reason : what the model is for.
    applies : whether it takes part, given the contest so far and the number of columns.
    fit : returns the score, or None where the model does not suit the draws.
    draws : how many draws a side train; of several numbers, the next only if this score was taken.
    memorises : whether the score fits its training draws too closely to be corrected on them. Then
        it takes part only where closed forms missed something, with the notes of `boosting`.
    """

    name: str
    reason: str
    applies: Callable[[Contest, int], bool]
    fit: Callable[[Task], Score | None]
    draws: tuple[int, ...] = (ALL,)
    memorises: bool = False


CANDIDATES = (
    Candidate(
        "spline",
        "one or two columns with any two laws",
        lambda contest, columns: columns <= constants.SPLINE_COLUMNS,
        lambda task: fit_spline(task.train, task.choose),
    ),
    Candidate(
        "additive",
        "independent columns with any laws: bits, counts, reals, few of many that differ",
        lambda contest, columns: columns > constants.SPLINE_COLUMNS,
        lambda task: fit_additive(task.train, task.choose, task.screen),
        draws=(constants.SKETCH_DRAWS, ALL),
    ),
    Candidate(
        "pairs over {best}",
        "two columns of many that interact: if one sets the spread of the other, or with jumps, as "
        "in a checkerboard",
        lambda contest, columns: 1 < columns <= constants.PAIR_COLUMNS,
        lambda task: pairs.fit_pairs(task.train, task.choose, task.base, task.missed().pairs),
        draws=(constants.PAIR_DRAWS,),
    ),
    Candidate(
        "knn",
        "a few dependent columns with any laws",
        lambda contest, columns: 1 < columns <= constants.NEAREST_COLUMNS,
        lambda task: fit_nearest(task.train, task.choose),
    ),
    Candidate(
        "cells over {best}",
        "values that repeat, beside columns or values for which the best score so far is needed",
        lambda contest, columns: True,
        lambda task: fit_cells(task.train, task.base),
        draws=(constants.CELL_DRAWS,),
    ),
    Candidate(
        "sign products over {best}",
        "parities of two or three columns, of which neither sums over columns nor trees see a part",
        lambda contest, columns: 1 < columns <= constants.PRODUCT_COLUMNS,
        lambda task: fit_products(task.train, task.choose, task.base),
    ),
    Candidate(
        "{boosting} from {best}",
        "whatever difference is left, if there are draws enough for trees to find it",
        lambda contest, columns: columns > 1,
        lambda task: fit_boosted(
            task.train, task.choose, task.seed, task.base, task.draws, task.screen
        ),
        draws=(constants.TREE_PROBE, constants.TREE_DRAWS),
        memorises=True,
    ),
    Candidate(
        "network from {best}",
        "smooth interactions of columns: where trees, which are cheaper, found that there are any",
        lambda contest, columns: (
            contest.table[contest.best(contest.memorising)] - contest.table[contest.best()]
            > constants.WORTH_A_NETWORK
        ),
        lambda task: fit_network(task.train, task.choose, task.seed, task.base),
    ),
)


def fit_auto(
    train: Sides, choose: Sides, seed: np.random.SeedSequence, rival: float = np.inf
) -> Fitted:
    """The best score of closed forms, their corrections and `CANDIDATES`, with all losses.

    rival : the mean loss of a view of these rows. If it is far ahead, trees, and networks after
    them, do not take part: of many columns they are slow, and seldom make up for a view.
    """
    contest, screen = Contest(choose), cache(surplus)
    missed = cache(lambda name: pairs.missed(train, contest.scores[name], screen))
    library, notes = "", tuple[str, ...]()
    loss = _enter_closed_forms(contest, train)
    if loss > np.log(2.0) + constants.WORSE_THAN_NOTHING:  # rare large values spoil all moments
        _enter_closed_forms(contest, train, normal_scores(train.P, train.Q))
    closed = contest.best()
    for candidate in CANDIDATES:
        if not candidate.applies(contest, train.P.shape[1]):
            continue
        base = contest.best(contest.memorising)
        if candidate.memorises:
            # trees, which are slow to import, learn nothing where the training draws show nothing
            # that the closed forms missed
            gain, of_view = np.log(2.0) - contest.table[base], np.log(2.0) - rival
            if gain < constants.FAR_BEHIND * of_view or not missed(closed).anything:
                continue
            _, library, notes = boosting()
        name = candidate.name.format(best=base, boosting=library)
        start, of_base = contest.scores[base], partial(missed, base)
        for draws in candidate.draws:
            task = Task(train.head(draws), choose, seed, start, draws, screen, of_base)
            score = candidate.fit(task)
            better = contest.challenge(name, score, candidate.memorises)
            if not better or len(train.P) <= draws:
                break
    best = contest.best()
    memorises = best in contest.memorising
    return Fitted(best, contest.scores[best], contest.table, notes, memorises=memorises)


def _enter_closed_forms(contest: Contest, train: Sides, ranks: Score | None = None) -> float:
    """Enter quadratic discriminants and corrections of the best of them, and return the best one's
    loss.

    There is a discriminant for each structure of the moments, and one that treats columns apart.
    ranks : replaces each column by the normal scores of its ranks.
    """
    choose, suffix = contest.choose, ""
    if ranks is not None:
        train, choose = (Sides(ranks(part.P), ranks(part.Q)) for part in (train, choose))
        suffix = " of normal scores"

    def of_rows(score: Score | None) -> Score | None:
        """The score of plain rows, from a score of their normal scores."""
        return score if score is None or ranks is None else lambda x: score(ranks(x))

    draws, columns = train.P.shape
    moments = MomentDifference.fit(train)
    if columns == 1:
        quadratics = {f"qda{suffix}": Quadratic.of(moments)}
    else:
        structures = QUADRATICS.copy()
        if columns > constants.WIDE and columns**2 > 4 * draws:
            # the noise of k²/2 entries of the excess costs k²/4n nats if it is kept
            del structures["qda (full)"]
        quadratics = {
            f"{name}{suffix}": Quadratic.of(structure(moments))
            for name, structure in structures.items()
        }
        quadratics[BY_COLUMN + suffix] = fit_by_column(train)
    for name, score in quadratics.items():
        contest.enter(name, of_rows(score))
    best = min(quadratics, key=contest.table.__getitem__)
    # a correction takes three times as long to score wide rows
    add = contest.challenge if columns > constants.WIDE else contest.enter
    add(f"elliptical from {best}", of_rows(fit_elliptical(train, choose, quadratics[best])))
    add(f"logistic from {best}", of_rows(fit_logistic(train, choose, quadratics[best])))
    return contest.table[best]


def of_all_draws(name: str, train: Sides, choose: Sides) -> Score | None:
    """The quadratic discriminant of this name, fitted to training and choosing draws together.

    None for other scores, and for rows that are not wide. With k numbers a row and n draws a side
    the score has a relative error of O(k/n). Thresholds set on choosing draws that also trained
    have an error of that size, too, but it costs only its square.
    """
    columns = train.P.shape[1]
    if columns <= constants.WIDE or len(train.P) > constants.ENOUGH_A_COLUMN * columns:
        return None
    if name == BY_COLUMN:
        return fit_by_column(train, choose)
    if name not in QUADRATICS:
        return None
    return Quadratic.of(QUADRATICS[name](MomentDifference.fit(train, choose)))
