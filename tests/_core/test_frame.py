"""Tables of curves: their columns are the attributes, in the same order of ε."""

import numpy as np
import pytest

import dpaudit as dp

pytest.importorskip("pandas")
EPSILON = np.array([0.0, 0.5, 1.0])


@pytest.fixture(scope="module")
def spectrum():
    X, y = dp.datasets.load("diabetes")
    data = np.column_stack([X, y])
    return dp.exact.worst_case(dp.mechanisms.GaussianLS(sigma=100.0), data, EPSILON)


def test_an_exact_curve_has_its_row(spectrum):
    table = spectrum.to_frame()
    assert list(table) == ["epsilon", "delta", "forward", "backward", "index"]
    np.testing.assert_array_equal(table["delta"], spectrum.delta)
    np.testing.assert_array_equal(table["index"], spectrum.index)


def test_a_single_epsilon_is_a_table_of_one_row():
    mechanism = dp.mechanisms.ZOO["Laplace"]
    point = dp.exact.spectrum(mechanism, mechanism.pair(), 0.1)
    assert len(point.to_frame()) == 1


def test_a_certificate_has_both_directions():
    mechanism = dp.mechanisms.ZOO["Laplace"]
    found = dp.audit(mechanism, mechanism.pair(), claim=mechanism.claim, draws=4000, rng=1)
    table = found.certified.to_frame(EPSILON)
    np.testing.assert_array_equal(table["delta"], found.certified.delta_at(EPSILON))
    np.testing.assert_array_equal(table[["forward", "backward"]].max(axis=1), table["delta"])
    estimate = found.spectrum.to_frame()
    assert {"low", "interval_low", "interval_high"} <= set(estimate)
    np.testing.assert_array_equal(estimate["interval_high"], found.spectrum.interval[1])


def test_one_run_has_its_guesses():
    scores = np.linspace(-1.0, 1.0, 60)
    one = dp.audit_one_run(scores, scores > 0, claim=(1.0, 1e-5))
    table = one.to_frame()
    assert list(table) == ["count", "right"]
    assert (table["right"] == table["count"]).all()
    axes = one.plot()
    assert axes.get_xlabel() == "number of guesses, the strongest first"
    assert "this run" in axes.get_legend_handles_labels()[1]
