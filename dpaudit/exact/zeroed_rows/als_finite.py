"""ALS at finite r: two multivariate Student t laws that differ by one zeroed row, exactly.

The output is x_opt + ‖w‖M^{−1/2} Y/√W with Y ~ N(0, I_p), W ~ χ²_ν, ν = r − p + 1, so it is known
from the direction ξ = (√W, Y)/‖(√W, Y)‖ on the half-sphere of R^{p+1}. Zeroing a row with leverage
h and residual share t turns the quadratic form ξᵀξ of the density into ξᵀ(I − e·aaᵀ)ξ, a change of
RANK ONE, with e = h + t(1−h) (the row's leverage in [B, b]) and a = (√(t(1−h)), √h)/√e in the
coordinates (√W, axis). With k = r + 1 and V = ⟨a, ξ⟩²:

    full → zeroed:  L =  C + (k/2) ln(1 − eV),            C = −½ln(1−h) − (ν/2)ln(1−t) = sup L,
    zeroed → full:  L = −C + (k/2) ln(1 + eV/(1−e)),      sup L = −(r/2)ln(1−h) − (p/2)ln(1−t),

where in the second line a = (√t, √(h(1−t)))/√e. The law of V is one smooth integral: with ⟨a, ξ⟩ =
cos α and the rest of ξ at angle ψ, ξ₀ = cos α cos θ + sin α sin θ cos ψ (θ the angle of a from the
√W axis), and the density is ∝ (ξ₀)₊^{r−p} sin^{p−1}α sin^{p−2}ψ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.share import Share
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import VANISHING, log_beta

MOST_ROWS = 10**12  # beyond, the angle and its width lose digits
FAR = 50.0  # in widths of the density of the angle: e^{−1250}
LOWEST = -1e300  # stands for log 0 where a difference with it is taken
# over a window of ~20 standard deviations of the ψ integrand
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def finite(
    leverage: Share, residual_share: Share, features: int, rows: int, epsilon: ArrayLike
) -> tuple[Array, Array]:
    """Exact (forward, backward) δ(ε) of ALS at finite `rows`; see `dpaudit.exact.als`.

    Raises `NoExactSpectrum` for more than `MOST_ROWS` rows.
    """
    if rows > MOST_ROWS:
        raise NoExactSpectrum(
            f"the exact spectrum of a sketch takes at most {MOST_ROWS:,} rows, got {rows:.3g}: "
            "beyond, it loses digits; take dpaudit.exact.als with "
            'law="asymptotic"'
        )
    return by_sorted_epsilon(
        epsilon, lambda sorted_: _both(leverage, residual_share, features, rows, sorted_)
    )


def pure_limits(
    leverage: Share, residual_share: Share, features: int, rows: int
) -> tuple[float, float]:
    """The finite pure ε of (forward, backward): δ(ε) = 0 from there on.

    Infinite at leverage or residual share 1.
    """
    ln_h, ln_t = leverage.log_rest, residual_share.log_rest
    dof = rows - features + 1
    return -0.5 * ln_h - 0.5 * dof * ln_t, -0.5 * rows * ln_h - 0.5 * features * ln_t


def _both(h: Share, t: Share, p: int, rows: int, epsilon: Array) -> Curves:
    disjoint = h.rest == 0.0 or t.rest == 0.0
    if disjoint or h.value + t.value < VANISHING:
        flat = np.full_like(epsilon, float(disjoint))
        return flat, flat
    return _forward(h, t, p, rows, epsilon), _backward(h, t, p, rows, epsilon)


def renyi(h: Share, t: Share, p: int, rows: int, order: float) -> tuple[float, float]:
    """Rényi divergences (forward, backward), nats, of an order > 0.

    log E_P[e^{sL}]/s with s = order − 1, by quadrature.
    """
    if h.rest == 0.0 or t.rest == 0.0:
        return np.inf, np.inf
    if h.value + t.value < VANISHING:
        return 0.0, 0.0
    there, back = _Direction.forward(h, t, p, rows), _Direction.backward(h, t, p, rows)
    return there.renyi(order - 1.0), back.renyi(order - 1.0)


def _forward(h: Share, t: Share, p: int, rows: int, epsilon: Array) -> Array:
    return _Direction.forward(h, t, p, rows).delta(epsilon)


def _backward(h: Share, t: Share, p: int, rows: int, epsilon: Array) -> Array:
    return _Direction.backward(h, t, p, rows).delta(epsilon)


@dataclass(frozen=True, repr=False)
class _Direction:
    """One direction's loss as an increasing function of x.

    x is the angle α itself (sign 1), or −α (sign −1). top, bottom : sup L and −inf L. weight : e.
    rest : (1−h)(1−t). power : k/2.
    """

    angle: DirectionAngle
    sign: float
    top: float
    bottom: float
    weight: float
    rest: float
    power: float

    @classmethod
    def forward(cls, h: Share, t: Share, p: int, rows: int) -> _Direction:
        theta = float(np.arctan2(np.sqrt(h.value), np.sqrt(t.value * h.rest)))
        return cls._of(theta, 1.0, pure_limits(h, t, p, rows), (h, t), (p, rows))

    @classmethod
    def backward(cls, h: Share, t: Share, p: int, rows: int) -> _Direction:
        theta = float(np.arctan2(np.sqrt(h.value * t.rest), np.sqrt(t.value)))
        return cls._of(theta, -1.0, pure_limits(h, t, p, rows)[::-1], (h, t), (p, rows))

    @classmethod
    def _of(
        cls,
        theta: float,
        sign: float,
        limits: tuple[float, float],
        numbers: tuple[Share, Share],
        sizes: tuple[int, int],
    ) -> _Direction:
        (h, t), (p, rows) = numbers, sizes
        weight, rest = h.value + t.value * h.rest, h.rest * t.rest
        return cls(
            DirectionAngle(theta, p, rows - p), sign, *limits, weight, rest, 0.5 * (rows + 1)
        )

    @property
    def end(self) -> float:
        """The right end of the range of x."""
        return 0.5 * np.pi if self.sign > 0.0 else 0.0

    def log_density(self, x: Array) -> Array:
        return self.angle.log_density(self.sign * x)

    def loss(self, x: Array) -> Array:
        """L(x) from the end of its range that is nearer to 0: no digits are lost near that end."""
        near, far = np.cos(x) ** 2, np.sin(x) ** 2
        if self.sign < 0.0:
            near, far = far, near
        if self.top <= self.bottom:
            # far + rest·near = 1 − weight·near: by the form whose logarithm keeps its digits
            taken = np.minimum(self.weight * near, 0.5)
            much = self.weight * near > 0.5
            log = np.where(much, np.log(far + self.rest * near), np.log1p(-taken))
            return np.asarray(self.top + self.power * log)
        return np.asarray(-self.bottom + self.power * np.log1p(self.weight / self.rest * far))

    def thresholds(self, epsilon: Array) -> Array:
        """The x at which L(x) = ε; the domain's end where ε ≥ sup L."""
        epsilon = np.minimum(epsilon, self.top)
        # e times the part of the range above ε
        short = np.maximum(-np.expm1((epsilon - self.top) / self.power), 0.0)
        # and below it
        passed = np.maximum(self.rest * np.expm1((epsilon + self.bottom) / self.power), 0.0)
        if self.sign > 0.0:
            return np.arctan2(np.sqrt(passed), np.sqrt(short))
        return -np.arctan2(np.sqrt(short), np.sqrt(passed))

    @property
    def breaks(self) -> Array | None:
        return None if self.angle.breaks is None else self.sign * self.angle.breaks

    def delta(self, epsilon: Array) -> Array:
        # all of α's range would be a mesh that grows as √rows
        low, high = sorted(self.sign * alpha for alpha in self.angle.seen)
        return monotone_loss.hockey_stick(
            self.log_density,
            self.loss,
            np.clip(self.thresholds(epsilon), low, high),
            epsilon,
            self.angle.width,
            high,
            self.breaks,
        )

    def renyi(self, s: float) -> float:
        start = self.end - 0.5 * np.pi
        return monotone_loss.renyi(
            self.log_density, self.loss, s, start, self.end, self.angle.width, self.breaks
        )


