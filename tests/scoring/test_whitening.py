"""Whitening, and that no score minds columns that are constant, collinear or of wild scales."""

import numpy as np
import pytest

from dpaudit.scoring import ALIASES
from dpaudit.scoring.whiten import Whitener
from tests.scoring.gaussian_task import audit, draws
from tests.sparse import one_in

SCALES = 2.0 ** np.array([-27, 0, 27])  # 7e-9 to 1e8
BOOSTED = ("auto", "lightgbm")


def assert_white(P, Q, whiten):
    """Inside the sides, columns are uncorrelated and of unit scale.

    This holds up to the share of the variance that is the gap of the sides.
    """
    inner = 0.5 * (np.cov(whiten(P), rowvar=False) + np.cov(whiten(Q), rowvar=False))
    assert np.all((np.linalg.eigvalsh(inner) > 0.8) & (np.linalg.eigvalsh(inner) < 1.1))
    assert np.abs(inner - np.diag(np.diag(inner))).max() < 0.1


def test_whitened_draws_are_white():
    P, Q = draws(20_000)
    assert_white(P, Q, Whitener.fit(P, Q))


def test_scales_do_not_matter():
    P, Q = draws(5000)
    plain, scaled = Whitener.fit(P, Q), Whitener.fit(P * SCALES, Q * SCALES)
    np.testing.assert_allclose(np.abs(scaled(P * SCALES)), np.abs(plain(P)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e8])
def test_constant_columns_are_dropped(constant):
    P, Q = (np.column_stack([side, np.full(len(side), constant)]) for side in draws(5000))
    whiten = Whitener.fit(P, Q)
    assert whiten.matrix.shape == (4, 3)
    assert_white(P, Q, whiten)


def test_collinear_columns_are_dropped():
    P, Q = (
        np.column_stack([side, side[:, 0] - 3.0 * side[:, 1], side[:, 2]]) for side in draws(5000)
    )
    whiten = Whitener.fit(P, Q)
    assert whiten.matrix.shape == (5, 3)
    assert_white(P, Q, whiten)


def test_heavy_tails_do_not_set_the_scale():
    P, Q = np.random.default_rng(1).standard_cauchy((2, 20_000, 2))
    white = Whitener.fit(P, Q)(P)
    assert np.all(
        (np.median(np.abs(white), axis=0) > 0.1) & (np.median(np.abs(white), axis=0) < 3.0)
    )


def test_outputs_that_are_all_constant_tell_nothing_apart():
    nothing = np.full((1000, 2), 3.0)
    for alias in ALIASES:
        found = audit(nothing, nothing[:-1], alias).spectrum
        np.testing.assert_array_equal(found.low, np.zeros(3))
        np.testing.assert_array_equal(found.delta, np.zeros(3))


def wild(side):
    """Scaled by 1e±8, with a constant column and two collinear ones."""
    scaled = side * SCALES
    return np.column_stack(
        [scaled, np.full(len(side), 1e6), scaled[:, 0] * 1e8, side[:, 0] - side[:, 1]]
    )


@pytest.mark.parametrize(
    "alias", one_in(2, sorted(set(ALIASES) - {"eureka-knn"}))
)  # which takes outputs as they are
def test_no_alias_minds_wild_columns(alias):
    """The same draws in other coordinates: certified δ may move by the score's fit.

    It must not break down. Closed forms and neighbours keep their score to rounding; trees see
    other axes, and stayed within 0.025 ± 0.015 on 16 seeds: beyond 0.15 with probability below
    1e-6.
    """
    P, Q = draws(2000)
    plain, other = audit(P, Q, alias).spectrum, audit(wild(P), wild(Q), alias).spectrum
    np.testing.assert_allclose(other.low, plain.low, atol=0.15 if alias in BOOSTED else 2e-3)


@pytest.mark.parametrize("alias", one_in(2, ALIASES))
@pytest.mark.parametrize("beside", one_in(3, ["noise", "nothing"]))
def test_a_constant_that_differs_between_the_sides_is_not_overlooked(alias, beside):
    """A release that carries a flag of the database has δ = 1.

    500 certifying draws a side certify 0.9 of it.
    """
    rng = np.random.default_rng(1)
    sides = rng.standard_normal((2, 1000, 2)) if beside == "noise" else np.zeros((2, 1000, 2))
    P, Q = (
        np.column_stack([side, np.full(1000, flag)])
        for side, flag in zip(sides, (0.0, 1.0), strict=True)
    )
    assert np.all(audit(P, Q, alias).spectrum.low > 0.9)


@pytest.mark.parametrize("alias", one_in(2, ALIASES))
def test_a_column_far_narrower_than_the_gap_between_the_sides_is_not_overlooked(alias):
    rng = np.random.default_rng(1)
    P, Q = rng.standard_normal((2, 1000, 2)) * [1.0, 1e-9]
    Q[:, 1] += 1.0
    assert np.all(audit(P, Q, alias).spectrum.low > 0.9)


@pytest.mark.parametrize("alias", one_in(2, ALIASES))
def test_atoms_are_scored(alias):
    """P and Q mix the same normal with an atom of weight 0.5 and 0.1.

    δ(0) = 0.4, of which half must be certified.

    On 16 seeds 0.36 ± 0.024 (auto) and 0.365 ± 0.017 (others) were: below 0.2 with probability
    under 1e-9.
    """
    rng = np.random.default_rng(1)
    P, Q = (
        np.where(rng.random((3000, 1)) < weight, 2.5, rng.standard_normal((3000, 1)))
        for weight in (0.5, 0.1)
    )
    assert audit(P, Q, alias, epsilon=[0.0]).spectrum.low[0] > 0.2
