"""A Gaussian pair of known loss: shifted, one axis rescaled, mixed by an ill-conditioned matrix."""

import numpy as np

import dpaudit as dp
from dpaudit.scoring import KnownScore

MEAN = np.array([0.8, 0.0, 0.0])
SPREAD = np.array([1.0, 1.3, 1.0])
MIX = np.array([[1.0, 0.0, 0.0], [0.9, 0.3, 0.0], [-2.0, 1.0, 5.0]])
EPSILON = [0.0, 0.5, 1.0]


def draws(size, seed=1):
    """P ~ N(MEAN, I) and Q ~ N(0, SPREAD²), mixed."""
    z = np.random.default_rng(seed).standard_normal((2, size, 3))
    return (z[0] + MEAN) @ MIX.T, (z[1] * SPREAD) @ MIX.T


def loss(x):
    """log dP/dQ."""
    z = np.linalg.solve(MIX, x.T).T
    return 0.5 * np.sum((z / SPREAD) ** 2 - (z - MEAN) ** 2, axis=1) + np.sum(np.log(SPREAD))


TRUE = KnownScore(loss, "true loss")


def audit(P, Q, classifier, **changes):
    return dp.audit_samples(
        P, Q, classifier=classifier, **({"epsilon": EPSILON, "rng": 5} | changes)
    )
