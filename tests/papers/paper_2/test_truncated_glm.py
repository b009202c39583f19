"""Noisy Newton steps (paper 2, algorithms 3 to 5): line by line, and exact for one step."""

import math

import numpy as np
import pytest
from scipy.special import expit

import dpaudit as dp
from dpaudit.papers import DPLR, PMTGLM, PMTLR

printed = dp.papers.printed

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(4)
FEATURES = RNG.standard_normal((80, 3)) @ np.array(
    [[1.0, 0.5, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 0.3]]
)
DATA = np.column_stack(
    [FEATURES, (RNG.random(80) < expit(FEATURES @ [1.0, -1.0, 2.0])).astype(float)]
)
COUNTS = np.column_stack(
    [FEATURES, RNG.poisson(np.exp(0.3 * FEATURES[:, 0])).clip(0, 5).astype(float)]
)
PUBLIC = 20


def inverse_root(matrix):
    values, axes = np.linalg.eigh(matrix)
    return axes @ np.diag(values**-0.5) @ axes.T


def test_algorithm_3_line_by_line():
    """Loops over rows and steps with the noise that the mechanism drew."""
    mechanism = PMTLR(4.0, steps=3, ridge=0.1, public_rows=PUBLIC)
    newton = mechanism.newton(DATA)
    path, seen = newton.path(2, np.random.default_rng(1))
    public = DATA[:PUBLIC, :-1]
    root = inverse_root(public.T @ public / PUBLIC)
    beta = np.zeros(3)
    for t in range(3):
        hessian, gradient = 0.1 * root @ root, 0.1 * root @ root @ beta
        for *row, y in DATA[PUBLIC:]:
            x = root @ row
            p = 1.0 / (1.0 + math.exp(-x @ beta))
            hessian = hessian + p * (1 - p) * np.outer(x, x) / 60
            gradient = gradient - (y - p) * x / 60
        noise = seen[1, t] - np.r_[hessian[np.triu_indices(3)], gradient]
        upper = np.zeros((3, 3))
        upper[np.triu_indices(3)] = noise[:6]
        symmetric = upper + np.triu(upper, 1).T
        beta = beta - np.linalg.solve(hessian + symmetric, gradient + noise[6:])
        np.testing.assert_allclose(path[1, t + 1], beta, rtol=1e-7)
    np.testing.assert_allclose(mechanism(DATA, 2, rng=1)[1], root @ beta, rtol=1e-7)


def test_the_noise_has_the_printed_deviations():
    """Chi-square of 4000 draws of one step is within 8 of its deviations.

    Fails with probability < 1e-12.
    """
    for mechanism in (
        PMTLR(1.0, steps=1, public_rows=PUBLIC, release="statistics"),
        PMTGLM(1.0, 5.0, 0.1, steps=1, public_rows=PUBLIC, release="statistics"),
        DPLR(1.0, 3.0, steps=1, release="statistics"),
    ):
        law = mechanism.law(DATA)
        white = (mechanism(DATA, 4000, rng=3) - law.mean) / law.deviation
        assert white.shape == (4000, 9)
        assert abs(np.sum(white**2) / white.size - 1.0) < 8.0 * math.sqrt(2.0 / white.size)


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_without_noise_the_algorithms_find_the_fit(ridge):
    def slope(data, coef, mean):
        return data[:, :-1].T @ (mean(data[:, :-1] @ coef) - data[:, -1]) / len(data) + ridge * coef

    found = PMTLR(1e14, 12, 1e-30, ridge, PUBLIC)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(slope(DATA[PUBLIC:], found, expit), 0.0, atol=1e-9)
    found = DPLR(1e14, 1e4, 12, 0.05, ridge)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(slope(DATA, found, expit), 0.0, atol=1e-8)
    found = PMTGLM(1e14, 5.0, 1.0, 25, 1e-30, ridge, public_rows=PUBLIC)(COUNTS, 1, rng=1)[0]
    np.testing.assert_allclose(slope(COUNTS[PUBLIC:], found, np.exp), 0.0, atol=1e-7)


ONE_STEP = {"steps": 1, "release": "statistics"}
REFLECTED = {"label_bound": 1.0, "coef_bound": 1.0, "family": "reflected", **ONE_STEP}


def test_the_largest_slope_is_not_the_largest_in_size():
    """A label 1 against a mean of −½ changes the gradient by 3R/n.

    The noise is for 2R/n, so one step is 1.5·μ-GDP.
    """
    mu = 0.05
    mechanism = PMTGLM(mu, public_rows=2, **REFLECTED)
    exact = dp.exact.spectrum(mechanism, mechanism.pair(), 0.0)
    assert exact.gdp_mu(0.0) > 1.5 * mu > math.sqrt(2.0) * mu
    assert exact.delta > mechanism.claim.delta_at(0.0)


def test_the_corrected_iterates_stay_inside():
    inside, outside = (
        PMTGLM(0.5, 5.0, 0.2, 4, public_rows=PUBLIC, variant=v)
        .newton(COUNTS)
        .path(200, np.random.default_rng(1))[0]
        for v in ("corrected", "printed")
    )
    assert np.linalg.norm(inside, axis=2).max() <= 0.2 * (1 + 1e-12)
    assert np.nanmax(np.linalg.norm(outside, axis=2)) > 1.0


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PMTLR(1.0), "public_rows"),
        (lambda: PMTGLM(1.0, 5.0, 1e3, public_rows=PUBLIC)(COUNTS, 1, rng=1), "coef_bound"),
        (lambda: PMTGLM(1.0, 1.0, 1.0, public_rows=PUBLIC)(COUNTS, 1, rng=1), "data"),
        (lambda: PMTLR(1.0, public_rows=PUBLIC)(COUNTS, 1, rng=1), "data"),
        (lambda: DPLR(1.0, 3.0)(COUNTS, 1, rng=1), "data"),
    ],
)
def test_a_wrong_parameter_is_named(make, name):
    with pytest.raises(dp.InvalidInput, match=f"^{name} must be"):
        make()


def test_later_steps_have_no_law_and_no_closed_form():
    mechanism = PMTLR(1.0, 2, public_moment=((1.0,),))
    data = np.column_stack([np.linspace(0.0, 1.0, 5), [0.0, 1.0, 0.0, 1.0, 1.0]])
    with pytest.raises(dp.NoExactSpectrum, match="earlier ones"):
        mechanism.law(data)
    with pytest.raises(dp.NoExactSpectrum, match="later steps"):
        dp.exact.worst_case(mechanism, data, [0.0])
    with pytest.raises(dp.NoExactSpectrum, match="all replacements at once"):
        dp.exact.worst_case(mechanism, data, [0.0], relation="replace", candidates=data)
