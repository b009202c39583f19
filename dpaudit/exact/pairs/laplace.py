"""Laplace noise: k coordinates moved by the same number of scales, or one coordinate.

The former has a closed form; the latter goes by its density where the scales differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import comb

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.sorted_epsilon import Curves
from dpaudit.exact.pairs.density import DensityPair
from dpaudit.exact.pairs.discrete import Atoms
from dpaudit.laws import Density, Laplace, SharedLaplace
from dpaudit.laws.density import panel_edges
from dpaudit.laws.noise import laplace_log_density

AT_ONCE = 1 << 18  # terms worked out at a time, for all ε together
SAME = 1e-12  # relative difference of shifts that is rounding


@dataclass(frozen=True)
class LaplaceShift:
    """k coordinates of Laplace noise, each moved by `shift` = t > 0 scales.

    The loss of one coordinate is t with probability ½, −t with probability e^{−t}/2, and t − 2u
    with density e^{−u}/2 on 0 < u < t. Times e^{−L/2} its law is e^{−t/2}·(½ at −t, ½ at t,
    ¼dL between): symmetric and flat. So k coordinates have a piecewise polynomial of degree k − 1
    on spans of width 2t, and atoms at the ends of the spans, all of which come from sums of
    positive numbers; δ(ε) = ∫_{L>ε} (e^{L/2} − e^{ε − L/2}) e^{−kt/2} ν(dL).
    """

    shift: float
    count: int

    def delta(self, epsilon: ArrayLike) -> Curves:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`; both are equal."""
        epsilon = check.epsilon(epsilon)
        if self.count == 1:
            both = -np.expm1(0.5 * np.minimum(epsilon - self.shift, 0.0)) + 0.0
        else:
            step = max(1, AT_ONCE // self.count**3)
            parts = [
                self._delta(epsilon.ravel()[i : i + step]) for i in range(0, epsilon.size, step)
            ]
            both = np.concatenate(parts).reshape(epsilon.shape)
        return np.asarray(both), np.asarray(both)

    def renyi(self, order: float) -> tuple[float, float]:
        """Rényi divergences (forward, backward) of an order > 0, nats; both are equal."""
        order = check.real("order", order, 0.0, open_=True)
        both = self.count * self._one(order)
        return both, both

    def _one(self, order: float) -> float:
        """The Rényi divergence of one coordinate (Mironov 2017, proposition 6), KL at order 1.

        M(s) = e^{st}·(…)/2 with s = order − 1.
        """
        t, s = self.shift, order - 1.0
        if abs(s) < 1e-9:
            return float(t + np.expm1(-t))
        z = (1.0 + 2.0 * s) * t
        between = t if z == 0.0 else -np.expm1(-z) / (1.0 + 2.0 * s)
        return float((s * t + np.log(0.5 * (1.0 + np.exp(-z) + between))) / s)

    @property
    def supremum(self) -> tuple[float, float]:
        """kt in both directions."""
        return self.count * self.shift, self.count * self.shift

    @cached_property
    def _tilted(self) -> tuple[Array, Array]:
        """Masses of the atoms, (k + 1,), and Bernstein coefficients on each span, (k, k)."""
        # spans: density of (L + kt)/2t
        atoms, spans = (np.array([0.5, 0.5]), np.array([[0.5 * self.shift]]))
        for _ in range(self.count - 1):
            atoms, spans = _one_more(atoms, spans, self.shift)
        return atoms, spans

    def _delta(self, epsilon: Array) -> Array:
        """Atoms, then Gauss nodes on what lies above ε of each span; epsilon (m,)."""
        atoms, spans = self._tilted
        ends: Array = np.asarray((2.0 * np.arange(self.count + 1) - self.count) * self.shift)
        epsilon = epsilon[:, None]
        total = np.sum(atoms * self._excess(ends, epsilon), axis=1)
        nodes, weights = np.polynomial.legendre.leggauss(
            min(self.count // 2 + 12 + int(4.0 * self.shift), 200)
        )
        start = np.clip(epsilon, ends[:-1], ends[1:])
        # ε, span, node from here on
        half = 0.5 * ((ends[1:] - start) / (2.0 * self.shift))[..., None]
        u = 1.0 - half + half * nodes  # each span's own coordinate
        density = np.einsum("esnr,sr->esn", _bernstein(self.count - 1, u), spans)
        excess = self._excess(ends[:-1, None] + 2.0 * self.shift * u, epsilon[..., None])
        return np.minimum(total + np.sum(half * weights * density * excess, axis=(1, 2)), 1.0)

    def _excess(self, loss: Array, epsilon: Array) -> Array:
        """e^{−kt/2}·(e^{L/2} − e^{ε − L/2})₊."""
        gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
        return np.asarray(np.exp(0.5 * (loss - self.count * self.shift)) * gain)


def _one_more(atoms: Array, spans: Array, shift: float) -> tuple[Array, Array]:
    """Convolution with ½ at −t, ½ at t and ¼dL between: (t/2)du in spans' own coordinates."""
    size = len(spans) + 1
    new = np.zeros((size, size))
    higher = _elevated(spans)
    new[:-1] += 0.5 * higher
    new[1:] += 0.5 * higher
    new += 0.5 * shift * atoms[:, None]  # an atom becomes a flat span
    running = np.cumsum(spans, axis=1) / (size - 1)
    so_far = np.hstack([np.zeros((size - 1, 1)), running])
    rest = np.cumsum(spans[:, ::-1], axis=1)[:, ::-1] / (size - 1)
    still = np.hstack([rest, np.zeros((size - 1, 1))])
    new[:-1] += 0.5 * shift * so_far
    new[1:] += 0.5 * shift * still
    return 0.5 * (np.append(atoms, 0.0) + np.concatenate([[0.0], atoms])), new


def _elevated(spans: Array) -> Array:
    """The same polynomials with one Bernstein coefficient more."""
    size = spans.shape[1]
    share = np.arange(size + 1) / size
    left = np.hstack([np.zeros((len(spans), 1)), spans])
    right = np.hstack([spans, np.zeros((len(spans), 1))])
    return np.asarray(share * left + (1.0 - share) * right)


def _bernstein(degree: int, u: Array) -> Array:
    r = np.arange(degree + 1)
    return np.asarray(comb(degree, r) * u[..., None] ** r * (1.0 - u[..., None]) ** (degree - r))


def laplace_curve(left: Laplace, right: Laplace) -> tuple[Curve, str]:
    """The curve of two laws of Laplace noise, and its name.

    Raises `NoExactSpectrum` for several coordinates that differ by unlike numbers of scales.
    """
    differ = (left.loc != right.loc) | (left.scale != right.scale)
    if not differ.any():
        return Atoms(np.zeros(1), np.zeros(1)), "equal laws"
    shift = (np.abs(left.loc - right.loc) / left.scale)[differ]
    if np.array_equal(left.scale, right.scale) and np.ptp(shift) <= SAME * shift.max():
        return LaplaceShift(float(shift[0]), len(shift)), "Laplace shift"
    if len(shift) > 1:
        raise NoExactSpectrum(
            "Laplace noise has an exact spectrum where one coordinate differs, or several by the "
            "same number of scales; else use dpaudit.audit, which needs only draws"
        )
    at = int(np.flatnonzero(differ)[0])
    one, other = (
        laplace_density(float(law.loc[at]), float(law.scale[at])) for law in (left, right)
    )
    return DensityPair(one, other), "Laplace pair"


def laplace_density(loc: float, scale: float) -> Density:
    """One coordinate of Laplace noise by its density."""
    return Density(
        lambda x: laplace_log_density((x - loc) / scale) - np.log(scale),
        panel_edges(np.array([loc]), scale),
    )


def shared_curve(left: SharedLaplace, right: SharedLaplace) -> tuple[Curve, str]:
    """The curve of one draw of noise added to all coordinates, and its name.

    The differences of the coordinates are released without noise.
    """
    moved = right.loc - left.loc
    if np.any(moved != moved[0]):
        return Atoms(np.array([0.0, -np.inf]), np.array([-np.inf, 0.0])), "no output in common"
    one, other = (
        Laplace(np.array([at]), np.array([law.scale]))
        for law, at in ((left, 0.0), (right, moved[0]))
    )
    return laplace_curve(one, other)
