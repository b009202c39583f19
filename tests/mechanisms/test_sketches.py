"""A sketch and its Gram matrix have one law, with the moments of a Wishart."""

import numpy as np
import pytest

from dpaudit.mechanisms import RandomLinearCombination, RandomProjection
from tests.mechanisms.mechanism_cases import DATA
from tests.sparse import one_in
from tests.statistical.two_sample import largest_distance, threshold

pytestmark = pytest.mark.quick

SIZE = 20_000
D = DATA.shape[1]
GRAM = DATA.T @ DATA
SCALE = np.sqrt(np.diag(GRAM))
TRIANGLE = np.triu_indices(D)


def matrices(triangles):
    """(n, d, d) symmetric, on the correlation scale, from upper triangles."""
    full = np.zeros((len(triangles), D, D))
    full[:, *TRIANGLE] = triangles
    full[:, *TRIANGLE[::-1]] = triangles
    return full / np.outer(SCALE, SCALE)


def gram_of_sketch(rows, rng):
    sketch = RandomProjection(rows)(DATA, SIZE, rng=rng).reshape(SIZE, rows, D) / SCALE
    return np.einsum("sri,srj->sij", sketch, sketch)


def gram_release(rows, rng):
    return matrices(RandomProjection(rows, "gram")(DATA, SIZE, rng=rng))


def views(gram):
    """Entries, and the eigenvalues, which depend on the joint law of the entries."""
    return np.column_stack([gram[:, *TRIANGLE], np.linalg.eigvalsh(gram)])


STATISTICS = D * (D + 1) // 2 + D


@pytest.mark.parametrize("rows", one_in(2, [2, D, 9]))
def test_gram_release_is_the_gram_of_the_sketch(rows):
    """Fails for equal laws with probability at most 1e-6.

    With fewer than d rows the Gram matrix is singular.
    """
    views_ = views(gram_of_sketch(rows, [1, rows])), views(gram_release(rows, [2, rows]))
    exact_zeros = D - min(rows, D)  # eigenvalues that are only rounding
    one, other = (
        np.delete(view, D * (D + 1) // 2 + np.arange(exact_zeros), axis=1) for view in views_
    )
    assert largest_distance(one, other) < threshold(SIZE, STATISTICS, error=1e-6)
    assert (
        np.abs(views_[1][:, D * (D + 1) // 2 :][:, :exact_zeros]).max(initial=0.0)
        < 1e-12 * views_[1].max()
    )


def test_the_gram_comparison_would_notice_a_row_more():
    """Power: χ²_9 and χ²_10 on the diagonal differ by 0.095; missed with probability < 1e-17."""
    assert largest_distance(views(gram_of_sketch(9, 1)), views(gram_release(10, 2))) > threshold(
        SIZE, STATISTICS, 1e-6
    )


@pytest.mark.parametrize("rows", [2, 9])
@pytest.mark.parametrize("release", ["sketch", "gram"])
def test_gram_moments_are_those_of_a_wishart(rows, release):
    """Means within 6 standard errors, variances within 7.

    Fails with probability below 1e-7 (normal means). An entry's excess kurtosis is at most 6
    (χ²_2), so a variance has a relative standard error of at most 2 %.
    """
    gram = gram_of_sketch(rows, 3) if release == "sketch" else gram_release(rows, 3)
    sigma = GRAM / np.outer(SCALE, SCALE)
    variance = rows * (sigma**2 + np.outer(np.diag(sigma), np.diag(sigma)))
    error = np.sqrt(variance / SIZE)
    assert np.all(np.abs(gram.mean(axis=0) - rows * sigma) < 6.0 * error)
    np.testing.assert_allclose(gram.var(axis=0), variance, rtol=0.14)


def test_sketch_rows_are_independent_with_the_right_covariance():
    """Second moments within 6 standard errors.

    Fails with probability below 3e-7 (144 normal means).
    """
    rows = 3
    white = (
        RandomProjection(rows)(DATA, SIZE, rng=4).reshape(SIZE, rows, D)
        @ np.linalg.inv(np.linalg.cholesky(GRAM)).T
    )
    flat = white.reshape(SIZE, -1)
    assert np.all(np.abs(flat.mean(axis=0)) < 6.0 / np.sqrt(SIZE))
    moments = flat.T @ flat / SIZE
    assert np.all(
        np.abs(moments - np.eye(rows * D)) < 6.0 * np.sqrt((1.0 + np.eye(rows * D)) / SIZE)
    )


def test_random_linear_combination_is_a_projection_on_one_row():
    np.testing.assert_array_equal(
        RandomLinearCombination()(DATA, 9, rng=1), RandomProjection(1)(DATA, 9, rng=1)
    )


def test_random_linear_combination_is_a_gaussian_mixture_of_the_rows():
    """The algorithm as printed, Dᵀg: fails for equal laws with probability at most 1e-6."""
    literal = np.random.default_rng(5).standard_normal((SIZE, len(DATA))) @ DATA
    whiten = np.linalg.inv(np.linalg.cholesky(GRAM)).T
    one, other = literal @ whiten, RandomLinearCombination()(DATA, SIZE, rng=6) @ whiten
    one, other = (np.column_stack([x, np.sum(x**2, axis=1)]) for x in (one, other))
    assert largest_distance(one, other) < threshold(SIZE, D + 1, error=1e-6)
