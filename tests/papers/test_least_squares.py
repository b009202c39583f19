"""Paper 1's Gaussian LS and RP LS: laws, claims, and the leak of RP LS as printed."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit.papers import GaussianMechanismLS, RandomProjectionLS

pytestmark = pytest.mark.quick

LINE = np.column_stack([np.ones(30), np.linspace(0.0, 1.0, 30), np.sin(np.arange(30.0))])


@pytest.fixture(params=[0.5, 3.0])
def epsilon(request):
    return request.param


def fit(data):
    return np.linalg.lstsq(data[:, :-1], data[:, -1], rcond=None)[0]


def test_gaussian_ls_uses_up_the_curve_of_proposition_2_on_its_pair(epsilon):
    mechanism = GaussianMechanismLS(epsilon, 1e-5, sensitivity=2.0)
    grid = [0.0, 0.3, 1.0, 2.0]
    exact = dp.exact.spectrum(mechanism, mechanism.pair(), grid).delta
    np.testing.assert_allclose(exact, mechanism.claim.delta_at(grid), rtol=1e-9)
    shift = epsilon / math.sqrt(2.0 * math.log(1.25e5))
    assert mechanism.claim.text == dp.Claim.gdp(shift).text


def test_rp_ls_literal_and_sufficient_have_one_law():
    """Two-sample KS of each coordinate: failure by chance 2e-4."""
    literal, quick = (
        RandomProjectionLS(12, 1.0, 0.05, sampler=one)(LINE, 4_000, rng=seed)
        for one, seed in (("literal", 3), ("sufficient", 4))
    )
    assert literal.shape == (4_000, 2)
    for one, other in zip(literal.T, quick.T, strict=True):
        assert ks_2samp(one, other).pvalue > 1e-4


def test_rp_ls_as_printed_leaks_and_corrected_keeps(epsilon):
    printed = RandomProjectionLS(4, epsilon, 1e-3)
    assert float(dp.exact.spectrum(printed, printed.pair(), epsilon).delta) > 0.01
    corrected = RandomProjectionLS(4, epsilon, 1e-3, row_bound=5.0, variant="corrected")
    assert float(dp.exact.spectrum(corrected, corrected.pair(), epsilon).delta) <= 1e-3
    assert float(dp.exact.worst_case(corrected, LINE, epsilon).delta) <= 1e-3


def test_bounds_that_the_data_pass_are_refused():
    with pytest.raises(dp.InvalidInput, match="at least the largest move"):
        GaussianMechanismLS(0.5, 1e-5, sensitivity=1e-6)(LINE, 1, rng=1)
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        RandomProjectionLS(4, 1.0, 1e-3, row_bound=1.0)
    with pytest.raises(dp.InvalidInput, match="at least the largest row norm"):
        RandomProjectionLS(4, 1.0, 1e-3, row_bound=1.0, variant="corrected")(LINE, 1, rng=1)
