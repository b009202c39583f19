"""A network for one ε is positive where the privacy loss exceeds it, in either direction."""

import numpy as np
import pytest

from dpaudit.scoring import Sides
from reports.make.auditors import networks


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
