"""One database and every registered mechanism on it, each parameter form included."""

import numpy as np

from dpaudit.mechanisms import ALS, RPLS, GaussianLS, RandomLinearCombination, RandomProjection


def database(n=12, features=3, seed=20):
    """Features of unlike scales, a constant column first, the label last."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features)) * 10.0 ** np.arange(-1, features - 1)
    X[:, 0] = 1.0
    return np.column_stack([X, X @ rng.standard_normal(features) + rng.standard_normal(n)])


DATA = database()
MECHANISMS = (
    ALS(rows=7),
    ALS(rows=7, sampler="wishart"),
    ALS(rows=7, sampler="literal"),
    GaussianLS(sigma=0.5),
    GaussianLS(epsilon=1.0, delta=1e-5, sensitivity=2.0),
    RPLS(rows=7, padding=2.0),
    RPLS(rows=7, epsilon=1.0, delta=1e-5),
    RPLS(rows=7, epsilon=1.0, delta=1e-5, row_bound=1e4),
    RandomProjection(rows=5),
    RandomProjection(rows=5, release="gram"),
    RandomProjection(rows=2, release="gram"),
    RandomLinearCombination(),
)
