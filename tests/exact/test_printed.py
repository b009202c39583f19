"""The printed lemmas are kept by name, differ from the exact curve where we say so, and are refuted by an audit."""

import numpy as np
import pytest

from dpaudit.bench.printed import SHOWN, database, refute
from dpaudit.exact import gaussian_sketch, printed
from dpaudit.mechanisms import RandomProjection


def test_lemma_10_takes_the_smaller_direction_below_its_split():
    true = max(float(curve) for curve in gaussian_sketch(0.2, 1, 0.1))
    assert float(printed.lemma_10(0.2, 0.1)) == pytest.approx(0.0020604, abs=1e-7)
    assert true == pytest.approx(0.0321350, abs=1e-7)


def test_lemma_10_is_right_above_its_split():
    epsilon = np.linspace(-0.5 * np.log(0.8) + 1e-9, 3.0, 20)
    np.testing.assert_allclose(printed.lemma_10(0.2, epsilon), gaussian_sketch(0.2, 1, epsilon)[0], rtol=1e-10)


def test_lemma_11_does_not_reduce_to_lemma_10():
    assert abs(float(printed.lemma_11(0.2, 1, 1.0)) - float(printed.lemma_10(0.2, 1.0))) > 1e-3


def test_the_counterexample_has_the_leverage_it_names():
    family = RandomProjection(3).zeroed_rows(database(0.2))
    assert family.leverage[0] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize(("name", "leverage", "rows"), SHOWN)
def test_an_audit_refutes_the_printed_line(name, leverage, rows):
    """The excess is at least eight standard errors of 5e4 certifying draws; failure by chance below 1e-6."""
    assert refute(name, leverage, rows, samples=100_000).verdict == "violated"
