"""What took seconds or minutes without a word takes at most a second, with the same numbers."""

import time

import numpy as np
import pytest

import dpaudit as dp

SECOND = 1.0  # of processor time


@pytest.fixture(autouse=True)
def quick():
    """Each test here must itself be quick."""
    start = time.process_time()
    yield
    assert time.process_time() - start < SECOND


def test_a_group_of_ten_million_rows():
    """Took 5.7 s, in proportion to the rows; the sum of ε was rounded ten million times."""
    claim = dp.Claim(1e-8, 1e-12).group(10**7)
    assert claim.epsilon == pytest.approx(0.1, rel=1e-15)
    assert claim.delta == pytest.approx(1e-12 * np.expm1(0.1) / np.expm1(1e-8), rel=1e-12)


@pytest.mark.parametrize("rows", [10**3 - 1, 10**7, 10**9])
def test_a_curve_of_a_very_large_group(rows):
    """Never ended: each row was one round of a loop. k changes of a μ-GDP mechanism are kμ-GDP."""
    epsilon = np.array([0.0, 0.5, 1.0, 2.0, 4.0])
    found = dp.Claim.from_function(dp.Claim.gdp(1.0 / rows).delta_at).group(rows).delta_at(epsilon)
    least = dp.Claim.gdp(1.0).delta_at(epsilon)
    assert np.all(found >= least * (1.0 - 1e-9))  # an upper bound, and a close one
    np.testing.assert_allclose(found, least, rtol=2e-4)


def test_the_closed_form_of_a_group_is_its_chain():
    from dpaudit.curves.group import chained, repeated

    rng = np.random.default_rng(5)
    for _ in range(200):
        epsilon, delta = 10.0 ** rng.uniform([-6.0, -14.0], [2.7, 0.0])
        size = int(10.0 ** rng.uniform(0.0, 2.0))
        one_by_one = chained([(epsilon, delta)] * size)
        assert repeated(epsilon, delta, size) == pytest.approx(one_by_one, rel=1e-11)
    for epsilon, delta in ((0.0, 0.0), (0.0, 0.2), (3.0, 0.0), (3.0, 1.0), (800.0, 0.1)):
        one_by_one = chained([(epsilon, delta)] * 7)
        assert repeated(epsilon, delta, 7) == pytest.approx(one_by_one, rel=1e-12)
