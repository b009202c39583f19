"""The hook in runs with jax-privacy, where it is installed (the extra `jax`)."""

import numpy as np
import pytest

import dpaudit as dp
from tests.training import runs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
pytest.importorskip("jax_privacy")


def test_a_sound_run_trains_the_same_model_and_certifies_most_of_the_accountant_s_epsilon():
    audit, weights = runs.jax_privacy()
    _, without = runs.jax_privacy(audited=False)
    np.testing.assert_allclose(weights, without, atol=1e-5)
    result = audit.result()
    assert result.verdict == "not violated"
    assert 0.85 * result.headline.claimed <= result.epsilon_at(1e-5) <= result.headline.claimed


def test_steps_without_jit_are_the_same():
    compiled, step_by_step = (runs.jax_privacy(steps=2, jit=jit)[0] for jit in (True, False))
    assert compiled.steps_audit.e_value == pytest.approx(step_by_step.steps_audit.e_value, rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "bettors"),
    [
        ({"deviation": 0.8}, "noise"),
        ({"clip": 3.0}, "noise privacy"),
        ({"fixed": True}, "sampling"),
    ],
    ids=["noise too small", "noise for another clip norm", "batches of one size"],
)
def test_a_fault_is_seen(wrong, bettors):
    audit, _ = runs.jax_privacy(**wrong)
    assert audit.steps_audit.verdict == "violated"
    values = audit.steps_audit.e_values
    assert max(values, key=values.get) in bettors


def test_a_privatizer_alone_is_refused():
    from jax_privacy import noise_addition

    audit = dp.training.JaxPrivacyAudit(sample_rate=0.1, noise_multiplier=1.0)
    watched = audit.privatizer(noise_addition.gaussian_privatizer(stddev=1.0, prng_key=0))
    weights = np.zeros(3)
    with pytest.raises(dp.InvalidInput, match=r"used after audit\.clipped_grad"):
        watched.update(weights, watched.init(weights))


def test_a_mean_in_place_of_the_sum_is_refused():
    import jax
    import jax.numpy as jnp
    from jax_privacy import noise_addition

    audit = dp.training.JaxPrivacyAudit(sample_rate=0.5, noise_multiplier=1.0, rng=0)
    clipped_sum = audit.clipped_grad(
        lambda weights, row: row @ weights, l2_clip_norm=1.0, keep_batch_dim=False
    )
    privatizer = noise_addition.gaussian_privatizer(stddev=1 / 40, prng_key=jax.random.key(0))
    watched, weights = audit.privatizer(privatizer), jnp.zeros(64)
    rows = np.random.default_rng(0).standard_normal((40, 64)).astype(np.float32)
    mean = clipped_sum(weights, rows) / 40.0
    with pytest.raises(Exception, match="pass normalize_by= to"):
        jax.block_until_ready(watched.update(mean, watched.init(weights)))
