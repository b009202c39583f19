"""From the argument `classifier=` to one fitted score.

An alias names a model of `MODELS`; "auto" chooses among many (`portfolio`). An estimator of
scikit-learn is fitted as it is (`estimators`). A function is a score already (`KnownScore`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType

import numpy as np

from dpaudit._core.check import fail
from dpaudit._core.threads import one_thread
from dpaudit.scoring.base import Fit, Fitted, Score, Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.estimators import Estimator, fit_estimator, is_classifier
from dpaudit.scoring.models.boosted import boosting, fit_boosted
from dpaudit.scoring.models.closed import (
    Quadratic,
    fit_elliptical,
    fit_logistic,
    fit_quadratic,
)
from dpaudit.scoring.models.eureka import fit_eureka, promise
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.portfolio import fit_auto


class KnownScore:
    """A score function that needs no training: rows (m, k) → (m,), increasing in the privacy loss.

    Parameters
    ----------
    score : callable
        Best the log likelihood ratio itself, whose values say more about a small excess over a
        claim than their order does.
    name : str, default "known score"
        For the report.
    """

    def __init__(self, score: Score, name: str = "known score") -> None:
        self.score, self.name = score, name


EXPECTED = (
    "an alias, an estimator that classifies, with predict_proba or decision_function, or a score "
    "function"
)
Classifier = str | KnownScore | Estimator  # what `fit` takes
ClassifierLike = Classifier | Score  # what users give


@dataclass(frozen=True)
class Model:
    """What an alias stands for: one line for lists, and how it is fitted (as by `Fit`)."""

    summary: str
    fit: Callable[[Sides, Sides, np.random.SeedSequence], Fitted]


def _named(name: str, summary: str, fit: Fit) -> Model:
    """A model whose score has the name of its alias."""
    return Model(summary, lambda train, choose, seed: Fitted(name, fit(train, choose, seed)))


def _qda(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    return fit_quadratic(train)


def _elliptical(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    return fit_elliptical(train, choose, fit_quadratic(train))


def _logistic(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score:
    base = fit_quadratic(train)
    return fit_logistic(train, choose, base) or base


def _boosted(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    name, notes = boosting()
    return Fitted(name, fit_boosted(train, choose, seed, fit_quadratic(train)), notes=notes)


def _eureka(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    return Fitted("eureka-knn", fit_eureka(train, choose, seed), notes=(promise(train),))


MODELS: dict[str, Model] = {
    "auto": Model(
        "the best on the choosing draws of closed forms, splines, cells, neighbours and boosting "
        "from these",
        fit_auto,
    ),
    "qda": _named(
        "qda",
        "quadratic discriminant: log-ratio of two Gaussians with each side's moments",
        _qda,
    ),
    "elliptical": _named(
        "elliptical",
        "the quadratic discriminant corrected by Mahalanobis distances and their logs",
        _elliptical,
    ),
    "logistic": _named(
        "logistic",
        "the quadratic discriminant corrected by linear, square and interaction features",
        _logistic,
    ),
    "lightgbm": Model(
        "gradient boosting that starts from the quadratic discriminant",
        _boosted,
    ),
    "knn": _named(
        "knn",
        "nearest neighbours on whitened outputs, their number chosen on the choosing draws",
        fit_nearest,
    ),
    "eureka-knn": Model(
        "paper 1's own: k = 10 sqrt(n) nearest neighbours on the outputs as they are; states its "
        "promise",
        _eureka,
    ),
}
ALIASES = {alias: model.summary for alias, model in MODELS.items()}


def as_classifier(classifier: ClassifierLike) -> Classifier:
    """`classifier` itself, or the `KnownScore` of a function. Raises `InvalidInput`."""
    if isinstance(classifier, str) and classifier not in MODELS:
        aliases = ", ".join(MODELS)
        fail("classifier", classifier, f"one of {aliases}, a scikit-learn classifier or a function")
    if isinstance(classifier, FunctionType):
        return KnownScore(classifier, classifier.__name__)
    if not isinstance(classifier, (str, KnownScore)) and not is_classifier(classifier):
        fail("classifier", classifier, EXPECTED)
    return classifier


def is_trained(classifier: Classifier) -> bool:
    """Whether what `as_classifier` returned learns from draws."""
    return not isinstance(classifier, KnownScore)


def fit(
    classifier: ClassifierLike,
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    bits: bool = False,
    spend: bool = False,
) -> Fitted:
    """Fit what `classifier` names.

    Rows are made finite first (`Encoder`); a known score gets the draws as they are.

    Parameters
    ----------
    classifier : str, classifier or score
        As in `dpaudit.audit`.
    train : Sides
        Draws to train on.
    choose : Sides
        Draws for early stopping and choices.
    seed : SeedSequence
        Of the random numbers.
    bits : bool, default False
        With the bits of floats.
    spend : bool, default False
        Whether the choosing draws may train, too, once they have chosen; `Fitted.spent` says
        whether they did.

    Returns
    -------
    Fitted

    Raises
    ------
    InvalidInput
        When an argument is not as described.
    """
    classifier = as_classifier(classifier)
    if isinstance(classifier, KnownScore):
        return Fitted(classifier.name, classifier.score)
    encoder = Encoder.fit(train, bits)
    with one_thread():
        fitted = _fit(classifier, encoder.sides(train), encoder.sides(choose), seed, spend)
    score = fitted.score
    closed = isinstance(score, Quadratic)
    return replace(fitted, score=lambda x: score(encoder(x)), closed=closed)


def _fit(
    classifier: str | Estimator,
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    spend: bool,
) -> Fitted:
    if classifier == "auto":
        return fit_auto(train, choose, seed, spend)
    if isinstance(classifier, str):
        return MODELS[classifier].fit(train, choose, seed)
    return Fitted(type(classifier).__name__, fit_estimator(classifier, train, seed))
