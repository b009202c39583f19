"""What changes between two databases, computed from their matrices at 50 digits.

Leverages and update formulas are not used.
"""

import mpmath
import numpy as np
from mpmath import mp

from dpaudit.mechanisms import (
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    SufficientStatistics,
    scatter,
)


def shift(mechanism, left, right):
    """By how many standard deviations the output's mean moves."""
    before, after = (_mean(mechanism, mp.matrix(side.tolist())) for side in (left, right))
    return float(mpmath.norm([(b - a) / s for (a, s), (b, _) in zip(before, after, strict=True)]))


def _mean(mechanism, data):
    """[(mean, standard deviation)] of the coordinates."""
    gram = data.T * data
    p = data.cols - 1
    if isinstance(mechanism, GaussianLS):
        return [(x, mechanism.noise) for x in mpmath.lu_solve(gram[:p, :p], gram[:p, p])]
    if isinstance(mechanism, AnalyzeGauss):
        return [(x, mechanism.sigma) for x in _upper(gram)]
    if isinstance(mechanism, GaussianInverse):
        return [
            (x, mechanism.sigma)
            for x in _upper((gram + mp.mpf(mechanism.padding) ** 2 * mp.eye(p + 1)) ** -1)
        ]
    assert isinstance(mechanism, SufficientStatistics)
    upper = [(x, mechanism.sigma_gram) for x in _upper(gram[:p, :p])]
    return upper + [(gram[j, p], mechanism.sigma_cross) for j in range(p)]


def _upper(matrix):
    return [matrix[j, k] for j in range(matrix.rows) for k in range(j, matrix.cols)]


def scales(mechanism, left, right):
    """(up, down): the eigenvalues of Σ⁻¹Σ' are 1 + up, 1 − down, and else 1.

    Computed from the trace and the determinant.
    """
    assert isinstance(mechanism, scatter.ScatterDraw)
    ridge = mp.mpf(mechanism.sizes[1]) ** 2 * mp.eye(left.shape[1])
    before, after = (
        mp.matrix(side.tolist()).T * mp.matrix(side.tolist()) + ridge for side in (left, right)
    )
    ratio = before**-1 * after
    gap = sum(ratio[j, j] for j in range(ratio.rows)) - ratio.rows
    product = 1 + gap - mpmath.det(ratio)
    root = mpmath.sqrt(gap**2 + 4 * product)
    return float((root + gap) / 2), float((root - gap) / 2)


def changes(mechanism, left, right):
    """What a family says of the pair: mu, or up and down, as an array."""
    with mp.workdps(50):
        if isinstance(mechanism, scatter.ScatterDraw):
            return np.array(scales(mechanism, left, right))
        return np.array([shift(mechanism, left, right)])


def replaced(data, index, row):
    out = data.copy()
    out[index] = row
    return out
