"""What diff-priv-laplace-python releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from diff_priv_laplace_python_calls import _above_half, _batch


def statistic(name: str, epsilon: float) -> Any:
    """DiffPrivStatistics.min, max, median, sum, mean or variance of the first column."""
    from diffpriv_laplace import DiffPrivStatistics

    release = getattr(DiffPrivStatistics, name)
    return _batch(lambda data: release(data[:, 0], epsilon))


def sanitizer(epsilon: float, postprocess: bool) -> Any:
    """DiffPrivLaplaceSanitizer.count of the values above 0.5 and of the others."""
    from diffpriv_laplace import DiffPrivLaplaceSanitizer

    selectors = [_above_half, lambda values: values <= 0.5]
    return _batch(
        lambda data: DiffPrivLaplaceSanitizer.count(
            data[:, 0], selectors, epsilon, postprocess=postprocess
        )
    )
