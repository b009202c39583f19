"""Nearest neighbours around centres, against the true loss and votes counted one by one."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.scoring import KnownScore, Sides
from dpaudit.scoring.models.nearest import fit_nearest
from tests.scoring.models.rings import rings

pytestmark = pytest.mark.quick

SIZE = 20_000


def test_neighbours_certify_most_of_what_the_true_loss_does(rng):
    """Shares on 12 other seeds: 0.99 ± 0.017 at either ε, so 0.9 is 5 deviations off.

    Scales of columns do not matter.
    """
    P, Q, loss = rings(rng, SIZE, 0.3)
    first, second = SIZE // 2, SIZE // 2 + SIZE // 10
    units = np.array([1.0, 1e-6])
    train, choose = (
        Sides(P[part] * units, Q[part] * units) for part in (slice(first), slice(first, second))
    )
    score = fit_nearest(train, choose)
    found, truth = (
        dp.audit_samples(
            P[second:], Q[second:], classifier=KnownScore(one), epsilon=[0.0, 0.5], rng=1
        ).spectrum.low
        for one in (lambda x: score(x * units), loss)
    )
    assert np.all(found > 0.9 * truth)
    assert truth[1] > 0.2


def test_draws_that_are_all_equal_have_equal_scores():
    same = np.ones((200, 2))
    score = fit_nearest(Sides(same, same), Sides(same, same))
    assert len(np.unique(score(same))) == 1
