"""NaN, infinities and the bits of floats as finite columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.scoring import Sides
from dpaudit.scoring.constants import MOST_COLUMNS
from dpaudit.scoring.encode import NO_EXPONENT, NO_GRID, Encoder, bit_features

pytestmark = pytest.mark.quick


def sides(P, Q):
    return Sides(np.asarray(P, dtype=float), np.asarray(Q, dtype=float))


def test_each_kind_of_outcome_that_occurs_gets_a_column():
    train = sides(
        [[1.0, np.nan], [3.0, np.inf], [np.nan, 2.0]], [[5.0, 4.0], [7.0, -np.inf], [3.0, 6.0]]
    )
    encoder = Encoder.fit(train)
    assert encoder.marks == ((0, 0), (1, 0), (1, 1), (1, 2))
    np.testing.assert_array_equal(encoder.fill, [3.0, 4.0])
    np.testing.assert_array_equal(
        encoder(train.P),
        [
            [1.0, 4.0, 0.0, 1.0, 0.0, 0.0],
            [3.0, 4.0, 0.0, 0.0, 1.0, 0.0],
            [3.0, 2.0, 1.0, 0.0, 0.0, 0.0],
        ],
    )


@given(st.integers(-(2**53) + 1, 2**53 - 1).filter(bool), st.integers(-1074, 900))
def test_the_lowest_set_bit_and_the_exponent_are_those_of_the_integer(mantissa, power):
    """x = m·2^j exactly: the grid is j plus the factors of two in m, and |x| ∈ [2^e, 2^(e+1))."""
    x = np.ldexp(float(mantissa), power)
    grid, exponent, *_ = bit_features(np.array([[x]]))[0]
    assert grid == power + (mantissa & -mantissa).bit_length() - 1
    if abs(x) >= 2.0**-1022:
        assert 2.0**exponent <= abs(x) < 2.0 ** (exponent + 1.0)
    else:
        assert exponent == -1022.0


def test_zeros_are_told_apart_by_their_sign():
    features = bit_features(np.array([[0.0], [-0.0], [1.0]]))
    np.testing.assert_array_equal(features[:, 0], [NO_GRID, NO_GRID, 0.0])
    np.testing.assert_array_equal(features[:, 1], [NO_EXPONENT, NO_EXPONENT, 0.0])
    np.testing.assert_array_equal(features[:, -2:], [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])


def test_only_bits_that_vary_in_columns_of_fractions_are_read(rng):
    P, Q = (
        np.column_stack([rng.integers(0, 9, 400), rng.integers(0, 2, 400) + 0.5])
        .reshape(2, 200, 2)
        .astype(float)
    )
    encoder = Encoder.fit(sides(P, Q), bits=True)
    np.testing.assert_array_equal(encoder.floats, [1])
    # ½ and 3/2: on one grid, with two exponents and the same low bits
    assert encoder(P).shape == (200, 3)


def naive_laplace(centre, size, rng):
    """Inverse transform of a 53-bit uniform, as a textbook has it."""
    u = rng.random(size) - 0.5
    return centre - np.sign(u) * np.log1p(-2.0 * np.abs(u))


@pytest.mark.parametrize("swap", [False, True])
def test_the_grid_of_a_naive_laplace_gives_its_centre_away(swap, rng):
    """Centred at 1, every sum lies on the grid 2^-53.

    Centred at 0, the numbers below ½ in size mostly lie on finer grids.

    P(|Lap(1)| < ½) = 0.393, of which at least half are odd on a finer grid: 0.2 with room, on
    20,000 draws.
    """
    P, Q = (
        naive_laplace(centre, 20_000, rng)[:, None]
        for centre in ((1.0, 0.0) if swap else (0.0, 1.0))
    )
    encoder = Encoder.fit(sides(P, Q), bits=True)
    grid = [encoder(side)[:, 1] for side in ((Q, P) if swap else (P, Q))]
    assert grid[1].min() >= -53.0
    assert np.mean(grid[0] < -53.0) > 0.2


def test_numbers_too_large_to_square_are_outcomes():
    """1e200 against −1e200, both finite: every draw shows its side. May fail with chance 1e-4."""
    rng = np.random.default_rng(0)
    P, Q = (
        np.where(rng.random((4_000, 1)) < 0.5, far, rng.normal(size=(4_000, 1)))
        for far in (1e200, -1e200)
    )
    result = dp.audit_samples(P, Q, epsilon=[0.0], level=0.9999, rng=0)
    assert 0.4 < result.spectrum.low[0] <= 0.5 + 1e-2


def test_of_very_many_columns_those_that_differ_are_kept(rng):
    """Position 2,321 of 3,000 has another mean, 7 another spread: both rank first among noise."""
    P, Q = rng.normal(size=(2, 200, 3000))
    P[:, 2321] += 3.0
    Q[:, 7] *= 9.0
    taken = Encoder.fit(Sides(P, Q)).chosen
    assert taken is not None
    assert {7, 2321} <= set(taken)
    assert len(taken) == MOST_COLUMNS


N = 4000
ORDINARY = {
    "normal": lambda rng, by: rng.normal(size=N) + by,
    "Cauchy": lambda rng, by: rng.standard_cauchy(size=N) + by,
    "rounded": lambda rng, by: np.round(rng.normal(size=N) + by, 2),
    "integers": lambda rng, by: np.rint(100.0 * (rng.normal(size=N) + by)),
    "codes of texts": lambda rng, by: np.floor(2.0**52 * np.sin(rng.integers(9 + int(by), size=N))),
    "flags": lambda rng, by: (rng.random(N) < 0.4 + 0.2 * by).astype(float),
    "not numbers": lambda rng, by: np.where(rng.random(N) < 0.3 + 0.2 * by, np.nan, np.inf),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_outputs_that_differ_get_no_column(name):
    """Twenty pairs of sides: a column is added to any with probability below 1e-4."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        sides = Sides(ORDINARY[name](rng, 0.0)[:, None], ORDINARY[name](rng, 1.0)[:, None])
        assert Encoder.fit(sides).remainders == ()


def test_a_column_beyond_those_that_are_kept():
    """Of 1,200 columns those are kept whose ranks differ; the last one differs by parity alone."""
    rng = np.random.default_rng(3)
    P, Q = rng.normal(size=(2, 200, 1200))
    P[:, -1], Q[:, -1] = (2.0 * rng.integers(10**5, size=200) + bit for bit in (0, 1))
    encoder = Encoder.fit(Sides(P, Q))
    assert {column for column, _ in encoder.remainders} == {1199}
    assert len(set(encoder(P)[:, -len(encoder.remainders)])) == 1
