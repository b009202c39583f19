"""Mechanisms that fit an estimator or a transformer once per draw.

These objects have scikit-learn's methods, but scikit-learn itself is not needed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import LARGEST_SEED, OfFunction, OneDraw, one_draw
from dpaudit.adapters.tables import plain

Factory = Any  # an estimator, which has `fit`, or a callable that makes one
Outputs = Callable[[Any], Any]  # fitted estimator → one output of the mechanism
FITTED = ("coef_", "intercept_")
SEEDS = ("random_state", "seed")


@value_class(show_numbers=True)
class Fit(OfFunction):
    """f(data, rng=...) → what `release` makes of a new model, which `function` gives, and of the
    arguments of its `fit`. label : whether the last column is y.
    """

    function: Factory
    label: bool
    release: Callable[[Any, tuple[Array, ...]], Any]
    summary: str

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Any:
        return self.release(*unfitted(self.function, data, self.label, rng))


def estimator(
    factory: Factory,
    outputs: Outputs | str | Sequence[str] | ArrayLike = FITTED,
    *,
    label: bool = True,
    timeout: float | None = None,
) -> OneDraw:
    """Make a mechanism that fits an estimator on the database and releases fitted attributes.

    It can also release predictions, or any function of the fitted estimator.

    Parameters
    ----------
    factory : class, callable or estimator
        A class or function that makes an unfitted estimator, or an estimator to be copied. Every
        parameter called `random_state` or `seed`, also of nested estimators, is set to an integer
        from the draw's own generator (every such attribute, if the estimator has no `get_params`).
        Without such a parameter or attribute an audit cannot be repeated by its seed.
    outputs : str, sequence of str, array of shape (m, p) or callable
        The names of attributes of the fitted estimator, whose numbers are released one after the
        other (by default ``coef_`` and ``intercept_``, or the one that exists); or points at which
        it predicts; or a function of the fitted estimator.
    label : bool, default True
        Whether the last column is y; otherwise fit(data) gets all columns.
    timeout : float, seconds, optional
        The time that a draw may take.

    Examples
    --------
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
    release = partial(fitted, released(outputs))
    summary = "an estimator, fitted once a draw"
    fit = Fit(factory, check.boolean("label", label), release, summary)
    return one_draw(fit, timeout=timeout)


def fitted(outputs: Outputs, model: Any, training: tuple[Array, ...]) -> Any:
    model.fit(*training)
    return outputs(model)


def released(outputs: Outputs | str | Sequence[str] | ArrayLike) -> Outputs:
    """The function of a fitted estimator that `outputs` describes. Raises `InvalidInput`."""
    if callable(outputs):
        return outputs
    names = (outputs,) if isinstance(outputs, str) else outputs
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        return partial(attributes, tuple(names), outputs is FITTED)
    return partial(predictions, check.matrix("outputs", outputs))


def predictions(points: Array, model: Any) -> np.ndarray:
    return np.asarray(model.predict(points.copy())).ravel()


def attributes(names: tuple[str, ...], one_is_enough: bool, model: Any) -> Any:
    """Attributes of a fitted estimator: one vector if all are numbers, else a list. Raises
    AttributeError if it lacks one of them, or all of them where one is enough.
    """
    values = [getattr(model, name) for name in names if not one_is_enough or hasattr(model, name)]
    if not values:
        raise AttributeError(
            f"{type(model).__name__} has no {' or '.join(names)}: name its outputs"
        )
    arrays = [np.asarray(value) for value in values]
    numeric = all(array.dtype.kind in "fiub" for array in arrays)
    return np.concatenate([array.ravel() for array in arrays]) if numeric else values


def unfitted(
    factory: Factory, data: ArrayLike, label: bool, rng: np.random.Generator
) -> tuple[Any, tuple[Array, ...]]:
    """A new model, and the arguments of its `fit`: X and y if there is a `label`, or all columns.

    The model's seeds (`SEEDS`, in the order of names) are integers from `rng`. The arguments are
    copies.
    """
    is_model = hasattr(factory, "fit") and not isinstance(factory, type)
    model = copy.deepcopy(factory) if is_model else factory()
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        names = sorted(name for name in model.get_params() if name.rpartition("__")[2] in SEEDS)
        if names:
            model.set_params(**{name: int(rng.integers(LARGEST_SEED)) for name in names})
    else:
        for name in SEEDS:
            if hasattr(model, name):
                setattr(model, name, int(rng.integers(LARGEST_SEED)))
    columns = np.array(data, dtype=np.float64)
    return model, (columns[:, :-1], columns[:, -1]) if label else (columns,)


def transformer(
    factory: Factory,
    points: ArrayLike | None = None,
    *,
    label: bool = False,
    timeout: float | None = None,
) -> OneDraw:
    """Make a mechanism that fits a transformer on the database and releases transformed points.

    Parameters
    ----------
    factory : class, callable or transformer
        A class or function that makes an unfitted transformer, or a transformer to be copied; its
        seeds are set as in `estimator`. To release attributes such as ``components_``, use
        `estimator` instead.
    points : array of shape (m, p), optional
        The points to transform after `fit`. With None these are the training data, transformed by
        `fit_transform` if the model has it. If the points include the record that differs between
        the databases, as the training data do, the output reveals it unless the transformer
        promises noise for its outputs too.
    label, timeout : optional
        As in `estimator`, but by default fit(data) gets all columns.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> class NoisyCentre:
    ...     def __init__(self, seed=None):
    ...         self.seed = seed
    ...     def fit(self, X):
    ...         self.centre = X.mean() + np.random.default_rng(self.seed).laplace(scale=0.5)
    ...     def transform(self, X):
    ...         return X - self.centre
    >>> mechanism = dp.adapters.transformer(NoisyCentre, [[0.0], [1.0]])
    >>> print(mechanism(np.array([[1.0], [3.0]]), 1, rng=0)[0].round(2).tolist())
    [[-1.48], [-0.48]]
    """
    if not hasattr(factory, "fit") and not callable(factory):
        check.fail("factory", factory, "a transformer with fit, or a callable that makes one")
    matrix = None if points is None else check.matrix("points", points)
    what = "the training data" if matrix is None else f"{len(matrix)} points"
    summary = f"a transformer, fitted once a draw; released is what it makes of {what}"
    fit = Fit(factory, check.boolean("label", label), partial(transformed, matrix), summary)
    return one_draw(fit, timeout=timeout)


def transformed(points: Array | None, model: Any, training: tuple[Array, ...]) -> Any:
    """What a transformer makes of points, or of the training data if there are none."""
    if points is None and hasattr(model, "fit_transform"):
        output = model.fit_transform(*training)
    else:
        model.fit(*training)
        output = model.transform(training[0] if points is None else points.copy())
    sparse = hasattr(output, "toarray")  # of SciPy
    return output.toarray() if sparse else plain(output)
