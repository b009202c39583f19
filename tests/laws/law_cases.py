"""Pairs (law, scipy's log density of it), all of order K, for tests of the output laws."""

import numpy as np
from scipy import stats

from dpaudit.laws import (
    Gaussian,
    GaussianNoise,
    GaussianRows,
    InverseWishart,
    ShiftedWishart,
    StudentT,
)

K = 3


def root(seed):
    """Upper triangular, with one negative diagonal entry, as a QR gives."""
    R = np.triu(np.random.default_rng(seed).standard_normal((K, K)), 1) + np.diag([0.7, -1.3, 2.1])
    return R * (1.0 + 0.2 * seed)


def mean(seed):
    return np.random.default_rng([seed, 1]).standard_normal(K)


def inverse(R):
    return np.linalg.inv(R.T @ R)


def gaussian(seed):
    return Gaussian(mean(seed), root(seed)), stats.multivariate_normal(
        mean(seed), inverse(root(seed))
    ).logpdf


def student(seed):
    dof = 4
    theirs = stats.multivariate_t(mean(seed), inverse(root(seed)) / dof, df=dof)
    return StudentT(mean(seed), root(seed), dof), theirs.logpdf


def sketch(seed):
    law, theirs = (
        GaussianRows(root(seed), 5),
        stats.multivariate_normal(np.zeros(K), root(seed).T @ root(seed)),
    )
    return law, lambda x: theirs.logpdf(x.reshape(-1, 5, K)).sum(axis=1)


def unfolded(x):
    """Symmetric matrices from upper triangles, last axis first as scipy.stats has it: (K, K, n)."""
    full = np.zeros((len(x), K, K))
    full[:, *np.triu_indices(K)] = x
    full += np.triu(full, 1).transpose(0, 2, 1)
    return full.transpose(1, 2, 0)


def gram(seed):
    law, theirs = GaussianRows(root(seed), 5, "gram"), stats.wishart(5, root(seed).T @ root(seed))
    return law, lambda x: theirs.logpdf(unfolded(x))


def noise(seed):
    deviation = 0.3 + np.random.default_rng([seed, 2]).random(K)
    theirs = stats.multivariate_normal(mean(seed), np.diag(deviation**2))
    return GaussianNoise(mean(seed), deviation), theirs.logpdf


def inverse_wishart(seed, dof=6):
    theirs = stats.invwishart(dof, root(seed).T @ root(seed))
    return InverseWishart(root(seed), dof), lambda x: theirs.logpdf(unfolded(x))


SHIFT = np.diag([3.0, -1.0, 0.5]) + 0.1


def shifted_wishart(seed, dof=6):
    theirs = stats.wishart(dof, root(seed).T @ root(seed))
    return ShiftedWishart(SHIFT, root(seed), dof), lambda x: theirs.logpdf(
        unfolded(x) - SHIFT[:, :, None]
    )


LAWS = (gaussian, student, sketch, gram, noise, inverse_wishart, shifted_wishart)
