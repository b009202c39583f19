"""Transformers with the methods of scikit-learn, fitted once a draw; scikit-learn is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike
from dpaudit.adapters.described import fixed
from dpaudit.adapters.models.estimators import Factory, arguments, made_by, unfitted
from dpaudit.adapters.single import OneDraw, one_draw
from dpaudit.adapters.tables.outputs import plain


@dataclass(frozen=True, eq=False)
class Transformed:
    """f(data, rng=...) → what a transformer that was fitted on the data makes of points.

    factory, label : as in `transformer`. points : (m, p), or None for the training data.
    """

    factory: Factory
    points: Array | None
    label: bool

    __repr__ = short_repr

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Any:
        """One output."""
        model, given = unfitted(self.factory, rng), arguments(data, self.label)
        if self.points is None and hasattr(model, "fit_transform"):
            return _dense(model.fit_transform(*given))
        model.fit(*given)
        return _dense(model.transform(given[0] if self.points is None else self.points.copy()))

    @property
    def name(self) -> str:
        """The name of the class or function that makes the transformer."""
        return made_by(self.factory)

    @property
    def summary(self) -> str:
        """One line for reports."""
        of = "the training data" if self.points is None else f"{len(self.points)} points"
        return f"a transformer, fitted once a draw; released is what it makes of {of}"

    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of a partial factory, as text where they are not numbers."""
        return fixed(self.factory)


def transformer(
    factory: Factory,
    points: ArrayLike | None = None,
    *,
    label: bool = False,
    timeout: float | None = None,
) -> OneDraw:
    """A mechanism that fits a transformer on the database and releases what it makes of points.

    Parameters
    ----------
    factory : class, callable or transformer
        A class or function that makes an unfitted transformer, or a transformer to be copied; its
        seeds are set as in `estimator`. Of attributes, such as ``components_``, `estimator` makes a
        mechanism.
    points : array of shape (m, p), optional
        To transform after `fit`; None for the training data, by `fit_transform` where there is one.
        Points that hold the record that differs, as the training data do, give it away unless the
        transformer promises noise for them too.
    label : bool, default False
        Whether the last column is y; otherwise fit(data) gets all columns.
    timeout : float, seconds, optional
        Time that one draw may take.

    Returns
    -------
    OneDraw

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    Errors and warnings of the transformer are as in `one_draw`.

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
    given = None if points is None else check.matrix("points", points)
    return one_draw(Transformed(factory, given, check.boolean("label", label)), timeout=timeout)


def _dense(output: Any) -> Any:
    """The output as an outcome; sparse matrices of SciPy as arrays."""
    return output.toarray() if hasattr(output, "toarray") else plain(output)
