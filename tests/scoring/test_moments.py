"""Whitening; what is signal in the sides' moments, where few directions are hidden in noise."""

import numpy as np
import pytest
from scipy.stats import special_ortho_group

from dpaudit.scoring import Sides, constants, log_loss, portfolio
from dpaudit.scoring.models.closed import (
    STRUCTURES,
    MomentDifference,
    Quadratic,
    directions,
    fit_by_column,
    fit_quadratic,
)
from dpaudit.scoring.whiten import Whitener
from tests.scoring.gaussian_task import draws

pytestmark = pytest.mark.quick

SIZE, COLUMNS, WIDE = 3000, 12, 120
SCALES = 2.0 ** np.array([-27, 0, 27])  # 7e-9 to 1e8
TURN = special_ortho_group.rvs(COLUMNS, random_state=0) * np.geomspace(1.0, 1e4, COLUMNS)


def normals(size, shift, scale, seed=2):
    """P ~ N(0, I), Q ~ N(shift, scale²), turned and badly scaled."""
    z = np.random.default_rng(seed).standard_normal((2, size, COLUMNS))
    return Sides(z[0] @ TURN, (shift + z[1] * scale) @ TURN)


def only_first(value, rest=0.0):
    return np.where(np.arange(COLUMNS) == 0, value, rest)


def excess_loss(score, sides, shift, scale):
    """Log loss above that of the true loss."""

    def loss(x):
        z = x @ np.linalg.inv(TURN)
        return 0.5 * np.sum(((z - shift) / scale) ** 2 - z**2, axis=1) + np.sum(np.log(scale))

    return log_loss(score, sides) - log_loss(loss, sides)


CASES = {
    "one direction": (only_first(0.5), only_first(1.15, 1.0), "directions"),
    "scale": (np.zeros(COLUMNS), np.full(COLUMNS, 0.93), "shift"),
    "mean": (np.linspace(0.0, 0.3, COLUMNS), np.ones(COLUMNS), "shift"),
    "three strong axes": (np.zeros(COLUMNS), np.repeat([1.6, 1.0], [3, COLUMNS - 3]), "directions"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_structure_that_fits_loses_least(name):
    """Excess log loss at most 0.6 of the full estimate's, on 40,000 fresh draws a side.

    On 20 seeds the ratio was at most 0.45 ± 0.05 in each case.
    """
    shift, scale, fitting = CASES[name]
    train, fresh = normals(SIZE, shift, scale), normals(40_000, shift, scale, seed=3)
    found = MomentDifference.fit(train)
    lost = {
        key: excess_loss(Quadratic.of(STRUCTURES[key](found)), fresh, shift, scale)
        for key in (fitting, "full")
    }
    assert 0.0 < lost[fitting] < 0.6 * lost["full"]


def test_a_score_of_one_column_is_found_though_all_means_differ():
    """Its excess log loss is at most half of that of a shrunken gap; on 20 seeds 0.08 ± 0.08."""
    rng, shift = np.random.default_rng(5), 0.5 * (1.0 + (np.arange(20) == 3))

    def sides(size):
        P, Q = rng.normal(size=(2, size, 20)) + rng.normal(size=(2, size, 1))
        return Sides(P + shift, Q)

    train, fresh = sides(1000), sides(40_000)
    found, least = MomentDifference.fit(train), log_loss(lambda x: 0.5 * (x[:, 3] - 0.5), fresh)
    lost = {
        name: log_loss(Quadratic.of(STRUCTURES[name](found)), fresh) - least
        for name in ("sparse", "shift")
    }
    assert lost["sparse"] < 0.5 * lost["shift"]


def test_nothing_to_find_gives_nearly_nothing():
    """A null pair: structure keeps at most a quarter of the noise of 12 × 12 entries.

    The bulk is one number of standard deviation √(4/12n); a spike beyond its edge occurs in 0.1 %
    of runs.
    """
    train = normals(SIZE, np.zeros(COLUMNS), np.ones(COLUMNS))
    found = MomentDifference.fit(train)
    for name in ("directions", "shift", "sparse"):
        kept = STRUCTURES[name](found)
        assert np.linalg.norm(kept.excess) < 0.25 * np.linalg.norm(found.excess), name


@pytest.mark.parametrize("name", STRUCTURES)
def test_one_multiplied_out_square_is_the_difference_of_two_distances(name):
    train = normals(SIZE, only_first(0.5), only_first(1.4, 1.0))
    score = Quadratic.of(STRUCTURES[name](MomentDifference.fit(train)))
    p, q = score.distances(score.coordinates(train.P))
    constant = np.sum(np.arctanh(0.5 * score.excess))
    np.testing.assert_allclose(score(train.P), 0.5 * (q - p) + constant, rtol=1e-9, atol=1e-9)


def assert_white(P, Q, whiten):
    """Inside the sides, columns are uncorrelated and of unit scale.

    This holds up to the share of the variance that is the gap of the sides.
    """
    inner = 0.5 * (np.cov(whiten(P), rowvar=False) + np.cov(whiten(Q), rowvar=False))
    assert np.all((np.linalg.eigvalsh(inner) > 0.8) & (np.linalg.eigvalsh(inner) < 1.1))
    assert np.abs(inner - np.diag(np.diag(inner))).max() < 0.1


@pytest.mark.parametrize("constant", [0.1, -1e8])
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


def shifted(seed, size):
    """Normals with correlated columns of wild scales, all of them shifted, by 1 in all."""
    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=(2, size, WIDE))
    Q += 1.0 / np.sqrt(WIDE)
    P[:, 1:] += P[:, :-1]
    Q[:, 1:] += Q[:, :-1]
    scale = 10.0 ** rng.integers(-5, 6, size=WIDE)
    return Sides(P * scale, Q * scale)


def test_a_sparse_gap_of_equal_sides_is_zero():
    """A noisy gap would rank draws, and raise the estimate of δ. Of 200 such pairs 4 have a gap."""
    none = np.zeros(COLUMNS)
    pairs = [normals(SIZE, none, none + 1.0, seed) for seed in range(20)]
    gaps = [STRUCTURES["sparse"](MomentDifference.fit(pair)).gap for pair in pairs]
    assert sum(bool(gap.any()) for gap in gaps) <= 2


def test_moments_are_the_same_before_and_after_whitening(monkeypatch):
    train = shifted(1, 1000)
    before = fit_quadratic(train)(train.P)
    monkeypatch.setattr(constants, "WIDE", WIDE)
    np.testing.assert_allclose(before, fit_quadratic(train)(train.P), atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 0.97])
