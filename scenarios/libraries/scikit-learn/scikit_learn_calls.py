"""An own mechanism on scikit-learn, which promises no privacy itself."""

from __future__ import annotations

from typing import Any

import numpy as np


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
