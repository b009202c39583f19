"""What pipeline-dp releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from typing import Any

from pipeline_dp_calls import Aggregate


class Moments(Aggregate):
    """What the COUNT, MEAN and VARIANCE of partition 0 tell together: (ε, δ) as they have.

    The noisy count, sum and sum of squares from which PipelineDP computes them, each normalised
    by the middle of the bounds. They are computed from its answer alone.
    """

    def _draw(self, pipeline_dp: Any, rows: Any) -> Any:
        variance, count, _, mean = super()._draw(pipeline_dp, rows)[0]
        middle = (self.bounds["min_value"] + self.bounds["max_value"]) / 2
        mean, divisor = mean - middle, max(1.0, count)
        return [count, mean * divisor, (variance + mean**2) * divisor]