def test_few_directions_of_wide_rows_are_those_of_all_eigenvectors(monkeypatch, scale):
    train = shifted(2, 1000)
    train.Q[:, 0] *= 2.0
    train = Sides(train.P, scale * train.Q)
    before = fit_quadratic(train, directions)(train.P)
    monkeypatch.setattr(constants, "WIDE", WIDE)
    np.testing.assert_allclose(before, fit_quadratic(train, directions)(train.P), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_long_walks_of_fewer_draws_than_steps_are_fitted(seed):
    """The excess has 20 eigenvalues of 2 and as many of −2: Lanczos's method had failed there."""
    P, Q = np.random.default_rng(seed).normal(size=(2, 100, 120)).cumsum(axis=2)
    moments = directions(MomentDifference.fit(Sides(P, Q)))
    assert np.isfinite(moments.excess).all()


def test_sides_that_differ_in_nothing_have_no_directions():
    train = shifted(3, 1000)
    moments = directions(MomentDifference.fit(Sides(train.P, train.P.copy())))
    assert not moments.excess.any()
    assert not moments.gap.any()


def test_a_quadratic_discriminant_of_wide_rows_is_fitted_to_the_choosing_draws_too():
    rng = np.random.default_rng(3)
    P, Q = rng.normal(size=(2, 500, WIDE))
    train, choose = Sides(P[:400], Q[:400]), Sides(P[400:], Q[400:])
    x = rng.normal(size=(20, WIDE))
    for name, refit in (
        (portfolio.BY_COLUMN, fit_by_column),
        ("qda (full)", fit_quadratic),
    ):
        score = portfolio.of_all_draws(name, train, choose)
        # the same sums, but for their order
        np.testing.assert_allclose(score(x), refit(Sides(P, Q))(x), rtol=1e-9, atol=1e-12)
    assert portfolio.of_all_draws("additive", train, choose) is None
    narrow = (Sides(part.P[:, :99], part.Q[:, :99]) for part in (train, choose))
    assert portfolio.of_all_draws(portfolio.BY_COLUMN, *narrow) is None
