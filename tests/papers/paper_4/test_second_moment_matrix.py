"""Paper 4's algorithms: draws against the printed steps, spectra and claims."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.exact import additive_wishart
from dpaudit.mechanisms import InverseWishartDraw, RandomProjection
from dpaudit.neighbours import replace_row, zero_row
from dpaudit.papers import (
    AdaptiveInverseWishart,
    AdaptiveJLRidge,
    AdditiveWishartNoise,
    AnalyzeGaussNoise,
    InverseWishartPosterior,
    JLRidge,
    NoisyInverse,
)
from tests.mechanisms.mechanism_cases import matrices

printed = dp.papers.printed

BUDGET = {"epsilon": 0.8, "delta": 0.05, "row_bound": 2.0}
DRAWS, ERROR = 1_500, 1e-5


def rows(n=9, d=3, seed=1):
    """Of norm up to 2."""
    data = np.random.default_rng(seed).standard_normal((n, d))
    return 2.0 * data / np.linalg.norm(data, axis=1).max()


DATA = rows()
LARGE = np.tile(2.0 * np.eye(3), (1_500, 1))  # AᵀA = 6,000·I, which needs no padding
BY_STEPS = [
    JLRidge(6, **BUDGET),
    AdaptiveJLRidge(6, **BUDGET),
    AdditiveWishartNoise(**BUDGET),
    InverseWishartPosterior(**BUDGET),
    AdaptiveInverseWishart(6, **BUDGET),
]
ALL = [*BY_STEPS, AnalyzeGaussNoise(**BUDGET), NoisyInverse(0.5, **BUDGET)]


def alike(one, other):
    """Every entry and the log determinant are compared.

    At most 7 statistics, failure by chance below ERROR in all.
    """
    whole = [
        np.column_stack([draws, np.linalg.slogdet(matrices(draws, 3))[1]]) for draws in (one, other)
    ]
    for a, b in zip(whole[0].T, whole[1].T, strict=True):
        assert ks_2samp(a, b).pvalue > ERROR / 7


def by_steps(algorithm, rng):
    """One draw by the printed steps: the rows of a sketch, or random rows, one by one."""
    gram, root = DATA.T @ DATA, np.linalg.cholesky
    match algorithm:
        case AdditiveWishartNoise():
            noise = 2.0 * rng.standard_normal((algorithm.dof(3), 3))
            return gram + noise.T @ noise
        case InverseWishartPosterior():
            square, count = algorithm.prior(sum(DATA.shape)), sum(DATA.shape)
        case JLRidge():
            square, count = algorithm.padding**2, algorithm.rows
        case _:
            least = float(np.linalg.eigvalsh(gram)[0])
            square, count = (part[0] for part in algorithm.chosen(least, 1, rng))
    whole = gram + square * np.eye(3)
    inverse = isinstance(algorithm, InverseWishartPosterior | AdaptiveInverseWishart)
    scale = np.linalg.inv(whole) if inverse else whole
    sketch = rng.standard_normal((int(count), 3)) @ root(scale).T
    return np.linalg.inv(sketch.T @ sketch) if inverse else sketch.T @ sketch / count


@pytest.mark.parametrize("algorithm", BY_STEPS, ids=lambda algorithm: algorithm.statement)
def test_the_sampler_has_the_law_of_the_printed_steps(algorithm):
    rng = np.random.default_rng(2)
    drawn = np.array([by_steps(algorithm, rng)[np.triu_indices(3)] for _ in range(DRAWS)])
    alike(algorithm(DATA, DRAWS, rng=1), drawn)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [AdaptiveJLRidge, AdaptiveInverseWishart])
def test_the_joint_spectrum_is_that_of_its_draws(kind):
    """E[(1 − e^{ε−L})₊] over 20,000 draws of λ and then of the matrix.

    Within five standard errors (chance 5e-6).
    """
    algorithm = kind(8, 4.0, 0.3)
    pair = algorithm.pair()
    found = algorithm.joint_spectrum(pair, [0.0, 1.0])
    rng = np.random.default_rng(4)
    grams = [side.T @ side for side in (pair.left, pair.right)]
    least = [float(np.linalg.eigvalsh(gram)[0]) for gram in grams]
    for own, exact in ((0, found.forward), (1, found.backward)):
        estimate = least[own] + rng.laplace(0.0, algorithm.noise, 20_000)
        padding, count = algorithm.settings(estimate)
        other = 1 - own
        loss = (np.abs(estimate - least[other]) - np.abs(estimate - least[own])) / algorithm.noise
        # diagonal, so axis by axis
        both = [np.diag(gram) + padding[:, None] for gram in (grams[own], grams[other])]
        ratio, chi = both[0] / both[1], rng.chisquare(count[:, None], (20_000, 2))
        if kind is AdaptiveInverseWishart:
            ratio = 1.0 / ratio  # precisions
        loss += np.sum(0.5 * chi * (ratio - 1.0) - 0.5 * count[:, None] * np.log(ratio), axis=1)
        gain = -np.expm1(np.minimum(np.array([[0.0], [1.0]]) - loss, 0.0))
        assert np.all(np.abs(gain.mean(axis=1) - exact) < 5.0 * gain.std(axis=1) / np.sqrt(20_000))


def same_worst_cases(algorithm, mechanism, *relations):
    """Whether two mechanisms have the same exact worst case, in each relation as keywords say."""
    for keywords in relations:
        found, exact = (
            dp.exact.worst_case(one, DATA, [0.0, 0.3], **keywords).delta
            for one in (algorithm, mechanism)
        )
        np.testing.assert_array_equal(found, exact)


REPLACED = {"relation": "replace", "candidates": DATA[:3]}


def test_algorithm_1_is_a_sketch_with_its_padding():
    algorithm = JLRidge(6, **BUDGET)
    part = RandomProjection(6, padding=algorithm.padding)
    assert algorithm.padding == printed.theorem_3_1_padding(2.0, 6, 0.8, 0.05)
    same_worst_cases(algorithm, part, {}, REPLACED, {"relation": "add", "row_bound": 2.0})
    pair = replace_row(DATA, 2, DATA[5])
    found, exact = (dp.exact.spectrum(one, pair, [0.0, 0.3]).delta for one in (algorithm, part))
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_algorithm_3_adds_so_many_rows_of_the_bound():
    algorithm = AdditiveWishartNoise(0.8, 0.05, 2.0)
    k = math.floor(3 + 28.0 / 0.64 * math.log(80.0))
    assert algorithm.dof(3) == k == printed.theorem_4_1_dof(3, 0.8, 0.05)
    found = dp.exact.spectrum(
        algorithm, zero_row(np.vstack([DATA, [2.0, 0.0, 0.0]]), 9), [0.0, 0.2]
    )
    np.testing.assert_allclose(
        (found.forward, found.backward), additive_wishart(1.0, k, 3, [0.0, 0.2]), rtol=1e-12
    )
    added = dp.exact.worst_case(algorithm, DATA, [0.0, 0.2], relation="add", row_bound=2.0)
    np.testing.assert_allclose(added.delta, found.delta, rtol=1e-12)


def test_algorithm_4_draws_with_n_and_d():
    algorithm = InverseWishartPosterior(**BUDGET)
    padding = printed.theorem_5_1_padding(2.0, 12, 0.8, 0.05)
    assert algorithm.prior(12) == pytest.approx(padding**2, rel=1e-12)
    part = InverseWishartDraw(12, math.sqrt(algorithm.prior(12)))
    same_worst_cases(algorithm, part, {}, REPLACED)


def exceeds(algorithm):
    """Exact δ at the claim's ε over the claim's δ, on the algorithm's own pair."""
    spectrum = dp.exact.spectrum(algorithm, algorithm.pair(), algorithm.epsilon)
    return float(spectrum.delta) / algorithm.delta


