"""Ridge regression from noisy moments (paper 2): solution, worst pair, what breaks remark 4.4."""

import math

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.papers import DPRR, PMTRR, PracticalDPRR

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(8)
FEATURES = RNG.standard_normal((60, 3)) * [1.0, 5.0, 0.2] + 1.0
DATA = np.column_stack([FEATURES, FEATURES @ [1.0, -0.5, 2.0] + RNG.standard_normal(60)])
ROOT = math.sqrt(1.125)


def ridge_fit(rows, ridge):
    features, label = rows[:, :-1], rows[:, -1]
    gram = features.T @ features / len(label) + ridge * np.eye(features.shape[1])
    return np.linalg.solve(gram, features.T @ label / len(label))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_without_noise_and_cuts_it_is_the_ridge_fit(ridge):
    """Theorem 4.1, equation (4): the transformed penalty gives the same coefficient.

    The penalty is transformed with the rows.
    """
    found = PMTRR(1e13, 0.05, ridge, public_rows=20)(DATA, 2, rng=1)
    np.testing.assert_allclose(found[0], ridge_fit(DATA[20:], ridge), rtol=1e-8)
    found = DPRR(1e13, 1e4, 10.0, 0.05, ridge)(DATA, 2, rng=1)
    np.testing.assert_allclose(found[1], ridge_fit(DATA, ridge), rtol=1e-6)


MECHANISMS = [
    (PMTRR(0.6, public_rows=5, release="statistics"), ROOT),
    (PMTRR(3.0, public_rows=1, release="statistics"), 1.0),
    (DPRR(0.6, 0.01, 0.3, release="statistics"), ROOT),
    (
        PracticalDPRR(0.6, trace=2.0, label_moment=0.1, variant="corrected", release="statistics"),
        ROOT,
    ),
]


@pytest.mark.parametrize(("mechanism", "share"), MECHANISMS, ids=lambda x: repr(x)[:60])
def test_the_pair_is_the_worst_there_is(mechanism, share):
    """The pair has √1.125·μ where √2·μ is claimed.

    Every pair of random rows, cut to the radii or not, stays at or below it.
    """
    pair, epsilon = mechanism.pair(), [0.0, 0.4]
    exact = dp.exact.spectrum(mechanism, pair, epsilon).delta
    np.testing.assert_allclose(
        exact, dp.exact.gaussian_shift(share * mechanism.mu, epsilon), rtol=1e-7
    )
    assert np.all(exact < mechanism.claim.delta_at(epsilon))
    rng, count = np.random.default_rng(3), pair.left.shape[1]
    rows = (
        rng.choice([0.5, 10.0, 1e4], (300, 1))
        * rng.standard_normal((300, count))
        * np.r_[[1.0] * (count - 1), 50.0]
    )
    data = np.vstack([pair.left[: pair.index], rows])
    found = mechanism.replaced_rows(data[: pair.index + 3], rows[:200]).mu
    assert found.max() <= share * mechanism.mu * (1 + 1e-9)
    assert found.max() > 0.5 * share * mechanism.mu


@pytest.mark.parametrize("mu", [0.05, 1.5])
def test_remark_4_4_has_a_cross_noise_that_forgets_mu(mu):
    """A row changes its sign and keeps its label, so the cross moment moves by 2σ₂.

    The quantities read off the data stay.
    """
    mechanism = PracticalDPRR(mu, release="statistics")
    data = np.zeros((2, 3))
    data[0] = [10.0, 0.0, 10.0]
    data[1] = [0.0, 0.1, 0.1]
    pair = dp.neighbours.replace_row(data, 0, [-10.0, 0.0, 10.0])
    exact = dp.exact.spectrum(mechanism, pair, 0.0)
    assert exact.gdp_mu(0.0) == pytest.approx(2.0, rel=1e-6)
    assert (exact.delta > mechanism.claim.delta_at(0.0)) == (mu < math.sqrt(2.0))


def test_a_long_row_tells_itself_by_the_noise():
    """δ is near 1 where the claim says a millionth."""
    mechanism = PracticalDPRR(1.0, release="statistics")
    data = np.column_stack([np.eye(3), np.ones(3)])
    pair = dp.neighbours.replace_row(data, 0, 1e6 * data[0])
    assert dp.exact.spectrum(mechanism, pair, float(mechanism.claim.epsilon_at(1e-6))).delta > 0.999
    assert (
        dp.exact.spectrum(mechanism, mechanism.pair(), 0.0).delta
        > mechanism.claim.delta_at(0.0) - 1e-12
    )


def test_the_coefficient_has_no_spectrum_but_its_statistics_do():
    for mechanism in (PMTRR(1.0, public_rows=9), DPRR(1.0, 1.0, 1.0), PracticalDPRR(1.0)):
        with pytest.raises(dp.NoExactSpectrum, match="worked out of noisy moments"):
            mechanism.law(DATA)
        with pytest.raises(dp.NoExactSpectrum, match="worked out of noisy moments"):
            mechanism.replaced_rows(DATA, DATA[:2])
    with pytest.raises(dp.NoExactSpectrum, match="each changes the noise"):
        PracticalDPRR(1.0, release="statistics").replaced_rows(DATA, DATA[:2])


def test_a_zeroed_row_changes_the_noise_too():
    mechanism, pair = PracticalDPRR(0.01, release="statistics"), dp.neighbours.zero_row(DATA, 3)
    same = dp.NeighbourPair(pair.left, pair.right)
    assert (
        dp.exact.spectrum(mechanism, pair, 0.1).delta
        == dp.exact.spectrum(mechanism, same, 0.1).delta
        > 0.0
    )


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PMTRR(1.0), "public_rows"),
        (lambda: PracticalDPRR(1.0, variant="corrected"), "trace"),
        (lambda: PracticalDPRR(1.0, trace=1.0), "trace"),
    ],
)
def test_a_wrong_parameter_is_named(make, name):
    with pytest.raises(dp.InvalidInput, match=f"^{name} must be"):
        make()


def test_public_labels_that_are_all_zero_have_no_scale():
    data = DATA.copy()
    data[:20, -1] = 0.0
    with pytest.raises(dp.DegenerateData, match="public label"):
        PMTRR(1.0, public_rows=20)(data, 2, rng=1)
