"""Parameters of the mechanisms: the papers' calibrations, and what is refused."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from tests.mechanisms.mechanism_cases import DATA

pytestmark = pytest.mark.quick

NORM = np.linalg.norm(DATA, axis=1).max()


# --- refused


@pytest.mark.parametrize(
    "mechanism",
    [
        ALS,
        lambda rows: RPLS(rows, padding=1.0),
        RandomProjection,
        lambda rows: GaussMix(rows, sigma=1.0),
    ],
)
@pytest.mark.parametrize("rows", [0, -3, 2.5, True, "7", None, np.nan])
def test_rows_must_be_a_positive_integer(mechanism, rows):
    with pytest.raises(dp.InvalidInput, match="rows must be an integer"):
        mechanism(rows)


@pytest.mark.parametrize(
    "mechanism", [WishartDraw, InverseWishartDraw, lambda dof: AdditiveWishart(dof, 1.0)]
)
@pytest.mark.parametrize("dof", [0, -3, 2.5, True, "7", None, np.nan])
def test_degrees_of_freedom_must_be_a_positive_integer(mechanism, dof):
    with pytest.raises(dp.InvalidInput, match="dof must be an integer"):
        mechanism(dof)


@pytest.mark.parametrize("sampler", ["Student", "", None, 1, ["student"]])
def test_the_sampler_is_one_of_three(sampler):
    with pytest.raises(
        dp.InvalidInput, match="sampler must be one of 'student', 'wishart', 'literal'"
    ):
        ALS(rows=7, sampler=sampler)


@pytest.mark.parametrize("release", ["both", None, 1])
@pytest.mark.parametrize(
    "build", [RandomProjection, lambda rows, release: GaussMix(rows, 1.0, release)]
)
def test_the_release_is_one_of_two(build, release):
    with pytest.raises(dp.InvalidInput, match="release must be one of 'sketch', 'gram'"):
        build(rows=7, release=release)


@pytest.mark.parametrize("padding", [-1.0, np.nan, np.inf, "1", True, None])
@pytest.mark.parametrize(
    "build",
    [
        lambda padding: RandomProjection(7, padding=padding),
        lambda padding: WishartDraw(7, padding),
        lambda padding: InverseWishartDraw(7, padding),
        lambda padding: GaussianInverse(1.0, padding),
    ],
)
def test_padding_may_be_zero_but_not_negative(build, padding):
    with pytest.raises(dp.InvalidInput, match=r"padding must be a finite number in \[0, inf\]"):
        build(padding)
    assert build(0.0).padding == 0.0


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1", True])
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("sigma", lambda value: GaussianLS(sigma=value)),
        ("epsilon", lambda value: GaussianLS(epsilon=value, delta=0.1, sensitivity=1.0)),
        ("delta", lambda value: GaussianLS(epsilon=1.0, delta=value, sensitivity=1.0)),
        ("sensitivity", lambda value: GaussianLS(epsilon=1.0, delta=0.1, sensitivity=value)),
        ("padding", lambda value: RPLS(7, padding=value)),
        ("epsilon", lambda value: RPLS(7, epsilon=value, delta=0.1)),
        ("delta", lambda value: RPLS(7, epsilon=1.0, delta=value)),
        ("row_bound", lambda value: RPLS(7, epsilon=1.0, delta=0.1, row_bound=value)),
        ("sigma", lambda value: GaussMix(7, sigma=value)),
        ("scale", lambda value: AdditiveWishart(7, scale=value)),
        ("sigma", lambda value: AnalyzeGauss(sigma=value)),
        ("sigma", lambda value: GaussianInverse(sigma=value)),
        ("sigma_gram", lambda value: SufficientStatistics(sigma_gram=value, sigma_cross=1.0)),
        ("sigma_cross", lambda value: SufficientStatistics(sigma_gram=1.0, sigma_cross=value)),
    ],
)
def test_positive_numbers_are_named_when_they_are_not(name, build, value):
    with pytest.raises(dp.InvalidInput, match=rf"^{name} must be a finite number in \(0, "):
        build(value)


@pytest.mark.parametrize(
    "build",
    [lambda d: GaussianLS(epsilon=1.0, delta=d, sensitivity=1.0), lambda d: RPLS(7, 1.0, d)],
)
def test_delta_is_below_one(build):
    with pytest.raises(dp.InvalidInput, match=r"^delta must be"):
        build(1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1.0},
        {"epsilon": 1.0, "delta": 0.1},
        {"delta": 0.1, "sensitivity": 1.0},
        {"sigma": 1.0, "epsilon": 1.0, "delta": 0.1, "sensitivity": 1.0},
        {"sigma": 1.0, "sensitivity": 1.0},
    ],
)
def test_gaussian_noise_is_given_in_one_way(arguments):
    with pytest.raises(
        dp.InvalidInput, match="sigma must be given, or else all of epsilon, delta and sensitivity"
    ):
        GaussianLS(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1.0},
        {"delta": 0.1},
        {"row_bound": 1.0},
        {"padding": 1.0, "epsilon": 1.0},
        {"padding": 1.0, "epsilon": 1.0, "delta": 0.1},
        {"padding": 1.0, "row_bound": 1.0},
    ],
)
def test_padding_is_given_in_one_way(arguments):
    with pytest.raises(
        dp.InvalidInput, match="padding must be given alone, or else epsilon and delta"
    ):
        RPLS(7, **arguments)


@pytest.mark.parametrize(
    "build", [ALS, lambda rows: ALS(rows, "wishart"), lambda rows: ALS(rows, "literal")]
)
def test_als_needs_more_rows_than_features(build):
    with pytest.raises(dp.InvalidInput, match=r"rows must be at least features \+ 1 = 4, got 3"):
        build(3)(DATA, 2, rng=1)
    assert build(4)(DATA, 2, rng=1).shape == (2, 3)


@pytest.mark.parametrize(
    "use", [lambda m: m.law(DATA), lambda m: m.zeroed_rows(DATA), lambda m: m(DATA, 2, rng=1)]
)
@pytest.mark.parametrize("mechanism", [ALS(3), RPLS(3, padding=1.0)])
def test_too_few_rows_are_refused_by_law_family_and_draws(use, mechanism):
    with pytest.raises(dp.InvalidInput, match="rows must be at least features"):
        use(mechanism)


# --- Gaussian noise


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"), [(1.0, 1e-5, 1.0), (0.1, 0.3, 7.0), (8.0, 1e-12, 1e-3)]
)
def test_proposition_2_gives_the_noise(epsilon, delta, sensitivity):
    mechanism = GaussianLS(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    variance = 2.0 * np.log(1.25 / delta) * sensitivity**2 / epsilon**2
    assert mechanism.noise**2 == pytest.approx(variance, rel=1e-14)


def test_calibrated_noise_is_the_same_mechanism_as_its_sigma():
    calibrated = GaussianLS(epsilon=0.7, delta=1e-4, sensitivity=3.0)
    np.testing.assert_array_equal(
        calibrated(DATA, 9, rng=1), GaussianLS(sigma=calibrated.noise)(DATA, 9, rng=1)
    )


def test_calibrated_mechanisms_carry_their_claim():
    claim = dp.Claim(0.7, 1e-4)
    assert GaussianLS(epsilon=0.7, delta=1e-4, sensitivity=3.0).claim == claim
    assert RPLS(7, epsilon=0.7, delta=1e-4).claim == claim
    assert GaussianLS(sigma=1.0).claim is RPLS(7, padding=1.0).claim is ALS(7).claim is None


def test_noise_calibrated_to_the_true_sensitivity_keeps_its_claim():
    """Proposition 2 is a theorem for ε ≤ 1: the exact worst case must lie below the claim."""
    sensitivity = dp.neighbours.row_statistics(DATA).displacement.max()
    for epsilon in (0.1, 0.5, 1.0):
        mechanism = GaussianLS(epsilon=epsilon, delta=1e-3, sensitivity=float(sensitivity))
        assert 0.0 < dp.exact.worst_case(mechanism, DATA, epsilon).delta <= 1e-3


# --- padding


@pytest.mark.parametrize(
    ("rows", "epsilon", "delta", "bound"), [(7, 1.0, 1e-5, NORM), (200, 0.25, 0.1, 2 * NORM)]
)
def test_padding_as_printed(rows, epsilon, delta, bound):
    log = np.log(4.0 / delta)
    printed = 4.0 * bound**2 * (2.0 * rows * log + log) / epsilon
    assert RPLS(rows, epsilon, delta, row_bound=bound).pad(DATA) ** 2 == pytest.approx(
        printed, rel=1e-14
    )


def test_the_bound_is_read_off_the_data_when_none_is_given():
    public, private = RPLS(7, 1.0, 1e-5, row_bound=NORM), RPLS(7, 1.0, 1e-5)
    assert private.pad(DATA) == pytest.approx(public.pad(DATA), rel=1e-14)
    assert private.pad(3.0 * DATA) == pytest.approx(3.0 * private.pad(DATA), rel=1e-14)


@pytest.mark.parametrize(
    "use", [lambda m: m.pad(DATA), lambda m: m.law(DATA), lambda m: m(DATA, 2, rng=1)]
)
def test_a_bound_below_the_largest_row_is_refused(use):
    with pytest.raises(dp.InvalidInput, match="row_bound must be at least the largest row norm"):
        use(RPLS(7, 1.0, 1e-5, row_bound=0.999 * NORM))


def test_a_bound_is_not_refused_for_rounding():
    """The largest norm may differ in its last bit between row by row and all rows at once."""
    for seed in range(40):
        data = np.random.default_rng(seed).standard_normal((40, 4))
        bound = max(float(np.linalg.norm(row)) for row in data)
        assert RPLS(7, 1.0, 1e-5, row_bound=bound).pad(data) == pytest.approx(
            RPLS(7, 1.0, 1e-5).pad(data), rel=1e-14
        )


def test_given_padding_is_used_as_it_is():
    assert RPLS(7, padding=0.25).pad(DATA) == 0.25


def test_rpls_is_als_on_the_padded_matrix():
    padded = np.vstack([DATA, 2.0 * np.eye(DATA.shape[1])])
    np.testing.assert_array_equal(RPLS(7, padding=2.0)(DATA, 9, rng=1), ALS(7)(padded, 9, rng=1))
    rows, all_rows = RPLS(7, padding=2.0).zeroed_rows(DATA), ALS(7).zeroed_rows(padded)
    np.testing.assert_array_equal(rows.leverage, all_rows.leverage[: len(DATA)])
    np.testing.assert_array_equal(rows.residual_share, all_rows.residual_share[: len(DATA)])


def test_padding_serves_data_of_less_than_full_rank():
    few = DATA[:2]
    assert np.isfinite(RPLS(7, padding=2.0)(few, 5, rng=1)).all()


def test_the_row_that_sets_the_bound_is_exceptional():
    largest = int(np.argmax(np.linalg.norm(DATA, axis=1)))
    assert RPLS(7, 1.0, 1e-5).exceptional_rows(DATA) == (largest,)


@pytest.mark.parametrize(
    "mechanism", [RPLS(7, padding=2.0), RPLS(7, 1.0, 1e-5, row_bound=1e5), ALS(7)]
)
def test_no_row_is_exceptional_when_the_bound_is_public(mechanism):
    assert mechanism.exceptional_rows(DATA) == ()


def test_two_rows_that_share_the_bound_leave_it_standing():
    largest = int(np.argmax(np.linalg.norm(DATA, axis=1)))
    assert RPLS(7, 1.0, 1e-5).exceptional_rows(np.vstack([DATA, -DATA[largest]])) == ()
