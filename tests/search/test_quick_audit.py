"""Quick audits: what they estimate, what common random numbers save, and what an influence is."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpaudit.search.quick_audit import DEFAULT, has_common_noise, quick_audit
from dpaudit.search.ranking import NoiseUnits

pytestmark = pytest.mark.quick

SEED = np.random.SeedSequence(0)
SHIFT, EPSILON = 0.6, 0.5
TRUTH = float(
    ndtr(SHIFT / 2 - EPSILON / SHIFT) - np.exp(EPSILON) * ndtr(-SHIFT / 2 - EPSILON / SHIFT)
)


def normals(n, k, seed):
    return np.random.default_rng(seed).standard_normal((n, k))


@pytest.mark.parametrize("classifier", [DEFAULT, "logistic"])
def test_a_gaussian_shift_is_estimated(classifier):
    """Four standard errors: fails for one seed in 10,000, and this one is fixed."""
    P = normals(8000, 3, 1)
    found = quick_audit(P, P + np.array([SHIFT, 0.0, 0.0]), EPSILON, classifier, SEED)
    assert abs(found.counted - TRUTH) < 4.0 * found.error + 0.003
    assert abs(found.delta - TRUTH) < 0.01


def test_common_random_numbers_save_draws():
    P = normals(4000, 8, 2)
    partners = quick_audit(P, P + 0.05, 0.0, DEFAULT, SEED)
    strangers = quick_audit(P, normals(4000, 8, 3) + 0.05, 0.0, DEFAULT, SEED)
    assert partners.error < 0.5 * strangers.error
    truth = 2.0 * float(ndtr(0.05 * np.sqrt(8.0) / 2.0)) - 1.0
    # an eighth of what 4,000 strangers' counts are worth
    assert abs(partners.delta - truth) < 0.003
    assert has_common_noise(P, P + 0.05)
    assert not has_common_noise(P, normals(4000, 8, 3))


def test_nothing_is_found_where_there_is_nothing():
    """The mean of 20 estimates, each held out: no more than noise, four standard errors of one."""
    found = [
        quick_audit(normals(2000, 4, 10 + i), normals(2000, 4, 50 + i), 0.0, DEFAULT, SEED)
        for i in range(20)
    ]
    assert (
        np.mean([one.counted for one in found])
        < 4.0 * np.mean([one.error for one in found]) / np.sqrt(20) + 0.01
    )
    assert np.mean([one.delta for one in found]) < 0.03


def test_atoms_and_what_is_no_number_are_seen():
    P = normals(2000, 2, 4)
    Q = P.copy()
    Q[::3, 1] = np.nan
    assert abs(quick_audit(P, Q, 0.0, DEFAULT, SEED).delta - 1 / 3) < 0.03
    constant = np.zeros((400, 1))
    assert quick_audit(constant, constant + 1.0, 1.0, DEFAULT, SEED).delta == 1.0
    assert quick_audit(constant, constant, 1.0, DEFAULT, SEED).delta == 0.0


def test_a_constant_that_changes_is_infinitely_far():
    spread = np.column_stack([normals(500, 1, 6), np.ones(500)])
    units = NoiseUnits.of(spread)
    other = spread[:16] + np.array([0.0, 1.0])
    assert units.distance(spread[:16], other) == float("inf")
