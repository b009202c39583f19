"""Pairs of laws of five shapes whose δ at one ε has a given value, drawn as their privacy loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.types import Array
from dpaudit.curves.gaussian_shift import shift_delta

Draws = Callable[[np.random.Generator, int], tuple[Array, Array]]
FAR = 40.0  # nats, which stand for an infinite loss
RATE = (0.1, 1.5, 0.97)  # of the subsampled Gaussian: at least, times δ(ε), at most


def gaussian(epsilon: float, delta: float) -> Draws:
    """N(μ, 1) against N(0, 1)."""
    mu = shift_of(epsilon, delta)

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (mu * (rng.standard_normal(size) + mean) - 0.5 * mu**2 for mean in (mu, 0.0))
        return P, Q

    return draws


def shift_of(epsilon: float, delta: float) -> float:
    """μ of the Gaussian shift with δ(ε) = delta in (0, 1), to a relative 1e-6; ε in nats."""
    at = np.asarray(epsilon, dtype=np.float64)

    def gap(mu: float) -> float:
        return float(shift_delta(mu, at)) - delta

    return float(brentq(gap, 1e-13, 1e4, xtol=1e-15, rtol=1e-6))


def laplace(epsilon: float, delta: float) -> Draws:
    """Laplace noise against the same moved by 1; its δ(ε) is 1 − e^{(ε − ε₀)/2}, ε₀ = 1/scale."""
    pure = epsilon - 2.0 * np.log1p(-delta)

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (rng.laplace(mean, 1.0 / pure, size) for mean in (0.0, 1.0))
        return pure * np.clip(1.0 - 2.0 * P, -1.0, 1.0), pure * np.clip(1.0 - 2.0 * Q, -1.0, 1.0)

    return draws


def coin(epsilon: float, delta: float) -> Draws:
    """Randomised response."""
    yes = (delta + np.exp(epsilon)) / (1.0 + np.exp(epsilon))
    loss = np.log(yes / (1.0 - yes))

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P, Q = (np.where(rng.random(size) < p, loss, -loss) for p in (yes, 1.0 - yes))
        return P, Q

    return draws


def rare_value(epsilon: float, delta: float) -> Draws:
    """A value of probability δ that gives M(D) away; all else has one law, whatever ε is."""

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        rest = np.log1p(-delta)
        return np.where(rng.random(size) < delta, FAR, rest), np.full(size, rest)

    return draws


def subsampled_gaussian(epsilon: float, delta: float) -> Draws:
    """(1 − r) N(0, 1) + r N(μ, 1) against N(0, 1), with the rate r a little above δ(ε)."""
    least, factor, most = RATE
    rate, gamma = min(max(least, factor * delta), most), np.exp(epsilon)

    def gap(mu: float) -> float:
        start = (np.log((gamma - 1.0 + rate) / rate) + 0.5 * mu**2) / mu  # loss above ε from here
        return float((1.0 - rate - gamma) * ndtr(-start) + rate * ndtr(mu - start)) - delta

    mu = float(brentq(gap, 1e-6, FAR))

    def draws(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        P = rng.standard_normal(size) + mu * (rng.random(size) < rate)
        Q = rng.standard_normal(size)
        P, Q = (np.logaddexp(np.log1p(-rate), np.log(rate) + mu * x - 0.5 * mu**2) for x in (P, Q))
        return P, Q

    return draws


SHAPES: dict[str, Callable[[float, float], Draws]] = {
    "Gaussian": gaussian,
    "Laplace": laplace,
    "coin": coin,
    "rare value": rare_value,
    "subsampled Gaussian": subsampled_gaussian,
}
