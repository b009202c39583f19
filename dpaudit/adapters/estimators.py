"""Estimators in the manner of scikit-learn, fitted once a draw. scikit-learn itself is not needed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit.adapters.quiet import QUIET
from dpaudit.adapters.single import OneDraw, one_draw

Outputs = Callable[[Any], Any]  # fitted estimator → one output
FITTED = ("coef_", "intercept_")
SEEDS = ("random_state", "seed")


@dataclass(frozen=True, eq=False)
class Fit:
    """f(data, rng=...) → what is released of an estimator fitted on the data; label : the last
    column is y.
    """

    factory: Any
    outputs: Outputs
    label: bool

    def __call__(self, data: Any, *, rng: np.random.Generator) -> Any:
        model = self.factory() if _makes(self.factory) else copy.deepcopy(self.factory)
        seed_it(model, rng)
        own = np.array(data, dtype=np.float64)  # estimators may write into their data
        with QUIET:
            model.fit(*((own[:, :-1], own[:, -1]) if self.label else (own,)))
            return self.outputs(model)

    @property
    def name(self) -> str:
        inner = getattr(self.factory, "func", self.factory)  # of a functools.partial
        return str(getattr(inner, "__qualname__", type(inner).__name__))

    @property
    def summary(self) -> str:
        return "an estimator, fitted once a draw"

    def parameters(self) -> dict[str, Any]:
        """What the factory gives to the estimator, as text where it is no number."""
        given = getattr(self.factory, "keywords", None) or {}
        return {
            name: value if isinstance(value, (bool, int, float)) else str(value)
            for name, value in given.items()
        }


def estimator(
    factory: Any, outputs: Any = FITTED, *, label: bool = True, timeout: float | None = None
) -> OneDraw:
    """A mechanism that fits an estimator on the database and releases what it has learned.

    factory : a class or function that makes an unfitted estimator, or an estimator to be copied.
    Integers from the draw's own generator are put into every parameter (attribute, where there is
    no `get_params`) called `random_state` or `seed`, also of nested estimators. An estimator
    without any draws from where it likes, and then a seed does not repeat the audit.
    outputs : names of attributes of the fitted estimator, all their numbers one after the other
    (those that it has of coef_ and intercept_, if not given); or points (m, p) at which it
    predicts; or a function of the fitted estimator.
    label : the last column is y; otherwise fit(data) gets all columns.
    timeout : seconds a fit may take.

    Warnings of the estimator are logged once each (logger "dpaudit.adapters"), and raise nothing.
    Raises `InvalidInput`.

    >>> import numpy as np
    >>> import dpaudit as dp
    >>> class NoisyMean:
    ...     def __init__(self, random_state=None):
    ...         self.random_state = random_state
    ...     def fit(self, X, y):
    ...         self.mean_ = y.mean() + np.random.default_rng(self.random_state).laplace(scale=0.5)
    ...         return self
    >>> mechanism = dp.adapters.estimator(NoisyMean, ["mean_"])
    >>> mechanism(np.array([[1.0, 0.2], [1.0, 0.4]]), 3, rng=np.random.default_rng(0))
    [array([-0.22478604]), array([-0.05938268]), array([0.41057897])]
    """
    if not hasattr(factory, "fit") and not callable(factory):
        check.fail("factory", factory, "an estimator with fit, or a callable that makes one")
    return one_draw(Fit(factory, released(outputs), check.boolean("label", label)), timeout=timeout)


def released(outputs: Any) -> Outputs:
    """Attributes by name, predictions at points, or a function. Raises `InvalidInput`."""
    if callable(outputs):
        return outputs
    names = (outputs,) if isinstance(outputs, str) else outputs
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        return Attributes(tuple(names), all_of_them=outputs is not FITTED)
    return Predictions(check.matrix("outputs", outputs))


@dataclass(frozen=True)
class Attributes:
    """Fitted attributes: one vector where all are numbers, else a list of them."""

    names: tuple[str, ...]
    all_of_them: bool = True

    def __call__(self, model: Any) -> Any:
        found = [
            getattr(model, name) for name in self.names if self.all_of_them or hasattr(model, name)
        ]
        if not found:
            raise AttributeError(
                f"{type(model).__name__} has no {' or '.join(self.names)}: name its outputs"
            )
        arrays = [np.asarray(one) for one in found]
        numeric = all(one.dtype.kind in "fiub" for one in arrays)
        return np.concatenate([one.ravel() for one in arrays]) if numeric else found


@dataclass(frozen=True, eq=False)
class Predictions:
    """predict at `points`, (m, p)."""

    points: np.ndarray

    def __call__(self, model: Any) -> Any:
        return np.asarray(model.predict(self.points.copy())).ravel()


def seed_it(model: Any, rng: np.random.Generator) -> None:
    """Put integers from `rng` where the model takes its randomness from, in the order of the names."""
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        names = sorted(name for name in model.get_params() if name.rpartition("__")[2] in SEEDS)
        if names:
            model.set_params(**{name: int(rng.integers(2**31 - 1)) for name in names})
        return
    for name in SEEDS:
        if hasattr(model, name):
            setattr(model, name, int(rng.integers(2**31 - 1)))


def _makes(factory: Any) -> bool:
    """A class, or a function: an estimator that can itself be called has fit too."""
    return isinstance(factory, type) or not hasattr(factory, "fit")
