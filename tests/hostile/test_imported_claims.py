"""What dp-accounting states of an event: one convention of neighbours on each of its two routes.

The noise of an event is in units of C, the bound of one record's value: a record that comes or goes
moves a sum by C, a replaced one by 2C. The references are closed forms and integrals.
"""

import numpy as np
import pytest
from scipy import integrate, stats

import dpaudit as dp
from tests.sparse import one_in

accounting = pytest.importorskip("dp_accounting")
events = accounting.dp_event
EPSILON = np.array([0.0, 0.5, 1.0, 2.0, 4.0])
DISTANCE = {"add-or-remove-one": 1.0, "replace-special": 1.0, "replace-one": 2.0}
RELATIONS = list(DISTANCE)
# known to the Rényi accountant alone, and it reveals nothing
NOTHING = events.ZCDpEvent(0.0, 0.0)


def gaussian(distance, epsilon=EPSILON):
    return dp.exact.gaussian_shift(distance, epsilon)


def laplace(distance, epsilon=EPSILON):
    return np.maximum(-np.expm1((epsilon - distance) / 2.0), 0.0)


def discrete_laplace(distance, epsilon=EPSILON, a=0.5):
    """The losses of noise with mass ∝ e^{−a|x|} on whole numbers, against its shift."""
    x = np.arange(-400, 401)
    mass, shifted = (
        np.tanh(a / 2.0) * np.exp(-a * np.abs(x - shift)) for shift in (0, int(distance))
    )
    return np.maximum(mass - np.exp(epsilon)[:, None] * shifted, 0.0).sum(axis=1)


BOTH = events.ComposedDpEvent([events.GaussianDpEvent(1.0), events.LaplaceDpEvent(1e9)])


@pytest.mark.parametrize(
    ("event", "exact", "relation"),
    [
        *((events.GaussianDpEvent(1.0), gaussian, relation) for relation in RELATIONS),
        (events.LaplaceDpEvent(1.0), laplace, "replace-one"),
        (events.DiscreteLaplaceDpEvent(0.5, 1), discrete_laplace, "replace-one"),
        (BOTH, gaussian, "replace-one"),
        (events.SelfComposedDpEvent(events.GaussianDpEvent(2.0), 4), gaussian, "replace-one"),
    ],
)
def test_sums_by_loss_distributions(event, exact, relation):
    claim = dp.Claim.from_dp_event(event, relation)
    assert "privacy loss distribution" in claim.text
    allowed, truth = claim.delta_at(EPSILON), exact(DISTANCE[relation])
    assert np.all(allowed >= truth - 1e-12)
    np.testing.assert_allclose(allowed, truth, rtol=2e-3, atol=1e-8)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("scaled", "exact"),
    [
        (lambda d: events.GaussianDpEvent(1.0 / d), gaussian),
        (lambda d: events.LaplaceDpEvent(1.0 / d), laplace),
        (lambda d: events.SelfComposedDpEvent(events.LaplaceDpEvent(2.0 / d), 2), None),
        (lambda d: events.RepeatAndSelectDpEvent(events.GaussianDpEvent(4.0 / d), 2.0, 1.0), None),
    ],
    ids=["Gaussian", "Laplace", "twice", "the best of some"],
)
def test_sums_by_renyi_divergences(scaled, exact, relation):
    """The accountant's own figure for the sensitivity 1 or 2, which is above the truth."""
    claim = dp.Claim.from_dp_event(events.ComposedDpEvent([scaled(1.0), NOTHING]), relation)
    assert "Rényi divergence" in claim.text
    own = accounting.rdp.RdpAccountant().compose(scaled(DISTANCE[relation]))
    expected = [own.get_delta(one) for one in EPSILON]
    np.testing.assert_allclose(claim.delta_at(EPSILON), expected, rtol=1e-12)
    if exact is not None:
        assert np.all(claim.delta_at(EPSILON) >= exact(DISTANCE[relation]) * (1.0 - 1e-9))


def sampled(sign, q, x):
    return (1.0 - q) * stats.norm.pdf(x) + q * stats.norm.pdf(x, sign)


@pytest.mark.parametrize("relation", one_in(3, RELATIONS[::-1]))
def test_a_poisson_sample(relation):
    """Against the integral over both densities: the sum with the record and the other record."""
    q, epsilon = 0.1, np.array([0.0, 0.1, 0.3])
    event = events.PoissonSampledDpEvent(q, events.GaussianDpEvent(1.0))
    claim = dp.Claim.from_dp_event(event, relation)
    other = -1.0 if relation == "replace-one" else 0.0
    truth = [
        integrate.quad(
            lambda x, e=e: max(sampled(1.0, q, x) - np.exp(e) * sampled(other, q, x), 0.0),
            -9.0,
            10.0,
            limit=400,
        )[0]
        for e in epsilon
    ]
    assert np.all(claim.delta_at(epsilon) >= np.array(truth) - 1e-9)
    np.testing.assert_allclose(claim.delta_at(epsilon), truth, rtol=2e-3)


@pytest.mark.parametrize("relation", one_in(3, RELATIONS))
def test_many_steps_of_training_are_a_curve_to_any_epsilon(relation):
    """The transforms of the accountant leave sums of −1e-15, where δ is far smaller still."""
    step = events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0))
    claim = dp.Claim.from_dp_event(events.SelfComposedDpEvent(step, 100), relation)
    delta = claim.delta_at(np.linspace(0.0, 30.0, 61))
    assert np.all((delta > 0.0) & (delta <= 1.0))
    assert np.all(np.diff(delta) <= 0.0)
    assert claim.epsilon_at(0.0) == np.inf  # Gaussian noise is not pure ε-DP


def test_what_does_not_add_values_keeps_its_own_neighbours():
    """Randomised response changes its answer, and zCDP is stated of the neighbours asked for."""
    answer = events.RandomizedResponseDpEvent(0.5, 2)  # 3/4 right: the losses are ± log 3
    claim = dp.Claim.from_dp_event(answer, "replace-one")
    assert claim.delta_at(0.0) == pytest.approx(0.5, rel=1e-3)
    beside = events.ComposedDpEvent([answer, events.LaplaceDpEvent(1e9)])
    assert dp.Claim.from_dp_event(beside, "replace-one").delta_at(0.0) >= 0.5
    stated = [
        dp.Claim.from_dp_event(events.ZCDpEvent(0.1, 0.0), relation).delta_at(EPSILON)
        for relation in RELATIONS
    ]
    np.testing.assert_array_equal(stated[0], stated[1])
    np.testing.assert_array_equal(stated[0], stated[2])
