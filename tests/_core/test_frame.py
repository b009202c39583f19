"""Tables of curves: their columns are the attributes, in the same order of ε."""

import numpy as np
import pytest

import dpaudit as dp

pytest.importorskip("pandas")
EPSILON = np.array([0.0, 0.5, 1.0])


def test_a_spectrum_has_both_directions():
    mechanism = dp.mechanisms.ZOO["Laplace"]
    data = np.random.default_rng(1).normal(size=(20, 3))
    worst = dp.exact.worst_case(dp.mechanisms.GaussianLS(sigma=1.0), data, EPSILON).to_frame()
    assert list(worst) == ["epsilon", "delta", "forward", "backward", "index"]
    assert len(dp.exact.spectrum(mechanism, mechanism.pair(), 0.1).to_frame()) == 1
    result = dp.audit(mechanism, mechanism.pair(), claim=mechanism.claim, draws=4000, rng=1)
    estimate = result.spectrum.to_frame()
    assert {"low", "interval_low", "interval_high"} <= set(estimate)
    np.testing.assert_array_equal(estimate["interval_high"], result.spectrum.interval[1])


def test_one_run_has_its_guesses():
    scores = np.linspace(-1.0, 1.0, 60)
    one = dp.audit_one_run(scores, scores > 0, claim=(1.0, 1e-5))
    table = one.to_frame()
    assert list(table) == ["count", "right"]
    assert (table["right"] == table["count"]).all()
    axes = one.plot()
    assert axes.get_xlabel() == "number of guesses, the strongest first"
    assert "this run" in axes.get_legend_handles_labels()[1]
