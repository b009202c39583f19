"""Every spectrum is in [0, 1], non-increasing in ε and convex in e^ε.

At ε = 0 it is the total variation distance, in either direction.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp

EPSILON = np.array(
    [0.0, 1e-6, 1e-3, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 60.0]
)
CURVE = 1e-12  # absolute slack of a curve's shape
EVEN = 1e-10  # forward and backward at ε = 0 are one number

shares = st.one_of(
    st.just(0.0),
    st.floats(1e-30, 0.999),
    st.floats(-9.0, 0.0).map(lambda power: 0.999 * 10**power),
    st.floats(-6.0, -0.5).map(lambda power: 1.0 - 10**power),
)
counts = st.one_of(st.integers(0, 10), st.integers(10, 2000))
reproducibly = settings(max_examples=60, deadline=None, derandomize=True)


def assert_a_spectrum(forward, backward):
    for curve in (forward, backward):
        assert np.all((curve >= 0.0) & (curve <= 1.0))
        assert np.all(np.diff(curve) <= CURVE)
        gamma = np.exp(EPSILON)
        weight = (gamma[2:] - gamma[1:-1]) / (gamma[2:] - gamma[:-2])
        assert np.all(curve[1:-1] <= weight * curve[:-2] + (1.0 - weight) * curve[2:] + CURVE)
    assert abs(forward[0] - backward[0]) <= EVEN


@reproducibly
@given(leverage=shares, share=shares, features=st.integers(1, 14), more=counts)
def test_als_at_finite_rows(leverage, share, features, more):
    assert_a_spectrum(*dp.exact.als(leverage, share, features, features + 1 + more, EPSILON))


@reproducibly
@given(leverage=shares, share=shares, features=st.integers(1, 14), more=counts)
def test_als_in_the_limit(leverage, share, features, more):
    assert_a_spectrum(
        *dp.exact.als(leverage, share, features, features + 1 + more, EPSILON, law="asymptotic")
    )


@reproducibly
@given(leverage=shares, more=counts)
def test_gaussian_sketches(leverage, more):
    assert_a_spectrum(*dp.exact.gaussian_sketch(leverage, 1 + more, EPSILON))


@reproducibly
@given(mu=st.one_of(st.floats(1e-30, 40.0), st.floats(-12.0, 0.0).map(lambda power: 10**power)))
def test_gaussian_shifts(mu):
    curve = dp.exact.gaussian_shift(mu, EPSILON)
    assert_a_spectrum(curve, curve)


@st.composite
def replaced(draw):
    """A small database with columns of unlike scales, and one of its rows replaced."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    features = draw(st.integers(1, 4))
    data = rng.standard_normal((features + 3 + draw(st.integers(0, 20)), features + 1))
    data *= 10.0 ** rng.uniform(-3, 3, features + 1)
    row = (
        data[0] * rng.uniform(-2, 2)
        if draw(st.booleans())
        else data[1] * 10.0 ** rng.uniform(-1, 1)
    )
    return dp.neighbours.replace_row(data, 0, row), features


@reproducibly
@given(case=replaced(), more=counts)
def test_als_of_a_replaced_row(case, more):
    pair, features = case
    found = dp.exact.spectrum(dp.mechanisms.ALS(features + 1 + more), pair, EPSILON)
    assert_a_spectrum(found.forward, found.backward)


@reproducibly
@given(case=replaced(), rows=st.integers(1, 200))
def test_sketches_of_a_replaced_row(case, rows):
    found = dp.exact.spectrum(dp.mechanisms.RandomProjection(rows), case[0], EPSILON)
    assert_a_spectrum(found.forward, found.backward)


@reproducibly
@given(case=replaced(), sigma=st.floats(-3.0, 1.0).map(lambda power: 10**power))
def test_gaussian_least_squares_of_a_replaced_row(case, sigma):
    found = dp.exact.spectrum(dp.mechanisms.GaussianLS(sigma=sigma), case[0], EPSILON)
    assert_a_spectrum(found.forward, found.backward)


def test_vanishing_arguments_give_nothing_without_a_warning():
    """Far below rounding, as a row of tiny numbers gives."""
    assert_a_spectrum(*dp.exact.als(0.0, 2e-313, 1, 2, EPSILON))
    assert_a_spectrum(*dp.exact.als(0.0, 2e-313, 1, 2, EPSILON, law="asymptotic"))
    assert_a_spectrum(*dp.exact.gaussian_sketch(1e-308, 1, EPSILON))
    assert np.all(dp.exact.gaussian_shift(1e-200, EPSILON) <= 1e-200)
