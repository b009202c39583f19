"""Densities and draws of the output laws, against scipy.stats."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit import laws
from dpaudit.laws import Gaussian, GaussianNoise, ShiftedWishart, log_ratio
from dpaudit.mechanisms import (
    ALS,
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomLinearCombination,
    RandomProjection,
    SufficientStatistics,
)
from tests.laws.law_cases import (
    LAWS,
    SHIFT,
    K,
    gaussian,
    gram,
    inverse_wishart,
    noise,
    root,
    shifted_wishart,
    sketch,
    student,
)
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS
from tests.statistical.two_sample import largest_distance, threshold

every_law = pytest.mark.parametrize("pair_of", LAWS, ids=lambda f: f.__name__)


@every_law
def test_the_loss_is_the_ratio_of_scipys_densities(pair_of):
    (left, left_pdf), (right, right_pdf) = pair_of(1), pair_of(2)
    x = np.concatenate(
        [left.sample(50, np.random.default_rng(3)), right.sample(50, np.random.default_rng(4))]
    )
    np.testing.assert_allclose(
        log_ratio(left, right, x), left_pdf(x) - right_pdf(x), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("pair_of", [f for f in LAWS if f is not gram], ids=lambda f: f.__name__)
def test_a_density_is_scipys_up_to_one_constant(pair_of):
    law, theirs = pair_of(1)
    x = law.sample(50, np.random.default_rng(3))
    assert np.ptp(law.log_density(x) - theirs(x)) < 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [
        ALS(9),
        GaussianLS(sigma=1.0),
        RandomProjection(3),
        RandomProjection(3, "gram"),
        RandomLinearCombination(),
        GaussMix(3, sigma=2.0),
        InverseWishartDraw(5),
        AnalyzeGauss(sigma=200.0),
        GaussianInverse(sigma=0.5),
        SufficientStatistics(sigma_gram=100.0, sigma_cross=300.0),
    ],
    ids=repr,
)
def test_the_loss_integrates_to_one(mechanism):
    """E_Q[e^L] = 1 within 6 standard errors: fails with probability below 1e-7 (20 normal means).

    The variance is finite since the row's leverage in [B, b] is below one half.
    """
    index = 3
    assert RandomProjection(1).zeroed_rows(DATA).leverage[index] < 0.5
    pair = dp.neighbours.zero_row(DATA, index)
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    for P, Q, seed in ((left, right, 1), (right, left, 2)):
        ratio = np.exp(log_ratio(P, Q, Q.sample(40_000, np.random.default_rng([seed, index]))))
        error = ratio.std() / np.sqrt(len(ratio))
        assert 0.0 < error < 0.02
        assert abs(ratio.mean() - 1.0) < 6.0 * error


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (gaussian(1)[0], student(1)[0]),
        (gaussian(1)[0], Gaussian(np.zeros(2), np.eye(2))),
        (sketch(1)[0], gram(1)[0]),
    ],
)
def test_laws_of_different_shape_have_no_ratio(left, right):
    with pytest.raises(dp.InvalidInput, match="right must be a"):
        log_ratio(left, right, np.zeros((2, left.dim)))


# --- draws


def massart(size, statistics, error):
    """One-sample Kolmogorov distance passed with probability at most `error` (Massart 1990)."""
    return np.sqrt(np.log(2.0 * statistics / error) / (2.0 * size))


@pytest.mark.parametrize("law", [gaussian(1)[0], noise(1)[0]], ids=["gaussian", "noise"])
def test_gaussian_draws_have_the_law(law):
    """The square radius shows dependence of coordinates. Fails with probability at most 1e-6."""
    size = 20_000
    draws = law.sample(size, np.random.default_rng(5))
    if isinstance(law, Gaussian):
        white = (draws - law.mean) @ law.root.T
    else:
        white = (draws - law.mean) / law.deviation
    distances = [stats.kstest(white[:, j], "norm").statistic for j in range(K)]
    distances.append(stats.kstest(np.sum(white**2, axis=1), stats.chi2(K).cdf).statistic)
    assert max(distances) < massart(size, K + 1, 1e-6)


def test_student_draws_have_the_law():
    """z_j √ν is Student t and the square radius beta-prime(k/2, ν/2).

    Fails with probability at most 1e-6.
    """
    law, size = student(1)[0], 20_000
    white = (law.sample(size, np.random.default_rng(5)) - law.mean) @ law.root.T
    t, radius = stats.t(law.dof), stats.betaprime(0.5 * K, 0.5 * law.dof)
    distances = [stats.kstest(white[:, j] * np.sqrt(law.dof), t.cdf).statistic for j in range(K)]
    distances.append(stats.kstest(np.sum(white**2, axis=1), radius.cdf).statistic)
    assert max(distances) < massart(size, K + 1, 1e-6)


@pytest.mark.parametrize("mechanism", MECHANISMS[::4], ids=repr)
def test_chunks_that_do_not_divide_the_size_keep_the_law(mechanism, monkeypatch):
    """Chunks of 7 against one of all: fails for equal laws with probability at most 1e-6 each."""
    size = 3001
    whole = mechanism.prepare(DATA)(size, np.random.default_rng(1))
    monkeypatch.setattr(laws.base, "CHUNK", 7)
    pieces = mechanism.prepare(DATA)(size, np.random.default_rng(2))
    assert len(np.unique(pieces, axis=0)) == size
    assert largest_distance(whole, pieces) < threshold(size, whole.shape[1], error=1e-6)


def test_noise_of_thousands_of_coordinates_is_light():
    """No k × k matrix: 5,000 squared would take 200 MB."""
    law = GaussianNoise(np.arange(5000.0), np.full(5000, 2.0))
    tracemalloc.start()
    draws = law.sample(200, np.random.default_rng(1))
    law.log_density(draws)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert draws.shape == (200, 5000)
    assert peak < 50e6


@pytest.mark.parametrize("dof", [1, 6])
def test_bartlett_factors_are_lower_trapezoidal(dof):
    factor = laws.bartlett(50, 3, dof, np.random.default_rng(1))
    assert factor.shape == (50, 3, min(3, dof))
    assert np.all(np.triu(factor, 1) == 0.0)
    assert np.all(np.diagonal(factor, axis1=1, axis2=2) > 0.0)


# Laws of matrices: degrees of freedom, and outputs that one law, or neither, can have made.


@pytest.mark.quick
@pytest.mark.parametrize("make", [inverse_wishart, shifted_wishart])
@pytest.mark.parametrize("dof", [K, K + 1, 40])
def test_densities_of_matrices_at_any_degrees_of_freedom(make, dof):
    law, theirs = make(1, dof)
    x = law.sample(50, np.random.default_rng(3))
    assert np.ptp(law.log_density(x) - theirs(x)) < 1e-8


@pytest.mark.quick
@pytest.mark.parametrize("make", [inverse_wishart, shifted_wishart])
def test_matrices_need_as_many_degrees_of_freedom_as_columns(make):
    with pytest.raises(
        dp.InvalidInput, match="dof must be at least 3, the number of columns, got 2"
    ):
        make(1)[0].__class__(*([SHIFT] if make is shifted_wishart else []), root(1), K - 1)


# --- where one law, or neither, can have made the output


def moved(amount):
    return ShiftedWishart(SHIFT + amount * np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0]), root(1), 4)


@pytest.mark.quick
def test_the_loss_is_infinite_where_the_other_law_cannot_be():
    """A row of the left database alone: some draws of the left law cannot come from the right one.

    Every draw of the right law is possible under the left one. With dof 4 and d = 3, the ratio
    q/vᵀW⁻¹v is χ²₂. The share is within 6 standard errors: fails with probability below 1e-8.
    """
    with_row, without, size = moved(0.5), moved(0.0), 20_000
    forward = log_ratio(with_row, without, with_row.sample(size, np.random.default_rng(1)))
    backward = log_ratio(without, with_row, without.sample(size, np.random.default_rng(2)))
    assert np.isfinite(forward).all()
    assert not np.isnan(backward).any()
    v = np.sqrt(0.5) * np.array([1.0, 2.0, 0.0])
    share = stats.chi2(2).cdf(v @ np.linalg.inv(root(1).T @ root(1)) @ v)
    assert 0.1 < share < 0.9
    assert np.mean(backward == np.inf) == pytest.approx(
        share, abs=6.0 * np.sqrt(share * (1.0 - share) / size)
    )


@pytest.mark.quick
def test_an_output_that_neither_law_can_have_made_tells_nothing():
    x = np.concatenate(
        [
            -10.0 * np.eye(K)[*np.triu_indices(K)][None],
            moved(0.0).sample(3, np.random.default_rng(1)),
        ]
    )
    found = log_ratio(moved(0.0), moved(0.5), x)
    assert found[0] == 0.0
    np.testing.assert_array_equal(moved(0.0).log_density(x)[:1], [-np.inf])
    assert np.all(found[1:] != 0.0)
