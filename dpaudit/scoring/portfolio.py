"""From `classifier=` to one fitted score: an alias, a portfolio, any scikit-learn estimator, or a
score function.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from dpaudit._core.check import Array, fail
from dpaudit._core.seeds import Purpose, generator
from dpaudit.errors import InvalidInput
from dpaudit.scoring.base import Fit, Fitted, Score, Sides, one_thread
from dpaudit.scoring.contest import Contest
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.eureka import fit_eureka, promise
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.boosted import DRAWS, PROBE, fit_boosted
from dpaudit.scoring.models.cells import fit_cells
from dpaudit.scoring.models.closed import Quadratic, fit_elliptical, fit_logistic, fit_quadratic
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.models.shared import fit_shared
from dpaudit.scoring.models.spline import WIDEST as SURFACE
from dpaudit.scoring.models.spline import NormalScores, fit_spline
from dpaudit.scoring.structure import STRUCTURES, Moments
from dpaudit.scoring.whiten import Whitener

ALIASES = {
    "auto": "the best on the choosing draws of closed forms, splines, cells, neighbours and boosting from these",
    "qda": "quadratic discriminant: log-ratio of two Gaussians with each side's moments",
    "elliptical": "the quadratic discriminant corrected by Mahalanobis distances and their logs",
    "logistic": "the quadratic discriminant corrected by linear, square and interaction features",
    "lightgbm": "gradient boosting that starts from the quadratic discriminant",
    "knn": "nearest neighbours on whitened outputs, their number chosen on the choosing draws",
    "eureka-knn": "paper 1's own: k = 10 sqrt(n) nearest neighbours on the outputs as they are; states its promise",
}
SUMMANDS = 16  # columns up to which each gets a spline of its own
SKETCH = 10_000  # draws a side that tell whether these are of use
# nats a draw: where more has been found, a shape that columns share lacks no draws; so much is far
# worse
FAINT = 0.02
CELL_DRAWS = 500_000  # a side
NEAR = 4  # columns up to which neighbours are near
SMALLEST_PROBABILITY = 1e-6


class KnownScore:
    """A score function that needs no training: rows (m, k) → (m,), increasing in the privacy loss.

    The log likelihood ratio itself is the best there is, and of a faint excess over a claim its
    values tell more than their order does.
    """

    def __init__(self, score: Score, name: str = "known score") -> None:
        self.score, self.name = score, name


def known(classifier: Any) -> Any:
    """`classifier` itself, or a `KnownScore` of a function, if `fit` will know what to do with it.

    Raises `InvalidInput`.
    """
    if isinstance(classifier, str) and classifier not in ALIASES:
        fail(
            "classifier",
            classifier,
            "one of " + ", ".join(ALIASES) + ", a scikit-learn classifier or a function",
        )
    if isinstance(classifier, FunctionType):
        return KnownScore(classifier, classifier.__name__)
    if not isinstance(classifier, (str, KnownScore)) and not _is_classifier(classifier):
        fail(
            "classifier",
            classifier,
            "an alias, an estimator that classifies, with predict_proba or decision_function, or a score function",
        )
    return classifier


def is_trained(classifier: Any) -> bool:
    """Whether what `known` returned learns from draws."""
    return not isinstance(classifier, KnownScore)


def fit(
    classifier: Any, train: Sides, choose: Sides, seed: np.random.SeedSequence, bits: bool = False
) -> Fitted:
    """Fit what `classifier` names on `train`; `choose` is used for early stopping and to pick from
    the portfolio.

    What is no finite number is encoded first (`Encoder`); a known score sees the draws as they are.
    """
    classifier = known(classifier)
    if isinstance(classifier, KnownScore):
        return Fitted(classifier.name, classifier.score)
    encoder = Encoder.fit(train, bits)
    with one_thread():
        fitted = _fit(classifier, encoder.sides(train), encoder.sides(choose), seed)
    return Fitted(fitted.name, lambda x: fitted.score(encoder(x)), fitted.portfolio, fitted.notes)


def _fit(classifier: Any, train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    if not isinstance(classifier, str):
        return Fitted(type(classifier).__name__, _estimator(classifier, train, seed))
    if classifier == "auto":
        return _auto(train, choose, seed)
    if classifier == "lightgbm":
        score, note = fit_boosted(train, choose, seed, fit_quadratic(train))
        return Fitted(_boosted_name(note), score, notes=(note,) if note else ())
    notes = (promise(train),) if classifier == "eureka-knn" else ()
    return Fitted(classifier, SINGLE[classifier](train, choose, seed), notes=notes)


def _is_classifier(classifier: Any) -> bool:
    from sklearn.base import is_classifier

    outputs = hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")
    return (
        not isinstance(classifier, type)
        and hasattr(classifier, "fit")
        and outputs
        and is_classifier(classifier)
    )


def _qda(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    return fit_quadratic(train)


def _elliptical(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    return fit_elliptical(train, choose, fit_quadratic(train))


def _logistic(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    base = fit_quadratic(train)
    return fit_logistic(train, choose, base) or base


SINGLE: dict[str, Fit] = {
    "qda": _qda,
    "elliptical": _elliptical,
    "logistic": _logistic,
    "knn": fit_nearest,
    "eureka-knn": fit_eureka,
}


def _boosted_name(note: str | None) -> str:
    return "lightgbm" if note is None else "histogram boosting"


def _auto(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    """Closed forms, corrections of the best of them, what needs no form, boosting from the best of
    these.
    """
    contest = Contest(choose)
    _closed(contest, train)
    _formless(contest, train, seed)
    note = _boost(contest, train, seed)
    best = contest.best
    return Fitted(best, contest.scores[best], contest.table, (note,) if note else ())


def _closed(contest: Contest, train: Sides) -> None:
    """Where rare large values make all moments far worse than knowing nothing, those of normal
    scores, too.
    """
    if _of_moments(contest, train, contest.choose, "", lambda x: x) > np.log(2.0) + FAINT:
        ranks = NormalScores.fit(train.P, train.Q)
        ranked, checked = (Sides(ranks(part.P), ranks(part.Q)) for part in (train, contest.choose))
        _of_moments(contest, ranked, checked, " of normal scores", ranks)


def _of_moments(contest: Contest, train: Sides, choose: Sides, of: str, seen: Score) -> float:
    """Closed forms of what is `seen` of the draws, and corrections of the best of them, whose loss
    is returned.
    """
    quadratics = {f"{name}{of}": score for name, score in _quadratics(train).items()}
    for name, score in quadratics.items():
        contest.enter(name, _after(seen, score))
    name = min(quadratics, key=lambda one: float(contest.losses[one].mean()))
    for kind, fit in (("elliptical", fit_elliptical), ("logistic", fit_logistic)):
        contest.enter(f"{kind} from {name}", _after(seen, fit(train, choose, quadratics[name])))
    return float(contest.losses[name].mean())


def _after(seen: Score, score: Score | None) -> Score | None:
    return None if score is None else lambda x: np.asarray(score(seen(x)))


def _formless(contest: Contest, train: Sides, seed: np.random.SeedSequence) -> None:
    """Splines of one or two columns, sums of splines over more of them, and counts where values
    repeat.
    """
    columns = train.P.shape[1]
    if columns <= SURFACE:
        contest.challenge("spline", fit_spline(train, contest.choose, seed))
    elif columns <= SUMMANDS and contest.challenge(
        "additive", fit_additive(train.head(SKETCH), contest.choose, seed)
    ):
        contest.challenge("additive", fit_additive(train, contest.choose, seed))
    if columns > SURFACE and contest.gain < FAINT:
        contest.challenge("shared spline", fit_shared(train, contest.choose, seed))
    if 1 < columns <= NEAR:
        contest.challenge("knn", fit_nearest(train, contest.choose, seed))
    if contest.gain < FAINT:  # then a base may be noise for the most part
        cells = fit_cells(train.head(CELL_DRAWS), contest.choose, seed, _within_cell, _nothing)
        contest.challenge("cells", cells)
    name = contest.best
    cells = fit_cells(
        train.head(CELL_DRAWS), contest.choose, seed, _within_cell, contest.scores[name]
    )
    contest.challenge(f"cells over {name}", cells)


def _within_cell(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    few = train.head(PROBE)
    return (
        fit_quadratic(few)
        if train.P.shape[1] > 1
        else fit_spline(train, choose, seed) or fit_quadratic(few)
    )


def _nothing(x: Array) -> Array:
    return np.zeros(len(x))


def _boost(contest: Contest, train: Sides, seed: np.random.SeedSequence) -> str | None:
    """Trees from the best so far: a few draws first, all of them if those were of use."""
    base = contest.best
    for draws in (PROBE, DRAWS):
        boosted, note = fit_boosted(train, contest.choose, seed, contest.scores[base], draws)
        if (
            not contest.challenge(f"{_boosted_name(note)} from {base}", boosted)
            or len(train.P) <= draws
        ):
            break
    return note


def _quadratics(train: Sides) -> dict[str, Quadratic]:
    """One per structure of the moments; the last without turning the columns into each other."""
    moments = Moments.fit(train, Whitener.fit(train.P, train.Q))
    if train.P.shape[1] == 1:
        return {"qda": Quadratic.of(moments)}
    found = {
        f"qda ({name})": Quadratic.of(structure(moments)) for name, structure in STRUCTURES.items()
    }
    by_column = Moments.fit(train, Whitener.scaling(train.P, train.Q), by_column=True)
    return {**found, "qda (by column)": Quadratic.of(by_column)}


def _estimator(classifier: Any, train: Sides, seed: np.random.SeedSequence) -> Score:
    """Any scikit-learn classifier, cloned, on whitened outputs; what has no random state gets the
    audit's.
    """
    from sklearn.base import clone

    whiten = Whitener.fit(train.P, train.Q)
    model = clone(classifier)
    unseeded = [
        key
        for key, value in model.get_params().items()
        if key.endswith("random_state") and value is None
    ]
    model.set_params(
        **dict.fromkeys(unseeded, int(generator(seed, Purpose.SCORE).integers(2**31 - 1)))
    )
    x, label = train.stacked()
    try:
        model.fit(whiten(x), label)
    except Exception as error:
        raise InvalidInput(
            f"classifier could not be fitted: {type(error).__name__}: {error}"
        ) from error
    if hasattr(model, "decision_function"):
        return lambda x: np.asarray(model.decision_function(whiten(x)), dtype=np.float64)
    return lambda x: _log_odds(model.predict_proba(whiten(x))[:, 1])


def _log_odds(probability: Array) -> Array:
    p = np.clip(probability, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    return np.log(p) - np.log1p(-p)
