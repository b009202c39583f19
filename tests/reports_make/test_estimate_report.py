"""The report on the estimate: errors of known counts, and a page from little work."""

import numpy as np
import pytest

from reports.make import page
from reports.make.audits import estimate
from reports.make.tasks import TASKS


def test_counts_in_the_true_set_are_right():
    """Of 20,000 draws a side: within four standard errors, below 0.005 at ε = 0."""
    task = TASKS[3]
    sides = estimate.drawn(task, 20_000, 1)
    found = estimate.counted(task, sides, np.array([0.0, 2.0]))
    assert abs(found[0] - task.delta_at(np.zeros(1))[0]) < 4 * 0.005
    assert found[1] == 0.0


def test_the_larger_direction_comes_first():
    task = TASKS[1]
    first = estimate.drawn(task, 4, 1)
    given = task.draw(np.random.default_rng(0), 4)
    assert first.P.shape == given.P.shape
    assert estimate._forward(TASKS[2])
    assert not estimate._forward(task)


@pytest.mark.slow
def test_a_page_is_made(monkeypatch, tmp_path):
    """Four audits, two seconds."""
    monkeypatch.setattr(page, "REPORTS", tmp_path)
    monkeypatch.setattr(estimate, "every_task", lambda: [TASKS[0], TASKS[3]])
    estimate.report(seeds=2, size=1_000)
    text = (tmp_path / "estimate.md").read_text()
    assert text.count("| T1 ") == 3
    assert text.count("| T4 ") == 3
    assert "2 seeds" in text
