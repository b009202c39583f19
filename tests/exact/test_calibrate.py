"""The least noise and the most rows that keep a target: closed forms, and a step less breaks it."""

import dataclasses
import time

import numpy as np
import pytest
from scipy.optimize import brentq

import dpaudit as dp
from dpaudit import mechanisms as m
from dpaudit.exact import calibrate, gaussian_sketch, worst_case
from dpaudit.mechanisms import OWN

NOISE_OR_ROWS = [
    (m.ALS(8), "rows"),
    (m.RPLS(8, padding=2.0), "rows"),
    (m.GaussianLS(sigma=1.0), "sigma"),
    (m.RandomProjection(30, padding=1.0), "padding"),
    (m.RandomProjection(30, padding=1.0), "rows"),
    (m.GaussMix(30, 1.0), "sigma"),
    (m.GaussMix(30, 1.0), "rows"),
    (m.WishartDraw(30, 1.0), "padding"),
    (m.WishartDraw(30, 1.0), "dof"),
    (m.InverseWishartDraw(30, 1.0), "padding"),
    (m.InverseWishartDraw(30, 1.0), "dof"),
    (m.AdditiveWishart(20, 3.0), "scale"),
    (m.AdditiveWishart(20, 3.0), "dof"),
    (m.AnalyzeGauss(1.0), "sigma"),
    (m.GaussianInverse(1.0), "sigma"),
    (m.SufficientStatistics(1.0, 100.0), "sigma_gram"),
    (m.SufficientStatistics(100.0, 1.0), "sigma_cross"),
]
NAMES = [f"{type(mechanism).__name__}-{name}" for mechanism, name in NOISE_OR_ROWS]


def database(n=60, columns=3, seed=5):
    return np.random.default_rng(seed).standard_normal((n, columns))


@pytest.fixture(scope="module")
def flight():
    return dp.datasets.load("flight").database


def worst_delta(found, value, data, **how):
    mechanism = dataclasses.replace(found.mechanism, **{found.parameter: value})
    return float(worst_case(mechanism, data, found.epsilon, **how).delta)


