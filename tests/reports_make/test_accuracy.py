"""The accuracy page: errors are seen, and its references agree with closed forms."""

import numpy as np
import pytest
from mpmath import mp, mpf

from reports.make.exact import references
from reports.make.exact.accuracy import Setting, _errors

EPSILON = np.array([0.0, 0.3])


def off_by(share):
    """A setting with the truth e^{−ε} and a forward curve that is off by `share` of it."""
    return Setting(
        "one",
        lambda e: (np.exp(-e) * (1.0 + share), np.exp(-e)),
        lambda e, forward: mp.exp(-mpf(e)),
        EPSILON,
    )


@pytest.mark.parametrize("share", [1e-6, -1e-9])
def test_an_error_is_seen(share):
    found = {(epsilon, side): error for error, epsilon, side in _errors(off_by(share))}
    for epsilon in EPSILON:
        assert found[epsilon, "forward"] == pytest.approx(abs(share), rel=1e-5)
        assert found[epsilon, "backward"] < 1e-15


@pytest.mark.parametrize("share", [np.nan, -2.0])
def test_a_value_that_is_no_delta_counts_as_wrong(share):
    assert [error for error, _, side in _errors(off_by(share)) if side == "forward"] == [np.inf] * 2


def test_the_laplace_reference_of_one_coordinate_is_its_closed_form():
    with mp.workdps(40):
        expected = -mp.expm1((mpf(0.2) - mpf(1.5)) / 2)
        assert mp.almosteq(references.laplace(1.5, 1, 0.2), expected, rel_eps=mpf(10) ** -35)


@pytest.mark.slow  # 2 s
def test_the_sketch_reference_is_the_oracles():
    truth = references.reference.by_parts("gaussian-sketch", {"leverage": 0.3, "rows": 5}, 0.4)
    for forward, expected in zip((True, False), truth, strict=True):
        found = references.sketch(0.3, 5, 0.4, forward)
        assert mp.almosteq(found, expected, rel_eps=mpf(10) ** -12)
