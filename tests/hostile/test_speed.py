"""What took seconds or minutes without a word takes at most a second, with the same numbers."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

import dpaudit as dp
from tests.sparse import one_in

SECOND = 1.0  # of processor time


@contextmanager
def a_second():
    """What happens inside may take a second."""
    start = time.process_time()
    yield
    assert time.process_time() - start < SECOND


def test_a_group_of_ten_million_rows():
    """Took 5.7 s, in proportion to the rows; the sum of ε was rounded ten million times."""
    with a_second():
        claim = dp.Claim(1e-8, 1e-12).group(10**7)
    assert claim.epsilon == pytest.approx(0.1, rel=1e-15)
    assert claim.delta == pytest.approx(1e-12 * np.expm1(0.1) / np.expm1(1e-8), rel=1e-12)


@pytest.mark.parametrize("rows", one_in(3, [10**9, 10**3 - 1, 10**7]))
def test_a_curve_of_a_very_large_group(rows):
    """Never ended: each row was one round of a loop. k changes of a μ-GDP mechanism are kμ-GDP."""
    epsilon = np.array([0.0, 0.5, 1.0, 2.0, 4.0])
    one = dp.Claim.from_function(dp.Claim.gdp(1.0 / rows).delta_at)
    with a_second():
        found = one.group(rows).delta_at(epsilon)
    least = dp.Claim.gdp(1.0).delta_at(epsilon)
    assert np.all(found >= least * (1.0 - 1e-9))  # an upper bound, and a close one
    np.testing.assert_allclose(found, least, rtol=2e-4)


def test_the_closed_form_of_a_group_is_its_chain():
    from dpaudit.curves import chained, repeated

    rng = np.random.default_rng(5)
    for _ in range(200):
        epsilon, delta = 10.0 ** rng.uniform([-6.0, -14.0], [2.7, 0.0])
        size = int(10.0 ** rng.uniform(0.0, 2.0))
        one_by_one = chained([(epsilon, delta)] * size)
        assert repeated(epsilon, delta, size) == pytest.approx(one_by_one, rel=1e-11)
    for epsilon, delta in ((0.0, 0.0), (0.0, 0.2), (3.0, 0.0), (3.0, 1.0), (800.0, 0.1)):
        one_by_one = chained([(epsilon, delta)] * 7)
        assert repeated(epsilon, delta, 7) == pytest.approx(one_by_one, rel=1e-12)


def test_a_thousand_laplace_releases():
    """Took 178 s. Near the largest loss the formulas of one and two atoms hold."""
    shift, count = 0.1, 1000
    mechanism = dp.mechanisms.ZOO["Laplace"]
    whole = dp.mechanisms.Composition((mechanism,), times=(count,))
    with a_second():
        spectrum = dp.exact.spectrum(whole, mechanism.pair(), np.linspace(0.0, 36.0, 100))
        spectrum.epsilon_at(1e-5)
    assert spectrum.delta_at(count * shift) == 0.0
    assert spectrum.delta_at(count * shift - 1e-3) == pytest.approx(
        0.5**count * -np.expm1(-1e-3) + 0.5**count * count * 0.25e-6, rel=1e-3
    )


def test_more_laplace_releases_than_can_be_computed_are_refused_at_once():
    whole = dp.mechanisms.textbook.LaplaceParallel(copies=10_000)
    with (
        a_second(),
        pytest.raises(dp.NoExactSpectrum, match=r"at most 2,500 coordinates .* got 10,000; use"),
    ):
        dp.exact.spectrum(whole, whole.pair(), 1.0)


@pytest.mark.parametrize("answers", one_in(2, [5, 20]))
def test_epsilon_of_a_noisy_maximum_at_a_tiny_delta(answers):
    """Took 5 s: where the loss is flat, each crossing of ε by its rounding was looked for."""
    mechanism = dp.mechanisms.ZOO["ReportNoisyMax3"]
    pair = dp.NeighbourPair(np.zeros((answers, 1)), np.ones((answers, 1)))
    spectrum = dp.exact.spectrum(mechanism, pair, [0.0, 0.1])
    largest = answers * mechanism.epsilon / 2.0
    # the loss is the largest where all noisy answers are below 0: with probability 2^{−answers}
    with a_second():
        found = spectrum.epsilon_at([1e-100, 1e-9 * 0.5**answers])
    np.testing.assert_allclose(found, [largest, largest - 1e-9], atol=1e-12, rtol=0.0)


def test_replacements_are_bounded_at_any_epsilon():
    """A bound was NaN beyond ε = 709, and a pair with such a bound was passed over."""
    data, epsilon = np.random.default_rng(0).normal(size=(6, 3)), [1.0, 1e3, 1e9]
    mechanism, new = dp.mechanisms.AdditiveWishart(dof=3, scale=1.0), data[:2] + 5.0
    worst = dp.exact.worst_case(mechanism, data, epsilon, relation="replace", candidates=new)
    every = [
        dp.exact.spectrum(mechanism, dp.neighbours.replace_row(data, i, row), epsilon).delta
        for i in range(6)
        for row in new
    ]
    np.testing.assert_allclose(worst.delta, np.max(every, axis=0), rtol=1e-6)
