"""The ε at which a neighbour is compared: one for all or, of a claim by distance, its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.curves.metric import MetricClaim
from dpaudit.report.text import number
from dpaudit.search.changes import Change

FARTHEST = 500.0  # nats, above which no claim is judged

EPSILON = np.concatenate([[0.0], np.geomspace(1e-3, 40.0, 2000)])  # nats


@dataclass(frozen=True)
class Database:
    """D, as `MetricClaim.on` asks for it, beside a neighbour."""

    left: Array
    right: Array

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Level:
    """Where δ of the neighbours of `data`, (n, d), is compared.

    epsilon : nats, for all. metric : instead of it, the claim whose ε depends on the neighbour.
    """

    data: Array
    epsilon: float
    metric: MetricClaim | None = None

    __repr__ = short_repr

    def of(self, right: Array) -> float:
        """ε of a neighbour, nats. Raises `InvalidInput` as `MetricClaim.on`."""
        if self.metric is None:
            return self.epsilon
        claimed = self.metric.on(Database(self.data, right)).epsilon
        assert claimed is not None
        return min(claimed, FARTHEST)

    def beyond(self, gain: float, change: Change) -> float:
        """The ε that a gain, nats a draw, would take, less the ε that the claim allows.

        Without it a far neighbour would seem worse than a near one, whose claim allows less. The
        largest gain under (ε, 0) is that of randomised response, log 2 − h(1/(1 + e^ε)) with h the
        entropy, since its pair dominates all others (Kairouz, Oh & Viswanath 2015, theorem 3.3).
        Where all are compared at one ε, the gain itself.
        """
        if self.metric is None:
            return gain
        taken = float(np.interp(gain, np.log(2.0) - entropy(EPSILON), EPSILON))
        return taken - self.of(change.pair(self.data).right)

    @property
    def text(self) -> str:
        """ "0.5", or "2·d (euclidean)"."""
        if self.metric is None:
            return number(self.epsilon)
        return f"{self.metric.epsilon:g}·d ({self.metric.named})"


def entropy(epsilon: Array) -> Array:
    """h(1/(1 + e^ε)), nats: what a randomised response at ε leaves unknown of a coin."""
    return np.asarray(np.logaddexp(0.0, -epsilon) + epsilon / (1.0 + np.exp(epsilon)))
