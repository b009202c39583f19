"""Exact spectra of data at the ends of what floats hold, and arguments that are not numbers."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import PrivacyLoss

DATA = np.random.default_rng(0).normal(size=(10, 3))
GAUSSIAN = dp.mechanisms.GaussianLS(sigma=1.0)


@pytest.mark.parametrize("relation", ["zero-out", "replace"])
def test_noise_beside_an_exact_fit(relation):
    """Was refused as "nothing is random"; all noise comes from σ, and a zeroed row changes none."""
    x = np.arange(5.0)
    data = np.column_stack([np.ones(5), x, 2.0 * x + 1.0])
    assert np.all(np.isfinite(GAUSSIAN(data, 3, rng=1)))
    if relation == "zero-out":
        assert dp.exact.worst_case(GAUSSIAN, data, 0.5).delta == 0.0
        return
    new = np.array([[1.0, 2.0, 9.0]])
    worst = dp.exact.worst_case(GAUSSIAN, data, 0.5, relation="replace", candidates=new)
    one_by_one = [
        dp.exact.spectrum(GAUSSIAN, dp.neighbours.replace_row(data, row, new[0]), 0.5).delta
        for row in range(5)
    ]
    assert worst.delta == pytest.approx(np.max(one_by_one), rel=1e-9)


def test_a_sketch_of_an_exact_fit_is_still_refused():
    data = np.column_stack([np.ones(4), np.arange(4.0), 3.0 * np.arange(4.0)])
    with pytest.raises(dp.DegenerateData, match="nothing is random"):
        dp.mechanisms.ALS(rows=9).law(data)


@pytest.mark.parametrize("mechanism", [GAUSSIAN, dp.mechanisms.ALS(rows=20)])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160])
def test_scaled_data_have_the_same_spectrum(mechanism, scale):
    """δ was 1, the fifth digit was wrong, or the features were called dependent."""
    epsilon = [0.1, 0.5]
    expected = dp.exact.worst_case(mechanism, DATA, epsilon).delta
    spectrum = dp.exact.worst_case(mechanism, DATA * scale, epsilon).delta
    np.testing.assert_allclose(spectrum, expected, rtol=1e-11)


@pytest.mark.parametrize("delta", [1e-20, 1e-100, 1e-300])
def test_epsilon_at_a_delta_below_the_rounding_of_the_loss(delta):
    """Was "too rough": just below the largest loss L − ε is rounding."""
    spectrum = dp.exact.spectrum(dp.mechanisms.ALS(rows=20), dp.neighbours.zero_row(DATA, 1), 0.1)
    found = float(spectrum.epsilon_at(delta))
    assert spectrum.delta_at(found) <= delta
    largest = spectrum.pure_epsilon
    assert found <= largest * (1.0 + 1e-14)
    assert delta == 1e-20 or found == pytest.approx(largest, rel=1e-12)


def test_advice_on_a_loss_without_moment_function_names_what_there_is():
    """Laplace noise was advised to take law="asymptotic", which it lacks."""
    laplace = dp.mechanisms.ZOO["Laplace"]
    for law in ("finite", "asymptotic"):
        with pytest.raises(dp.NoExactSpectrum, match=r"on a dpaudit\.mechanisms\.Composition"):
            dp.exact.privacy_loss(laplace, laplace.pair(), law=law)
    pairs = (dp.neighbours.zero_row(DATA, 1), dp.neighbours.replace_row(DATA, 1, DATA[2] + 1.0))
    for pair in pairs:
        sketch = dp.mechanisms.ALS(rows=20)
        with pytest.raises(dp.NoExactSpectrum, match="use law='asymptotic'"):
            dp.exact.privacy_loss(sketch, pair)
        assert isinstance(dp.exact.privacy_loss(sketch, pair, law="asymptotic"), PrivacyLoss)


@pytest.mark.parametrize(
    "value", ["1.0", True, ["1.0"], [True], np.array([True]), [None], 1j, b"1", np.bool_(True)]
)
def test_what_only_converts_to_a_number_is_refused(value):
    """`epsilon="1.0"` and `True` were taken for 1."""
    claim, spectrum = (
        dp.Claim.gdp(1.0),
        dp.exact.spectrum(GAUSSIAN, dp.neighbours.zero_row(DATA, 1), 0.1),
    )
    calls = {
        "epsilon": (claim.delta_at, lambda e: dp.exact.gaussian_shift(1.0, e), spectrum.delta_at),
        "delta": (claim.epsilon_at, spectrum.epsilon_at),
        "order": (spectrum.renyi,),
    }
    for name, functions in calls.items():
        for function in functions:
            with pytest.raises(dp.InvalidInput, match=f"^{name} must be a .*number"):
                function(value)


def test_numbers_of_other_types_are_numbers():
    from fractions import Fraction

    expected = dp.exact.gaussian_shift(1.0, [0.5, 1.0])
    for value in ([Fraction(1, 2), 1], np.array([0.5, 1.0], dtype=np.float32), (0.5, np.int8(1))):
        np.testing.assert_array_equal(dp.exact.gaussian_shift(1.0, value), expected)


@pytest.mark.parametrize("scale", [1e-310, 1e300])
@pytest.mark.parametrize("mechanism", [dp.mechanisms.GaussianLS(sigma=1.0), dp.mechanisms.ALS(6)])
def test_data_that_floats_hold_with_few_digits_are_refused(mechanism, scale):
    """Both gave δ = 1 without a word."""
    data = np.random.default_rng(0).standard_t(2, (8, 3)) * scale
    with pytest.raises(dp.DegenerateData, match="between 1e-300 and 1e\\+290 in size"):
        dp.exact.worst_case(mechanism, data, 0.5)
