"""From `classifier=` to one fitted score: an alias, a portfolio, any scikit-learn estimator, or a score function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit._check import Array, fail
from dpaudit._random import Stream, generator
from dpaudit.errors import InvalidInput
from dpaudit.scoring.base import Fitted, Score, Sides, log_loss
from dpaudit.scoring.boosted import fit_boosted
from dpaudit.scoring.closed import fit_elliptical, fit_logistic, fit_qda
from dpaudit.scoring.whiten import Whitener

ALIASES = {
    "auto": "the best of the others but knn on the choosing draws; boosting starts from the best closed form",
    "qda": "quadratic discriminant: log-ratio of two Gaussians with each side's moments",
    "elliptical": "logistic on the sides' Mahalanobis distances and their logs",
    "logistic": "logistic regression on linear, square and interaction features",
    "lightgbm": "gradient boosting that starts from the quadratic discriminant",
    "knn": "k nearest neighbours on whitened outputs, k = 10 sqrt(n)",
}
CLOSED: dict[str, Callable[..., Score]] = {
    "qda": fit_qda,
    "elliptical": fit_elliptical,
    "logistic": fit_logistic,
}
WIDEST_LOGISTIC = 40  # columns beyond which quadratic features are left out of the portfolio
KNN_DRAWS = 20_000
SMALLEST_PROBABILITY = 1e-6


class KnownScore:
    """A score function that needs no training, e.g. a true likelihood ratio: rows (m, k) → log-odds (m,)."""

    def __init__(self, score: Score, name: str = "known score") -> None:
        self.score, self.name = score, name


def known(classifier: Any) -> Any:
    """`classifier` itself, if `fit` will know what to do with it. Raises `InvalidInput`."""
    if isinstance(classifier, str):
        if classifier not in ALIASES:
            fail("classifier", classifier, "one of " + ", ".join(ALIASES) + ", or a scikit-learn classifier")
    elif not isinstance(classifier, KnownScore) and not _is_classifier(classifier):
        fail(
            "classifier",
            classifier,
            "an alias or an estimator that classifies, with predict_proba or decision_function",
        )
    return classifier


def fit(classifier: Any, train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    """Fit what `classifier` names on `train`; `choose` is used for early stopping and to pick from the portfolio."""
    if isinstance(known(classifier), KnownScore):
        return Fitted(classifier.name, classifier.score)
    if isinstance(classifier, str):
        return _auto(train, choose, seed) if classifier == "auto" else _alias(classifier, train, choose, seed)
    return Fitted(type(classifier).__name__, _estimator(classifier, train, seed))


def _is_classifier(classifier: Any) -> bool:
    from sklearn.base import is_classifier

    outputs = hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")
    return not isinstance(classifier, type) and hasattr(classifier, "fit") and outputs and is_classifier(classifier)


def _alias(name: str, train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    if name in CLOSED:
        return Fitted(name, CLOSED[name](train, choose, seed))
    if name == "lightgbm":
        score, note = fit_boosted(train, choose, seed)
        return Fitted(_boosted_name(note), score, notes=(note,) if note else ())
    return Fitted(name, _estimator(_nearest(train), train.head(KNN_DRAWS), seed))


def _boosted_name(note: str | None) -> str:
    return "lightgbm" if note is None else "histogram boosting"


def _auto(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Fitted:
    names = [name for name in CLOSED if name != "logistic" or train.P.shape[1] <= WIDEST_LOGISTIC]
    scores = {name: CLOSED[name](train, choose, seed) for name in names}
    losses = {name: log_loss(score, choose) for name, score in scores.items()}
    best = min(losses, key=losses.__getitem__)
    boosted, note = fit_boosted(train, choose, seed, scores[best])
    name = f"{_boosted_name(note)} from {best}"
    scores[name], losses[name] = boosted, log_loss(boosted, choose)
    chosen = min(losses, key=losses.__getitem__)
    return Fitted(chosen, scores[chosen], losses, (note,) if note else ())


def _nearest(train: Sides) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    size = min(len(train.P), KNN_DRAWS)
    return KNeighborsClassifier(n_neighbors=min(int(10 * np.ceil(np.sqrt(size))), size))


def _estimator(classifier: Any, train: Sides, seed: np.random.SeedSequence) -> Score:
    """Any scikit-learn classifier, cloned, on whitened outputs; what has no random state gets the audit's."""
    from sklearn.base import clone

    whiten = Whitener.fit(train.P, train.Q)
    model = clone(classifier)
    unseeded = [key for key, value in model.get_params().items() if key.endswith("random_state") and value is None]
    model.set_params(**dict.fromkeys(unseeded, int(generator(seed, Stream.SCORE).integers(2**31 - 1))))
    x, label = train.stacked()
    try:
        model.fit(whiten(x), label)
    except Exception as error:
        raise InvalidInput(f"classifier could not be fitted: {type(error).__name__}: {error}") from error
    if hasattr(model, "decision_function"):
        return lambda x: np.asarray(model.decision_function(whiten(x)), dtype=np.float64)
    return lambda x: _log_odds(model.predict_proba(whiten(x))[:, 1])


def _log_odds(probability: Array) -> Array:
    p = np.clip(probability, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    return np.log(p) - np.log1p(-p)
