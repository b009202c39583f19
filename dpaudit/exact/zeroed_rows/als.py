"""ALS with one row zeroed, from the row's leverage and residual share: finite r, and its limit.

At finite r two multivariate Student t laws differ. The output is x_opt + ‖w‖M^{−1/2} Y/√W with
Y ~ N(0, I_p), W ~ χ²_ν, ν = r − p + 1, so it is known from the direction ξ = (√W, Y)/‖(√W, Y)‖ on
the half-sphere of R^{p+1}. Zeroing a row with leverage h and residual share t turns the quadratic
form ξᵀξ of the density into ξᵀ(I − e·aaᵀ)ξ, a change of RANK ONE, with e = h + t(1−h) (the row's
leverage in [B, b]) and a = (√(t(1−h)), √h)/√e in the coordinates (√W, axis). With k = r + 1 and
V = ⟨a, ξ⟩²:

    full → zeroed:  L =  C + (k/2) ln(1 − eV),            C = −½ln(1−h) − (ν/2)ln(1−t) = sup L,
    zeroed → full:  L = −C + (k/2) ln(1 + eV/(1−e)),      sup L = −(r/2)ln(1−h) − (p/2)ln(1−t),

where in the second line a = (√t, √(h(1−t)))/√e. The law of V is one smooth integral: with ⟨a, ξ⟩ =
cos α and the rest of ξ at angle ψ, ξ₀ = cos α cos θ + sin α sin θ cos ψ (θ the angle of a from the
√W axis), and the density is ∝ (ξ₀)₊^{r−p} sin^{p−1}α sin^{p−2}ψ.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss
from dpaudit.exact.numerics import monotone_loss
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon
from dpaudit.exact.numerics.special import VANISHING, Share, log_beta
from dpaudit.exact.pairs.gaussian import Axes

MOST_ROWS = 10**12  # with more rows the angle and its width lose digits
FAR = 50.0  # widths of the density of the angle beyond which it is not looked at: e^{−1250}
LOWEST = -1e300  # stands for log 0 where a difference with it is taken
# Gauss nodes over a window of about 20 standard deviations of the ψ integrand
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def als(
    leverage: float,
    residual_share: float,
    features: int,
    rows: int,
    epsilon: ArrayLike,
    law: str = "finite",
) -> tuple[Array, Array]:
    """δ(ε) of approximate least squares when one row is zeroed, (full → zeroed, zeroed → full).

    Parameters
    ----------
    leverage : float in [0, 1]
        hᵢ of the row among the features; 1 (the others lose rank) gives δ = 1.
    residual_share : float in [0, 1]
        tᵢ = wᵢ²/((1−hᵢ)‖w‖²); 1 (the others fit exactly) gives δ = 1.
    features, rows : int
        p ≥ 1, a constant column included, and r ≥ p + 1 sketch rows.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0; the results have its shape.
    law : {"finite", "asymptotic"}, default "finite"
        The exact multivariate Student law, of which the loss is bounded, or its large-r Gaussian
        limit.

    References
    ----------
    Paper 1, lemmas 1, 3 and 8 (asymptotic); the finite law, of which that paper says that it may
    not be computable, is derived in `dpaudit.exact.zeroed_rows.als`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dp.exact.als(leverage=0.1, residual_share=0.2, features=3, rows=50, epsilon=[0.5, 20.0])
    (array([0.27777164, 0.        ]), array([0.25955939, 0.        ]))
    """
    leverage = check.real("leverage", leverage, 0.0, 1.0)
    residual_share = check.real("residual_share", residual_share, 0.0, 1.0)
    features = check.integer("features", features, 1)
    check.choice("law", law, ("finite", "asymptotic"))
    if check.integer("rows", rows, 2) < features + 1:
        fail("rows", rows, f"at least features + 1 = {features + 1}")
    if law == "finite":
        return StudentCurve(leverage, residual_share, features, rows).delta(epsilon)
    shares = Share.of(leverage), Share.of(residual_share)
    return asymptotic_loss(*shares, features, rows).delta(epsilon)


@dataclass(frozen=True)
class StudentCurve:
    """The curve of ALS at finite `rows`, one row zeroed; fields as of `dpaudit.exact.als`.

    rest : 1 − leverage and 1 − residual_share, where they are known to more digits than these have.
    """

    leverage: float
    residual_share: float
    features: int
    rows: int
    rest: tuple[float | None, float | None] = (None, None)

    @property
    def _shares(self) -> tuple[Share, Share]:
        return Share.of(self.leverage, self.rest[0]), Share.of(self.residual_share, self.rest[1])

    @property
    def _certain(self) -> float | None:
        """1 where the other rows lose rank or fit exactly, so that the laws share no output; 0
        where the row is too small for any δ > 0 in floats; else None.
        """
        if any(share.rest == 0.0 for share in self._shares):
            return 1.0
        return 0.0 if sum(share.value for share in self._shares) < VANISHING else None

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Raises `NoExactSpectrum` for more than `MOST_ROWS` rows.
        """
        if self.rows > MOST_ROWS:
            raise NoExactSpectrum(
                f"the exact spectrum of a sketch takes at most {MOST_ROWS:,} rows, got "
                f"{Decimal(self.rows):.3g}: beyond, it loses digits; take dpaudit.exact.als with "
                'law="asymptotic"'
            )
        if self._certain is not None:
            flat = np.full_like(check.epsilon(epsilon), self._certain)
            return flat, flat
        there, back = self._directions
        return by_sorted_epsilon(epsilon, lambda e: (there.delta(e), back.delta(e)))

    def renyi(self, order: float) -> tuple[float, float]:
        order = check.real("order", order, 0.0, open_=True)
        if self._certain is not None:
            return (np.inf, np.inf) if self._certain else (0.0, 0.0)
        there, back = self._directions
        return there.renyi(order - 1.0), back.renyi(order - 1.0)

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses (forward, backward), infinite at leverage or residual share 1."""
        ln_h, ln_t = (share.log_rest for share in self._shares)
        dof = self.rows - self.features + 1
        forward = -0.5 * ln_h - 0.5 * dof * ln_t
        return forward, -0.5 * self.rows * ln_h - 0.5 * self.features * ln_t

    @property
    def _directions(self) -> tuple[Direction, Direction]:
        h, t = self._shares
        forward, backward = self.supremum
        there = np.arctan2(np.sqrt(h.value), np.sqrt(t.value * h.rest))
        back = np.arctan2(np.sqrt(h.value * t.rest), np.sqrt(t.value))
        sizes = self.features, self.rows - self.features
        common = h.value + t.value * h.rest, h.rest * t.rest, 0.5 * (self.rows + 1)
        return (
            Direction(float(there), *sizes, 1.0, forward, backward, *common),
            Direction(float(back), *sizes, -1.0, backward, forward, *common),
        )


def asymptotic_loss(h: Share, t: Share, features: int, rows: int) -> PrivacyLoss:
    """N(0, I) against axis N(m, (1−t)/(1−h)), m² = rht/(1−h), and p − 1 axes N(0, 1 − t)."""
    name = "Gaussian (rows to infinity)"
    if h.rest == 0.0 or t.rest == 0.0:
        return PrivacyLoss.disjoint(name)
    if h.value + t.value < VANISHING:
        return PrivacyLoss.gaussian_shift(0.0)
    used = 1 if features == 1 else 2  # axes
    shift = np.array([np.sqrt(rows * h.value * t.value / h.rest), 0.0])
    gap = h.value - t.value if min(h.value, t.value) < 0.5 else t.rest - h.rest
    excess, ratio = np.array([gap / h.rest, -t.value]), np.array([t.rest / h.rest, t.rest])
    count = np.array([1.0, features - 1.0])
    axes = Axes(shift[:used], excess[:used], ratio[:used], count[:used])
    return PrivacyLoss.of_axes(axes, name)


@value_class(eq=True)
class Direction:
    """One direction: the law of the angle α ∈ [0, π/2] between ±a and ξ, and the loss.

    The loss increases with x, which is α itself (sign 1), or −α (sign −1). theta : the angle of a
    from the √W axis. features : p. free : r − p, the power of ξ₀ in the density. top, bottom :
    sup L and −inf L. weight : e. rest : (1−h)(1−t). power : k/2.
    """

    theta: float
    features: int
    free: int
    sign: float
    top: float
    bottom: float
    weight: float
    rest: float
    power: float

    def loss(self, x: Array) -> Array:
        """L(x), computed from the end of its range nearer to 0, where it keeps its digits."""
        near, far = np.cos(x) ** 2, np.sin(x) ** 2
        if self.sign < 0.0:
            near, far = far, near
        if self.top <= self.bottom:
            # far + rest·near = 1 − weight·near: by the form whose logarithm keeps its digits
            share = np.minimum(self.weight * near, 0.5)
            much = self.weight * near > 0.5
            log = np.where(much, np.log(far + self.rest * near), np.log1p(-share))
            return np.asarray(self.top + self.power * log)
        return np.asarray(-self.bottom + self.power * np.log1p(self.weight / self.rest * far))

    def thresholds(self, epsilon: Array) -> Array:
        """The x at which L(x) = ε; the domain's end where ε ≥ sup L."""
        epsilon = np.minimum(epsilon, self.top)
        # e times the part of the range above ε
        short = np.maximum(-np.expm1((epsilon - self.top) / self.power), 0.0)
        # e times the part of the range below ε
        passed = np.maximum(self.rest * np.expm1((epsilon + self.bottom) / self.power), 0.0)
        if self.sign > 0.0:
            return np.arctan2(np.sqrt(passed), np.sqrt(short))
        return -np.arctan2(np.sqrt(short), np.sqrt(passed))

    def delta(self, epsilon: Array) -> Array:
        """δ at each ε, (m,), ascending; the mesh of all of α's range would grow as √rows."""
        low, high = sorted(self.sign * alpha for alpha in self.seen)
        return monotone_loss.hockey_stick(
            self.log_density,
            self.loss,
            np.clip(self.thresholds(epsilon), low, high),
            epsilon,
            self.width,
            high,
            self.breaks,
        )

    def renyi(self, s: float) -> float:
        start, end = sorted((0.0, self.sign * 0.5 * np.pi))
        return monotone_loss.renyi(
            self.log_density, self.loss, s, start, end, self.width, self.breaks
        )

    @property
    def width(self) -> float:
        """The approximate length over which the density varies."""
        return 1.0 / np.sqrt(self.free + self.features)

    @property
    def seen(self) -> tuple[float, float]:
        """The α where the density is above e^{−1000} of its peak, within √p widths of θ."""
        reach = (FAR + 2.0 * np.sqrt(self.features)) * self.width
        return max(self.theta - reach, 0.0), min(self.theta + reach, 0.5 * np.pi)

    @property
    def breaks(self) -> Array:
        """The x where the density is not smooth, if that matters.

        At α = π/2 − θ one end drops out, as |α − π/2 + θ|^{r−p+(p−1)/2}: smooth enough when the
        exponent is large.
        """
        rough = self.free + 0.5 * self.features < 40
        return np.array([self.sign * (0.5 * np.pi - self.theta)] if rough else [])

    def log_density(self, x: Array) -> Array:
        """Both ends of the axis together: α and π − α are the same V."""
        p, alpha = self.features, self.sign * x
        log_norm = log_beta(0.5 * (self.free + 1), 0.5 * p)
        if p > 1:
            log_norm += log_beta(0.5 * (p - 1), 0.5) - np.log(2.0)
        return np.logaddexp(self._one_end(alpha, 1.0), self._one_end(alpha, -1.0)) - log_norm

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
        """log ∫₀^π ξ₀₊^{r−p} sin^{p−2}ψ dψ; for p = 1 the sum over ψ ∈ {0, π}.

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
        """log ξ₀₊^{r−p} with ξ₀ = 1 − drop."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.free * np.log1p(-np.minimum(drop, 1.0)))

    def _window(self, along: Array, across: Array) -> tuple[Array, Array]:
        """The interval of ψ that matters.

        The peak of the integrand solves a quadratic in cos ψ, its width follows from the curvature.
        """
        n, p = self.free, self.features
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
