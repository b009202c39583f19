"""What diffprivlib releases, as mechanisms to audit: imported when one is called.

Data are (n, d) with the label last. `linear`, `logistic`, `scaler` and `model` make estimators, for
kind = "estimator"; `Mean` and `Histogram` give one output a call (batched = false); the other
classes give a batch. All are seeded by random_state: an audit comes again digit by digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Bounds = Sequence[float]  # least and largest value


def linear(epsilon: float, x: Bounds, y: Bounds, intercept: bool) -> Any:
    """diffprivlib's LinearRegression with public bounds of all features and the target: (ε, 0)."""
    from diffprivlib.models import LinearRegression

    return LinearRegression(
        epsilon=epsilon, bounds_X=tuple(x), bounds_y=tuple(y), fit_intercept=intercept
    )


def logistic(epsilon: float, norm: float, intercept: bool) -> Any:
    """diffprivlib's LogisticRegression on rows of norm at most `norm`: (ε, 0)."""
    from diffprivlib.models import LogisticRegression

    return LogisticRegression(epsilon=epsilon, data_norm=norm, fit_intercept=intercept)


def logistic_above(epsilon: float, norm: float, intercept: bool, threshold: float) -> Any:
    """The same, of whether the label is above a public threshold."""
    from diffprivlib.models import LogisticRegression

    class Above(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X, y > threshold)

    return Above(epsilon=epsilon, data_norm=norm, fit_intercept=intercept)


def scaler(epsilon: float, x: Bounds) -> Any:
    """diffprivlib's StandardScaler, the mean and the variance of each feature within bounds: (ε,
    0).
    """
    from diffprivlib.models import StandardScaler

    return StandardScaler(epsilon=epsilon, bounds=tuple(x))


class Mean:
    """diffprivlib's tools.mean of the label, clipped to bounds: (ε, 0)."""

    def __init__(self, epsilon: float, y: Bounds) -> None:
        self.epsilon, self.bounds = epsilon, tuple(y)

    def __call__(self, data: Any, *, rng: np.random.Generator) -> float:
        from diffprivlib import tools

        seed = int(rng.integers(2**31 - 1))
        return float(
            tools.mean(data[:, -1], epsilon=self.epsilon, bounds=self.bounds, random_state=seed)
        )


class Histogram:
    """diffprivlib's tools.histogram of the label in `bins` equal bins of a public range: (ε, 0)."""

    def __init__(self, epsilon: float, y: Bounds, bins: int) -> None:
        self.epsilon, self.range, self.bins = epsilon, tuple(y), bins

    def __call__(self, data: Any, *, rng: np.random.Generator) -> Any:
        from diffprivlib import tools

        seed = int(rng.integers(2**31 - 1))
        return tools.histogram(
            data[:, -1], epsilon=self.epsilon, bins=self.bins, range=self.range, random_state=seed
        )[0]


class Tool:
    """A function of diffprivlib.tools on one column, on two, or on all as a matrix (`columns` = 0).

    missing : the code that stands for NaN in the data, which dpaudit reads without gaps. weighted :
    the last column holds weights. Other keywords are the function's own.
    """

    def __init__(
        self,
        function: str,
        columns: int = 1,
        missing: float | None = None,
        weighted: bool = False,
        **options: Any,
    ) -> None:
        self.function, self.columns, self.missing = function, columns, missing
        self.weighted, self.options = weighted, _tuples(options)

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        from diffprivlib import tools

        values = np.where(data == self.missing, np.nan, data)
        columns = [values[:, place] for place in range(self.columns)] or [values]
        weights = {"weights": values[:, -1]} if self.weighted else {}
        random = _random(rng)
        draws = [
            getattr(tools, self.function)(*columns, random_state=random, **weights, **self.options)
            for _ in range(size)
        ]
        return [np.ravel(one[0] if isinstance(one, tuple) else one).tolist() for one in draws]


class Mechanism:
    """A class of diffprivlib.mechanisms on the one value of the database, with its own keywords.

    labels : the value is the number of a text. whole : it is an integer. start : a constant that is
    added to it, exactly.
    """

    def __init__(
        self,
        name: str,
        labels: Sequence[str] = (),
        whole: bool = False,
        start: int = 0,
        **options: Any,
    ) -> None:
        self.name, self.labels, self.whole = name, list(labels), whole
        self.start, self.options = start, options

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        made, value = _mechanism(self.name, rng, **self.options), self._value(data[0, 0])
        draws = [made.randomise(value) for _ in range(size)]
        return np.array([self.labels.index(one) for one in draws] if self.labels else draws)

    def _value(self, cell: float) -> Any:
        if self.labels:
            return self.labels[int(cell)]
        return self.start + int(cell) if self.whole else float(cell)


