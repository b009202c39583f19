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
    """Took 178 s. The curve's own moments are those of the closed form, to ten digits."""
    shift, count = 0.1, 1000
    mechanism = dp.mechanisms.ZOO["Laplace"]
    whole = dp.mechanisms.Composition((mechanism,), times=(count,))
    nodes, weights = np.polynomial.legendre.leggauss(6)
    ends = np.arange(0.0, 36.0, 2.0 * shift)  # δ(ε) has kinks at atoms of the loss
    epsilon = (ends[:, None] + shift * (1.0 + nodes)).ravel()
    with a_second():
        dp.exact.spectrum(whole, mechanism.pair(), epsilon[:100]).epsilon_at(1e-5)
    spectrum = dp.exact.spectrum(whole, mechanism.pair(), epsilon)
    weights = np.tile(shift * weights, len(ends))
    for s in (0.25, 0.75):
        # ∫ f(p/q) by hockey-stick divergences: E[e^{sL}] − 1
        inside = np.exp(s * epsilon) + np.exp(-(s + 1.0) * epsilon)
        found = s * (s + 1.0) * np.sum(weights * spectrum.delta * inside)
        assert found == pytest.approx(np.expm1(s * spectrum.renyi(1.0 + s)), rel=1e-10)
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


@pytest.mark.parametrize(("shift", "count"), [(1e-3, 40), (1.0, 3)])
def test_laplace_noise_keeps_its_relative_accuracy_in_the_last_span(shift, count):
    """By mpmath; only the atom at the end and a density that is steep in logarithms are above ε."""
    from mpmath import mp, mpf

    from dpaudit.exact import LaplaceShift

    mp.dps = 30

    def truth(rest):
        """½^k(1 − e^{−rest}) + ½^k Σ_j C(k, j) ∫ t^j v^{j−1}/(j − 1)! e^{−tv}(1 − e^{2tv−rest})."""
        total, t = -mp.expm1(-rest), mpf(shift)
        for j in range(1, count + 1):
            ways = mp.binomial(count, j) * t**j / mp.factorial(j - 1)
            total += ways * mp.quad(
                lambda v, j=j: v ** (j - 1) * mp.exp(-t * v) * -mp.expm1(2 * t * v - rest),
                [0, rest / (2 * t)],
            )
        return float(total * mpf(0.5) ** count)

    for share in (1e-6, 0.3):
        rest = 2.0 * shift * share
        found = LaplaceShift(shift, count).delta(count * shift - rest)[0]
        assert found == pytest.approx(
            truth(mpf(count * shift) - mpf(count * shift - rest)), rel=1e-9
        )


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
