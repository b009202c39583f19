"""The tasks: their loss is that of their draws, their truth that of their loss."""

import numpy as np
import pytest

from reports.make.structured import structured_tasks
from reports.make.tasks import TASKS

EPSILON = np.array([0.0, 0.5, 1.0])
SIZE, FEWER = 5000, 1000  # draws; of the synthetic table, whose draws take longest


@pytest.mark.parametrize("task", [*TASKS, *structured_tasks()], ids=lambda task: task.name)
def test_draws_and_loss_have_the_spectrum_that_is_called_the_truth(task):
    """E_P(1 − e^{ε−L})₊, E_Q(1 − e^{ε+L})₊ and P(L > ε) − e^ε Q(L > ε) are within 5 standard
    errors. 90 comparisons, false alarm below 6e-5.
    """
    sides = task.draw(np.random.default_rng(20), FEWER if task.name == "T13" else SIZE)
    p, q = task.loss(sides.P)[:, None], task.loss(sides.Q)[:, None]
    forward, backward = task.truth(EPSILON)
    _agree(np.maximum(-np.expm1(EPSILON - p), 0.0), forward)
    _agree(np.maximum(-np.expm1(EPSILON + q), 0.0), backward)
    hits = (p > EPSILON) - np.exp(EPSILON) * (q > EPSILON)
    _agree(hits, forward)


def _agree(values, truth):
    error = values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - truth) <= 5.0 * error + 1e-9)
