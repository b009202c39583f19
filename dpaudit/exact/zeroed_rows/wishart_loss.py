"""The privacy loss of additive Wishart noise, for its composition with other releases.

With m = k − d + 1, a = (m − 2)/2, z = q/2 and c = q·t ~ χ²_m (see
`dpaudit.exact.zeroed_rows.additive_wishart`), full → zeroed has

    L = z − a ln(1 + 1/t),    t = 1/(e^{(z−L)/a} − 1),

monotone in t, so its density is p(L) = f(qt)·q·t(1 + t)/|a| with f that of χ²_m. Zeroed → full has
the density e^x p(−x) at x, since dQ = e^{−L}dP where both laws have outputs, and L = ∞ with
probability P(c < q). For m = 2 the finite part is one number, z.

Its moments, for Rényi divergences, are

    M(s) = e^{−(s+1)z} z^{m/2}/Γ(m/2) · ∫₀^∞ t^{−as} (1 + t)^{a(1+s)} e^{−zt} dt

for zeroed → full, and M(−1 − s) for full → zeroed. M is infinite from as = 1 on, because of outputs
near those that the other database cannot give. Where they weigh nothing (they have less than
e^{−CUT} of the integrand's peak) the integral stops in the valley before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc, gammaln

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.exact.numerics.contour import LossTransform
from dpaudit.exact.numerics.log_series import DEEP, LogSeries
from dpaudit.exact.numerics.special import VANISHING, stirling

STEP = 0.02
GRID = np.arange(-9.0, 6.0, STEP)  # of x in ln t = saddle + width·sinh x
SEEN = np.arange(-9.0, 9.0, 0.05)  # the same, where the density is first looked at
FAR = np.arange(-700.0, 700.0, 1.0)  # and further away, of ln t
MESH = 24  # edges of the first mesh of the density
LARGE = 100.0  # m/2 from which the density is expanded about its mode
CUT = 30.0
HALVINGS = 200


@dataclass(frozen=True)
class WishartLoss:
    """z = q/2 and half = m/2. Arguments of `of` as of `dpaudit.exact.additive_wishart`."""

    z: float
    half: float

    @classmethod
    def of(cls, q: float, dof: int, dim: int) -> WishartLoss:
        """Raises `InvalidInput`."""
        q = check.real("q", q, 0.0)
        dim = check.integer("dim", dim, 1)
        if check.integer("dof", dof, 1) < dim:
            fail("dof", dof, f"at least dim = {dim}")
        return cls(0.5 * q, 0.5 * (dof - dim + 1))

    @property
    def power(self) -> float:
        """a = (m − 2)/2."""
        return self.half - 1.0

    @property
    def floor(self) -> float:
        """P(c < q), the probability of an infinite loss zeroed → full."""
        return float(gammainc(self.half, self.z))

    @property
    def constant(self) -> bool:
        """Whether the finite part of the loss is one number, z."""
        return self.power == 0.0 or 2.0 * self.z < VANISHING

    @cached_property
    def density(self) -> LogSeries:
        """Of the loss full → zeroed. Raises `NoExactSpectrum`."""
        v = self._seen()
        loss = np.sort(self.z - self.power * np.logaddexp(0.0, -v))
        value = self.log_density(loss)
        height = value - np.minimum(loss, 0.0)
        alive = loss[height > height.max() - DEEP]
        chosen = np.linspace(0, len(alive) - 1, MESH).astype(int)
        return LogSeries.of(self.log_density, np.unique(alive[chosen]))

    def log_density(self, loss: Array) -> Array:
        """Log density of the loss full → zeroed, −∞ where it has none."""
        with np.errstate(all="ignore"):
            t = 1.0 / np.expm1((self.z - loss) / self.power)
            value = self._log_share(t) + np.log1p(t) - np.log(abs(self.power))
        return np.where((t > 0.0) & np.isfinite(value), value, -np.inf)

    def _log_share(self, t: Array) -> Array:
        """log of f(qt)·qt; for large m about its mode, where large logarithms would cancel."""
        if self.half < LARGE:
            return np.asarray(
                self.half * np.log(self.z * t) - self.z * t - float(gammaln(self.half))
            )
        u = (self.z * t - self.half) / self.half
        return np.asarray(
            self.half * (np.log1p(u) - u)
            + 0.5 * np.log(0.5 * self.half / np.pi)
            - stirling(self.half)
        )

    def _seen(self) -> Array:
        """ln t about the modes of both laws, and far away."""
        width = np.sqrt(1.0 / self.half)
        modes = [
            np.log(self.half / self.z),
            np.log(max(self.half - self.z, np.sqrt(self.half)) / self.z),
        ]
        return np.unique(np.concatenate([FAR, *(mode + width * np.sinh(SEEN) for mode in modes)]))

    def transforms(self) -> tuple[LossTransform, LossTransform]:
        """(forward, backward), for real s."""
        if self.constant:
            return _constant(self.z, 0.0), _constant(-self.z, self.floor)
        return self._forward(), self._backward()

    def _forward(self) -> LossTransform:
        """L is at most z, where c → ∞. For a < 0 it is unbounded, and never below z."""
        a = self.power
        return LossTransform(
            lambda s: self.log_m(-1.0 - s.real),
            lambda s: -self.tilted(-1.0 - s)[0],
            lambda s: self.tilted(-1.0 - s)[1],
            end=np.inf if a >= 0.0 else -self.half / a,
            maximum=self.z if a >= 0.0 else np.inf,
        )

    def _backward(self) -> LossTransform:
        """Infinite with probability `floor`."""
        return LossTransform(
            lambda s: self.log_m(s.real),
            lambda s: self.tilted(s)[0],
            lambda s: self.tilted(s)[1],
            end=self._end(),
            maximum=np.inf if self.power > 0.0 else -self.z,
            floor=self.floor,
        )

    def log_m(self, s: Array) -> Array:
        """log M(s) at real s, (k,)."""
        v, speed = self._mesh(s)
        exponent = np.where(speed != 0.0, self._exponent(s, v), -np.inf)
        peak = exponent.max(axis=1)
        total = STEP * np.sum(np.exp(exponent - peak[:, None]) * speed, axis=1)
        return np.asarray(
            np.log(total)
            + peak
            - (s + 1.0) * self.z
            + self.half * np.log(self.z)
            - gammaln(self.half)
        )

    def tilted(self, s: Array) -> tuple[Array, Array]:
        """K′(s) and K″(s) at real s: mean and variance of L under the law tilted by e^{sL}."""
        v, speed = self._mesh(s)
        exponent = np.where(speed != 0.0, self._exponent(s, v), -np.inf)
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True)) * speed
        weight /= weight.sum(axis=1, keepdims=True)
        loss = self.power * np.logaddexp(0.0, -v)
        mean = np.sum(weight * loss, axis=1)
        return mean - self.z, np.sum(weight * (loss - mean[:, None]) ** 2, axis=1)

    def _exponent(self, s: Array, v: Array) -> Array:
        """log of t^α (1 + t)^{a(1+s)} e^{−zt}, α = 1 − as; the last α − 1 → α is dt = t dv."""
        t, a = np.exp(v), self.power
        return np.asarray(
            (1.0 - a * s)[:, None] * v + (a * (1.0 + s))[:, None] * np.log1p(t) - self.z * t
        )

    def _mesh(self, s: Array) -> tuple[Array, Array]:
        """v = ln t and dv/dx, (k, nodes); dv is 0 left of the valley where there is one."""
        alpha = 1.0 - self.power * s
        peak = self._stationary(alpha, 1.0)
        bend = np.abs(self.power * (1.0 + s) * peak / (1.0 + peak) ** 2 - self.z * peak)
        width = np.minimum(bend**-0.5, 1.0)[:, None]
        v = np.minimum(np.log(peak)[:, None] + width * np.sinh(GRID), FAR[-1])
        inside = v >= self._valley(alpha)[:, None]
        return v, np.where(inside, width * np.cosh(GRID), 0.0)

    def _stationary(self, alpha: Array, sign: float) -> Array:
        """t where the integrand peaks (sign +) and, for α < 0, where its valley lies (−).

        z t² − (1 + a − z) t − α = 0.
        """
        b = 1.0 + self.power - self.z
        root = np.sqrt(np.maximum(b * b + 4.0 * self.z * alpha, 0.0))
        if sign * b >= 0.0:
            return np.asarray((b + sign * root) / (2.0 * self.z))
        return np.asarray(-2.0 * alpha / (b - sign * root))

    def _valley(self, alpha: Array) -> Array:
        """ln t of the valley, −∞ where α ≥ 0."""
        with np.errstate(divide="ignore"):
            valley = np.log(np.maximum(self._stationary(alpha, -1.0), 0.0))
        return np.where(alpha < 0.0, valley, -np.inf)

    def _end(self) -> float:
        """1/a, or as far beyond it as the valley is CUT deep."""
        a = self.power
        if a <= 0.0:
            return float("inf")
        # where peak and valley meet
        low, high = (1.0 / a, (1.0 + (1.0 + a - self.z) ** 2 / (4.0 * self.z)) / a)
        if self.z >= 1.0 + a or self._depth(low * (1.0 + 1e-9)) < CUT:
            return low
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._depth(middle) >= CUT else (low, middle)
        return low

    def _depth(self, s: float) -> float:
        """How far the valley lies below the peak, in logarithms."""
        alpha = np.array([1.0 - self.power * s])
        ends = np.log([self._stationary(alpha, sign)[0] for sign in (1.0, -1.0)])
        peak, valley = self._exponent(np.array([s]), ends[None])[0]
        return float(peak - valley)


def _constant(loss: float, floor: float) -> LossTransform:
    """The transform of a loss whose finite part is one number."""
    return LossTransform(
        lambda s: loss * s + np.log1p(-floor),
        lambda s: np.full_like(s, loss),
        np.zeros_like,
        end=np.inf,
        maximum=loss,
        floor=floor,
    )
