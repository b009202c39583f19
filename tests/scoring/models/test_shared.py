"""One spline of every column: learned from all of them, and left alone where columns differ."""

import numpy as np
import pytest

from dpaudit import scoring
from dpaudit.scoring import Sides
from dpaudit.scoring.models.spline import fit_shared

pytestmark = pytest.mark.quick

SEED = np.random.SeedSequence(0)


def laplace(size: int, columns: int, shift: float, seed: int) -> Sides:
    rng = np.random.default_rng(seed)
    return Sides(*(rng.laplace(size=(size, columns)) + move for move in (shift, 0.0)))


@pytest.mark.slow
def test_a_faint_shift_of_twenty_columns_is_learned_as_one_function():
    """The true loss steps from −0.1 to 0.1 about 0.

    At these draws its shape is known to a few hundredths.
    """
    train, choose = laplace(100_000, 20, 0.1, 1), laplace(20_000, 20, 0.1, 2)
    score = fit_shared(train, choose)
    steps = score(np.repeat([[-2.0], [-1.0], [1.0], [2.0]], 20, axis=1)) / 20
    assert steps == pytest.approx([-0.1, -0.1, 0.1, 0.1], abs=0.03)
    found = scoring.fit("auto", train, choose, SEED)
    assert "shared spline" in found.portfolio


def test_columns_that_differ_have_none():
    sides = laplace(2_000, 3, 0.1, 3)
    scaled = Sides(sides.P * [1.0, 1.0, 3.0], sides.Q * [1.0, 1.0, 3.0])
    moved = Sides(sides.P + np.array([0.0, 1.0, 0.0]), sides.Q)
    flat = Sides(np.ones((50, 3)), np.ones((50, 3)))
    assert fit_shared(scaled, scaled) is None
    assert fit_shared(moved, moved) is None
    assert fit_shared(flat, flat) is None
