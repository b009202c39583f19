"""The hook in runs with Opacus, where it is installed (the extra `opacus`)."""

import numpy as np
import pytest

import dpaudit as dp
from tests.training import runs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
pytest.importorskip("opacus")


@pytest.mark.parametrize("model", ["logistic", "convolutional", "text"])
def test_a_sound_run_trains_the_same_model_and_certifies_most_of_the_accountant_s_epsilon(
    model, tmp_path
):
    audit, weights = runs.opacus(model, epochs=8)
    _, without = runs.opacus(model, epochs=8, audited=False)
    np.testing.assert_allclose(weights, without, atol=1e-5)
    result = audit.result()
    assert result.verdict == "not violated"
    assert 0.85 * result.headline.claimed <= result.epsilon_at(1e-5) <= result.headline.claimed
    result.save(tmp_path)
    assert "Opacus" in repr(audit)


@pytest.mark.parametrize(
    "options",
    [
        {"physical": 40},
        {"clipping": "per_layer", "max_grad_norm": [0.6, 0.8]},
        {"model": "text", "batch": 2, "epochs": 1, "seed": 1},
        {"clipping": "adaptive", "target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2,
         "max_clipbound": 10.0, "min_clipbound": 0.1, "unclipped_num_std": 10.0},
    ],
    ids=["split batches", "clipping by layer", "empty batches", "adaptive"],
)  # fmt: skip
def test_other_ways_to_train_are_watched_too(options):
    audit, weights = runs.opacus(**options)
    _, without = runs.opacus(audited=False, **options)
    assert audit.steps_audit.verdict == "not violated"
    if options.get("clipping") != "adaptive":  # it counts the canaries among the gradients
        np.testing.assert_allclose(weights, without, atol=1e-5)


def halved(optimizer):
    def later(optimizer):
        optimizer.noise_multiplier = 0.5

    return later


def by_the_batch(optimizer):
    scale = optimizer.scale_grad

    def divide():
        optimizer.expected_batch_size = max(len(optimizer.grad_samples[0]), 1)
        scale()

    optimizer.scale_grad = divide


def unclipped(optimizer):
    def total():
        for p in optimizer.params:
            p.summed_grad = p.grad_sample.sum(dim=0)

    optimizer.clip_and_accumulate = total


FAULTS = {
    "half of the noise": ({"fault": halved}, "noise"),
    "division by the size of the batch": ({"fault": by_the_batch, "epochs": 6}, "noise"),
    "no clipping": ({"fault": unclipped}, "noise privacy"),
    "shuffled batches": ({"poisson_sampling": False}, "sampling"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name):
    wrong, bettors = FAULTS[name]
    audit, _ = runs.opacus(**wrong)
    assert audit.steps_audit.verdict == "violated"
    values = audit.steps_audit.e_values
    assert max(values, key=values.get) in bettors


@pytest.mark.parametrize(("stated", "verdict"), [(None, "violated"), (0.8**4, "not violated")])
def test_noise_by_a_schedule_is_not_refuted_where_its_least_multiplier_is_stated(stated, verdict):
    def lowered(optimizer):
        from opacus.schedulers import StepNoise

        schedule, step = StepNoise(optimizer, step_size=10, gamma=0.8), optimizer.step

        def later(optimizer):
            def both(*args):
                step(*args)
                schedule.step()

            optimizer.step = both

        return later

    told = {"noise_multiplier": stated} if stated else {}
    audit, _ = runs.opacus(fault=lowered, told=told)
    assert audit.steps_audit.verdict == verdict


def test_sound_runs_are_seldom_refuted():
    """30 short runs at level .9: at most 3 are expected to be, and 10 with probability .001."""
    level = {"told": {"level": 0.9}}
    audits = [runs.opacus(seed=seed, epochs=1, batch=300, **level)[0] for seed in range(30)]
    assert sum(audit.steps_audit.verdict == "violated" for audit in audits) < 10
    assert sum(audit.steps_audit._mu.bound(0.1) > 1.0 for audit in audits) < 10


def test_an_optimizer_has_one_audit_and_each_step_goes_through_it():
    def twice(optimizer):
        def later(optimizer):
            with pytest.raises(dp.InvalidInput, match="one audit of each optimizer"):
                dp.training.OpacusAudit(optimizer, None)
            optimizer.clip_and_accumulate = type(optimizer).clip_and_accumulate.__get__(optimizer)

        return later

    with pytest.raises(dp.InvalidInput, match="whose gradients the audit saw"):
        runs.opacus(fault=twice)


def test_a_step_that_fails_leaves_nothing_behind():
    def fails_once(optimizer):
        add, calls = optimizer.add_noise, []

        def noise():
            calls.append(1)
            if len(calls) == 1:
                raise RuntimeError("no noise today")
            add()

        optimizer.add_noise = noise
        step = optimizer.step

        def tried():
            try:
                step()
            except RuntimeError:
                assert audits[0]._included is None
                optimizer._is_last_step_skipped = False

        def later(optimizer):
            audits.append(optimizer.pre_step.__self__)

        optimizer.step = tried
        return later

    audits = []
    audit, _ = runs.opacus(fault=fails_once)
    assert audit.steps_audit.verdict == "not violated"
    assert audit.steps_audit.canaries == 50


def test_what_cannot_be_watched_is_refused():
    import torch
    from opacus.optimizers import DPOptimizerFastGradientClipping

    plain = torch.optim.SGD([torch.zeros(3, requires_grad=True)], lr=0.1)
    ghost = DPOptimizerFastGradientClipping(
        plain, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1
    )
    with pytest.raises(dp.InvalidInput, match="grad_sample_mode"):
        dp.training.OpacusAudit(ghost, None)
    with pytest.raises(dp.InvalidInput, match="optimizer must be the one that make_private"):
        dp.training.OpacusAudit(object(), None)
    audit, _ = runs.opacus(epochs=0)
    with pytest.raises(dp.InvalidInput, match="train with the optimizer"):
        audit.result()
