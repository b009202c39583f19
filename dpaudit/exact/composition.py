"""The privacy loss of a pair of laws by its moment functions, and its composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.shown.short_repr import shape_repr
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.curves.spectrum import Spectrum
from dpaudit.exact.numerics import contour
from dpaudit.exact.numerics.contour import LossTransform
from dpaudit.exact.numerics.gaussian_axes import Axes
from dpaudit.exact.numerics.share import Share
from dpaudit.exact.numerics.signed_curve import Delta
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.pairs.gaussian import diagonalise
from dpaudit.exact.wishart_composition import WishartComposition, WishartPart
from dpaudit.exact.zeroed_rows.additive_wishart import additive_wishart
from dpaudit.exact.zeroed_rows.gaussian_sketch import sketch_axes, sketch_curves
from dpaudit.exact.zeroed_rows.wishart_loss import WishartLoss

NEAR_ONE = 1e-6  # orders of Rényi divergence closer to 1 than this are expanded about it


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """The privacy loss of one release on a pair, or of several composed.

    L = log dP/dQ under P (forward) and log dQ/dP under Q (backward). Made by `gaussian_shift`,
    `gaussian_pair`, `gaussian_sketch`, `additive_wishart`, or by
    `dpaudit.exact.privacy_loss(mechanism, pair)`. Independent releases on the same pair compose by
    `+` or `sum`, k copies of one by `k * loss`: their moment functions multiply, or the densities
    of their losses are convolved, so a composition is as exact as its parts.

    Attributes
    ----------
    forward : LossTransform
        The loss under P.
    backward : LossTransform
        The loss under Q.
    law : str
        How the numbers are obtained.
    closed : callable or None
        ε ↦ (forward, backward) δ, where a formula is known.
    noise : WishartPart or None
        Of a release with additive Wishart noise.
    composed : tuple of (PrivacyLoss, int)
        The releases and how often each.

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
    noise: WishartPart | None = None
    composed: tuple[tuple[PrivacyLoss, int], ...] = ()

    __repr__ = shape_repr

    @classmethod
    def gaussian_shift(cls, mu: float) -> PrivacyLoss:
        """N(0, 1) against N(μ, 1), or any Gaussian moved by μ ≥ 0 standard deviations.

        Arguments and errors are as of `dpaudit.exact.gaussian_shift`.
        """
        mu = check.real("mu", mu, 0.0)

        def closed(epsilon: ArrayLike) -> Curves:
            delta = gaussian_shift(mu, epsilon)
            return delta, delta

        axes = Axes.of_excess(np.array([mu]), np.zeros(1), np.ones(1))
        return cls(*_both(axes), "Gaussian shift", closed)

    @classmethod
    def gaussian_pair(
        cls, mean1: ArrayLike, cov1: ArrayLike, mean2: ArrayLike, cov2: ArrayLike
    ) -> PrivacyLoss:
        """N(mean1, cov1) against N(mean2, cov2).

        Arguments and errors as of `dpaudit.exact.gaussian_pair`.
        """
        axes = diagonalise(mean1, cov1, mean2, cov2)
        return (
            cls.disjoint("Gaussian pair, singular")
            if axes is None
            else cls.of_axes(axes, "Gaussian pair")
        )

    @classmethod
    def gaussian_sketch(cls, leverage: float, rows: int) -> PrivacyLoss:
        """`rows` Gaussian rows, one database row zeroed.

        Arguments and errors as of `dpaudit.exact.gaussian_sketch`.
        """
        leverage = check.real("leverage", leverage, 0.0, 1.0)
        return cls.of_sketch(Share.of(leverage), check.integer("rows", rows, 1))

    @classmethod
    def of_sketch(cls, q: Share, rows: int) -> PrivacyLoss:
        """`gaussian_sketch` of a leverage of which 1 − q is known too."""
        name = "Gaussian rows (chi-square)"
        if q.rest == 0.0:
            return cls.disjoint(name)
        return cls(
            *_both(sketch_axes(q, rows)), name, lambda epsilon: sketch_curves(q, rows, epsilon)
        )

    @classmethod
    def additive_wishart(cls, q: float, dof: int, dim: int) -> PrivacyLoss:
        """Additive Wishart noise, one row zeroed.

        Arguments and errors as of `dpaudit.exact.additive_wishart`.
        """
        loss = WishartLoss.of(q, dof, dim)
        return cls(
            *loss.transforms(),
            "additive Wishart",
            lambda epsilon: additive_wishart(q, dof, dim, epsilon),
            WishartPart(loss),
        )

    @classmethod
    def of_axes(cls, axes: Axes, law: str) -> PrivacyLoss:
        """Two Gaussians that are diagonal on the same axes."""
        if axes.distance is not None:
            return cls.gaussian_shift(axes.distance)
        return cls(*_both(axes), law, axes.delta)

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
            None if self.noise is None else self.noise.reversed(),
            tuple((part.reversed(), k) for part, k in self.composed),
        )

    def delta(self, epsilon: ArrayLike) -> Curves:
        """δ at each ε.

        Parameters
        ----------
        epsilon : float or array of shape (m,), nats
            ε ≥ 0.

        Returns
        -------
        forward : array of the same shape
            δ of P against Q.
        backward : array of the same shape
            δ of Q against P.

        Raises
        ------
        InvalidInput
            When ε is negative.
        NoExactSpectrum
            Where a composition has no δ of checked accuracy.
        """
        if self.closed is not None:
            return self.closed(epsilon)
        if self._noisy is not None:
            return self._noisy.delta(epsilon)
        forward, backward = self._directions
        return by_sorted_epsilon(epsilon, lambda e: (forward(e), backward(e)))

    @property
    def _directions(self) -> tuple[Delta, Delta]:
        """δ forward and backward at ε ≥ 0, (m,), in any order; not for Wishart noise."""
        closed = self.closed
        if closed is None:
            return _inverted(self.forward), _inverted(self.backward)
        return lambda e: closed(e)[0], lambda e: closed(e)[1]

    @cached_property
    def _noisy(self) -> WishartComposition | None:
        """The composition with Wishart noise, where there is some."""
        noise = tuple((part.noise, k) for part, k in self.composed if part.noise is not None)
        if not noise:
            return None
        others = [(part, k) for part, k in self.composed if part.noise is None]
        if not others:
            return WishartComposition(noise, None)
        whole = compose([part for part, _ in others], [k for _, k in others])
        return WishartComposition(noise, whole._directions)

    def spectrum(self, epsilon: ArrayLike) -> Spectrum:
        """The exact `Spectrum`.

        Parameters
        ----------
        epsilon : float or array of shape (m,), nats
            ε ≥ 0.

        Returns
        -------
        Spectrum

        Raises
        ------
        InvalidInput
            When ε is negative.
        """
        epsilon = check.epsilon(epsilon)
        return Spectrum.of_directions(epsilon, *self.delta(epsilon), self.law).replace(curve=self)

    def renyi(self, order: float) -> tuple[float, float]:
        """Rényi divergences of an order.

        Parameters
        ----------
        order : float > 0
            Order 1 is KL.

        Returns
        -------
        forward : float, nats
            Of P from Q.
        backward : float, nats
            Of Q from P.
        """
        order = check.real("order", order, 0.0, open_=True)
        # + 0.0: never −0.0
        return _renyi(self.forward, order - 1.0) + 0.0, _renyi(self.backward, order - 1.0) + 0.0

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest loss in each direction; δ(ε) = 0 from there on. Infinite if unbounded."""
        return _supremum(self.forward), _supremum(self.backward)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Both releases, one after the other."""
        return compose([self, other]) if isinstance(other, PrivacyLoss) else NotImplemented

    def __radd__(self, nothing: int) -> PrivacyLoss:
        """The release itself after `nothing`, 0, from which `sum` starts."""
        return self if type(nothing) is int and nothing == 0 else NotImplemented

    def __mul__(self, times: int) -> PrivacyLoss:
        """`times` independent copies of the release, times ≥ 1."""
        return NotImplemented if isinstance(times, PrivacyLoss) else compose([self], [times])

    __rmul__ = __mul__


