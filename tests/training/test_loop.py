"""The hook of a loop of one's own: what it adds and takes away, and which faults it sees."""

import numpy as np
import pytest

import dpaudit as dp

pytestmark = pytest.mark.quick

ROWS, RATE, WEIGHTS = 1_000, 0.1, 60
X = np.random.default_rng(0).standard_normal((ROWS, WEIGHTS)) / 4.0
Y = np.random.default_rng(1).random(ROWS) < 0.5


def clipped(gradients, norm=1.0):
    return gradients / np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True) / norm, 1.0)


def sampled(rng, step):
    return np.flatnonzero(rng.random(ROWS) < RATE)


def shuffled(rng, step):
    return np.random.default_rng(step // 10).permutation(ROWS)[step % 10 :: 10]


def train(
    audit,
    *,
    seed=0,
    steps=60,
    sigma=1.0,
    clip=clipped,
    batch=sampled,
    divide=None,
    gradients=None,
    noise=None,
):
    """Logistic regression by DP-SGD; without audit where that is None. Returns the weights."""
    rng, noises = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    weights = np.zeros(WEIGHTS)
    for step in range(steps):
        rows = batch(rng, step)
        residual = 1.0 / (1.0 + np.exp(-X[rows] @ weights)) - Y[rows]
        each = residual[:, None] * X[rows] * 4.0
        each = each if gradients is None else gradients(each)
        each = each if audit is None else audit.insert(each)
        total = clip(each).sum(axis=0)
        z = noises.standard_normal(WEIGHTS)
        noisy = total + sigma * (z if noise is None else noise(z, step))
        divisor = RATE * ROWS if divide is None else divide(len(rows))
        update = noisy / divisor
        update = update if audit is None else audit.watch(update, total=total)
        weights -= 0.5 * update
    return weights


def hook(seed=0, **options):
    settings = {"sample_rate": RATE, "noise_multiplier": 1.0, "clip": 1.0, "rows": ROWS}
    settings |= {"divisor": RATE * ROWS, **options}
    return dp.training.LoopAudit(rng=seed, **settings)


def test_the_model_is_that_of_training_without_the_audit():
    audit = hook()
    np.testing.assert_allclose(train(audit), train(None), atol=1e-12)
    assert audit.steps_audit.verdict == "not violated"
    assert audit.steps_audit.canaries == 50


FAULTS = {
    "noise a tenth too small": ({"sigma": 0.9}, "noise"),
    "no noise on one weight of six": ({"noise": lambda z, t: z * (np.arange(60) % 6 > 0)}, "noise"),
    "no noise in the last step": ({"noise": lambda z, t: z * (t < 59)}, "noise"),
    "noise used twice": (
        {"noise": lambda z, t: np.random.default_rng(t // 2).standard_normal(WEIGHTS)},
        "fresh noise",
    ),
    "no clipping": ({"clip": lambda gradients: gradients}, "noise privacy"),
    "clipped to thrice the norm": ({"clip": lambda g: clipped(g, 3.0)}, "noise privacy"),
    "the mean is clipped": (
        {"clip": lambda g: len(g) * clipped(g.mean(axis=0, keepdims=True))},
        "noise privacy",
    ),
    "divided by the size of the batch": ({"divide": lambda size: size}, "noise"),
    "shuffled": ({"batch": shuffled}, "sampling"),
    "gradients are means of ten examples": (
        {"gradients": lambda g: g[: len(g) // 10 * 10].reshape(-1, 10, WEIGHTS).mean(axis=1)},
        "sampling",
    ),
    "two batches in one step": (
        {"batch": lambda rng, t: np.concatenate([sampled(rng, t), sampled(rng, t)])},
        "sampling",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_loop_is_seen(name):
    wrong, bettors = FAULTS[name]
    audit = hook()
    train(audit, **wrong)
    assert audit.steps_audit.verdict == "violated"
    values = audit.steps_audit.e_values
    assert max(values, key=values.get) in bettors


@pytest.mark.parametrize(
    "clip",
    [
        lambda g: np.clip(g, -1.0, 1.0),
        lambda g: np.concatenate([clipped(g[:, :30]), clipped(g[:, 30:])], axis=1),
    ],
    ids=["each weight", "each half"],
)
def test_clipping_of_parts_is_not_seen_and_the_documentation_says_so(clip):
    audit = hook()
    train(audit, clip=clip)
    assert audit.steps_audit.verdict == "not violated"
    assert "of each weight or of each tensor by itself" in dp.training.TrainingAudit.__doc__


def test_sound_runs_are_seldom_refuted():
    """100 short runs at level .9, of which at most 10 are expected: 21 has probability .001."""
    refuted, certified = 0, 0
    for seed in range(100):
        audit = hook(seed, level=0.9, canaries=10)
        train(audit, seed=seed, steps=12)
        refuted += audit.steps_audit.verdict == "violated"
        certified += audit.steps_audit._mu.bound(0.1) > 1.0
    assert refuted <= 20
    assert certified <= 20


@pytest.mark.slow
def test_a_result_is_one_like_others(tmp_path):
    audit = hook()
    train(audit, steps=100)
    result = audit.result()
    assert result.verdict == "not violated"
    assert 0.0 < result.epsilon_at(1e-5) <= result.headline.claimed
    result.save(tmp_path)
    assert {"result.json", "report.html"} <= {path.name for path in tmp_path.iterdir()}
    assert dp.testing.assert_private_training(audit, (8.0, 1e-5)).verdict == "not violated"
    with pytest.raises(dp.testing.PrivacyFailure, match="VIOLATED"):
        dp.testing.assert_private_training(audit, (1.0, 1e-5))


def test_a_privacy_test_fails_where_nothing_could_be_seen():
    audit = hook(canaries=1)
    train(audit, steps=1)
    with pytest.raises(dp.testing.PrivacyFailure, match="INCONCLUSIVE"):
        dp.testing.assert_private_training(audit)


def test_a_privacy_test_says_what_it_takes():
    audit = hook()
    train(audit, steps=5)
    with pytest.raises(dp.InvalidInput, match="pass the audit itself, and not its result"):
        dp.testing.assert_private_training(audit.result())
    with pytest.raises(dp.InvalidInput, match=r"claim must be an \(ε, δ\) claim with"):
        dp.testing.assert_private_training(audit, (8.0, 0.0))


@pytest.mark.slow
def test_full_batches_have_coins_for_canaries_alone():
    everyone = {"batch": lambda rng, step: np.arange(ROWS), "steps": 20}
    audit = hook(sample_rate=1.0)
    train(audit, **everyone)
    result = audit.result()
    assert result.verdict == "not violated"
    claimed = dp.Claim.gdp(20**0.5).epsilon_at(1e-5)
    assert result.headline.claimed == pytest.approx(claimed, rel=1e-3)
    assert 0.8 * claimed < result.epsilon_at(1e-5) < claimed
    audit = hook(sample_rate=1.0)
    train(audit, sigma=0.8, **everyone)
    assert audit.steps_audit.verdict == "violated"
    assert "q = 1, clipping" in audit.result().reason


def test_without_the_number_of_rows_sizes_are_not_tested():
    audit = hook(rows=None)
    train(audit, batch=shuffled)
    assert audit.steps_audit.verdict == "not violated"


def test_a_wrong_call_is_named():
    audit = hook()
    with pytest.raises(dp.InvalidInput, match="call insert"):
        audit.result()
    with pytest.raises(dp.InvalidInput, match="gradients must be a row for each example"):
        audit.insert(np.zeros(5))
    each = audit.insert(np.zeros((4, 7)))
    assert each.shape[1] == 7
    with pytest.raises(dp.InvalidInput, match="noisy must be of shape"):
        audit.watch(np.zeros(6))
    with pytest.raises(dp.InvalidInput, match="7 weights, as before"):
        audit.insert(np.zeros((4, 8)))
    audit.watch(np.zeros(7))
    with pytest.raises(dp.InvalidInput, match="told the gradients of its batch first"):
        audit.watch(np.zeros(7))


def test_a_mean_in_place_of_the_sum_is_refused_and_not_taken_for_missing_noise():
    with pytest.raises(dp.InvalidInput, match="pass as divisor= the fixed number"):
        train(hook(divisor=1.0))


def test_a_loop_that_drops_the_canaries_is_told_so():
    audit = hook(canaries=20, sample_rate=0.5)
    audit.insert(X[:5])
    total = clipped(X[:5]).sum(axis=0)
    with pytest.raises(dp.InvalidInput, match="with the canaries' gradients in it"):
        audit.watch(total / 100.0, total=total)


def test_a_loop_that_drops_the_canaries_is_told_so_by_noisy_sums_too():
    audit, rng = hook(), np.random.default_rng(4)

    def dropping(steps):
        for _ in range(steps):
            batch = X[sampled(rng, 0)]
            audit.insert(batch)
            audit.watch((clipped(batch).sum(axis=0) + rng.standard_normal(WEIGHTS)) / 100.0)

    with pytest.raises(dp.InvalidInput, match="with the canaries' gradients in it"):
        dropping(200)
    for seed in range(5):
        audit, rng = hook(seed), np.random.default_rng(seed)
        for _ in range(60):
            total = clipped(audit.insert(X[sampled(rng, 0)])).sum(axis=0)
            audit.watch((total + rng.standard_normal(WEIGHTS)) / 100.0)
        assert audit._arrived


def test_a_step_that_overflowed_leaves_nothing_behind():
    """The next step has coins of its own, and nothing is taken out that was not put in."""
    audit = hook(canaries=20, sample_rate=0.5)
    audit.insert(X[:5])
    with pytest.raises(dp.InvalidInput, match="not finite"):
        audit.watch(np.full(WEIGHTS, np.nan))
    each = audit.insert(X[:5])
    assert len(each) > 5
    total = clipped(each).sum(axis=0)
    after = audit.watch(total / 100.0, total=total)
    np.testing.assert_allclose(after, clipped(X[:5]).sum(axis=0) / 100.0, atol=1e-12)
    assert audit.steps_audit.steps == 1


def test_the_shift_is_not_overstated_where_the_rest_of_the_batch_is_not_as_it_should_be():
    """The loop clips to a tenth, and halves the sum in steps that the audit cannot foresee."""
    audit, rng = hook(canaries=20), np.random.default_rng(5)
    for _ in range(80):
        each = audit.insert(-0.3 + 0.01 * rng.standard_normal((100, WEIGHTS)))
        total = clipped(each, 0.1).sum(axis=0) * rng.choice([0.2, 1.0])
        noisy = total + 0.1 * rng.standard_normal(WEIGHTS)
        audit.watch(noisy / 100.0, total=total)
    assert audit.steps_audit.mu <= 1.0


@pytest.mark.slow
def test_numbers_of_sixteen_bits_refute_no_sound_run():
    """Beside a sum of 8 they are multiples of 1/128, so noise is often 0 or what it was before."""
    refuted = 0
    for seed in range(10):
        audit, rng = hook(seed, rows=None, canaries=1, divisor=1.0), np.random.default_rng(seed)
        for _ in range(300):
            total = clipped(audit.insert(np.ones((8, 1)))).sum(axis=0).astype(np.float16)
            audit.watch(total + rng.standard_normal(1).astype(np.float16), total=total)
        refuted += audit.steps_audit.verdict == "violated"
    assert refuted <= 3


@pytest.mark.parametrize(
    "wrong", [{"clip": 0.0}, {"canaries": 0}, {"rows": 0}, {"sample_rate": 1.5}, {"level": 2.0}]
)
def test_a_wrong_parameter_is_named(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        hook(**wrong)
