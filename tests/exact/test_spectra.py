"""The exact spectrum of a mechanism on a pair: building blocks, another route, and Monte Carlo."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import curve_of_laws
from dpaudit.laws import log_ratio
from dpaudit.mechanisms import (
    ALS,
    RPLS,
    GaussianInverse,
    GaussianLS,
    InverseWishartDraw,
    RandomProjection,
    SufficientStatistics,
)
from dpaudit.neighbours import replace_row, row_statistics, zero_row
from tests.cases import EPSILON, MECHANISMS, database, shifted
from tests.sparse import one_in

DATA = database()
# whose loss can be infinite
REPLACEABLE = tuple(one for one in MECHANISMS if one.name != "AdditiveWishart")
every_replaceable = pytest.mark.parametrize("mechanism", REPLACEABLE, ids=repr)


def heaviest(count=3):
    """Rows of the largest leverage in [B, b], and an ordinary one."""
    leverage = RandomProjection(1).zeroed_rows(DATA).leverage
    return [int(row) for row in np.argsort(-leverage)[[*range(count), len(DATA) // 2]]]


# --- building blocks ------------------------------------------------------------------------------


@pytest.mark.parametrize("index", heaviest())
@pytest.mark.parametrize("law", ["finite", "asymptotic"])
def test_als_is_its_building_block(index, law):
    rows = row_statistics(DATA)
    found = dp.exact.spectrum(ALS(12), zero_row(DATA, index), EPSILON, law=law)
    forward, backward = dp.exact.als(
        rows.leverage[index], rows.residual_share[index], 3, 12, EPSILON, law=law
    )
    np.testing.assert_array_equal(found.forward, forward)
    np.testing.assert_array_equal(found.backward, backward)
    np.testing.assert_array_equal(found.delta, np.maximum(forward, backward))


def test_als_shows_its_asymptotic_curve_beside_the_exact_one():
    pair = zero_row(DATA, heaviest()[0])
    both = dp.exact.spectrum(ALS(12), pair, EPSILON)
    limit = dp.exact.spectrum(ALS(12), pair, EPSILON, law="asymptotic")
    np.testing.assert_array_equal(both.asymptotic, limit.delta)
    assert "finite" in both.law
    assert "infinity" in limit.law


# --- two routes to one curve ----------------------------------------------------------------------


@every_replaceable
def test_a_pair_turned_round_turns_the_directions(mechanism):
    pair = replace_row(DATA, heaviest()[1], [1.0, 2.0, -2.0, 3.0])
    there = dp.exact.spectrum(mechanism, pair, EPSILON)
    back = dp.exact.spectrum(mechanism, dp.NeighbourPair(pair.right, pair.left), EPSILON)
    np.testing.assert_allclose(there.forward, back.backward, rtol=0, atol=1e-10)
    np.testing.assert_allclose(there.backward, back.forward, rtol=0, atol=1e-10)


@every_replaceable
def test_nearly_the_same_row_gives_nearly_nothing(mechanism):
    """Total variation is linear in a small change of a row; at ε = 0.1 nothing is left. Nearly
    equal Student laws keep an absolute 1e-8 only: 1e-16 over the relative difference of their
    roots.
    """
    accuracy = 1e-8 if mechanism.name in ("ALS", "RPLS") else 1e-12
    row = DATA[heaviest()[0]]
    large = replace_row(DATA, heaviest()[0], row * (1.0 + 1e-3))
    slope = dp.exact.spectrum(mechanism, large, 0.0).delta / 1e-3
    for change in (1e-5, 1e-12):
        small = replace_row(DATA, heaviest()[0], row * (1.0 + change))
        found = dp.exact.spectrum(mechanism, small, [0.0, 0.1])
        assert found.delta[0] == pytest.approx(slope * change, rel=5e-3, abs=accuracy)
        assert found.delta[1] <= 1e-10


# --- Monte Carlo ----------------------------------------------------------------------------------

DRAWS = 40_000
FAILURE = 1e-9


def allowance(delta):
    """Bernstein: (1 − e^{ε−L})₊ is in [0, 1] with mean δ, so its variance is at most δ(1 − δ)."""
    log = np.log(2.0 / FAILURE)
    return np.sqrt(2.0 * delta * (1.0 - delta) * log / DRAWS) + 2.0 * log / (3.0 * DRAWS)


def estimated(front, rear, epsilon, seed):
    loss = log_ratio(front, rear, front.sample(DRAWS, np.random.default_rng(seed)))
    return np.mean(-np.expm1(np.minimum(epsilon[:, None] - loss, 0.0)), axis=1)


REPLACED = {
    "zero-out": lambda: zero_row(DATA, heaviest()[0]),
    "heavier row": lambda: replace_row(DATA, 2, [1.0, 4.0, -3.0, 9.0]),
    "sign of the label": lambda: replace_row(
        DATA, heaviest()[0], DATA[heaviest()[0]] * [1.0, 1.0, 1.0, -1.0]
    ),
    "two rows more": lambda: dp.NeighbourPair(DATA, np.vstack([DATA, DATA[:2] + 1.0])),
}


@pytest.mark.parametrize(
    "mechanism",
    [
        ALS(12),
        GaussianLS(sigma=0.1),
        RPLS(12, 50.0, 0.1),
        RandomProjection(3),
        InverseWishartDraw(7, padding=1.0),
        SufficientStatistics(60.0, 80.0),
        GaussianInverse(0.02, padding=1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("pair", one_in(4, REPLACED))
def test_spectrum_agrees_with_monte_carlo(mechanism, pair):
    """Exact δ against draws at 6 ε in 2 directions. Each fails with probability at most 1e-9, so
    each test with at most 1.2e-8.
    """
    pair = REPLACED[pair]()
    found = dp.exact.spectrum(mechanism, pair, EPSILON)
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    assert found.delta[0] > 0.001
    assert np.all(
        np.abs(found.forward - estimated(left, right, EPSILON, 1)) <= allowance(found.forward)
    )
    assert np.all(
        np.abs(found.backward - estimated(right, left, EPSILON, 2)) <= allowance(found.backward)
    )


# --- shapes and refusals --------------------------------------------------------------------------

PAIRS = {
    "zero-out": zero_row(DATA, 3),
    "replace": replace_row(DATA, 3, [1.0, 2.0, 0.0, 1.0]),
    "pair": dp.NeighbourPair(DATA, DATA[:-1]),
}


@pytest.mark.parametrize("epsilon", [0.5, [1.0, 0.0, 1.0]], ids=str)
def test_curves_have_the_shape_of_epsilon(epsilon):
    mechanism = ALS(12)
    for pair in (PAIRS["replace"], PAIRS["zero-out"]):
        found = dp.exact.spectrum(mechanism, pair, epsilon)
        shape = np.shape(epsilon)
        curves = (found.epsilon, found.delta, found.forward, found.backward)
        assert [np.shape(curve) for curve in curves] == [shape] * 4
        assert found.asymptotic is None or np.shape(found.asymptotic) == shape
        at = [dp.exact.spectrum(mechanism, pair, one).delta for one in np.atleast_1d(epsilon)]
        np.testing.assert_allclose(found.delta, np.reshape(at, shape), rtol=1e-8, atol=1e-12)


WRONG = [-0.1, [0.0, -1e-9], np.nan, [1.0, np.inf], [[0.0, 1.0]], [], "one", None]


@pytest.mark.parametrize(
    "use",
    [
        lambda epsilon: dp.exact.spectrum(ALS(12), PAIRS["zero-out"], epsilon),
        lambda epsilon: dp.exact.spectrum(ALS(12), PAIRS["replace"], epsilon),
        lambda epsilon: dp.exact.worst_case(ALS(12), DATA, epsilon),
        lambda epsilon: dp.exact.als(0.2, 0.1, 3, 12, epsilon),
        lambda epsilon: dp.exact.gaussian_sketch(0.2, 3, epsilon),
        lambda epsilon: dp.exact.gaussian_shift(1.0, epsilon),
    ],
)
def test_epsilon_is_checked(use):
    for epsilon in WRONG:
        with pytest.raises(dp.InvalidInput, match="epsilon must be a finite number >= 0"):
            use(epsilon)


@pytest.mark.parametrize("mechanism", [ALS(12), RandomProjection(3)], ids=repr)
def test_an_unknown_law_is_refused(mechanism):
    for use, where in (
        (dp.exact.worst_case, DATA),
        *((dp.exact.spectrum, pair) for pair in PAIRS.values()),
    ):
        with pytest.raises(dp.InvalidInput, match="law must be one of 'finite', 'asymptotic'"):
            use(mechanism, where, 1.0, law="exact")


@pytest.mark.parametrize(
    "mechanism", [shifted(1.0), lambda data, size, *, rng: np.zeros((size, 1)), len]
)
def test_a_plain_function_has_no_exact_spectrum_and_hears_what_to_use(mechanism):
    name = mechanism.__qualname__.replace("<", r"\<")
    for use in (
        lambda: dp.exact.spectrum(mechanism, PAIRS["zero-out"], 1.0),
        lambda: dp.exact.worst_case(mechanism, DATA, 1.0),
    ):
        with pytest.raises(
            dp.NoExactSpectrum, match=f"^{name} has no known output law; use dpaudit.audit"
        ):
            use()


def test_laws_of_different_size_have_no_exact_spectrum():
    left, right = ALS(12).law(DATA), ALS(13).law(DATA)
    with pytest.raises(dp.NoExactSpectrum, match=r"StudentT against StudentT .* use dpaudit.audit"):
        curve_of_laws(left, right)