def compose(losses: Sequence[PrivacyLoss], times: Sequence[int] | None = None) -> PrivacyLoss:
    """The privacy loss of independent releases on the same pair.

    Their losses add, their moment functions multiply.

    Parameters
    ----------
    losses : sequence of PrivacyLoss
        At least one.
    times : sequence of int, optional
        How often each is released, integers ≥ 1; once each by default.

    Returns
    -------
    PrivacyLoss

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    Composition theorems bound the same quantity. It covers non-adaptive releases, and adaptive ones
    if each release has the same pair of laws whatever came before it.

    Examples
    --------
    >>> import dpaudit as dp
    >>> one = dp.exact.PrivacyLoss.gaussian_shift(0.1)
    >>> sketch = dp.exact.PrivacyLoss.gaussian_sketch(0.02, rows=50)
    >>> both = dp.exact.compose([one, sketch], times=[10, 1])
    >>> print(both.spectrum([0.5, 2.0]).delta)
    [1.23531722e-02 2.08675920e-10]
    """
    losses = list(losses)
    times = [1] * len(losses) if times is None else list(times)
    for loss in losses:
        if not isinstance(loss, PrivacyLoss):
            fail("losses", type(loss).__name__, "a sequence of dpaudit.exact.PrivacyLoss")
    if not losses or len(times) != len(losses):
        fail(
            "times", times, f"one count for each of {len(losses)} losses, which must be at least 1"
        )
    times = [check.integer("times", k, 1) for k in times]
    if len(losses) == 1 and times == [1]:
        return losses[0]
    named = [
        f"{k} × {loss.law}" if k > 1 else loss.law for loss, k in zip(losses, times, strict=True)
    ]
    forward = _product([loss.forward for loss in losses], times)
    backward = _product([loss.backward for loss in losses], times)
    composed = [
        (part, k * own)
        for loss, k in zip(losses, times, strict=True)
        for part, own in loss.composed or ((loss, 1),)
    ]
    return PrivacyLoss(forward, backward, " + ".join(named), composed=tuple(composed))


