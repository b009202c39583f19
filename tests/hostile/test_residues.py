"""Leaks in what is left of a number on division: parities, fractions, lattices.

Each full leak here tells D from D' with certainty, so that it is certified from 1,000 draws a side
wherever a score sees it, by bounds that fail with probability 0.05 at most under any law.
"""

import numpy as np
import pytest

import dpaudit as dp
from tests.sparse import one_in

PAIR = dp.neighbours.zero_row(np.array([[1.0], [1.0]]), 0)
CLAIM = (1.0, 0.0)


def discrete_laplace(scale, size, rng):
    fall = np.exp(-1.0 / scale)
    return (rng.geometric(1.0 - fall, size) - rng.geometric(1.0 - fall, size)).astype(float)


LEAKS = {
    "parity": lambda total, size, rng: 2.0 * rng.integers(10**6, size=size) + total,
    "parity of int64": lambda total, size, rng: 2 * rng.integers(2**59, size=size) + int(total),
    "last digit": lambda total, size, rng: 10.0 * discrete_laplace(1e4, size, rng) + 4.0 * total,
    "fraction": lambda total, size, rng: (
        rng.integers(10**6, size=size) + 0.3 * total + 0.01 * rng.normal(size=size)
    ),
    "close shifted grids": lambda total, size, rng: (
        0.004 * total + discrete_laplace(1e4, size, rng)
    ),
    "fine grid": lambda total, size, rng: (0.37 * total + discrete_laplace(1e4, size, rng)) / 1024,
    "decimal grid": lambda total, size, rng: (
        0.374 * total + 0.01 * discrete_laplace(1e4, size, rng)
    ),
    "finer grid": lambda total, size, rng: 2.0 ** (1.0 - total) * rng.integers(10**6, size=size),
}


def leaky(name):
    def mechanism(data, size, *, rng):
        return LEAKS[name](data.sum(), size, rng)

    return mechanism


WAYS = {"few": {"draws": 400}, "many": {"draws": 4000}, "stop": {"draws": 1000, "stop": "verdict"}}


@pytest.mark.parametrize(
    ("name", "way"),
    one_in(3, [(name, [*WAYS][place % 3]) for place, name in enumerate(LEAKS)]),
)
def test_a_leak_in_a_residue_is_certified(name, way):
    options = WAYS[way]
    result = dp.audit(leaky(name), PAIR, claim=CLAIM, rng=1, **options)
    assert result.verdict == "violated", result.reason
    if "stop" not in options:
        assert result.certified.epsilon_at(0.0) > 2.0


# --- honest outputs


@pytest.mark.parametrize("stop", [None, "verdict"])
def test_a_grid_that_both_sides_share_is_no_leak(stop):
    def rounded(data, size, *, rng):
        return np.rint(data.sum()) + discrete_laplace(1e4, size, rng)

    result = dp.audit(rounded, PAIR, draws=2000, claim=(0.01, 0.0), rng=1, stop=stop)
    assert result.verdict == "not violated"
