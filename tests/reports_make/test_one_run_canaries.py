"""The table of what canaries show in one run: its settings are those that the page says."""

import numpy as np
import pytest

from reports.make.one_run.canaries import CASES, DELTA, moments, pmtrr


def test_the_statistic_of_a_row_is_what_the_algorithm_adds_up():
    setting = pmtrr("statistics", 100)
    made = setting.canaries(100, 0)
    noisy = setting.mechanism.mechanism
    both = [
        noisy.law(made.inserted(setting.data, np.full(100, inside), relation="zero-out")).mean
        for inside in (True, False)
    ]
    np.testing.assert_allclose(both[0] - both[1], moments(made.rows).sum(axis=0) / 600, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "released", "made"), CASES, ids=[f"{a}, {b}" for a, b, _ in CASES]
)
def test_no_run_certifies_more_than_the_worst_pair_leaks(name, released, made):
    """At level .95, one seed a case; half a CPU second a case."""
    setting = made(100)
    worst = float(setting.worst.epsilon_at(DELTA))
    found = setting.certified(100, 0)
    assert 0.0 <= found <= worst
    if released == "noisy moments":
        assert found > 0.0
