"""What eeprivacy releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from eeprivacy_calls import _batch


def vector_mean_laplace(epsilon: float, rows: int, columns: int) -> Any:
    """PrivateVectorClampedMeanLaplace of vectors in [0, 1]^columns, `rows` public: (ε, 0).

    The package asks for a δ and does not use it.
    """
    from eeprivacy.operations import PrivateVectorClampedMeanLaplace

    mean = PrivateVectorClampedMeanLaplace(lower_bound=0.0, upper_bound=1.0, k=columns, N=rows)
    return _batch(lambda data: mean.execute(vectors=data, epsilon=epsilon, delta=0.0))


def quantile(epsilon: float, level: float) -> Any:
    """PrivateQuantile at a level: 0.25 or 0.75, the two options. (ε, 0)."""
    from eeprivacy.operations import PrivateQuantile

    chosen = PrivateQuantile(options=[0.25, 0.75])
    return _batch(lambda data: chosen.execute(values=data[:, 0], epsilon=epsilon, quantile=level))