def _inverted(transform: LossTransform) -> Delta:
    """δ of one direction by its contour."""

    def delta(epsilon: Array) -> Array:
        order = np.argsort(epsilon)
        found = np.empty_like(epsilon)
        found[order] = contour.hockey_stick(transform, epsilon[order])
        return found

    return delta


def _product(parts: list[LossTransform], times: list[int]) -> LossTransform:
    """The transform of the sum of independent losses, part j counted times[j] times."""
    if any(part.floor == 1.0 for part in parts):
        return DISJOINT
    pairs = list(zip(parts, times, strict=True))

    def total(name: str) -> Callable[[np.ndarray], np.ndarray]:
        return lambda s: np.asarray(sum(k * getattr(part, name)(s) for part, k in pairs))

    def number(name: str) -> float:
        return float(sum(k * getattr(part, name) for part, k in pairs))

    return LossTransform(
        total("log_m"),
        total("slope"),
        total("curvature"),
        end=min(part.end for part in parts),
        maximum=number("maximum"),
        floor=float(-np.expm1(sum(k * np.log1p(-part.floor) for part, k in pairs))),
    )


def _both(axes: Axes) -> tuple[LossTransform, LossTransform]:
    return axes.transform(), axes.reversed().transform()


def _supremum(transform: LossTransform) -> float:
    """The largest loss, infinite where the other law lacks outputs."""
    return float("inf") if transform.floor > 0.0 else transform.maximum + 0.0  # never −0.0


def _renyi(transform: LossTransform, s: float) -> float:
    """K(s)/s at s = order − 1.

    Infinite beyond the domain, and from order 1 on where the loss can be infinite.
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
