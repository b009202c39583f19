"""Scores of scikit-learn classifiers that users give."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np

from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.scoring.base import Score, Sides
from dpaudit.scoring.whiten import Whitener

SMALLEST_PROBABILITY = 1e-6  # at which predicted probabilities are clipped


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


def is_classifier(value: object) -> TypeGuard[Estimator]:
    """Whether `value` is a scikit-learn classifier, not its class, that gives a score."""
    from sklearn.base import is_classifier

    scores = hasattr(value, "predict_proba") or hasattr(value, "decision_function")
    instance = not isinstance(value, type) and hasattr(value, "fit")
    return bool(instance and scores and is_classifier(value))


def fit_estimator(classifier: Estimator, train: Sides, seed: np.random.SeedSequence) -> Score:
    """A clone of the classifier, fitted on whitened draws.

    Random states that are None are set to an integer from the audit's seed. Raises `InvalidInput`
    where the classifier cannot be fitted.
    """
    from sklearn.base import clone

    model, whiten = clone(classifier), Whitener.fit(train.P, train.Q)
    _seed(model, seed)
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


def _seed(model: Estimator, seed: np.random.SeedSequence) -> None:
    state = int(generator(seed, Purpose.SCORE).integers(2**31 - 1))
    parameters = model.get_params().items()
    unseeded = [key for key, value in parameters if key.endswith("random_state") and value is None]
    model.set_params(**dict.fromkeys(unseeded, state))


def _log_odds(probability: Array) -> Array:
    p = np.clip(probability, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    return np.asarray(np.log(p) - np.log1p(-p))
