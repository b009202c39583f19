"""Claims read from the objects of other libraries."""

import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import InvalidInput

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])


class Measure:
    def __init__(self, name):
        self.type = name


class Measurement:
    """What an OpenDP measurement is asked for, without the package."""

    def __init__(self, measure, of):
        self.output_measure, self.map = Measure(measure), of


class Profile:
    def delta(self, epsilon):
        return 0.25 * np.exp(-epsilon)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("measure", "of", "same"),
    [
        ("MaxDivergence", lambda d: d / 2.0, dp.Claim(1.0)),
        ("MaxDivergence<f64>", lambda d: d / 2.0, dp.Claim(1.0)),
        ("FixedSmoothedMaxDivergence<f64>", lambda d: (0.5 * d, 1e-3), dp.Claim(1.0, 1e-3)),
        ("Approximate<MaxDivergence>", lambda d: (0.5 * d, 1e-3), dp.Claim(1.0, 1e-3)),
        ("ZeroConcentratedDivergence", lambda d: d**2 / 8.0, dp.Claim.zcdp(0.5)),
        ("Approximate<ZeroConcentratedDivergence>", lambda d: (0.5, 0.0), dp.Claim.zcdp(0.5)),
        ("RenyiDivergence", lambda d: lambda order: 0.5 * order, dp.Claim.zcdp(0.5)),
        ("SmoothedMaxDivergence", lambda d: Profile(), dp.Claim.from_function(Profile().delta)),
    ],
)
def test_the_output_measure_decides_what_is_claimed(measure, of, same):
    found = dp.Claim.from_opendp(Measurement(measure, of), 2)
    np.testing.assert_allclose(found.delta_at(EPSILON), same.delta_at(EPSILON), rtol=1e-9)
    assert (found.epsilon, found.delta) == (same.epsilon, same.delta)
    assert found.text.endswith("OpenDP's map at distance 2")


@pytest.mark.quick
def test_an_approximate_curve_leaks_with_its_delta():
    part = Measurement("Approximate<ZeroConcentratedDivergence>", lambda d: (0.5, 0.1))
    expected = 0.1 + 0.9 * dp.Claim.zcdp(0.5).delta_at(EPSILON)
    np.testing.assert_allclose(dp.Claim.from_opendp(part).delta_at(EPSILON), expected, rtol=1e-12)


@pytest.mark.quick
def test_other_objects_measures_and_distances_are_refused():
    def fails(d):
        raise RuntimeError("no such distance")

    for wrong, message in (
        (3, "an OpenDP Measurement"),
        (Measurement("MyDivergence", lambda d: d), "MyDivergence"),
        (Measurement("Approximate<MyDivergence>", lambda d: d), "MyDivergence"),
        (Measurement("MaxDivergence", fails), "no such distance"),
    ):
        with pytest.raises(InvalidInput, match=message):
            dp.Claim.from_opendp(wrong)


def test_opendp_states_its_own_claims():
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
    laplace, gaussian = opendp.m.make_laplace(*space, 2.0), opendp.m.make_gaussian(*space, 2.0)
    assert dp.Claim.from_opendp(laplace, 3.0).epsilon == pytest.approx(1.5)
    assert dp.Claim.from_opendp(gaussian, 1.0).family.value == pytest.approx(0.125)
    profile = opendp.c.make_zCDP_to_approxDP(gaussian)
    stated = dp.Claim.from_opendp(profile, 1.0).delta_at(EPSILON)
    assert np.all(stated >= dp.Claim.zcdp(0.125).delta_at(EPSILON))
    np.testing.assert_allclose(stated, [profile.map(1.0).delta(float(one)) for one in EPSILON])


@pytest.mark.slow  # 2 s: the import, and loss distributions
def test_events_of_nothing_and_of_everything():
    accounting = pytest.importorskip("dp_accounting")
    nothing = dp.Claim.from_dp_event(accounting.NoOpDpEvent())
    assert (nothing.epsilon, nothing.delta) == (0.0, 0.0)
    for wrong, message in (
        (accounting.NonPrivateDpEvent(), "promises"),
        (accounting.UnsupportedDpEvent(), "an accountant knows"),
        (1.0, "DpEvent"),
    ):
        with pytest.raises(InvalidInput, match=message):
            dp.Claim.from_dp_event(wrong)
    with pytest.raises(InvalidInput, match="neighbours"):
        dp.Claim.from_dp_event(accounting.NoOpDpEvent(), "any")


@pytest.mark.quick
def test_without_the_package_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ImportError, match="pip install"):
        dp.Claim.from_dp_event(object())
