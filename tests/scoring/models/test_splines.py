"""One score of all columns of one law."""

import numpy as np
import pytest

from dpaudit import scoring
from dpaudit.scoring import Sides, log_loss


def laplace(size, columns, shift, seed):
    rng = np.random.default_rng(seed)
    return Sides(*(rng.laplace(size=(size, columns)) + move for move in (shift, 0.0)))


@pytest.mark.slow
def test_a_faint_shift_of_twenty_columns_is_learned_as_one_function():
    """The true loss steps from −0.1 to 0.1 about 0 in each column."""
    train, choose, fresh = (laplace(size, 20, 0.1, size) for size in (100_000, 20_000, 50_000))
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))

    def loss(x):
        return (np.abs(x) - np.abs(x - 0.1)).sum(axis=1)

    assert fitted.name.endswith("scores of parts")
    gained = np.log(2.0) - log_loss(fitted.score, fresh)
    assert gained > 0.93 * (np.log(2.0) - log_loss(loss, fresh))
