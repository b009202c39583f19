"""δ(ε) of composed releases by quadrature of one latent number against another's distribution.

E over the latent number of the first release of P'(L' > y) − e^y Q'(L' > y), y = ε − L, where the
primed laws are those of the second release, by SciPy's distributions. It shares no code with the
package. Tanh–sinh nodes between all points where the integrand bends.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr

REACH = np.arange(-4.2, 4.2, 0.02)
MARKS = np.array([-40.0, -20.0, -8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0, 20.0, 40.0])


def tanh_sinh(start, width):
    """Nodes as distances from `start`, exact near it, and weights; (panels, nodes)."""
    u = 0.5 * np.pi * np.sinh(REACH)
    share = np.exp(u) / (np.exp(u) + np.exp(-u))
    weight = 0.02 * 0.25 * np.pi * np.cosh(REACH) / np.cosh(u) ** 2
    return start[:, None] + width[:, None] * share, width[:, None] * weight


@dataclass(frozen=True)
class Shift:
    """N(0, 1) against N(μ, 1)."""

    mu: float

    def tails(self, y):
        """P(L > y) under the first law and under the second."""
        low, high = (y - 0.5 * self.mu**2) / self.mu, (y + 0.5 * self.mu**2) / self.mu
        return ndtr(-low), ndtr(-high)

    def bends(self):
        return MARKS * self.mu

    def reversed(self):
        return self


@dataclass(frozen=True)
class Sketch:
    """A Gaussian sketch; forward is full → zeroed."""

    q: float
    rows: int
    forward: bool = True

    def tails(self, y):
        offset, odds = -0.5 * self.rows * np.log1p(-self.q), self.q / (1.0 - self.q)
        half = 0.5 * self.rows
        if self.forward:
            c = np.maximum(2.0 * (y + offset) / odds, 0.0)
            return gammaincc(half, 0.5 * c), gammaincc(half, 0.5 * c / (1.0 - self.q))
        c = np.maximum(2.0 * (offset - y) / self.q, 0.0)
        return gammainc(half, 0.5 * c), gammainc(half, 0.5 * c * (1.0 - self.q))

    def bends(self):
        offset, sd = -0.5 * self.rows * np.log1p(-self.q), self.q * np.sqrt(0.5 * self.rows)
        end = -offset if self.forward else offset
        near = (1.0 if self.forward else -1.0) * sd * np.array([0.003, 0.03, 0.3])
        return np.concatenate([[end], end + near, sd * MARKS])

    def reversed(self):
        return Sketch(self.q, self.rows, not self.forward)


@dataclass(frozen=True)
class Wishart:
    """Additive Wishart noise; forward is full → zeroed."""

    q: float
    dof: int
    dim: int
    forward: bool = True

    @property
    def m(self):
        return self.dof - self.dim + 1

    @property
    def a(self):
        return 0.5 * (self.m - 2)

    def reversed(self):
        return Wishart(self.q, self.dof, self.dim, not self.forward)

    @property
    def floor(self):
        return 0.0 if self.forward else gammainc(0.5 * self.m, 0.5 * self.q)

    def loss(self, t):
        """Of c = q·t forward, q(1 + t) backward."""
        z = 0.5 * self.q
        with np.errstate(divide="ignore"):
            whole = z - self.a * np.log1p(1.0 / t)
        return whole if self.forward else -whole

    def inverse(self, loss):
        """t at which the finite loss has a value; outside its range 0 or infinity."""
        z = 0.5 * self.q
        rest = (z - loss if self.forward else z + loss) / self.a
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(rest > 0.0, 1.0 / np.expm1(np.maximum(rest, 0.0)), np.inf)

    def tails(self, y):
        """P(L > y), infinite losses included, under the first law and under the second."""
        z, half = 0.5 * self.q, 0.5 * self.m
        t = self.inverse(y) if self.a else np.where(y < (z if self.forward else -z), 0.0, np.inf)
        own, other = (t, 1.0 + t) if self.forward else (1.0 + t, t)  # of c under either law, over q
        above = self.a >= 0 if self.forward else self.a < 0  # L grows with t
        if self.forward:  # the second law has outputs with c < q, where L = −∞
            tail = gammaincc if above else gammainc
            first = tail(half, z * own)
            return first, gammaincc(half, z * other) if above else self._beyond(t)
        if above or not self.a:
            low = gammainc(half, z)
            if not self.a:
                return np.where(y < -z, 1.0, low), np.where(y < -z, 1.0, 0.0)
            return low + gammaincc(half, z * own), gammaincc(half, z * other)
        return gammainc(half, z * own), gammainc(half, z * other)

    def _beyond(self, t):
        """P(q < c < q(1 + t)), without the difference of two near numbers."""
        nodes, weights = np.polynomial.legendre.leggauss(40)
        near = np.minimum(t, 1.0)[..., None]
        c = self.q * (1.0 + 0.5 * near * (1.0 + nodes))
        half, z = 0.5 * self.m, 0.5 * self.q
        inside = 0.5 * near * self.q * np.exp((half - 1.0) * np.log(0.5 * c) - 0.5 * c)
        far = gammainc(half, z * (1.0 + t)) - gammainc(half, z)
        return np.where(t < 1.0, (0.5 * inside) @ weights / np.exp(gammaln(half)), far)

    def bends(self):
        z = 0.5 * self.q
        mode = max(self.m - 2.0, 0.3) / self.q * np.array([0.03, 0.2, 0.6, 1.0, 1.6, 4.0, 20.0])
        end = z if self.forward else -z
        return np.concatenate([[end], self.loss(mode)]) if self.a else np.array([end])

    def density(self, t):
        """Of t."""
        c = self.q * (t if self.forward else 1.0 + t)
        half = 0.5 * self.m
        with np.errstate(divide="ignore"):
            return self.q * np.exp(
                (half - 1.0) * np.log(c) - 0.5 * c - half * np.log(2.0) - gammaln(half)
            )

    def panels(self, epsilon, other):
        """Where the integrand bends, as t."""
        far = (self.m + 40.0 * np.sqrt(self.m) + 150.0) / self.q
        scale = np.array([1e-12, 1e-6, 1e-3, 0.03, 0.2, 0.6, 0.8, 1.0, 1.2, 1.6, 3.0])
        own = scale * max(self.m - (0.0 if self.forward else self.q), np.sqrt(self.m)) / self.q
        marks = [self.inverse(epsilon - other.bends()), own] if self.a else [own]
        marks = np.concatenate(marks)
        return np.unique(np.concatenate([[0.0, far], marks[(marks > 0.0) & (marks < far)]]))


def delta(first, other, epsilon):
    """δ(ε) of a Wishart part and another one, one direction."""
    edges = first.panels(epsilon, other)
    t, weight = tanh_sinh(edges[:-1], np.diff(edges))
    t = np.maximum(t, 1e-300)
    y = epsilon - first.loss(t)
    own, theirs = other.tails(y)
    with np.errstate(over="ignore", invalid="ignore"):
        gain = np.where(theirs > 0.0, own - np.exp(np.minimum(y, 700.0)) * theirs, own)
    return first.floor + float(np.sum(weight * first.density(t) * np.maximum(gain, 0.0)))
