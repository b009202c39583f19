"""What released libraries do, as mechanisms to audit: each library is imported when one of its own
is called.

The functions end in the claim that the library states for them. Data are (n, d) with the label
last. `linear`, `logistic` and `scaler` make estimators (kind = "estimator"), the other names of
diffprivlib give one output a call (batched = false), and the rest `size` draws. diffprivlib takes
the draw's own seed as random_state, which makes its audits repeatable; opendp draws from the
operating system, cannot be seeded, and no run of it comes again digit by digit.
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


class Measured:
    """opendp's mean of the label with Laplace noise (ε), Gaussian noise (`rho`), or mean and sum
    composed (ε).

    The scale is what the bounds and n call for, and opendp's own map must agree that a changed row
    costs no more than what is claimed. Between databases of one size a changed row is at symmetric
    distance 2.
    """

    def __init__(self, kind: str, claim: float, y: Bounds) -> None:
        self.kind, self.claim, self.bounds = kind, claim, tuple(y)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        values = np.clip(data[:, -1], *self.bounds).tolist()
        measurement = self._measurement(len(values))
        return np.array([measurement(values) for _ in range(size)], dtype=np.float64)

    def _measurement(self, n: int) -> Any:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        domain = dp.vector_domain(dp.atom_domain(bounds=self.bounds), size=n)
        space, width = (domain, dp.symmetric_distance()), self.bounds[1] - self.bounds[0]
        mean, total = dp.t.make_mean(*space), dp.t.make_sum(*space)
        if self.kind == "gaussian":
            made = mean >> dp.m.then_gaussian(scale=width / n / np.sqrt(2 * self.claim))
        elif self.kind == "laplace":
            made = mean >> dp.m.then_laplace(scale=width / n / self.claim)
        else:
            halves = [(mean, 2 * width / n / self.claim), (total, 2 * width / self.claim)]
            made = dp.c.make_composition(
                [part >> dp.m.then_laplace(scale=scale) for part, scale in halves]
            )
        return _agreed(made, self.claim)


class MeasuredScalar:
    """opendp's noise on a mean that numpy has taken, for large databases: Laplace (ε) or Gaussian
    (`rho`).

    Of another row the mean moves by (largest − least)/n at most.
    """

    def __init__(self, kind: str, claim: float, y: Bounds) -> None:
        self.kind, self.claim, self.bounds = kind, claim, tuple(y)

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        sensitivity = (self.bounds[1] - self.bounds[0]) / len(data)
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        if self.kind == "gaussian":
            made = dp.m.make_gaussian(*space, scale=sensitivity / np.sqrt(2 * self.claim))
        else:
            made = dp.m.make_laplace(*space, scale=sensitivity / self.claim)
        measurement, mean = (
            _agreed(made, self.claim, sensitivity),
            float(np.clip(data[:, -1], *self.bounds).mean()),
        )
        return np.array([measurement(mean) for _ in range(size)])


class Ridge:
    """scikit-learn's Ridge, no intercept, with Laplace noise on every coefficient: (ε, 0), a row
    zeroed.

    With ‖x‖ ≤ a (scaled down to it), |y| ≤ b (clipped), F(w) = Σ(y − x·w)² + α‖w‖² is 2α-strongly
    convex. A row (x, y) that is zeroed changes ∇F at the minimum w by 2x(y − x·w), so w by at most
    a|y − x·w|/α in norm, √d times that in the sum of absolute values; and (y − x·w)² ≤ F(w) ≤ F(0)
    ≤ nb².
    """

    def __init__(self, epsilon: float, x: float, y: float, alpha: float) -> None:
        self.epsilon, self.x, self.y, self.alpha = epsilon, x, y, alpha

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> Any:
        from sklearn import linear_model

        X, y = _within(data[:, :-1], self.x), np.clip(data[:, -1], -self.y, self.y)
        fitted = linear_model.Ridge(alpha=self.alpha, fit_intercept=False).fit(X, y)
        scale = self.x * self.y * np.sqrt(len(y) * X.shape[1]) / (self.alpha * self.epsilon)
        return fitted.coef_ + rng.laplace(scale=scale, size=(size, X.shape[1]))


def _within(X: Any, norm: float) -> Any:
    """Rows scaled down to the norm where they are longer."""
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True) / norm, 1.0)


def _agreed(measurement: Any, claim: float, distance: float = 2) -> Any:
    """The measurement, if its own map promises the claim, rounding apart."""
    promised = measurement.map(distance)
    if promised > claim * (1 + 1e-9):
        raise ValueError(f"opendp promises {promised}, claimed is {claim}")
    return measurement
