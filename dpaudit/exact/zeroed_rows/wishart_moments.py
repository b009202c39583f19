"""Moment functions of additive Wishart noise, for its composition with other releases.

With m = k − d + 1, a = (m − 2)/2, z = q/2 and c = q(1 + t) in the law of the loss (see
`dpaudit.exact.zeroed_rows.additive_wishart`),

    zeroed → full:  L = a ln(1 + 1/t) − z,
                    M(s) = e^{−(s+1)z} z^{m/2}/Γ(m/2) · ∫₀^∞ t^{−as} (1 + t)^{a(1+s)} e^{−zt} dt,

and full → zeroed is M(−1 − s). The integral is Γ(α)U(α, m/2 + 1, z), α = 1 − as, a Tricomi function
with a complex first argument. It is summed along a path in v = ln t that passes near the saddle
point of t^α (1 + t)^{a(1+s)} e^{−zt} and spirals into t = 0 at an angle at which t^α falls off
faster.

M has a pole at as = 1, from outputs near those that the other database cannot give. Where they
weigh nothing (they have less than e^{−CUT} of the integrand's peak) the path stops in the valley
before them, and M goes on beyond. A single release has relative accuracy by
`dpaudit.exact.zeroed_rows.additive_wishart`; from here it is relative in the bulk and absolute,
about 1e-12, where a composition's δ comes from the outputs near that pole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaln

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.exact.numerics.contour import LossTransform
from dpaudit.exact.numerics.special import VANISHING

STEP = 0.02
GRID = np.arange(-9.0, 6.0, STEP)  # of x in ln|t| = saddle + width·sinh x
SADDLE = int(np.argmin(np.abs(GRID)))
BLOCK = 256  # values of s at a time
# the path starts to turn where |t| = e^{−SPIRAL}, well inside the branch point of 1 + t
SPIRAL = 2.0
LAST = 700.0  # ln|t| beyond which e^{−zt} is 0 for certain
CUT = 30.0
HALVINGS = 200


def wishart_transforms(q: float, dof: int, dim: int) -> tuple[LossTransform, LossTransform]:
    """(forward, backward); arguments and errors as of `dpaudit.exact.additive_wishart`."""
    q = check.real("q", q, 0.0)
    dim = check.integer("dim", dim, 1)
    if check.integer("dof", dof, 1) < dim:
        fail("dof", dof, f"at least dim = {dim}")
    moment = Moment(0.5 * q, 0.5 * (dof - dim + 1))
    if moment.power == 0.0 or q < VANISHING:
        return _constant(moment.z, 0.0), _constant(-moment.z, moment.floor)
    return moment.forward(), moment.backward()


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


@dataclass(frozen=True)
class Moment:
    """M(s) of the zeroed → full loss; z = q/2 and half = m/2."""

    z: float
    half: float

    @property
    def power(self) -> float:
        """a = (m − 2)/2."""
        return self.half - 1.0  # a

    @property
    def floor(self) -> float:
        """P(c < q)."""
        return float(gammainc(self.half, self.z))

    def forward(self) -> LossTransform:
        """The transform of full → zeroed.

        L is at most z, where c → ∞. For a < 0 it is unbounded, and never below z.
        """
        a = self.power
        return LossTransform(
            lambda s: self.log_m(-1.0 - s),
            lambda s: -self.tilted(-1.0 - s)[0],
            lambda s: self.tilted(-1.0 - s)[1],
            end=np.inf if a >= 0.0 else -self.half / a,
            maximum=self.z if a >= 0.0 else np.inf,
            upright=True,
        )

    def backward(self) -> LossTransform:
        """The transform of zeroed → full, infinite with probability `floor`."""
        return LossTransform(
            self.log_m,
            lambda s: self.tilted(s)[0],
            lambda s: self.tilted(s)[1],
            end=self._end(),
            maximum=np.inf if self.power > 0.0 else -self.z,
            floor=self.floor,
            upright=True,
        )

    def log_m(self, s: np.ndarray) -> np.ndarray:
        """log M(s), shape (k,), for complex s."""
        parts = [self._log_m(s[at : at + BLOCK]) for at in range(0, len(s), BLOCK)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=complex)

    def _log_m(self, s: np.ndarray) -> np.ndarray:
        v, speed = self._path(s)
        exponent = np.where(speed != 0.0, self._exponent(s, v), -np.inf)
        phase = 1j * exponent[:, [SADDLE]].imag  # taken out, so that log M is continuous in s
        peak = exponent.real.max(axis=1)
        total = STEP * np.sum(np.exp(exponent - peak[:, None] - phase) * speed, axis=1)
        with np.errstate(divide="ignore"):
            log_total = np.log(total) + peak + phase[:, 0]
        return np.asarray(
            log_total - (s + 1.0) * self.z + self.half * np.log(self.z) - gammaln(self.half)
        )

    def tilted(self, s: Array) -> tuple[Array, Array]:
        """K′(s) and K″(s) at real s: mean and variance of L under the law tilted by e^{sL}."""
        v, speed = self._path(s + 0j)
        exponent = np.where(speed != 0.0, self._exponent(s + 0j, v).real, -np.inf)
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True)) * speed.real
        weight /= weight.sum(axis=1, keepdims=True)
        loss = self.power * np.logaddexp(0.0, -v.real)
        mean = np.sum(weight * loss, axis=1)
        return mean - self.z, np.sum(weight * (loss - mean[:, None]) ** 2, axis=1)

    def _exponent(self, s: np.ndarray, v: np.ndarray) -> np.ndarray:
        """log of t^α (1 + t)^{a(1+s)} e^{−zt}; the last α − 1 → α is dt = t dv."""
        t, a = np.exp(v), self.power
        return np.asarray(
            (1.0 - a * s)[:, None] * v + (a * (1.0 + s))[:, None] * np.log1p(t) - self.z * t
        )

    def _path(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v along the path and dv/dx, (k, nodes); dv is 0 left of the valley where there is one."""
        alpha = 1.0 - self.power * s
        saddle = np.log(self._stationary(alpha, 1.0))
        width = np.minimum(self._bend(s, np.exp(saddle)) ** -0.5, 1.0)[:, None]
        log_t = np.minimum(saddle.real[:, None] + width * np.sinh(GRID), LAST)
        turn = np.where(alpha.real > 0.0, np.tan(0.5 * np.angle(alpha)), 0.0)[:, None]
        # where the angle is given up, for e^{−zt} to fall
        beyond = 2.0 * (log_t - saddle.real[:, None] - 1.5)
        kept = 0.5 * (1.0 - np.tanh(0.5 * beyond))
        angle = saddle.imag[:, None] * kept + turn * np.logaddexp(0.0, -log_t - SPIRAL)
        swing = -2.0 * saddle.imag[:, None] * kept * (1.0 - kept) - 0.5 * turn * (
            1.0 - np.tanh(0.5 * (log_t + SPIRAL))
        )
        speed = (1.0 + 1j * swing) * width * np.cosh(GRID)
        return log_t + 1j * angle, np.where(log_t >= self._valley(alpha.real)[:, None], speed, 0.0)

    def _stationary(self, alpha: np.ndarray, sign: float) -> np.ndarray:
        """t where the integrand peaks (sign +) and, for α < 0, where its valley lies (−).

        z t² − (1 + a − z) t − α = 0.
        """
        b = 1.0 + self.power - self.z
        root = np.sqrt(b * b + 4.0 * self.z * alpha + 0j)
        if sign * b >= 0.0:
            return np.asarray((b + sign * root) / (2.0 * self.z))
        return np.asarray(-2.0 * alpha / (b - sign * root))

    def _bend(self, s: np.ndarray, t: np.ndarray) -> Array:
        """|second derivative in v| of the exponent."""
        return np.asarray(np.abs(self.power * (1.0 + s) * t / (1.0 + t) ** 2 - self.z * t))

    def _valley(self, alpha: Array) -> Array:
        """ln t of the valley, −∞ where α ≥ 0."""
        with np.errstate(divide="ignore"):
            valley = np.log(np.maximum(self._stationary(alpha, -1.0).real, 0.0))
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
        ends = np.log(
            np.array([self._stationary(alpha, sign)[0].real for sign in (1.0, -1.0)]) + 0j
        )
        peak, valley = self._exponent(np.array([s + 0j]), ends[None])[0].real
        return float(peak - valley)
