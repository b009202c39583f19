"""Zeroed rows of the second-moment mechanisms, and the worst row within a bound.

Checked against matrices and draws.
"""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.laws import ShiftRows, SketchRows, WishartRows, log_ratio
from dpaudit.mechanisms import (
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    GaussMix,
    InverseWishartDraw,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from tests.mechanisms.by_matrices import changes, replaced
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS
from tests.sparse import one_in

D = DATA.shape[1]
KINDS = (
    RandomProjection(5, padding=3.0),
    GaussMix(5, sigma=6.0),
    WishartDraw(6, padding=3.0),
    InverseWishartDraw(9, padding=3.0),
    AnalyzeGauss(200.0),
    GaussianInverse(0.1),
    GaussianInverse(0.02, padding=1.0),
    SufficientStatistics(180.0, 240.0),
)
every_kind = pytest.mark.parametrize("mechanism", KINDS, ids=repr)


def numbers(family):
    """The array of a family that says how far apart the two laws are."""
    names = {ShiftRows: "mu", SketchRows: "leverage", WishartRows: "quadratic"}
    return getattr(family, names[type(family)])


# --- zeroed rows


@every_kind
def test_zeroed_rows_are_those_of_the_two_databases(mechanism):
    found = numbers(mechanism.zeroed_rows(DATA))
    exact = [changes(mechanism, DATA, replaced(DATA, i, 0.0))[-1] for i in range(len(DATA))]
    np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_additive_noise_goes_by_the_norm_on_the_scale_of_the_noise():
    found = AdditiveWishart(6, scale=9.0).zeroed_rows(DATA)
    np.testing.assert_allclose(
        found.quadratic, [v @ np.linalg.inv(81.0 * np.eye(D)) @ v for v in DATA], rtol=1e-13
    )
    assert (found.dof, found.dim) == (6, D)


@pytest.mark.parametrize(
    "mechanism", [GaussianInverse(0.1), RandomProjection(5), InverseWishartDraw(9)], ids=repr
)
def test_a_row_that_alone_spans_a_column_gives_everything_away(mechanism):
    data = DATA.copy()
    data[:, 0] = 0.0
    data[3, 0] = 2.0
    found = mechanism.zeroed_rows(data)
    assert numbers(found)[3] == (np.inf if isinstance(found, ShiftRows) else 1.0)
    assert np.isfinite(numbers(found)[:3]).all()


@pytest.mark.parametrize("mechanism", [InverseWishartDraw(3), AdditiveWishart(3, 1.0)], ids=repr)
def test_too_few_degrees_of_freedom_are_refused_by_law_family_and_draws(mechanism):
    calls = (
        lambda: mechanism.law(DATA),
        lambda: mechanism.zeroed_rows(DATA),
        lambda: mechanism.added_row(DATA, 1.0),
        lambda: mechanism(DATA, 2),
    )
    for call in calls:
        with pytest.raises(dp.InvalidInput, match="dof must be at least 4, the number of columns"):
            call()


def exact(family, index, epsilon):
    """(forward, backward) of one entry by the curves of dpaudit.exact."""
    if isinstance(family, ShiftRows):
        return (float(dp.exact.gaussian_shift(family.mu[index], epsilon)),) * 2
    if isinstance(family, WishartRows):
        return dp.exact.additive_wishart(family.quadratic[index], family.dof, family.dim, epsilon)
    curves = dp.exact.gaussian_sketch(family.leverage[index], family.rows, epsilon)
    return curves[::-1] if family.inverted else curves


@pytest.mark.parametrize(
    "mechanism", one_in(2, [*KINDS, AdditiveWishart(4, 40.0), AdditiveWishart(9, 25.0)]), ids=repr
)
@pytest.mark.parametrize("index", one_in(2, [2, 9]))
def test_curves_are_those_of_the_draws(mechanism, index):
    """δ(ε) = E_P[(1 − e^{ε−L})₊] over draws, both directions, ε = 0 and 0.3.

    Within 6 standard errors: fails with probability below 1e-7 (80 means of numbers in [0, 1],
    which 40,000 draws make nearly normal).
    """
    family, pair, size = mechanism.zeroed_rows(DATA), dp.neighbours.zero_row(DATA, index), 40_000
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    for side, (P, Q) in enumerate(((left, right), (right, left))):
        loss = log_ratio(P, Q, P.sample(size, np.random.default_rng([side, index])))
        for epsilon in (0.0, 0.3):
            value = exact(family, index, epsilon)[side]
            # the loss of additive noise is rarely beyond q/2
            assert 0.001 < value < 0.9 or value < 1e-50
            gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
            assert abs(gain.mean() - value) < 6.0 * gain.std() / np.sqrt(size) + 1e-12


def test_the_directions_of_an_inverse_draw_are_swapped():
    """At ε = 0.3 the two directions differ by more than 6 standard errors of 0.01.

    So the test above would notice a swap.
    """
    forward, backward = exact(InverseWishartDraw(9, padding=3.0).zeroed_rows(DATA), 9, 0.3)
    assert backward - forward > 0.02


# --- the worst row within a bound


BOUND = 7.0
ADDED = (
    RandomProjection(5),
    GaussMix(5, sigma=2.0),
    WishartDraw(6),
    InverseWishartDraw(7, padding=1.0),
    AdditiveWishart(6, scale=9.0),
    AnalyzeGauss(50.0),
    SufficientStatistics(50.0, 80.0),
    SufficientStatistics(80.0, 50.0),
    SufficientStatistics(50.0, 50.0 / np.sqrt(2.0)),
)


def rows_within(bound):
    """Random directions, and splits between features and label for each axis and the weakest."""
    rng = np.random.default_rng(1)
    anywhere = rng.standard_normal((300, D))
    weakest = np.linalg.eigh(DATA.T @ DATA)[1][:, 0]
    share = np.linspace(0.0, 1.0, 101)[:, None]
    axes = [np.sqrt(share) * np.eye(D)[j] + np.sqrt(1.0 - share) * np.eye(D)[-1] for j in range(D)]
    rows = np.vstack([anywhere, weakest, *axes])
    return bound * rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("mechanism", one_in(2, ADDED), ids=repr)
def test_no_row_within_the_bound_is_worse_and_one_is_as_bad(mechanism):
    worst = mechanism.added_row(DATA, BOUND)
    single = [mechanism.zeroed_rows(np.vstack([DATA, row])) for row in rows_within(BOUND)]
    found = np.array([numbers(family)[-1] for family in single])
    assert numbers(worst).shape == (1,)
    assert found.max() <= numbers(worst)[0] * (1.0 + 1e-12)
    assert found.max() >= numbers(worst)[0] * (1.0 - 1e-4)
    others = [
        {key: value for key, value in vars(one).items() if not isinstance(value, np.ndarray)}
        for one in (single[0], worst)
    ]
    assert others[0] == others[1]


def test_the_worst_split_is_inside_where_the_cross_noise_is_the_smaller():
    """s = c·C²/(2(c − g)) with g = 1/80², c = 1/50²: 82 % of the square norm is of the features."""
    mechanism = SufficientStatistics(80.0, 50.0)
    s = 50.0**-2 / (2.0 * (50.0**-2 - 80.0**-2))
    row = BOUND * np.array([0.0, np.sqrt(s), 0.0, np.sqrt(1.0 - s)])
    assert s == pytest.approx(0.82, abs=0.005)
    expected = mechanism.zeroed_rows(np.vstack([DATA, row])).mu[-1]
    assert mechanism.added_row(DATA, BOUND).mu[0] == pytest.approx(expected, rel=1e-12)


def test_the_bound_is_a_positive_number():
    for mechanism in (ADDED[0], AdditiveWishart(6, 9.0), AnalyzeGauss(50.0), ADDED[-1]):
        with pytest.raises(dp.InvalidInput, match="row_bound must be a finite number in"):
            mechanism.added_row(DATA, 0.0)


@pytest.mark.parametrize("name", ["ALS", "GaussianLS"])
def test_the_others_say_that_they_have_none(name):
    mechanism = next(mechanism for mechanism in MECHANISMS if mechanism.name == name)
    reason = f"{name} has no (closed form for the worst row|worst row within a bound)"
    with pytest.raises(dp.NoExactSpectrum, match=reason):
        mechanism.added_row(DATA, 1.0)
