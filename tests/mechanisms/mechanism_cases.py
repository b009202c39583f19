"""One database and every registered mechanism on it, each parameter form included."""

import numpy as np

from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
    scatter,
)


def database(n=12, features=3, seed=20):
    """Features of unlike scales, a constant column first, the label last."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features)) * 10.0 ** np.arange(-1, features - 1)
    X[:, 0] = 1.0
    return np.column_stack([X, X @ rng.standard_normal(features) + rng.standard_normal(n)])


DATA = database()
MECHANISMS = (
    ALS(rows=7),
    ALS(rows=7, sampler="literal"),
    GaussianLS(sigma=0.5),
    GaussianLS(epsilon=1.0, delta=1e-5, sensitivity=2.0),
    RPLS(rows=7, padding=2.0),
    RPLS(rows=7, epsilon=1.0, delta=1e-5),
    RPLS(rows=7, epsilon=1.0, delta=1e-5, row_bound=1e4),
    RandomProjection(rows=5),
    RandomProjection(rows=5, release="gram"),
    RandomProjection(rows=2, release="gram"),
    RandomProjection(rows=5, padding=3.0),
    RandomLinearCombination(),
    GaussMix(rows=5, sigma=3.0),
    GaussMix(rows=5, sigma=3.0, release="gram"),
    WishartDraw(dof=6),
    WishartDraw(dof=2, padding=3.0),
    InverseWishartDraw(dof=7),
    InverseWishartDraw(dof=4, padding=3.0),
    AdditiveWishart(dof=4, scale=9.0),
    AdditiveWishart(dof=9, scale=9.0),
    AnalyzeGauss(sigma=50.0),
    GaussianInverse(sigma=0.1),
    GaussianInverse(sigma=0.02, padding=1.0),
    SufficientStatistics(sigma_gram=50.0, sigma_cross=80.0),
)
# they know the data through DᵀD + w²I alone
SCATTER = tuple(m for m in MECHANISMS if isinstance(m, scatter.ScatterDraw))


def matrices(triangles, size):
    """Symmetric matrices (n, size, size) from their upper triangles."""
    full = np.zeros((len(triangles), size, size))
    full[:, *np.triu_indices(size)] = triangles
    return full + np.triu(full, 1).transpose(0, 2, 1)