def test_algorithm_1_fails_at_a_large_epsilon_and_theorem_b_1_does_not():
    assert exceeds(JLRidge(100_000, 400.0, 0.3)) > 2.0
    assert exceeds(JLRidge(100_000, 400.0, 0.3, variant="corrected")) < 1.0
    assert JLRidge(6, **BUDGET, variant="corrected").padding == printed.theorem_b_1_padding(
        2.0, 6, 0.8, 0.05
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(7.0, 0.1), (7.0, 1e-5)])
def test_algorithm_3_leaves_out_the_condition_of_its_theorem(epsilon, delta):
    algorithm = AdditiveWishartNoise(epsilon, delta)
    assert exceeds(algorithm) > 1.0
    assert exceeds(AdditiveWishartNoise(epsilon, delta, variant="corrected")) < 1e-3
    assert algorithm.dof(2) < AdditiveWishartNoise(epsilon, delta, variant="corrected").dof(2)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-2), (0.4, 1e-10), (200.0, 1e-5)])
def test_the_noise_of_section_2_is_too_little_for_a_small_epsilon(epsilon, delta):
    if epsilon < 1.0:
        assert exceeds(AnalyzeGaussNoise(epsilon, delta)) > 1.0
    corrected = AnalyzeGaussNoise(epsilon, delta, 3.0, variant="corrected")
    assert exceeds(corrected) <= 1.0 + 1e-9


