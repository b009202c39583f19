"""DP-SGD in numpy: what a step does, its claim, and its bugs."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import comb

import dpaudit as dp
from dpaudit.curves import sampled_gaussian
from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD

pytestmark = pytest.mark.quick
RNG = np.random.default_rng(5)
FEATURES = RNG.standard_normal((60, 3))
DATA = np.column_stack([FEATURES, FEATURES.sum(axis=1) > 0.0])
DATA[0, :3] = [30.0, 0.0, 0.0]
FEATURES_OF_DATA = DATA[:, :3]
broken = SimpleNamespace(**{kind.__name__: kind for kind in BROKEN_DPSGD})


def steps_of(mechanism, data=DATA, rng=1):
    steps = []
    return steps, mechanism.train(data, rng=rng, watch=steps.append)


def test_a_step_is_the_noisy_sum_of_clipped_gradients():
    steps, weights = steps_of(DPSGD(steps=4, noise_multiplier=1e-9, clip=0.5, learning_rate=2.0))
    now = np.zeros(3)
    for step in steps:
        gradients = (1.0 / (1.0 + np.exp(-DATA[:, :3] @ now)) - DATA[:, 3])[:, None] * DATA[:, :3]
        np.testing.assert_allclose(step.gradients, gradients, atol=1e-12)
        norms = np.linalg.norm(gradients, axis=1)
        short = gradients * np.minimum(1.0, 0.5 / norms)[:, None]
        np.testing.assert_allclose(step.noisy_sum, short[step.included].sum(axis=0), atol=1e-7)
        now = now - 2.0 * step.noisy_sum / 6.0
    np.testing.assert_allclose(weights, now, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "linear"])
def test_it_learns(loss):
    weights = DPSGD(steps=150, learning_rate=0.5, noise_multiplier=0.1, loss=loss)(
        DATA[1:], 1, rng=1
    )
    assert np.mean((DATA[1:, :3] @ weights[0] > 0.0) == DATA[1:, 3]) > 0.8


def included(mechanism):
    return np.array([step.included for step in steps_of(mechanism)[0]])


def test_poisson_batches_have_the_rate_and_shuffled_ones_each_row_once_an_epoch():
    poisson = included(DPSGD(steps=200, sample_rate=0.1))
    assert abs(poisson.mean() - 0.1) < 5.0 * np.sqrt(0.09 / poisson.size)
    assert len(np.unique(poisson.sum(axis=1))) > 5
    dealt = included(broken.ShuffledBatches(steps=20, sample_rate=0.1))
    assert np.all(dealt[:10].sum(axis=0) == 1)
    assert np.all(dealt[10:].sum(axis=0) == 1)
    assert np.any(dealt[:10] != dealt[10:])


def noises(mechanism):
    """The noise of each step, (steps, p), in clip norms; of rows without gradients."""
    return np.array([step.noisy_sum for step in steps_of(mechanism, np.zeros((60, 4)))[0]])


def test_the_noise_of_each_bug_is_what_it_says():
    sound = noises(DPSGD(steps=300))
    assert abs(sound.std() - 1.0) < 0.1
    np.testing.assert_allclose(noises(broken.NoiseDividedTwice(steps=300)), sound / 6.0)
    last = noises(broken.NoiselessLastStep(steps=300))
    np.testing.assert_array_equal(last[:-1], sound[:-1])
    assert not last[-1].any()
    kept = noises(broken.ReusedStepNoise(steps=12)).reshape(3, 4, 3)
    assert np.all(kept == kept[:, :1])
    assert len(np.unique(kept)) == 9


def test_the_sums_of_each_bug_are_what_they_say():
    gradients = np.array([[30.0, 0.0], [0.0, 0.3]])
    np.testing.assert_allclose(DPSGD().total(gradients), [1.0, 0.3])
    np.testing.assert_allclose(broken.NoClipping().total(gradients), [30.0, 0.3])
    clipped = broken.BatchClipping().total(gradients)
    assert np.linalg.norm(clipped) == pytest.approx(2.0)
    np.testing.assert_allclose(clipped[0] / clipped[1], 100.0)
    assert broken.BatchClipping().total(gradients[:0]).tolist() == [0.0, 0.0]


def test_labels_of_a_logistic_model_are_zero_or_one():
    with pytest.raises(dp.InvalidInput, match="data must be rows with a last entry of 0 or 1"):
        DPSGD()(2.0 * DATA, 1, rng=1)


@pytest.mark.parametrize(("rate", "sigma"), [(0.01, 0.8), (0.1, 1.0), (0.3, 5.0), (1.0, 2.0)])
def test_renyi_divergences_of_a_step_are_those_of_the_binomial_sum(rate, sigma):
    """At integer orders E[(P/Q)^α] = Σ C(α, k) (1 − q)^{α−k} q^k e^{k(k−1)/2σ²}."""
    for order in (2, 3, 7):
        k = np.arange(order + 1)
        terms = comb(order, k) * (1.0 - rate) ** (order - k) * rate**k
        exact = np.log(np.sum(terms * np.exp(k * (k - 1) / (2.0 * sigma**2)))) / (order - 1)
        found = sampled_gaussian(np.array([float(order)]), rate, sigma)
        assert found[0] == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
def test_the_claim_is_that_of_dp_accounting():
    """Its Rényi accountant takes other orders; its loss distribution is tighter (3 s)."""
    accounting = pytest.importorskip("dp_accounting")
    for rate, sigma, steps in ((0.1, 1.0, 200), (0.02, 0.8, 1000)):
        claim = DPSGD(sample_rate=rate, noise_multiplier=sigma, steps=steps).claim
        event = accounting.SelfComposedDpEvent(
            accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(sigma)), steps
        )
        renyi = accounting.rdp.RdpAccountant().compose(event).get_epsilon(1e-5)
        loss = accounting.pld.PLDAccountant(value_discretization_interval=1e-3)
        assert 0.98 * renyi <= claim.epsilon <= 1.002 * renyi
        assert claim.epsilon >= 0.99 * loss.compose(event).get_epsilon(1e-5)


def test_batches_of_a_fixed_size_have_it_and_the_loss_is_that_of_the_weights():
    sizes = included(broken.FixedSizeBatches(steps=50, sample_rate=0.1)).sum(axis=1)
    assert set(sizes) == {6}
    halved = noises(broken.NoisePerMicrobatch(steps=300))
    np.testing.assert_allclose(halved, noises(DPSGD(steps=300)) / 2.0)
    *weights, loss = broken.ExactTrainingLoss(steps=5).train(DATA, rng=1)
    np.testing.assert_array_equal(weights, DPSGD(steps=5).train(DATA, rng=1))
    chance = 1.0 / (1.0 + np.exp(-FEATURES_OF_DATA @ weights))
    chosen = np.where(DATA[:, 3] == 1.0, chance, 1.0 - chance)
    assert loss == pytest.approx(-np.log(chosen).mean())


def test_a_canary_without_a_gradient_is_not_taken_for_missing_noise():
    """The model knows it so well that its gradient is exactly 0, and so was its projection."""
    data = DATA.copy()
    data[0, :3], data[0, 3] = [2000.0, 0.0, 0.0], 1.0
    audit = dp.StepAudit(sample_rate=0.5, noise_multiplier=1.0, level=0.99)
    mechanism, lengths = DPSGD(steps=60, sample_rate=0.5, learning_rate=1.0), []

    def watch(step):
        lengths.append(np.abs(step.gradients[0]).max())
        audit.update(**step.canary(0))

    mechanism.train(data, rng=1, watch=watch)
    assert sum(length == 0.0 for length in lengths) > 30
    assert audit.verdict != "violated"


CAUGHT_BY = {
    "NoiseDividedTwice": "noise",
    "BatchClipping": "privacy",
    "NoClipping": "privacy",
    "ShuffledBatches": "sampling",
    "NoiselessLastStep": "noise",
    "ReusedStepNoise": "fresh noise",
    "SkippedOverflow": "noise",
    "NoisePerMicrobatch": "noise",
}
BY_STEPS = [kind for kind in BROKEN_DPSGD if kind.__name__ in CAUGHT_BY]


def with_canaries(count, rows=100):
    """Rows of three features, and rows that alone have a feature of their own."""
    data = np.zeros((rows, 3 + count + 1))
    data[:, :3], data[:, -1] = RNG.standard_normal((rows, 3)), RNG.random(rows) < 0.5
    data[:count] = 0.0
    data[np.arange(count), 3 + np.arange(count)] = 10.0
    data[:count, -1] = 1.0
    return data


@pytest.mark.parametrize("kind", [DPSGD, *BY_STEPS])
def test_step_audits_catch_each_bug_and_not_the_sound_one(kind):
    mechanism = kind(steps=60, sample_rate=0.2, learning_rate=0.02)
    assert kind.claim is DPSGD.claim
    audit = dp.StepAudit(sample_rate=0.2, noise_multiplier=1.0, level=0.99, orthogonal=True)
    mechanism.train(
        with_canaries(3), rng=2, watch=lambda step: audit.update(**step.canary([0, 1, 2]))
    )
    assert audit.verdict == ("not violated" if mechanism.sound else "violated")
    if not mechanism.sound:
        assert max(audit.e_values, key=audit.e_values.get) == CAUGHT_BY[mechanism.name]


@pytest.mark.slow
def test_sound_dp_sgd_is_refuted_in_at_most_one_run_of_a_hundred():
    """1,000 runs of 60 steps with three canaries at level .99 (70 s)."""
    data, alarms = with_canaries(3), 0
    for seed, rate in itertools.product(range(500), (0.1, 0.3)):
        audit = dp.StepAudit(sample_rate=rate, noise_multiplier=1.0, level=0.99, orthogonal=True)
        DPSGD(steps=60, sample_rate=rate).train(
            data, rng=seed, watch=lambda step, audit=audit: audit.update(**step.canary([0, 1, 2]))
        )
        alarms += audit.verdict == "violated"
    assert alarms <= 10
