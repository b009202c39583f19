"""Exact confidence bounds on P(S) − γQ(S) for a fixed set S, from two binomial counts.

A lower bound on p − γq makes δ(ε) ≥ p − e^ε q a certificate. Bounding p and q apart (Clopper–Pearson twice) pays for
both; inverting one test of p − γq pays once, up to √2 less margin. The nuisance q is restricted to a Clopper–Pearson
interval whose error is added to the p-value (Berger & Boos 1994).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from dpaudit._check import Array

NUISANCE_SHARE = 0.05  # of α, spent on the interval for q
NUISANCE_POINTS = 7
CELLS = 256  # of Y's range; each is counted at the y that favours the null, so coarser means conservative
STEPS, TOLERANCE = 40, 2e-3
REACH = 7.5  # standard deviations of Y covered; what is beyond counts in full


def upper(count: int, n: int, alpha: float) -> float:
    """Clopper–Pearson upper confidence bound of a binomial probability at level 1 − alpha."""
    return 1.0 if count >= n else float(betaincinv(count + 1, n - count, 1.0 - alpha))


def lower(count: int, n: int, alpha: float) -> float:
    """Clopper–Pearson lower confidence bound of a binomial probability at level 1 − alpha."""
    return 0.0 if count <= 0 else float(betaincinv(count, n - count + 1, alpha))


def difference_lower(x: int, n: int, y: int, m: int, gamma: float, alpha: float) -> float:
    """Lower confidence bound on p − γq at level 1 − alpha, from x ~ Bin(n, p) and y ~ Bin(m, q) independent.

    x of n draws from P and y of m draws from Q fell in a set fixed in advance; γ = e^ε. The bound may be negative.
    """
    test = _Test(x, n, y, m, gamma, alpha)
    floor = -gamma * test.q_range[1]  # since p ≥ 0, wherever the nuisance is in its interval
    return floor if x == 0 else max(test.invert(), floor)


@dataclass
class _Test:
    """One-sided test of p − γq ≤ d₀ by the statistic X/n − γY/m."""

    x: int
    n: int
    y: int
    m: int
    gamma: float
    alpha: float

    def __post_init__(self) -> None:
        beta = 0.5 * NUISANCE_SHARE * self.alpha
        self.target = (1.0 - NUISANCE_SHARE) * self.alpha
        self.q_range = lower(self.y, self.m, beta), upper(self.y, self.m, beta)
        start, stop = (q * self.m for q in self.q_range)
        spread = REACH * np.sqrt(stop * (1.0 - stop / self.m) + 1.0)
        low, high = max(0, int(start - spread)), min(self.m, int(stop + spread) + 1)
        cells = np.unique(np.linspace(low, high, CELLS + 1).astype(np.int64))
        self.cells = np.unique(np.concatenate([[0], cells]))  # first y of each cell, the last open above
        need = np.ceil(self.x + self.gamma * self.n / self.m * (self.cells - self.y) - 1e-9)
        self.need = np.clip(need, 0, self.n + 1)  # X must reach this for a statistic as large as observed

    def invert(self) -> float:
        """The largest d₀ that is rejected, to within TOLERANCE standard errors below it.

        Secant steps on the normal scale, where the p-value is nearly linear in d₀; bisection where they leave the
        bracket. Any d₀ returned was itself rejected, so stopping early costs power and not validity.
        """
        p, q = self.x / self.n, self.y / self.m
        spread = np.sqrt(max(p * (1 - p), 1 / self.n) / self.n + self.gamma**2 * max(q * (1 - q), 1 / self.m) / self.m)
        goal = -ndtri(self.target)
        rejected, kept = -self.gamma, p - self.gamma * q
        guess = kept - goal * spread
        for step in range(STEPS):
            points = NUISANCE_POINTS if step > 0 else 1  # the first guess needs no care
            z = -ndtri(np.clip(self.p_value(guess, points), 1e-300, 1.0))
            if points > 1:
                rejected, kept = (guess, kept) if z >= goal else (rejected, guess)
                if 0.0 <= z - goal < TOLERANCE or kept - rejected < TOLERANCE * spread:
                    break
            newton = guess + (z - goal - 0.5 * TOLERANCE) * spread if z > -10.0 else -np.inf
            guess = newton if rejected < newton < kept else 0.5 * (max(rejected, guess - 9.0 * spread) + kept)
        return rejected

    def p_value(self, d0: float, points: int = NUISANCE_POINTS) -> float:
        """sup over q in its interval of P(X/n − γY/m ≥ observed) at p = d₀ + γq; at the middle q if `points` is 1."""
        low = max(self.q_range[0], -d0 / self.gamma)
        high = min(self.q_range[1], (1.0 - d0) / self.gamma)
        if low > high:
            return 0.0
        q = np.linspace(low, high, points)[:, None] if points > 1 else np.array([[0.5 * (low + high)]])
        p = np.clip(d0 + self.gamma * q, 0.0, 1.0)
        return float(np.max(np.sum(self._cell_mass(q) * self._tail(p), axis=1)))

    def _tail(self, p: Array) -> Array:
        """P(X ≥ need) for each p (rows) and cell (columns)."""
        need = self.need
        tail = np.broadcast_to(np.where(need <= 0, 1.0, 0.0), (len(p), len(need))).copy()
        inside = (need > 0) & (need <= self.n)
        tail[:, inside] = betainc(need[inside], self.n - need[inside] + 1.0, p)
        return tail

    def _cell_mass(self, q: Array) -> Array:
        """P(Y in cell) for each q (rows)."""
        above = np.where(self.cells <= 0, 1.0, betainc(np.maximum(self.cells, 1), self.m - self.cells + 1.0, q))
        return -np.diff(above, axis=1, append=0.0)
