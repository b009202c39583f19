"""Gaussian mixing by lemma 1, and algorithm 1: samplers, units, the bound by the joint release."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit.exact import gaussian_sketch
from dpaudit.papers import CalibratedGaussMix, ModifiedGaussMix
from tests.papers.paper_3.steps import sketches_by_steps

printed = dp.papers.printed

SIZE, ERROR = 4_000, 1e-6  # of each comparison of equal laws
RNG = np.random.default_rng(4)
DATA = RNG.uniform(-1.0, 1.0, (9, 2)) @ [[1.0, 0.2], [0.0, 0.7]]
BOUND = 1.5


@pytest.mark.parametrize(
    "mechanism",
    [
        CalibratedGaussMix(5, 2.0, 1e-3, BOUND),
        ModifiedGaussMix(5, 4.2, 1e-3, 0.2, BOUND),
        ModifiedGaussMix(5, 4.2, 1e-3, 0.2, BOUND, variant="corrected"),
    ],
    ids=repr,
)
def test_the_sampler_has_the_law_of_the_printed_steps(mechanism):
    """Every number that is released, and one product of them, is compared.

    All comparisons together miss in 10⁻⁶ of the seeds.
    """
    rng = np.random.default_rng(8)
    noise = np.full(SIZE, getattr(mechanism, "sigma", 0.0))
    if isinstance(mechanism, ModifiedGaussMix):
        noise = mechanism.noise(float(np.linalg.eigvalsh(DATA.T @ DATA)[0]), SIZE, rng)
    steps = sketches_by_steps(DATA, mechanism.rows, noise, rng)
    draws = (
        mechanism(DATA, SIZE, rng=7),
        (steps.transpose(0, 2, 1) @ steps)[:, [0, 0, 1], [0, 1, 1]],
    )
    one, other = (np.column_stack([x, x[:, 0] * x[:, 1]]) for x in draws)
    assert (
        min(ks_2samp(a, b).pvalue for a, b in zip(one.T, other.T, strict=True))
        > ERROR / one.shape[1]
    )


@pytest.mark.parametrize("bound", [1.0, 0.05, 30.0])
@pytest.mark.parametrize(
    ("rows", "epsilon", "delta"), [(1, 0.3, 1e-3), (40, 1.0, 1e-6), (1000, 15.0, 1e-2)]
)
def test_calibrated_noise_keeps_the_claim_and_wastes_little(bound, rows, epsilon, delta):
    """A database of this row alone has q = 1/(1 + γ)."""
    mechanism = CalibratedGaussMix(rows, epsilon, delta, bound)
    exact = dp.exact.spectrum(mechanism, mechanism.pair(), epsilon)
    assert exact.delta <= delta
    gamma = printed.gaussmix_gamma(rows, epsilon, delta)
    assert mechanism.sigma**2 == pytest.approx(bound**2 * gamma)
    expected = gaussian_sketch(1.0 / (1.0 + gamma), rows, epsilon)
    np.testing.assert_allclose(exact.delta, max(expected), rtol=1e-6)


def test_lines_5_and_6():
    """By hand: z = 0, λ = 40, C = 2, η = 0.5, so λ_min's estimate is 40 − 2·τ."""
    printed_, corrected = (
        ModifiedGaussMix(4, 30.0, 0.01, 0.5, 2.0, variant=v) for v in ("printed", "corrected")
    )
    tau = math.sqrt(2.0 * math.log(300.0))
    estimate = 40.0 - 0.5 * 4.0 * tau
    assert printed_.tau == pytest.approx(tau)
    bare = 2.0 * math.sqrt(max(30.0 - estimate, 0.0))
    assert printed_.noise_at(estimate) == pytest.approx(bare)
    by_square = 2.0 * math.sqrt(30.0 - estimate / 4.0)
    assert corrected.noise_at(estimate) == pytest.approx(by_square)
    assert printed_.noise_at(-5.0) == pytest.approx(2.0 * math.sqrt(30.0))
    assert printed_.noise_at(1e6) == 0.0
    draws = corrected.noise(40.0, 200_000, np.random.default_rng(1))
    estimates = 4.0 * (30.0 - draws**2 / 4.0)
    # six deviations
    assert estimates.mean() == pytest.approx(estimate, abs=6.0 * 2.0 / math.sqrt(200_000))
    assert estimates.std() == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize("delta", [1e-5])
def test_at_small_eta_theorem_1_needs_the_exact_gaussian_release(delta):
    """Its first term is the textbook's bound outside of its range.

    The joint release of the proof leaks more.
    """
    pair = dp.neighbours.zero_row(_axis(1.0, 50.0), 0)
    printed_, corrected = (
        ModifiedGaussMix(100, 100.0, delta, 0.2, variant=v) for v in ("printed", "corrected")
    )
    assert printed_.joint_spectrum(pair, printed_.claim.epsilon).delta > 10.0 * delta
    assert corrected.joint_spectrum(pair, corrected.claim.epsilon).delta <= delta
    first = corrected.claim.epsilon - printed.gaussmix_epsilon(100, 100.0, delta / 3.0)
    assert dp.exact.gaussian_shift(5.0, first) == pytest.approx(delta / 3.0, rel=1e-6)
    assert ModifiedGaussMix(100, 100.0, delta, 5.0).shortfall == 0.0


@pytest.mark.slow
def test_the_joint_release_bounds_what_is_certified():
    mechanism = ModifiedGaussMix(30, 5.0, 0.1, 0.8, 1.0)
    pair = dp.neighbours.zero_row(_axis(1.0, 4.0), 0)
    epsilon = np.array([0.0, 0.2, 0.5])
    result = dp.audit(mechanism, pair, draws=20_000, epsilon=epsilon, level=0.9999, rng=3)
    joint = mechanism.joint_spectrum(pair, epsilon).delta
    assert np.all(result.spectrum.low <= joint)
    assert result.spectrum.low[0] > 0.05  # the bound is held against something


def test_bad_input_is_named():
    with pytest.raises(dp.InvalidInput, match="gamma"):
        ModifiedGaussMix(3, 2.5, 0.1)
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        ModifiedGaussMix(3, 5.0, 0.1, row_bound=0.1)(DATA, 2, rng=1)
    with pytest.raises(dp.InvalidInput, match="zeroed"):
        ModifiedGaussMix(3, 5.0, 0.1).joint_spectrum(dp.NeighbourPair(DATA[:5], DATA[:4]), 1.0)
    with pytest.raises(dp.NoExactSpectrum, match="joint_spectrum"):
        dp.exact.worst_case(ModifiedGaussMix(3, 5.0, 0.1, row_bound=BOUND), DATA, 1.0)


def _axis(bound, eigenvalue):
    count = math.ceil(eigenvalue)
    rest = np.full((count, 1), math.sqrt((eigenvalue - 1.0) / count)) * [[1.0, 0.0]]
    other = np.full((2 * count, 1), math.sqrt(1.1 * eigenvalue / (2 * count))) * [[0.0, 1.0]]
    rows = np.vstack([[[1.0, 0.0]], rest, other])
    return bound * rows[np.any(rows != 0.0, axis=1)]
