"""From the argument `classifier=` to one fitted score.

An alias names a model of `MODELS`; "auto" chooses among many (`portfolio`). A classifier of
scikit-learn is fitted as it is. Any other callable is a score already (`KnownScore`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import one_thread
from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import InvalidInput
from dpaudit.scoring import constants
from dpaudit.scoring.base import Fitted, Score, Sides
from dpaudit.scoring.encode import Encoder
from dpaudit.scoring.models.boosted import boosting, fit_boosted
from dpaudit.scoring.models.closed import Quadratic, fit_elliptical, fit_logistic, fit_quadratic
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.portfolio import fit_auto, of_all_draws
from dpaudit.scoring.views import OF_PARTS, best_view, fitted_views, views_of
from dpaudit.scoring.whiten import Whitener


class KnownScore:
    """A score function that needs no training: rows (m, k) → (m,), increasing in the privacy loss.

    Parameters
    ----------
    score : callable
        A function, partial function, ufunc or object. The log likelihood ratio itself is best: its
        values say more about a small excess over a claim than their order does.
    name : str, default "known score"
        The name of the score in the report.
    """

    def __init__(self, score: Score, name: str = "known score") -> None:
        self.score, self.name = score, name


class Estimator(Protocol):
    """A scikit-learn classifier with `predict_proba` or `decision_function`."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Fit on rows X (n, k) and labels y (n,)."""
        ...

    def get_params(self) -> dict[str, Any]:
        """Parameters by name, those of nested estimators too."""
        ...

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters by name."""
        ...


EXPECTED = (
    "an alias, an estimator that classifies, with predict_proba or decision_function, or a score "
    "function"
)
Classifier = str | KnownScore | Estimator  # as `as_classifier` returns it
ClassifierLike = Classifier | Score  # as users pass it


@value_class
class Model:
    """The model that an alias names: one line for lists, and how it is fitted.

    fit : a function (train, choose, seed) that returns the score, or the score with its name and
    notes.
    """

    summary: str
    fit: Callable[[Sides, Sides, np.random.SeedSequence], Score | Fitted]


def _boosted(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    """Fit the alias "lightgbm": trees that start from the quadratic discriminant."""
    _, name, notes = boosting()
    score = fit_boosted(train, choose, seed, fit_quadratic(train))
    return Fitted(name, score, notes=notes, memorises=True)


MODELS: dict[str, Model] = {
    "auto": Model(
        "the best on the choosing draws of closed forms, splines, cells, neighbours and boosting "
        "from these",
        fit_auto,
    ),
    "qda": Model(
        "quadratic discriminant: log-ratio of two Gaussians with each side's moments",
        lambda train, choose, seed: fit_quadratic(train),
    ),
    "elliptical": Model(
        "the quadratic discriminant corrected by Mahalanobis distances and their logs",
        lambda train, choose, seed: fit_elliptical(train, choose, fit_quadratic(train)),
    ),
    "logistic": Model(
        "the quadratic discriminant corrected by linear, square and interaction features",
        lambda train, choose, seed: (
            fit_logistic(train, choose, base := fit_quadratic(train)) or base
        ),
    ),
    "lightgbm": Model(
        "gradient boosting that starts from the quadratic discriminant",
        _boosted,
    ),
    "knn": Model(
        "nearest neighbours on whitened outputs, their number chosen on the choosing draws",
        lambda train, choose, seed: fit_nearest(train, choose),
    ),
}
ALIASES = {alias: model.summary for alias, model in MODELS.items()}


def as_classifier(classifier: ClassifierLike) -> Classifier:
    """`classifier` itself, or any other callable as a `KnownScore`. Raises `InvalidInput`."""
    if isinstance(classifier, str) and classifier not in MODELS:
        aliases = ", ".join(MODELS)
        fail("classifier", classifier, f"one of {aliases}, a scikit-learn classifier or a function")
    if isinstance(classifier, (str, KnownScore)):
        return classifier
    if hasattr(classifier, "fit") and not isinstance(classifier, type):
        from sklearn.base import is_classifier

        gives_scores = any(
            map(partial(hasattr, classifier), ("predict_proba", "decision_function"))
        )
        if gives_scores and is_classifier(classifier):
            return cast(Estimator, classifier)
    if isinstance(classifier, type):
        name = Words(f"the class {classifier.__name__}")
        fail("classifier", name, EXPECTED, "make an object of the class")
    if not callable(classifier):
        fail("classifier", classifier, EXPECTED)
    function: Any = classifier
    while isinstance(function, partial):
        function = function.func
    return KnownScore(classifier, str(getattr(function, "__name__", type(function).__name__)))


def is_trained(classifier: Classifier) -> bool:
    """Whether a classifier, as `as_classifier` returns it, learns from draws."""
    return not isinstance(classifier, KnownScore)


def fit(
    classifier: ClassifierLike,
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    bits: bool = False,
    spend: bool = False,
) -> Fitted:
    """Fit the score that `classifier` names.

    Rows are made finite first (`Encoder`); a known score gets the draws as they are.

    classifier : the argument that `dpaudit.audit` takes. choose : draws for early stopping and
    choices. bits : whether a score may read the bits of floats. spend : whether the choosing draws
    may train, too, once they have chosen; `Fitted.spent` says whether they did.
    """
    classifier = as_classifier(classifier)
    if isinstance(classifier, KnownScore):
        return Fitted(classifier.name, classifier.score)
    with one_thread():
        encoder = Encoder.fit(train, bits)
        rows = encoder.sides(train), encoder.sides(choose)
        if not isinstance(classifier, str):
            score = fit_estimator(classifier, rows[0], seed)
            return _encoded(encoder, Fitted(type(classifier).__name__, score))
        if classifier != "auto":
            model = MODELS[classifier].fit(*rows, seed)
            fitted = model if isinstance(model, Fitted) else Fitted(classifier, model)
            return _encoded(encoder, fitted)

        def fit_view(train: Sides, choose: Sides) -> Fitted:
            encoder = Encoder.fit(train, bits)
            return _encoded(encoder, fit_auto(encoder.sides(train), encoder.sides(choose), seed))

        few, check = train.head(constants.VIEW_DRAWS), choose.head(constants.VIEW_DRAWS)
        views = dict(views_of(few, fit_view))
        rivals = fitted_views(views, few, check, fit_view)
        rival = np.inf
        if train.P.shape[1] > constants.PAIR_COLUMNS:
            # places of a bag mean nothing, so trees of many of them are not worth their time
            losses = [-np.inf if OF_PARTS in views else float(loss.mean()) for _, loss in rivals]
            rival = min(losses, default=np.inf)
        fitted = _encoded(encoder, fit_auto(*rows, seed, rival))
        best = best_view(fitted, rivals, check)
        if not spend or best.score is not fitted.score:
            return best
        again = of_all_draws(best.name, *rows)
    if again is None:
        return best
    return replace(best, score=lambda x: again(encoder(x)), spent=True)


def _encoded(encoder: Encoder, fitted: Fitted) -> Fitted:
    """A score of finite rows as a score of rows of any numbers."""
    score = fitted.score
    closed = isinstance(score, Quadratic)
    return replace(fitted, score=lambda x: score(encoder(x)), closed=closed)


def fit_estimator(classifier: Estimator, train: Sides, seed: np.random.SeedSequence) -> Score:
    """A clone of the classifier, fitted on whitened draws.

    Random states that are None are set to an integer from the audit's seed. Raises `InvalidInput`
    where the classifier cannot be fitted.
    """
    from sklearn.base import clone

    model, whiten = clone(classifier), Whitener.fit(train.P, train.Q)
    state = int(generator(seed, Purpose.SCORE).integers(2**31 - 1))
    for name, value in model.get_params().items():
        if name.endswith("random_state") and value is None:
            model.set_params(**{name: state})
    x, label = train.stacked()
    try:
        model.fit(whiten(x), label)
    except Exception as error:
        raise InvalidInput(
            f"classifier could not be fitted: {type(error).__name__}: {error}"
        ) from error

    def log_odds(x: Array) -> Array:
        white = whiten(x)
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(white), dtype=np.float64)
        least = constants.LEAST_CLASS_PROBABILITY
        p = np.clip(model.predict_proba(white)[:, 1], least, 1.0 - least)
        return np.asarray(np.log(p) - np.log1p(-p))

    return log_odds