def test_corollary_b_2_prints_two_inverses_that_are_none_of_each_other():
    """Corollary B.2 prints r from w and w from r, and these do not agree.

    The printed r is smaller by ln(4/δ), and so more private than intended.
    """
    for r in (1_000, 5_000):
        w = printed.corollary_b_2_padding(2.0, r, 0.5, 1e-3)
        assert printed.corollary_b_2_rows(2.0, w, 0.5, 1e-3) == math.ceil(
            r / math.log(4e3) * (1.0 - 1e-12)
        )
    for padding, epsilon, name in ((0.1, 0.5, "padding"), (90.0, 1.5, "epsilon")):
        with pytest.raises(InvalidInput, match=name):
            printed.corollary_b_2_rows(2.0, padding, epsilon, 1e-3)


@pytest.mark.parametrize("rho", [0.05, 1.0, 8.0])
def test_theorem_b_5_does_not_scale(rho):
    assert exceeds(NoisyInverse(rho, 0.5, 1e-5, 0.01)) > 1e3
    for bound in (0.01, 1.0, 30.0):
        assert exceeds(NoisyInverse(rho, 0.5, 1e-5, bound, variant="corrected")) <= 1.0


def test_the_shift_keeps_matrices_positive_definite_and_says_how_far():
    algorithm = AdditiveWishartNoise(**BUDGET)
    for data in (DATA, LARGE):
        draws = algorithm(data, 400, rng=1)
        moved = algorithm.shifted(draws)
        np.testing.assert_array_equal(
            moved, AdditiveWishartNoise(**BUDGET, shift=True)(data, 400, rng=1)
        )
        amount = (draws - moved)[:, 0]
        np.testing.assert_allclose(
            matrices(draws - moved, 3), amount[:, None, None] * np.eye(3), atol=1e-9
        )
        k = algorithm.dof(3)
        less = 4.0 * (math.sqrt(k) - math.sqrt(3.0) - math.sqrt(2.0 * math.log(80.0))) ** 2
        whole = np.linalg.eigvalsh(matrices(draws, 3))[:, 0] > 4.0 * k
        np.testing.assert_allclose(amount, np.where(whole, 4.0 * k, less), rtol=1e-9)
        assert whole.all() if data is LARGE else not whole.all()
        assert np.all(np.linalg.eigvalsh(matrices(moved, 3)) > 0.0)  # but for δ in theory
    with pytest.raises(NoExactSpectrum, match="shift=False"):
        dp.exact.spectrum(
            AdditiveWishartNoise(**BUDGET, shift=True), replace_row(DATA, 0, DATA[1]), 0.5
        )


def test_a_row_beyond_the_bound_is_refused():
    for mechanism in ALL:
        with pytest.raises(InvalidInput, match="row_bound"):
            mechanism(np.vstack([DATA, [3.0, 0.0, 0.0]]), 2, rng=1)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: JLRidge(3, **BUDGET)(DATA, 1, rng=1), "rows"),
        (lambda: AdaptiveJLRidge(3, **BUDGET)(DATA, 1, rng=1), "min_rows"),
        (lambda: AdaptiveInverseWishart(3, **BUDGET)(DATA, 1, rng=1), "min_dof"),
        (lambda: NoisyInverse(50.0, **BUDGET)(DATA, 1, rng=1), "data"),
    ],
)
def test_bad_arguments_are_named(make, name):
    with pytest.raises(InvalidInput, match=name):
        make()


def test_a_pair_with_a_lost_rank_is_certain_where_no_padding_hides_it():
    algorithm = AdaptiveJLRidge(3, 400.0, 0.3)
    pair = zero_row(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), 0)
    assert float(algorithm.joint_spectrum(pair, 0.0).delta) > 0.9


def test_analyze_gauss_is_lifted_where_it_is_indefinite():
    algorithm = AnalyzeGaussNoise(**BUDGET)
    draws = algorithm(3.0 * DATA[:6] / 3.0, 500, rng=2)
    lifted = algorithm.lifted(draws)
    least = np.linalg.eigvalsh(matrices(draws, 3))[:, 0]
    assert 0 < np.sum(least > 0.0) < 500
    np.testing.assert_array_equal(lifted[least > 0.0], draws[least > 0.0])
    up = (lifted - draws)[least <= 0.0]
    assert np.ptp(up[:, 0]) < 1e-9
    norms = np.abs(
        np.linalg.eigvalsh(matrices(draws - (DATA[:6].T @ DATA[:6])[np.triu_indices(3)], 3))
    ).max(axis=1)
    assert up[0, 0] == pytest.approx(norms.mean(), rel=0.1)  # E‖N‖, of 500 draws
