"""The mechanisms of papers 3 and 4 against literal versions of their algorithms.

The literal versions draw sketches, outer products and noise.
"""

import numpy as np
import pytest

from dpaudit.mechanisms import (
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from tests.mechanisms.mechanism_cases import DATA, matrices
from tests.sparse import one_in
from tests.statistical.two_sample import largest_distance, threshold

SIZE, N, D = 20_000, *DATA.shape
GRAM = DATA.T @ DATA
SCALE = np.sqrt(np.diag(GRAM))
ERROR = 1e-6  # of each comparison of equal laws


def gram(rows):
    """(n, d, d) from (n, r, d)."""
    return np.einsum("sri,srj->sij", rows, rows)


def padded_sketch(rng, rows=5, padding=3.0):
    """Π[D; wI], Π standard normal (paper 4, algorithm 1 before the division by r)."""
    return rng.standard_normal((SIZE, rows, N + D)) @ np.vstack([DATA, padding * np.eye(D)])


def thin_sketch(rng):
    """Two rows only, so that the Gram matrix is singular."""
    return padded_sketch(rng, rows=2, padding=0.0)


def combination(rng):
    """Dᵀg with g standard normal (paper 1, lemma 4), as a sketch of one row."""
    return rng.standard_normal((SIZE, 1, N)) @ DATA


def mixed(rng, rows=5, sigma=3.0):
    """SD + σξ (paper 3)."""
    return rng.standard_normal((SIZE, rows, N)) @ DATA + sigma * rng.standard_normal(
        (SIZE, rows, D)
    )


def wishart_sum(rng, dof=6, padding=3.0):
    """Outer products of dof normals of covariance Σ, summed."""
    root = np.linalg.cholesky(GRAM + padding**2 * np.eye(D))
    return gram(rng.standard_normal((SIZE, dof, D)) @ root.T)


def inverse_of_sum(rng, dof=7, padding=3.0):
    """The inverse of summed outer products of dof normals of covariance Σ⁻¹."""
    root = np.linalg.cholesky(np.linalg.inv(GRAM + padding**2 * np.eye(D)))
    return np.linalg.inv(gram(rng.standard_normal((SIZE, dof, D)) @ root.T))


def with_random_rows(rng, dof=5, scale=9.0):
    """The second moments of the data and dof rows N(0, s²I) (paper 4, algorithm 3)."""
    rows = scale * rng.standard_normal((SIZE, dof, D))
    return gram(np.concatenate([np.broadcast_to(DATA, (SIZE, N, D)), rows], axis=1))


def symmetric_noise(rng, size, sigma):
    """Each entry on or above the diagonal drawn by itself, and copied below it."""
    noise = np.zeros((SIZE, size, size))
    for j in range(size):
        for k in range(j, size):
            noise[:, j, k] = noise[:, k, j] = sigma * rng.standard_normal(SIZE)
    return noise


def noisy_gram(rng, sigma=50.0):
    return GRAM + symmetric_noise(rng, D, sigma)


def noisy_inverse(rng, sigma=0.02, padding=1.0):
    return np.linalg.inv(GRAM + padding**2 * np.eye(D)) + symmetric_noise(rng, D, sigma)


def noisy_statistics(rng, sigma_gram=50.0, sigma_cross=80.0):
    """[XᵀX, Xᵀy] as (n, p, p + 1)."""
    gram_ = GRAM[:-1, :-1] + symmetric_noise(rng, D - 1, sigma_gram)
    cross = GRAM[:-1, -1] + sigma_cross * rng.standard_normal((SIZE, D - 1))
    return np.concatenate([gram_, cross[:, :, None]], axis=2)


CASES = {
    "fewer rows than columns": (RandomProjection(2, "gram"), thin_sketch),
    "one combination": (RandomLinearCombination(), combination),
    "padded projection, gram": (RandomProjection(5, "gram", 3.0), padded_sketch),
    "mixing": (GaussMix(5, 3.0), mixed),
    "Wishart": (WishartDraw(6, 3.0), wishart_sum),
    "inverse Wishart": (InverseWishartDraw(7, 3.0), inverse_of_sum),
    "additive Wishart": (AdditiveWishart(5, 9.0), with_random_rows),
    "Analyze Gauss": (AnalyzeGauss(50.0), noisy_gram),
    "Gaussian inverse": (GaussianInverse(0.02, 1.0), noisy_inverse),
    "sufficient statistics": (SufficientStatistics(50.0, 80.0), noisy_statistics),
}


def shaped(mechanism, draws):
    """Sketches as (n, r, d), second moments as (n, d, d).

    Sufficient statistics have the shape of the literal function.
    """
    if isinstance(mechanism, RandomLinearCombination) or (
        mechanism.parameters().get("release") == "sketch"
    ):
        return draws.reshape(SIZE, -1, D)
    if isinstance(mechanism, SufficientStatistics):
        gram_, cross = draws[:, : -(D - 1)], draws[:, -(D - 1) :]
        return np.concatenate([matrices(gram_, D - 1), cross[:, :, None]], axis=2)
    return matrices(draws, D)


def views(x, symmetric):
    """Entries, and eigenvalues of symmetric matrices or singular values, which show dependence."""
    values = np.linalg.eigvalsh(x) if symmetric else np.linalg.svd(x, compute_uv=False)
    return np.column_stack([x.reshape(SIZE, -1), np.round(values, 9)])


def compared(mechanism, drawn, literal):
    """(largest distance, threshold) of shaped draws on the scale of the data."""
    if mechanism.parameters().get("release") == "gram":
        literal = gram(literal)
    symmetric = literal.shape[1:] == (D, D)
    unit = np.outer(SCALE, SCALE) if symmetric else np.ones(literal.shape[1:])
    unit = 1.0 / unit if isinstance(mechanism, GaussianInverse) else unit
    sides = [views(x / unit, symmetric) for x in (shaped(mechanism, drawn), literal)]
    return largest_distance(*sides), threshold(SIZE, sides[0].shape[1], ERROR)


@pytest.mark.parametrize("case", one_in(3, CASES))
def test_draws_are_those_of_the_algorithm(case):
    """Fails for equal laws with probability at most 1e-6 each."""
    mechanism, literal = CASES[case]
    distance, limit = compared(
        mechanism, mechanism(DATA, SIZE, rng=1), literal(np.random.default_rng(2))
    )
    assert distance < limit
