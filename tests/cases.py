"""Databases and mechanisms for tests of exact spectra, neighbours and audits."""

import numpy as np

from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    AnalyzeGauss,
    Composition,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)

EPSILON = np.array([0.0, 0.02, 0.1, 0.3, 1.0, 3.0])


def database(n=40, features=3, seed=30):
    """Heavy-tailed features and noise, a constant column first, the label last."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, (n, features))
    X[:, 0] = 1.0
    return np.column_stack([X, X.sum(axis=1) + rng.standard_t(4, n)])


MECHANISMS = (
    ALS(rows=12),
    ALS(rows=4),
    GaussianLS(sigma=0.1),
    GaussianLS(epsilon=1.0, delta=1e-3, sensitivity=0.5),
    RPLS(rows=12, padding=1.0),
    RPLS(rows=12, epsilon=50.0, delta=0.1),
    RPLS(rows=12, epsilon=50.0, delta=0.1, row_bound=50.0),
    RandomProjection(rows=6),
    RandomProjection(rows=6, release="gram"),
    RandomLinearCombination(),
    RandomProjection(rows=6, padding=2.0),
    GaussMix(rows=6, sigma=3.0),
    WishartDraw(dof=9),
    InverseWishartDraw(dof=9, padding=1.0),
    AdditiveWishart(dof=12, scale=4.0),
    AdditiveWishart(dof=4, scale=20.0),
    AnalyzeGauss(sigma=60.0),
    GaussianInverse(sigma=0.01),
    SufficientStatistics(sigma_gram=40.0, sigma_cross=60.0),
    Composition((GaussianLS(sigma=0.2), RandomProjection(rows=3)), times=(1, 2)),
)


def shifted(mean):
    """A plain function as mechanism: normals about a multiple of the first entry of the data."""

    def shift(data, size, *, rng):
        return mean * data[0, 0] + rng.standard_normal((size, 1))

    return shift
