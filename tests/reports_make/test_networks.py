"""A network for one ε is positive where the privacy loss exceeds it; its page keeps old rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit.scoring import Sides
from reports.make import page
from reports.make.auditors import networks
from reports.make.tasks import page_rows

KEPT = "| T10 kept | 0 0 0 0 | 3 3 3 3 | 2 2 2 2 | 1 1 1 1 | 5 | 6 |"


@pytest.mark.parametrize("threshold", [0.5, -0.5])
def test_the_network_changes_its_sign_where_the_loss_is_at_the_threshold(threshold, monkeypatch):
    """The loss of N(1, 1) against N(0, 1) is x − 1/2."""
    monkeypatch.setattr(networks, "PASSES", 4)
    rng = np.random.default_rng(5)
    train, choose = (Sides(*rng.normal([[[1.0]], [[0.0]]], 1.0, (2, n, 1))) for n in (5000, 1000))
    score = networks.network(train, choose, threshold, 0)
    x = np.linspace(-1.0, 2.0, 301)
    root = x[np.argmax(score(x[:, None]) > 0.0)]
    assert abs(root - 0.5 - threshold) < 0.2


def test_a_task_that_is_measured_alone_keeps_the_other_rows(monkeypatch, tmp_path):
    half = np.full(4, 0.5)
    one = networks.Run(half, 0.5 * half, np.array([0.1, 0.3, 0.1, 0.3]), 3.0, 40.0)
    task = SimpleNamespace(name="T9", text="new", delta_at=lambda epsilon: half)
    monkeypatch.setattr(networks, "structured_tasks", lambda: [task])
    monkeypatch.setattr(networks, "run", lambda task, seed, size: one)
    monkeypatch.setattr(page, "REPORTS", tmp_path)
    path = tmp_path / "networks.md"
    path.write_text(networks.render([KEPT]))
    assert networks.main(["--tasks", "T9"]) == 0
    rows = page_rows(path.read_text())
    assert list(rows) == [(0, 9), (0, 10)]
    assert rows[0, 10] == KEPT
    assert rows[0, 9].endswith("| 0.1000 0.3000 0.1000 0.3000 | 3 | 40 |")
    assert "below the networks on T9 at ε = 0.5, 2." in path.read_text()
