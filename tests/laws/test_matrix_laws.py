"""Laws of matrices: degrees of freedom, and outputs that one law, or neither, can have made."""

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from dpaudit.laws import ShiftedWishart, log_ratio
from tests.laws.law_cases import SHIFT, K, inverse_wishart, root, shifted_wishart

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("make", [inverse_wishart, shifted_wishart])
@pytest.mark.parametrize("dof", [K, K + 1, 40])
def test_densities_of_matrices_at_any_degrees_of_freedom(make, dof):
    law, theirs = make(1, dof)
    x = law.sample(50, np.random.default_rng(3))
    assert np.ptp(law.log_density(x) - theirs(x)) < 1e-8


@pytest.mark.parametrize("make", [inverse_wishart, shifted_wishart])
def test_matrices_need_as_many_degrees_of_freedom_as_columns(make):
    with pytest.raises(
        dp.InvalidInput, match="dof must be at least 3, the number of columns, got 2"
    ):
        make(1)[0].__class__(*([SHIFT] if make is shifted_wishart else []), root(1), K - 1)


# --- where one law, or neither, can have made the output


def moved(amount):
    return ShiftedWishart(SHIFT + amount * np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0]), root(1), 4)


def test_the_loss_is_infinite_where_the_other_law_cannot_be():
    """A row of the left database alone: some draws of the left law cannot come from the right one.

    Every draw of the right law is possible under the left one. With dof 4 and d = 3, the ratio
    q/vᵀW⁻¹v is χ²₂. The share is within 6 standard errors: fails with probability below 1e-8.
    """
    with_row, without, size = moved(0.5), moved(0.0), 20_000
    forward = log_ratio(with_row, without, with_row.sample(size, np.random.default_rng(1)))
    backward = log_ratio(without, with_row, without.sample(size, np.random.default_rng(2)))
    assert np.isfinite(forward).all()
    assert not np.isnan(backward).any()
    v = np.sqrt(0.5) * np.array([1.0, 2.0, 0.0])
    share = stats.chi2(2).cdf(v @ np.linalg.inv(root(1).T @ root(1)) @ v)
    assert 0.1 < share < 0.9
    assert np.mean(backward == np.inf) == pytest.approx(
        share, abs=6.0 * np.sqrt(share * (1.0 - share) / size)
    )


def test_an_output_that_neither_law_can_have_made_tells_nothing():
    x = np.concatenate(
        [
            -10.0 * np.eye(K)[*np.triu_indices(K)][None],
            moved(0.0).sample(3, np.random.default_rng(1)),
        ]
    )
    found = log_ratio(moved(0.0), moved(0.5), x)
    assert found[0] == 0.0
    np.testing.assert_array_equal(moved(0.0).log_density(x)[:1], [-np.inf])
    assert np.all(found[1:] != 0.0)
