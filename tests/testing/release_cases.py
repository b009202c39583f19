"""Mechanisms of one number that leak a known amount, and the pair that shows it."""

import numpy as np

import dpaudit as dp

DATA = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 2.0]])
PAIR = dp.neighbours.zero_row(DATA, 3)


class Shifted:
    """N(μ, 1) on D, N(0, 1) on D′: δ(ε) is that of `Claim.gdp(mu)`."""

    def __init__(self, mu):
        self.mu = mu

    def __call__(self, data, size, *, rng):
        return self.mu * data[3, :1] + rng.normal(size=(size, 1))


def laplace(data, size, *, rng):
    """Laplace noise of scale 1 on a value that moves by 0.7: δ(ε) = 1 − e^{(ε − 0.7)/2}, or 0."""
    return 0.7 * data[3, :1] + rng.laplace(size=(size, 1))


def laplace_curve(epsilon):
    return max(0.0, -float(np.expm1(0.5 * (epsilon - 0.7))))


def coin(data, size, *, rng):
    """1 with probability 0.7 on D, 0.3 on D′: δ(ε) = 0.7 − 0.3 e^ε."""
    return (rng.random((size, 1)) < (0.7 if data[3, 0] else 0.3)).astype(float)


def coin_curve(epsilon):
    return max(0.0, 0.7 - 0.3 * float(np.exp(epsilon)))


TRUE = [
    (Shifted(1.0), dp.Claim.gdp(1.0)),
    (laplace, dp.Claim.from_function(laplace_curve, "its own curve")),
    (coin, dp.Claim.from_function(coin_curve, "its own curve")),
]
