"""The type that exact analysis and audits share: a privacy spectrum δ(ε), exact or estimated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from dpaudit._core import check
from dpaudit._core.frame import frame
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves import readings
from dpaudit.errors import NoExactSpectrum

COLUMNS = ("epsilon", "delta", "forward", "backward", "low", "index", "candidate", "asymptotic")


class Curve(Protocol):
    """An exact spectrum at any ε. Each method returns a pair (forward, backward)."""

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """Return δ at each ε ≥ 0, nats, a scalar or an array (m,), in the same shape."""
        ...

    def renyi(self, order: float) -> tuple[float, float]:
        """Rényi divergence of an order > 0, nats, possibly infinite. Raises `NoExactSpectrum`."""
        ...

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest privacy loss, infinite if unbounded; δ(ε) = 0 from there on."""
        ...


@value_class
class Spectrum:
    """δ(ε) of an ordered or unordered pair, or of a mechanism on a database.

    Attributes
    ----------
    epsilon : array of shape (m,), or a scalar one, nats
        The grid, float64.
    delta : array of the same shape
        The larger of the two directions, in [0, 1]. An estimate where `level` is set, an upper
        bound where `low` is set alone.
    forward : array of the same shape or None
        Full → zeroed (left against right).
    backward : array of the same shape or None
        The reverse.
    low : array of the same shape or None
        Certified lower bound, simultaneous over ε and both directions at `level`. Beside the upper
        bound of an accountant, a lower bound of the curve of the worst case, without a level.
    level : float or None
        Confidence of `low`; None for an analytic spectrum.
    index : integer array of the same shape or None
        The row that attains `delta` (worst case over a database).
    law : str
        How the numbers were obtained, in a few words.
    asymptotic : array of the same shape or None
        The large-`rows` Gaussian approximation beside an exact curve.
    candidate : integer array of the same shape or None
        The candidate row that attains `delta` (worst replacement).
    curve : Curve or None
        The exact curve itself, at any ε; None for an estimate.
    interval : array of shape (2, m) or None
        Two-sided interval of the point estimate, at `level` for all ε at once, for the score used;
        None where there is none. It is one of the largest value among the sets {score > τ} and
        their complements, which is at most δ. δ itself has no upper bound from draws.

    Notes
    -----
    Readings: `delta_at`, `epsilon_at`, `total_variation`, `tradeoff` and `gdp_mu` are exact with a
    `curve`. Without one they go by chords in e^ε between the grid's points, an upper bound of a
    curve through them, and raise `InvalidInput` outside the grid. `renyi` and `pure_epsilon` need a
    `curve`, else they raise `NoExactSpectrum`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> X, y = dp.datasets.load("diabetes")
    >>> data = np.column_stack([X, y])
    >>> worst = dp.exact.worst_case(dp.mechanisms.GaussianLS(sigma=100.0), data, [0.5, 1.0])
    >>> print(worst.delta, worst.index)
    [0.63284647 0.54941446] [169 169]
    >>> round(float(worst.epsilon_at(1e-5)), 4), round(float(worst.total_variation), 4)
    (10.7116, 0.7097)
    """

    epsilon: Array
    delta: Array
    forward: Array | None = None
    backward: Array | None = None
    low: Array | None = None
    level: float | None = None
    index: np.ndarray | None = None
    law: str = ""
    asymptotic: Array | None = None
    candidate: np.ndarray | None = None
    curve: Curve | None = None
    interval: Array | None = None

    def __repr__(self) -> str:
        points = np.atleast_1d(self.epsilon)
        grid = f"{len(points)} ε from {points.min():g} to {points.max():g}"
        law = f", {self.law}" if self.law else ""
        return f"Spectrum({grid if len(points) > 1 else f'ε = {points[0]:g}'}{law})"

    @classmethod
    def of_directions(
        cls, epsilon: Array, forward: Array, backward: Array, law: str = ""
    ) -> Spectrum:
        return cls(epsilon, np.maximum(forward, backward), forward, backward, law=law)

    def replace(self, **changes: Any) -> Spectrum:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def to_frame(self) -> Any:
        """The curve as a table with a row for each ε of the grid.

        Its columns are `epsilon` (nats), `delta`, and those of `forward`, `backward`, `low`,
        `index`, `candidate` and `asymptotic` that are known; `interval_low` and `interval_high` are
        the ends of `interval`. It is a pandas.DataFrame, and pandas must be installed.
        """
        low, high = (None, None) if self.interval is None else self.interval
        known = {name: getattr(self, name) for name in COLUMNS}
        known |= {"interval_low": low, "interval_high": high}
        return frame({k: np.atleast_1d(part) for k, part in known.items() if part is not None})

    def delta_at(self, epsilon: ArrayLike) -> Array:
        """δ at other ε ≥ 0, nats, a number or an array of shape (k,), in that shape.

        Raises `InvalidInput` outside the grid of an estimate.
        """
        epsilon = check.epsilon(epsilon)
        return self._largest(epsilon) if self.curve is not None else self._chords(epsilon)

    def epsilon_at(self, delta: ArrayLike) -> Array:
        """The smallest ε ≥ 0 with δ(ε) ≤ delta, nats; infinite where the curve stays above it.

        delta, in [0, 1], is a number or an array of shape (k,); the result has the same shape.
        At delta = 0 it is the ε of pure DP. Raises `InvalidInput` where it is outside the grid of
        an estimate.
        """
        if self.curve is None:
            return self._chords.epsilon_at(delta)
        return readings.epsilon_at(self._largest, delta, max(self.curve.supremum))

    @property
    def total_variation(self) -> float:
        """δ(0): the most by which the probability of any event differs."""
        return float(self.delta_at(0.0))

    def tradeoff(self, alpha: ArrayLike) -> Array:
        """β(α), the least type II error at type I error α in [0, 1] that δ(ε) implies.

        α is a number or an array of shape (k,); the result has the same shape. β is symmetric
        and convex, as δ is the larger direction at every ε. For an estimate β is what the points of
        its grid imply.
        """
        if self.curve is None:
            return self._chords.tradeoff(alpha)
        return readings.tradeoff(self._largest, alpha)

    def gdp_mu(self, epsilon: ArrayLike) -> Array:
        """The μ of the Gaussian shift with the same δ at each ε.

        ε ≥ 0, nats, is a number or an array of shape (k,), which is the shape of the result. It is
        0 where δ = 0, infinite where δ = 1. Raises `InvalidInput` outside the grid of an estimate.
        """
        epsilon = check.epsilon(epsilon)
        return readings.gdp_mu(epsilon, self.delta_at(epsilon))

    def renyi(self, order: ArrayLike) -> Array:
        """The larger direction's Rényi divergence at each order > 0, nats; order 1 is KL.

        `order` is a number or an array of shape (k,); the result has the same shape. Raises
        `NoExactSpectrum` for an estimate.
        """
        orders = readings.orders(order)
        curve = self._exact("Rényi divergences")
        divergences = [max(curve.renyi(float(each))) for each in orders.ravel()]
        return np.array(divergences).reshape(orders.shape)

    @property
    def pure_epsilon(self) -> float:
        """The largest privacy loss of either direction, nats; infinite if it is unbounded.

        δ(ε) = 0 from there on. Raises `NoExactSpectrum` for an estimate.
        """
        return float(max(self._exact("a pure epsilon").supremum))

    def _exact(self, value: str) -> Curve:
        if self.curve is None:
            raise NoExactSpectrum(
                f"{value} cannot be had from δ on a grid of ε; only an exact spectrum carries them"
            )
        return self.curve

    def _largest(self, epsilon: Array) -> Array:
        """δ, 0 beyond the curve's supremum, where it is not called: searches go to ε = 1e9."""
        assert self.curve is not None
        limit = max(self.curve.supremum)
        delta = np.maximum(*self.curve.delta(np.minimum(epsilon, limit)))
        return np.where(epsilon < limit, delta, 0.0)

    @property
    def _chords(self) -> readings.Chords:
        return readings.Chords.of(self.epsilon, self.delta)