class Selection:
    """A selection of diffprivlib.mechanisms; the utilities are the one row of the database."""

    def __init__(self, name: str, **options: Any) -> None:
        self.name, self.options = name, options

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        made = _mechanism(self.name, rng, utility=data[0].tolist(), **self.options)
        return np.array([made.randomise() for _ in range(size)])


class Components:
    """models.PCA of rows of norm at most 1, centred before: (ε, 0).

    Sizes of the entries of the first component, and its variance. features : the rows are filled up
    with zeros to this length. dims : components.
    """

    def __init__(self, epsilon: float, features: int, dims: int) -> None:
        self.epsilon, self.features, self.dims = epsilon, features, dims

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        X, random = _filled(data, self.features), _random(rng)
        return np.array([self._fitted(X, random) for _ in range(size)])

    def _fitted(self, X: Any, random: Any) -> Any:
        kept = {"n_components": self.dims, "centered": True, "data_norm": 1.0}
        fitted = model("PCA", epsilon=self.epsilon, random_state=random, **kept).fit(X)
        return np.r_[np.abs(fitted.components_[0]), fitted.explained_variance_]


class Minimiser:
    """mechanisms.Vector on the mean logistic loss of one feature: where the noisy one is least.

    norm : bound of the feature. alpha : of alpha‖w‖²/2n, which the mechanism asks for.
    """

    def __init__(self, epsilon: float, norm: float, alpha: float) -> None:
        self.epsilon, self.norm, self.alpha = epsilon, norm, alpha

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        from scipy.optimize import minimize_scalar

        x, y = np.clip(data[:, 0], -self.norm, self.norm), np.sign(data[:, 1])

        def loss(w: float) -> Any:
            return np.logaddexp(0, -y * x * w).mean() + self.alpha * w * w / 2 / len(y)

        options = {"dimension": 1, "function_sensitivity": 0.25, "data_sensitivity": self.norm}
        made = _mechanism(
            "Vector", rng, epsilon=self.epsilon, alpha=self.alpha, n=len(y), **options
        )
        return np.array([minimize_scalar(made.randomise(loss)).x for _ in range(size)])


class Clusters:
    """models.KMeans, its attributes named by `outputs`: (ε, 0)."""

    def __init__(self, outputs: Sequence[str], **options: Any) -> None:
        self.outputs, self.options = outputs, options

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        random = _random(rng)
        draws = [
            model("KMeans", random_state=random, **self.options).fit(data) for _ in range(size)
        ]
        return np.array(
            [np.hstack([np.ravel(getattr(one, key)) for key in self.outputs]) for one in draws]
        )


def model(name: str, **options: Any) -> Any:
    """An estimator of diffprivlib.models with its own keywords: (ε, 0)."""
    from diffprivlib import models

    return getattr(models, name)(**_tuples(options))


def votes(forest: Any) -> Any:
    """What each tree of a forest says at the least value of its features."""
    least = np.atleast_2d(forest.bounds[0]).astype(np.float32)
    return [int(tree.tree_.predict(least).argmax()) for tree in forest.estimators_]


def classes_and_means(model: Any) -> Any:
    """Of a fitted naive Bayes classifier: classes, their noisy sizes, means and variances."""
    fitted = (model.classes_, model.class_count_, model.theta_, model.var_)
    return [np.ravel(one).tolist() for one in fitted]


def _filled(data: Any, features: int) -> Any:
    return np.pad(data, ((0, 0), (0, features - data.shape[1])))


def _mechanism(name: str, rng: np.random.Generator, **options: Any) -> Any:
    from diffprivlib import mechanisms

    return getattr(mechanisms, name)(random_state=_random(rng), **options)


def _random(rng: np.random.Generator) -> np.random.RandomState:
    return np.random.RandomState(int(rng.integers(2**31 - 1)))


def _tuples(options: dict[str, Any]) -> dict[str, Any]:
    """diffprivlib wants bounds and ranges as tuples; TOML has lists."""
    named = ("bounds", "bounds_X", "bounds_y")
    return {key: tuple(one) if key in named else one for key, one in options.items()}
