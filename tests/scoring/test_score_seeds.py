"""One seed, one score; and which draws a score may see."""

import numpy as np
import pytest

from dpaudit.scoring import ALIASES, Sides, fit
from tests.scoring.gaussian_task import audit, draws

pytestmark = pytest.mark.quick

P, Q = draws(1500)
TRAIN, CHOOSE = Sides(P[:1000], Q[:1000]), Sides(P[1000:], Q[1000:])
NEW = np.concatenate(draws(200, seed=9))


@pytest.mark.parametrize("alias", ALIASES)
def test_a_seed_fixes_the_score(alias):
    first, second = (fit(alias, TRAIN, CHOOSE, np.random.SeedSequence(3)) for _ in range(2))
    assert first.name == second.name
    np.testing.assert_array_equal(first.score(NEW), second.score(NEW))


@pytest.mark.parametrize("alias", ALIASES)
def test_a_score_of_rows_is_one_number_each_whatever_comes_with_them(alias):
    score = fit(alias, TRAIN, CHOOSE, np.random.SeedSequence(3)).score
    together = score(NEW)
    assert together.shape == (400,)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(
        np.concatenate([score(NEW[:7]), score(NEW[7:])]), together, rtol=1e-9, atol=1e-9
    )


def test_the_quadratic_discriminant_sees_the_training_draws_only():
    other = Sides(CHOOSE.P[::-1] + 5.0, CHOOSE.Q)
    one, two = (
        fit("qda", TRAIN, choose, np.random.SeedSequence(3)).score(NEW)
        for choose in (CHOOSE, other)
    )
    np.testing.assert_array_equal(one, two)


def test_the_certifying_draws_do_not_change_the_score():
    """The last half certifies: other draws there, the same score."""
    changed = P.copy()
    changed[750:] += 1.0
    one, two = audit(P, Q, "auto"), audit(changed, Q, "auto")
    assert one.fitted.name == two.fitted.name
    np.testing.assert_array_equal(one.fitted.score(NEW), two.fitted.score(NEW))
    assert not np.array_equal(one.spectrum.delta, two.spectrum.delta)


def test_turning_the_sides_round_turns_the_score():
    forward, backward = (
        fit("qda", Sides(*sides), CHOOSE, np.random.SeedSequence(3)).score(NEW)
        for sides in ((P, Q), (Q, P))
    )
    np.testing.assert_allclose(forward, -backward, rtol=1e-9, atol=1e-9)