@dataclass(frozen=True)
class DirectionAngle:
    """Law of the angle α ∈ [0, π/2] between ±a and ξ.

    theta : the angle of a from the √W axis. features : p. power : r − p, of ξ₀ in the density.
    """

    theta: float
    features: int
    power: int

    @property
    def width(self) -> float:
        """About the length over which the density varies."""
        return 1.0 / np.sqrt(self.power + self.features)

    @property
    def seen(self) -> tuple[float, float]:
        """Where the density is above e^{−1000} of its peak, which lies within √p widths of θ."""
        reach = (FAR + 2.0 * np.sqrt(self.features)) * self.width
        return max(self.theta - reach, 0.0), min(self.theta + reach, 0.5 * np.pi)

    @property
    def breaks(self) -> Array | None:
        """Where the density is not smooth, if that matters.

        At α = π/2 − θ one end drops out, as |α − π/2 + θ|^{power+(p−1)/2}: smooth enough when the
        exponent is large.
        """
        return (
            np.array([0.5 * np.pi - self.theta]) if self.power + 0.5 * self.features < 40 else None
        )

    def log_density(self, alpha: Array) -> Array:
        """Both ends of the axis together: α and π − α are the same V."""
        return np.logaddexp(self._one_end(alpha, 1.0), self._one_end(alpha, -1.0)) - self._log_norm

    @property
    def _log_norm(self) -> float:
        p, n = self.features, self.power
        surface = log_beta(0.5 * (n + 1), 0.5 * p)
        return float(surface if p == 1 else surface + log_beta(0.5 * (p - 1), 0.5) - np.log(2.0))

    def _one_end(self, alpha: Array, sign: float) -> Array:
        along = sign * np.cos(alpha) * np.cos(self.theta)
        across = np.sin(alpha) * np.sin(self.theta)
        near, far = 0.5 * (alpha - self.theta), 0.5 * (alpha + self.theta)
        # 1 − along − across, to full accuracy
        drop = 2.0 * (np.sin(near) if sign > 0 else np.cos(far)) ** 2
        value = np.full(alpha.shape, -np.inf)
        live = along + across > 0.0
        value[live] = self._log_ring_integral(along[live], across[live], drop[live])
        if self.features > 1:
            with np.errstate(divide="ignore"):
                value += (self.features - 1) * np.log(np.sin(alpha))
        return value

    def _log_ring_integral(self, along: Array, across: Array, drop: Array) -> Array:
        """log ∫₀^π ξ₀₊^power sin^{p−2}ψ dψ; for p = 1 the sum over ψ ∈ {0, π}.

        ξ₀ = 1 − drop − 2·across·sin²(ψ/2).
        """
        if self.features == 1:
            return np.logaddexp(self._log_weight(drop), self._log_weight(drop + 2.0 * across))
        start, stop = self._window(along, across)
        half = 0.5 * (stop - start)
        psi = (start + half)[:, None] + half[:, None] * NODES
        terms = self._log_weight(drop[:, None] + 2.0 * across[:, None] * np.sin(0.5 * psi) ** 2)
        if self.features > 2:
            terms += (self.features - 2) * np.log(np.sin(psi))
        peak = np.maximum(terms.max(axis=1), LOWEST)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log((np.exp(terms - peak[:, None]) @ WEIGHTS) * half) + peak)

    def _log_weight(self, drop: Array) -> Array:
        """log ξ₀₊^power with ξ₀ = 1 − drop."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.power * np.log1p(-np.minimum(drop, 1.0)))

    def _window(self, along: Array, across: Array) -> tuple[Array, Array]:
        """The interval of ψ that matters.

        The peak of the integrand solves a quadratic in cos ψ, its width follows from the curvature.
        """
        n, p = self.power, self.features
        ratio = along / np.maximum(across, 1e-300)
        end = np.arccos(np.clip(-ratio, -1.0, 1.0))  # where along + across·cos ψ turns negative
        ratio = np.minimum(ratio, 1e150)
        root = np.hypot(ratio * (p - 2), 2.0 * np.sqrt(n * (p - 2.0 + n)))
        cosine = np.where(
            ratio >= 0.0,
            2.0 * n / (ratio * (p - 2) + root),
            (root - ratio * (p - 2)) / (2.0 * (p - 2 + n)),
        )
        cosine = np.clip(cosine, -1.0, 1.0)
        sine2, rise = 1.0 - cosine**2, ratio + cosine
        ring = (p - 2) / np.maximum(sine2, 1e-12)
        bend = n * (1.0 + ratio * cosine) / np.maximum(rise, 1e-150) ** 2 + ring
        spread = 1.0 / np.sqrt(np.maximum(bend, 1e-3))
        peak = np.arccos(cosine)
        # to the left the fall is Gaussian in the sin^{p−2} factor, and never slower than
        # e^{−distance/spread}
        left = np.minimum(45.0 * spread, 9.5 / np.sqrt(np.maximum(ring, 1e-3)))
        return np.maximum(peak - left, 0.0), np.minimum(peak + 13.5 * spread, end)
