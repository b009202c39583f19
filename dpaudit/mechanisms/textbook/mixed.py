"""A release of three kinds of numbers: a flag, a count and a real number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit.laws import Discrete, Laplace, Product
from dpaudit.mechanisms.example import PureExample, pair_of
from dpaudit.mechanisms.parameters import Positive
from dpaudit.neighbours import NeighbourPair

FAR = 690.0  # nats: noise of the count whose probability is below e^−690 ≈ 1e-300 is left out


@dataclass(frozen=True)
class MixedRelease(PureExample):
    """A flag, a count and a sum of the same rows, ε/3 each.

    The first row's flag is released by randomised response, the number of flags that are set with
    two-sided geometric noise, and the sum of the values, clipped to [0, 1], with Laplace noise.

    Data: (n, 2), flags and values. Output: (size, 3).
    """

    epsilon: Positive = 1.0
    sound = True
    source = "Warner 1965; Ghosh, Roughgarden & Sundararajan 2009; Dwork et al. 2006, composed"
    summary = "a flag, a count and a real"

    @property
    def share(self) -> float:
        """ε/3, of each of the three releases."""
        return self.epsilon / 3.0

    def _answers(self, data: Array) -> tuple[float, float, float]:
        data = check.matrix("data", data, 1, 2)
        if data.shape[1] != 2 or not np.isin(data[:, 0], (0.0, 1.0)).all():
            fail(
                "data", Words(f"shape {data.shape}"), "two columns, of flags (0 or 1) and of values"
            )
        return (
            float(data[0, 0]),
            float(data[:, 0].sum()),
            float(np.clip(data[:, 1], 0.0, 1.0).sum()),
        )

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The three releases side by side."""
        flag, count, total = self._answers(data)
        kept = np.where(rng.random(size) < 1.0 / (1.0 + np.exp(-self.share)), flag, 1.0 - flag)
        tries = rng.geometric(-np.expm1(-self.share), (2, size))
        noisy = count + tries[0] - tries[1]
        return np.column_stack([kept, noisy, total + rng.laplace(0.0, 1.0 / self.share, size)])

    def law(self, data: Array) -> Product:
        """The product of the three laws."""
        flag, count, total = self._answers(data)
        odds = np.log1p(np.exp(-self.share))
        kept = Discrete(np.array([flag, 1.0 - flag]), np.array([-odds, -odds - self.share]))
        return Product(
            (kept, self._noisy(count), Laplace(np.array([total]), np.array([1.0 / self.share])))
        )

    def _noisy(self, count: float) -> Discrete:
        """The law of the noisy count.

        A value beyond the range is replaced by its end, so that all data have the same outcomes.
        """
        reach = np.ceil(FAR / self.share)
        values = np.arange(-reach, reach + 1.0)
        log_p = -np.abs(values - count) * self.share + np.log(np.tanh(0.5 * self.share))
        log_p[[0, -1]] -= np.log(-np.expm1(-self.share))
        return Discrete(values, log_p)

    def pair(self) -> NeighbourPair:
        """The first row has flag 0 and value 0, against 1 and 1."""
        rest = [[1.0, 0.5], [0.0, 0.25], [1.0, 0.75]]
        return pair_of([[0.0, 0.0], *rest], [[1.0, 1.0], *rest])
