"""The privacy loss of a pair of laws by its moment functions, and its composition.

Independent losses add and their moment functions multiply, so a composition is inverted on a
contour like each of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.spectrum import Spectrum
from dpaudit.exact.numerics.contour import LossTransform, hockey_stick
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import Share
from dpaudit.exact.pairs.gaussian import Axes, diagonalise
from dpaudit.exact.zeroed_rows.gaussian_sketch import sketch_axes, sketch_curves

NEAR_ONE = 1e-6  # orders of Rényi divergence closer to 1 than this are expanded about it


@value_class
class PrivacyLoss:
    """The privacy loss of one release on a pair of databases, or of several releases together.

    L = log dP/dQ under P (forward) and log dQ/dP under Q (backward). Made by `gaussian_shift`,
    `gaussian_pair`, `gaussian_sketch`, or by `dpaudit.exact.privacy_loss(mechanism, pair)`.
    Independent releases on the same pair compose by `+` or `sum`, k copies of one by `k * loss`, as
    exactly as their parts.

    law : how δ is computed, in a few words. closed : ε ↦ (forward, backward) δ where a closed form
    is known.

    Examples
    --------
    >>> import dpaudit as dp
    >>> sketch = dp.exact.PrivacyLoss.gaussian_sketch(0.02, rows=50)
    >>> release = dp.exact.PrivacyLoss.gaussian_shift(0.3) + 10 * sketch
    >>> spectrum = release.spectrum([0.5, 1.0])
    """

    forward: LossTransform
    backward: LossTransform
    law: str
    closed: Callable[[ArrayLike], Curves] | None = None

    @classmethod
    def gaussian_shift(cls, mu: float) -> PrivacyLoss:
        """N(0, 1) against N(μ, 1), or any Gaussian moved by μ ≥ 0 standard deviations."""
        mu = check.real("mu", mu, 0.0)
        axes = Axes.of_excess(np.array([mu]), np.zeros(1), np.ones(1))
        return cls(*axes.transforms(), "Gaussian shift", lambda e: (gaussian_shift(mu, e),) * 2)

    @classmethod
    def gaussian_pair(
        cls, mean1: ArrayLike, cov1: ArrayLike, mean2: ArrayLike, cov2: ArrayLike
    ) -> PrivacyLoss:
        """N(mean1, cov1) against N(mean2, cov2), arguments as of `dpaudit.exact.gaussian_pair`."""
        axes = diagonalise(mean1, cov1, mean2, cov2)
        if axes is None:
            return cls.disjoint("Gaussian pair, singular")
        return cls.of_axes(axes, "Gaussian pair")

    @classmethod
    def gaussian_sketch(cls, leverage: float, rows: int) -> PrivacyLoss:
        """`rows` Gaussian rows, one database row zeroed (`dpaudit.exact.gaussian_sketch`)."""
        leverage = check.real("leverage", leverage, 0.0, 1.0)
        return cls.of_sketch(Share.of(leverage), check.integer("rows", rows, 1))

    @classmethod
    def of_sketch(cls, q: Share, rows: int) -> PrivacyLoss:
        """The loss of `gaussian_sketch` for a leverage q stored together with 1 − q."""
        name = "Gaussian rows (chi-square)"
        if q.rest == 0.0:
            return cls.disjoint(name)
        return cls(*sketch_axes(q, rows).transforms(), name, lambda e: sketch_curves(q, rows, e))

    @classmethod
    def of_axes(cls, axes: Axes, law: str) -> PrivacyLoss:
        """The loss of two Gaussians that are diagonal on the same axes."""
        if axes.distance is not None:
            return cls.gaussian_shift(axes.distance)
        return cls(*axes.transforms(), law, axes.delta)

    @classmethod
    def disjoint(cls, law: str) -> PrivacyLoss:
        """Laws that share no output: δ(ε) = 1 throughout."""
        return cls(DISJOINT, DISJOINT, law)

    def reversed(self) -> PrivacyLoss:
        """The two directions swapped."""
        closed = self.closed
        return PrivacyLoss(
            self.backward,
            self.forward,
            self.law,
            None if closed is None else lambda epsilon: closed(epsilon)[::-1],
        )

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Raises `NoExactSpectrum` where a composition has no δ of checked accuracy.
        """
        if self.closed is not None:
            return self.closed(epsilon)
        return by_sorted_epsilon(
            epsilon, lambda e: (hockey_stick(self.forward, e), hockey_stick(self.backward, e))
        )

    def spectrum(self, epsilon: ArrayLike) -> Spectrum:
        """The exact `Spectrum` at each ε ≥ 0, nats, a number or an array of shape (m,)."""
        epsilon = check.epsilon(epsilon)
        return Spectrum.of_directions(epsilon, *self.delta(epsilon), self.law).replace(curve=self)

    def renyi(self, order: float) -> tuple[float, float]:
        """(forward, backward) Rényi divergences of an order > 0, nats; order 1 is KL."""
        order = check.real("order", order, 0.0, open_=True)
        # + 0.0: never −0.0
        return _renyi(self.forward, order - 1.0) + 0.0, _renyi(self.backward, order - 1.0) + 0.0

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest loss in each direction; δ(ε) = 0 from there on. Infinite if unbounded."""
        forward, backward = (  # + 0.0: never −0.0
            float("inf") if transform.floor > 0.0 else transform.maximum + 0.0
            for transform in (self.forward, self.backward)
        )
        return forward, backward

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        return compose([self, other]) if isinstance(other, PrivacyLoss) else NotImplemented

    def __radd__(self, nothing: int) -> PrivacyLoss:
        """The release itself after 0, from which `sum` starts."""
        return self if type(nothing) is int and nothing == 0 else NotImplemented

    def __mul__(self, times: int) -> PrivacyLoss:
        return NotImplemented if isinstance(times, PrivacyLoss) else compose([self], [times])

    __rmul__ = __mul__


def compose(losses: Sequence[PrivacyLoss], times: Sequence[int] | None = None) -> PrivacyLoss:
    """The privacy loss of independent releases on the same pair: their losses add.

    losses : at least one `PrivacyLoss`. times : how often each is released, integers ≥ 1; once each
    by default. It covers non-adaptive releases, and adaptive ones if each release has the same pair
    of laws whatever came before it. Composition theorems bound the same quantity.

    Examples
    --------
    >>> import dpaudit as dp
    >>> shift = dp.exact.PrivacyLoss.gaussian_shift(0.1)
    >>> sketch = dp.exact.PrivacyLoss.gaussian_sketch(0.02, rows=50)
    >>> both = dp.exact.compose([shift, sketch], times=[10, 1])
    >>> print(both.spectrum([0.5, 2.0]).delta)
    [1.23531722e-02 2.08675920e-10]
    """
    losses = list(losses)
    times = [1] * len(losses) if times is None else list(times)
    for loss in losses:
        if not isinstance(loss, PrivacyLoss):
            fail("losses", type(loss).__name__, "a sequence of dpaudit.exact.PrivacyLoss")
    if not losses or len(times) != len(losses):
        expected = f"one count for each of {len(losses)} losses, which must be at least 1"
        fail("times", times, expected)
    times = [check.integer("times", k, 1) for k in times]
    if len(losses) == 1 and times == [1]:
        return losses[0]
    pairs = list(zip(losses, times, strict=True))
    return PrivacyLoss(
        _product([(loss.forward, k) for loss, k in pairs]),
        _product([(loss.backward, k) for loss, k in pairs]),
        " + ".join(f"{k} × {loss.law}" if k > 1 else loss.law for loss, k in pairs),
    )


def _product(parts: list[tuple[LossTransform, int]]) -> LossTransform:
    """The transform of a sum of independent losses, each with its number of copies."""
    if any(part.floor == 1.0 for part, _ in parts):
        return DISJOINT
    return LossTransform(
        lambda s: np.asarray(sum(k * part.log_m(s) for part, k in parts)),
        lambda s: np.asarray(sum(k * part.slope(s) for part, k in parts)),
        lambda s: np.asarray(sum(k * part.curvature(s) for part, k in parts)),
        end=min(part.end for part, _ in parts),
        maximum=float(sum(k * part.maximum for part, k in parts)),
        floor=float(-np.expm1(sum(k * np.log1p(-part.floor) for part, k in parts))),
    )


def _renyi(transform: LossTransform, s: float) -> float:
    """K(s)/s at s = order − 1, with K = log E[e^{sL}]; infinite beyond the domain, and from order 1
    on where the loss can be infinite.
    """
    if s >= transform.end or (transform.floor > 0.0 and s >= 0.0):
        return float("inf")
    origin = np.zeros(1)
    if abs(s) < NEAR_ONE and transform.floor == 0.0:
        return float(transform.slope(origin)[0] + 0.5 * s * transform.curvature(origin)[0])
    return max(float(transform.log_m(np.array([s + 0j]))[0].real) / s, 0.0)


DISJOINT = LossTransform(
    log_m=lambda s: np.full(s.shape, -np.inf, dtype=complex),
    slope=np.zeros_like,
    curvature=np.zeros_like,
    end=np.inf,
    maximum=0.0,
    floor=1.0,
)
