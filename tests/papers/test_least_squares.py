"""Paper 1's Gaussian LS and RP LS: laws, claims, and the leak of RP LS as printed."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.papers import GaussianMechanismLS, RandomProjectionLS

pytestmark = pytest.mark.quick

LINE = np.column_stack([np.ones(30), np.linspace(0.0, 1.0, 30), np.sin(np.arange(30.0))])


@pytest.fixture(params=[0.5, 3.0])
def epsilon(request):
    return request.param


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
