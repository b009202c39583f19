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
def test_a_score_is_fixed_by_its_seed_and_of_each_row_alone(alias):
    first, second = (fit(alias, TRAIN, CHOOSE, np.random.SeedSequence(3)) for _ in range(2))
    assert first.name == second.name
    np.testing.assert_array_equal(first.score(NEW), second.score(NEW))
    score = first.score
    together = score(NEW)
    assert together.shape == (400,)
    assert np.isfinite(together).all()
    np.testing.assert_allclose(
        np.concatenate([score(NEW[:7]), score(NEW[7:])]), together, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("alias", ["qda", "eureka-knn"])
def test_the_quadratic_discriminant_and_eureka_see_the_training_draws_only(alias):
    other = Sides(CHOOSE.P[::-1] + 5.0, CHOOSE.Q)
    one, two = (
        fit(alias, TRAIN, choose, np.random.SeedSequence(3)).score(NEW)
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
