"""The classifier "auto": the best of many models on the choosing draws.

First come closed forms (quadratic discriminants), because few draws are enough for them and, on the
least squares and sketches of the papers, they are near the true loss. The best of them is corrected
by logistic regression. Then `CANDIDATES` take part in turn, each only where it applies. A candidate
may overfit, so it is taken only if its loss on the choosing draws is clearly less than that of the
best score so far (`Contest.challenge`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpaudit.scoring.base import Fitted, Score, Sides, zero
from dpaudit.scoring.contest import Contest
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.boosted import DRAWS, PROBE, boosting, fit_boosted
from dpaudit.scoring.models.cells import fit_cells
from dpaudit.scoring.models.closed import (
    Quadratic,
    fit_by_column,
    fit_elliptical,
    fit_logistic,
    fit_quadratic,
)
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.models.networks.network import fit_network
from dpaudit.scoring.models.products import WIDEST as PRODUCTS
from dpaudit.scoring.models.products import fit_products
from dpaudit.scoring.models.radial import fit_radial
from dpaudit.scoring.models.screen import Screen, surplus
from dpaudit.scoring.models.shared import fit_shared
from dpaudit.scoring.models.spline import WIDEST, NormalScores, fit_spline
from dpaudit.scoring.structure import STRUCTURES, MomentDifference, full
from dpaudit.scoring.whiten import Whitener

SKETCH = 10_000  # draws a side that show whether these are of use
WEAK = 0.02  # nats a draw; models for weak signals take part where the best score gains less
# nats a draw by which trees lower the loss, for a network to take part; likewise by which distances
# do, for a spline of one
MISSED = 0.005
FAR_OFF = 0.02  # nats a draw by which the best closed form may be worse than the score 0
CELL_DRAWS = 500_000  # a side
MANY, ENOUGH = 100, 100  # columns of wide rows; draws a column that are enough for these
NEAR = 4  # columns up to which the nearest neighbours of a row are near it
ALL = sys.maxsize
QUADRATICS = {f"qda ({name})": structure for name, structure in STRUCTURES.items()}
BY_COLUMN = "qda (by column)"
ELLIPTICAL = "elliptical from "


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What a candidate is fitted to.

    base : the best score so far that can be corrected. best : the best one so far. draws : a side,
    that train. screen : of the columns of wide rows, remembered, since several candidates ask for
    it.
    """

    train: Sides
    choose: Sides
    seed: np.random.SeedSequence
    base: Score
    best: Score
    draws: int
    screen: Screen


@dataclass(frozen=True)
class Candidate:
    """A model that takes part where it applies.

    name : {best} stands for the name of the best score so far. reason : what the model is for.
    applies : whether it takes part, by the contest so far and the number of columns.
    fit : the score, or None where the draws are not of the kind that the model is for.
    draws : a side, that train. If more than one number: few draws first, and more of them only if
        the score of the few was taken.
    base : name of the score that {best} and `Task.base` stand for.
    memorises : whether the score knows its training draws too well to be corrected on them.
    """

    name: str
    reason: str
    applies: Callable[[Contest, int], bool]
    fit: Callable[[Task], Score | None]
    draws: tuple[int, ...] = (ALL,)
    base: Callable[[Contest], str] = lambda contest: contest.best
    memorises: bool = False


def _cells(task: Task, base: Score) -> Score | None:
    return fit_cells(task.train, task.choose, task.seed, _within_cell, base)