def assert_least(found, data, **how):
    """The value keeps the target, and the next less private value breaks it. An integer is found to
    nine digits: curves are accurate to 4.1e-11 (reports/accuracy.md), and δ may change by half as
    much as the integer, in relative terms.
    """
    private = next(d.private for d in found.mechanism.adjustable if d.name == found.parameter)
    assert getattr(found.mechanism, found.parameter) == found.value
    assert worst_delta(found, found.value, data, **how) == found.attained <= found.delta
    if isinstance(found.value, int):
        assert (
            worst_delta(found, found.value - private * (1 + found.value // 10**9), data, **how)
            > found.delta
        )
    else:
        assert worst_delta(found, found.value * (1.0 - 1e-6), data, **how) > found.delta
        assert found.attained > found.delta * (1.0 - 1e-6)


# Closed forms


# Minimality


@pytest.mark.parametrize(("mechanism", "name"), NOISE_OR_ROWS, ids=NAMES)
def test_the_value_is_the_least_private_that_keeps_the_target(mechanism, name):
    data = database()
    found = calibrate(mechanism, data, 0.5, 0.02, parameter=name)
    assert (found.parameter, found.relation, found.delta) == (name, "zero-out", 0.02)
    assert_least(found, data)
    whole = worst_case(found.mechanism, data, 0.5)
    assert found.index == int(whole.index)


def test_every_class_has_a_default_and_all_dials_are_tried_here():
    assert {(kind, one.name) for kind in OWN for one in kind.adjustable} == {
        (type(mechanism), name) for mechanism, name in NOISE_OR_ROWS
    }
    for kind in {type(mechanism) for mechanism, _ in NOISE_OR_ROWS}:
        mechanism = next(one for one, _ in NOISE_OR_ROWS if type(one) is kind)
        assert calibrate(mechanism, database(), 0.5, 0.05).parameter == kind.adjustable[0].name


def test_the_start_of_the_search_does_not_matter():
    data = database()
    values = [calibrate(m.GaussMix(40, sigma), data, 1.0, 1e-6).value for sigma in (1e-9, 1.0, 1e9)]
    np.testing.assert_allclose(values, values[0], rtol=2e-10)
    rows = [
        calibrate(m.GaussMix(k, 30.0), data, 1.0, 1e-6, parameter="rows").value
        for k in (1, 50, 10**7)
    ]
    assert len(set(rows)) == 1


def test_noise_given_by_a_proposition_is_replaced():
    found = calibrate(m.GaussianLS(epsilon=1.0, delta=0.1, sensitivity=2.0), database(), 1.0, 1e-4)
    assert found.mechanism == m.GaussianLS(sigma=found.value)


def test_candidates_are_searched_a_few_at_a_time(monkeypatch):
    data, new, sizes = database(200), database(20, 3, seed=8), []

    def counted(*args, candidates, **options):
        sizes.append(len(candidates))
        return worst_case(*args, candidates=candidates, **options)

    monkeypatch.setattr("dpaudit.exact.calibration.worst_case", counted)
    how = {"relation": "replace", "candidates": new}
    found = calibrate(m.GaussianLS(sigma=1.0), data, 1.0, 1e-4, **how)
    assert sizes.count(20) < 5 < len(sizes)
    assert_least(found, data, **how)


def test_replacements_and_added_rows():
    data, new = database(), 3.0 * database(5, 3, seed=8)
    for mechanism in (m.GaussMix(40, 1.0), m.GaussianLS(sigma=1.0), m.AnalyzeGauss(1.0)):
        how = {"relation": "replace", "candidates": new}
        found = calibrate(mechanism, data, 1.0, 1e-4, **how)
        assert_least(found, data, **how)
        worst = worst_case(found.mechanism, data, 1.0, **how)
        assert (found.index, found.candidate) == (int(worst.index), int(worst.candidate))
    for mechanism in (
        m.GaussMix(40, 1.0),
        m.AdditiveWishart(9, 1.0),
        m.SufficientStatistics(1.0, 90.0),
    ):
        how = {"relation": "add", "row_bound": 2.5}
        assert_least(calibrate(mechanism, data, 1.0, 1e-4, **how), data, **how)


def test_padding_of_data_that_have_no_law_without_it():
    data = np.column_stack([database(), np.ones(60), np.ones(60)])
    assert_least(calibrate(m.RandomProjection(50), data, 1.0, 1e-4), data)


def test_calibration_of_very_many_rows_is_quick():
    """Took 32 s: a mesh grew as the root of the rows."""
    data, start = dp.datasets.load("diabetes").database, time.perf_counter()
    found = calibrate(m.RPLS(100, padding=3000.0), data, 1.0, 1e-5)
    assert time.perf_counter() - start < 10.0
    assert found.value == 104654186


# What it relies on


def test_delta_of_padded_least_squares_may_grow_with_the_padding(flight):
    """On FLIGHT a padding of 3,000 keeps a target that 10,000 breaks. This is why calibration by
    the padding is refused for padded least squares.
    """
    little, much = (
        float(worst_case(m.RPLS(1000, padding=w), flight, 0.1).delta) for w in (3000.0, 10_000.0)
    )
    assert little < 1e-12 < 1e-9 < much
    with pytest.raises(
        dp.InvalidInput, match=r"parameter must be 'rows' for RPLS.*not monotone in the padding"
    ):
        calibrate(m.RPLS(1000, padding=3000.0), flight, 0.1, 1e-10, parameter="padding")


# Errors and words


@pytest.mark.parametrize(
    ("mechanism", "how", "message"),
    [
        (
            m.ALS(9),
            {"parameter": "sampler"},
            "parameter must be 'rows', in which δ of ALS is monotone",
        ),
        (m.GaussianInverse(1.0), {"parameter": "padding"}, "parameter must be 'sigma'"),
        (m.RandomLinearCombination(), {}, "RandomLinearCombination, which has none"),
        (m.RPLS(9, epsilon=1.0, delta=0.1), {}, "mechanism must be an RPLS with `padding`"),
        (m.GaussMix(9, 1.0), {"delta": 0.0}, "delta must be"),
        (m.GaussMix(9, 1.0), {"epsilon": -1.0}, "epsilon must be"),
        (m.GaussMix(9, 1.0), {"relation": "add"}, "row_bound must be"),
        (m.ALS(9), {"epsilon": 0.0, "delta": 1e-9}, "within reach: even rows = 3 gives δ = "),
        (m.SufficientStatistics(1.0, 1e-3), {}, "within reach: even sigma_gram = .* gives δ = 1"),
    ],
)
def test_errors_say_what_is_wrong(mechanism, how, message):
    given_ = {"epsilon": 1.0, "delta": 1e-6, **how}
    with pytest.raises(dp.InvalidInput, match=message):
        calibrate(mechanism, database(), given_.pop("epsilon"), given_.pop("delta"), **given_)


def test_a_row_that_fixes_the_fit_cannot_be_hidden_by_noise():
    data = np.vstack([np.column_stack([np.zeros(30), database(30, 2)]), [[1.0, 0.0, 0.0]]])
    with pytest.raises(dp.InvalidInput, match=r"even sigma = .* gives δ = 1"):
        calibrate(m.GaussianLS(sigma=1.0), data, 1.0, 1e-5)


def test_data_that_need_no_noise_have_no_least():
    with pytest.raises(
        dp.InvalidInput, match="delta must be a target that takes some noise: sigma = "
    ):
        calibrate(m.AnalyzeGauss(1.0), np.zeros((4, 3)), 1.0, 1e-5)


def test_what_cannot_be_computed_passes_through():
    def plain(data, size, *, rng):
        return np.zeros((size, 1))

    with pytest.raises(dp.NoExactSpectrum):
        calibrate(plain, database(), 1.0, 1e-5)
    with pytest.raises(dp.NoExactSpectrum):
        calibrate(m.GaussianLS(sigma=1.0), database(), 1.0, 1e-5, relation="add", row_bound=1.0)
    with pytest.raises(dp.InvalidInput, match="more rows than features"):
        calibrate(m.ALS(9), database(2), 1.0, 1e-5)


def test_it_says_what_it_found():
    text = str(calibrate(m.AnalyzeGauss(1.0), database(), 1.0, 1e-5))
    assert text.startswith("AnalyzeGauss: sigma = ")
    assert "keeps δ(1) <= 1e-05; the exact worst δ (zero-out) is " in text
    replaced = calibrate(
        m.AnalyzeGauss(1.0), database(), 1.0, 1e-5, relation="replace", candidates=database(2)
    )
    assert "replaced by candidate" in str(replaced)


def test_padding_of_no_data_is_the_leverage_of_a_lone_row():
    """q = B²/(B² + w²) for a database that is one row of norm B."""
    q = brentq(lambda q: max(gaussian_sketch(q, 50, 1.0)) - 1e-5, 1e-6, 0.9, xtol=1e-15)
    found = calibrate(
        m.RandomProjection(50), np.zeros((1, 3)), 1.0, 1e-5, relation="add", row_bound=2.0
    )
    assert found.value == pytest.approx(2.0 * np.sqrt((1.0 - q) / q), rel=1e-9)