def _within_cell(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    """The own score of a cell: a spline of one column, a quadratic discriminant of more."""
    few = train.head(PROBE)
    if train.P.shape[1] > 1:
        return fit_quadratic(few)
    return fit_spline(train, choose, seed) or fit_quadratic(few)


def _trees_gained(contest: Contest) -> bool:
    """Whether trees lowered the loss so much that a network may be worth its time."""
    return contest.lead(contest.best, contest.best_base) > MISSED


def _distance_matters(contest: Contest) -> bool:
    """Whether distances lowered the loss of the best quadratic discriminant by much."""
    corrected = [name for name in contest.losses if name.startswith(ELLIPTICAL)]
    return any(contest.lead(one, one.removeprefix(ELLIPTICAL)) > MISSED for one in corrected)


CANDIDATES = (
    Candidate(
        "spline of the distance",
        "spherical noise around one centre, whose length has any law",
        lambda contest, columns: columns > 1 and _distance_matters(contest),
        lambda task: fit_radial(task.train, task.choose, task.seed),
    ),
    Candidate(
        "spline",
        "one or two columns with any two laws",
        lambda contest, columns: columns <= WIDEST,
        lambda task: fit_spline(task.train, task.choose, task.seed),
    ),
    Candidate(
        "additive",
        "independent columns with any laws: bits, counts, reals, few of many that differ",
        lambda contest, columns: columns > WIDEST,
        lambda task: fit_additive(task.train, task.choose, task.seed, task.screen),
        draws=(SKETCH, ALL),
    ),
    Candidate(
        "shared spline",
        "many columns with one law, each of which shows the difference only weakly",
        lambda contest, columns: columns > WIDEST and contest.gain < WEAK,
        lambda task: fit_shared(task.train, task.choose, task.seed),
    ),
    Candidate(
        "knn",
        "a few dependent columns with any laws",
        lambda contest, columns: 1 < columns <= NEAR,
        lambda task: fit_nearest(task.train, task.choose, task.seed),
    ),
    Candidate(
        "cells",
        "values that repeat, where the best score so far may be mostly noise: not used as a base",
        lambda contest, columns: contest.gain < WEAK,
        lambda task: _cells(task, zero),
        draws=(CELL_DRAWS,),
    ),
    Candidate(
        "cells over {best}",
        "values that repeat, beside columns or values for which the best score so far is needed",
        lambda contest, columns: True,
        lambda task: _cells(task, task.base),
        draws=(CELL_DRAWS,),
    ),
    Candidate(
        "sign products over {best}",
        "parities of two or three columns, of which neither sums over columns nor trees see a part",
        lambda contest, columns: 1 < columns <= PRODUCTS,
        lambda task: fit_products(task.train, task.choose, task.base),
    ),
    Candidate(
        "{boosting} from {best}",
        "whatever difference is left, if there are draws enough for trees to find it",
        lambda contest, columns: True,
        lambda task: fit_boosted(
            task.train, task.choose, task.seed, task.base, task.draws, task.screen
        ),
        draws=(PROBE, DRAWS),
        memorises=True,
    ),
    Candidate(
        "network from {best}",
        "smooth interactions of columns: where trees, which are cheaper, found that there are any",
        lambda contest, columns: columns > 1 and _trees_gained(contest),
        lambda task: fit_network(task.train, task.choose, task.seed, task.base, task.best),
        base=lambda contest: contest.best_base,
    ),
)


def fit_auto(
    train: Sides, choose: Sides, seed: np.random.SeedSequence, spend: bool = False
) -> Fitted:
    """The best score of closed forms, their corrections and `CANDIDATES`, with all their losses.

    spend : whether the choosing draws may train what they chose (`of_all_draws`).
    """
    contest, screen = Contest(choose), cache(surplus)
    _enter_closed_forms(contest, train)
    for candidate in CANDIDATES:
        if candidate.applies(contest, train.P.shape[1]):
            _challenge(contest, candidate, train, seed, screen)
    best = contest.best
    again = of_all_draws(best, train, choose) if spend else None
    score = again or contest.scores[best]
    return Fitted(best, score, contest.table, boosting()[1], spent=again is not None)


def of_all_draws(name: str, train: Sides, choose: Sides) -> Score | None:
    """The quadratic discriminant of this name, from training and choosing draws; None of others.

    Of wide rows alone: of k numbers and n draws a side the score misses by O(k/n). As much is by
    then wrong with thresholds set by choosing draws, which costs the square of it.
    """
    columns = train.P.shape[1]
    if columns <= MANY or len(train.P) > ENOUGH * columns:
        return None
    both = Sides(np.concatenate([train.P, choose.P]), np.concatenate([train.Q, choose.Q]))
    if name == BY_COLUMN:
        return fit_by_column(both)
    return fit_quadratic(both, QUADRATICS[name]) if name in QUADRATICS else None


def _challenge(
    contest: Contest,
    candidate: Candidate,
    train: Sides,
    seed: np.random.SeedSequence,
    screen: Screen,
) -> None:
    best = candidate.base(contest)
    name = candidate.name.format(best=best, boosting=boosting()[0])
    base, ahead = contest.scores[best], contest.scores[contest.best]
    for draws in candidate.draws:
        task = Task(train.head(draws), contest.choose, seed, base, ahead, draws, screen)
        taken = contest.challenge(name, candidate.fit(task), candidate.memorises)
        if not taken or len(train.P) <= draws:
            return


def _enter_closed_forms(contest: Contest, train: Sides) -> None:
    """Closed forms of the draws, and of normal scores if rare large values spoil all moments."""
    loss = _enter_quadratics(contest, View(train, contest.choose))
    if loss > np.log(2.0) + FAR_OFF:
        _enter_quadratics(contest, View.of_normal_scores(train, contest.choose))


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """The draws in the coordinates that closed forms are fitted in.

    of : suffix of the scores' names. map : rows → coordinates; None where these are the rows.
    """

    train: Sides
    choose: Sides
    of: str = ""
    map: Score | None = None

    @classmethod
    def of_normal_scores(cls, train: Sides, choose: Sides) -> View:
        """Each column replaced by the normal scores of its ranks."""
        scores = NormalScores.fit(train.P, train.Q)
        seen, checked = (Sides(scores(part.P), scores(part.Q)) for part in (train, choose))
        return cls(seen, checked, " of normal scores", scores)

    def score(self, seen: Score | None) -> Score | None:
        """A score of rows, from `seen`, a score of their coordinates."""
        if seen is None or self.map is None:
            return seen
        mapped = self.map
        return lambda x: np.asarray(seen(mapped(x)))


def _enter_quadratics(contest: Contest, columns: View) -> float:
    """Quadratic discriminants, and corrections of the best of them, whose loss is returned."""
    train, choose = columns.train, columns.choose
    quadratics = {f"{name}{columns.of}": score for name, score in _quadratics(train).items()}
    for name, score in quadratics.items():
        contest.enter(name, columns.score(score))
    best = min(quadratics, key=lambda name: float(contest.losses[name].mean()))
    # of wide rows a correction takes three times as long to score
    take = contest.challenge if train.P.shape[1] > MANY else contest.enter
    for kind, fit in (("elliptical", fit_elliptical), ("logistic", fit_logistic)):
        corrected = fit(train, choose, quadratics[best])
        take(f"{kind} from {best}", columns.score(corrected))
    return float(contest.losses[best].mean())


def _quadratics(train: Sides) -> dict[str, Quadratic]:
    """A quadratic discriminant for each structure of the moments, and one for each column apart.

    Of wide rows some k²/2 entries of the excess have noise that costs k²/4n nats if it is kept.
    """
    moments = MomentDifference.fit(train, Whitener.fit(train.P, train.Q))
    draws, columns = train.P.shape
    if columns == 1:
        return {"qda": Quadratic.of(moments)}
    hopeless = columns > MANY and columns**2 > 4 * draws
    found = {
        name: Quadratic.of(structure(moments))
        for name, structure in QUADRATICS.items()
        if not (hopeless and structure is full)
    }
    return {**found, BY_COLUMN: fit_by_column(train)}
