"""The bound of μ of a step: fair bets, false bounds whatever the history, and what it shows."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import dpaudit as dp
from dpaudit.certify.one_run import step_mu
from dpaudit.curves import SampledGaussian, epsilon_at
from dpaudit.mechanisms import DPSGD
from dpaudit.verdict import percent

pytestmark = pytest.mark.quick
LEVEL, DELTA = 0.95, 1e-5
ENDS = np.concatenate([[-np.inf], step_mu.EDGES, [np.inf]])


def first(mu):
    """The position of the first hypothesis of the grid that is true of a step with `mu`."""
    return int(np.searchsorted(step_mu.MU, mu))


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_a_bet_on_coins_is_fair_for_any_centre_and_scale(rate):
    """The exact mean of each payoff under true hypotheses: a/τ ≤ μ, whatever the forecast was."""
    for mu, centre, scale in itertools.product((0.1, 0.7, 1.0, 3.0), (-2.0, 0, 0.4), (0.3, 1, 2)):
        payoff = np.exp(step_mu._log_payoffs(rate)[first(mu)]).reshape(-1, len(ENDS) - 1, 2)
        for shift in (mu, 0.5 * mu, -mu):
            out = np.diff(ndtr((ENDS - centre) / scale))
            inside = np.diff(ndtr((ENDS - centre - shift * scale) / scale))
            mean = (1.0 - rate) * payoff[..., 0] @ out + rate * payoff[..., 1] @ inside
            assert np.all(mean <= 1.0 + 1e-9)


def test_a_bet_on_noise_is_fair_wherever_the_rest_of_the_batch_lies():
    """One value of noise, by quadrature; equality where the noise is the least that is allowed."""
    z = np.linspace(-9.0, 9.0, 20_001)
    weight = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    for mu, centre, extra in itertools.product((0.5, 1.0, 4.0), (0.0, 0.2, 3.0), (1.0, 1.5)):
        at = first(mu)
        value = (centre + extra * z) / step_mu.MU[at]  # of noise over the shift
        wealth = np.exp(step_mu.noise_wealth(np.ones(len(z)), value**2, step_mu.MU[[at]])[:, 0])
        mean = float(wealth @ weight)
        assert mean <= 1.0 + 1e-9
        if centre == 0.0 and extra == 1.0:
            assert mean == pytest.approx(1.0, abs=1e-6)


HISTORIES = {
    "the same at each step": lambda rng, before: (0.0, 1.0, 1.0),
    "shift and noise follow the last projection": lambda rng, before: (
        0.0,
        1.0 + np.abs(before),
        np.where(before > 0.0, 1.0, 0.3),
    ),
    "the rest of the batch repeats the last projection": lambda rng, before: (
        0.8 * before,
        1.0,
        1.0,
    ),
    "the rest of the batch is unknown": lambda rng, before: (
        2.0 * rng.standard_normal(len(before)),
        1.0,
        1.0,
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize(
    ("rate", "sigma", "steps"), [(0.1, 1.0, 200), (0.5, 0.7, 60), (0.02, 2.0, 300), (0.3, 4.0, 100)]
)
def test_the_true_mu_is_seldom_exceeded_at_any_step(rate, sigma, steps, name):
    """1,000 runs at once, read after every step; at most 5 % is proved, 75 hits have chance 3e-4.

    The bound exceeds the true μ at some step if the first true hypothesis is refuted there.
    """
    runs, mu = 1_000, 1.0 / sigma
    at, rng = first(mu), np.random.default_rng([33, steps])
    payoff = step_mu._log_payoffs(rate)[at]
    coins, noises, squares = np.zeros((runs, len(payoff))), 0.0, np.zeros(runs)
    before, hit, share = np.zeros(runs), np.zeros(runs, bool), np.log(2.0)
    for _ in range(steps):
        centre, scale, part = HISTORIES[name](rng, before)
        shift = part * scale * mu
        included = (rng.random(runs) < rate).astype(float)
        noise = scale * rng.standard_normal(runs)
        before = centre + shift * included + noise
        coins += payoff[:, step_mu.cells(before, included)].T
        noises, squares = noises + 1.0, squares + ((before - shift * included) / shift) ** 2
        seen = step_mu.noise_wealth(np.full(runs, noises), squares, step_mu.MU[[at]])[:, 0]
        wealth = np.logaddexp(step_mu.log_mean(coins), seen) - share
        hit |= wealth >= -np.log(1.0 - LEVEL)
    assert binom.sf(74, runs, 0.05) < 1e-3
    assert hit.sum() < 75


def steps_of(table, canaries, seed, **options):
    """A step audit of a sound run of DP-SGD. canaries : the rows that are watched."""
    mechanism = DPSGD(steps=200, sample_rate=0.1, noise_multiplier=1.0)
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, orthogonal=True)

    def watch(step):
        seen = step.canary(canaries)
        audit.update(**{key: seen[key] for key in seen if key not in options.get("without", ())})

    mechanism.train(table, rng=seed, watch=watch)
    return audit


def table_with(canaries, features=20):
    """Random rows, of which the first are canaries, each with a feature of its own."""
    rng = np.random.default_rng(5)
    data = np.zeros((1_000, features + canaries + 1))
    data[:, :features] = rng.standard_normal((1_000, features))
    data[:, -1] = rng.random(1_000) < 0.5
    own = np.arange(canaries)
    data[own, :features], data[own, features + own], data[own, -1] = 0.0, 10.0, 1.0
    return data


@pytest.mark.slow
def test_steps_of_dp_sgd_certify_nine_tenths_of_the_accountants_epsilon():
    curve = SampledGaussian(0.1, 1.0, 200)
    claimed = float(epsilon_at(lambda epsilon: np.maximum(*curve.delta(epsilon)), DELTA))
    table = table_with(1)
    mu = np.median([steps_of(table, (0,), seed).mu for seed in range(5)])
    assert 0.9 * claimed <= float(epsilon_at(SampledGaussian(0.1, 1.0 / mu, 200).low, DELTA))


def test_without_the_shift_many_canaries_are_needed():
    one, many = (
        steps_of(table_with(m), range(m), 1, without=("shift", "noise")).mu for m in (1, 60)
    )
    assert one < 0.7
    assert 0.8 < many <= 1.0


def test_the_bound_can_be_read_at_any_step_and_stays_below_the_claim_that_is_not_refuted():
    rng = np.random.default_rng(2)
    audit = dp.StepAudit(sample_rate=0.5, noise_multiplier=1.0)
    assert audit.mu == 0.0
    for _ in range(60):  # noise a little too small, which the verdict does not see yet
        noise = 0.8 * rng.standard_normal(40)
        included = rng.random() < 0.5
        audit.update(included + noise[0], included, shift=1.0, noise=noise)
    assert audit.verdict == "not violated"
    assert audit.mu == 1.0


def refuted():
    """An audit of steps whose noise is half of the claimed one."""
    rng = np.random.default_rng(3)
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    for _ in range(60):
        included, noise = rng.random() < 0.1, 0.5 * rng.standard_normal(20)
        audit.update(included + noise[0], included, shift=1.0, noise=noise)
    return audit


def test_a_result_is_saved_and_loaded_with_its_epsilon(tmp_path):
    result = refuted().result(steps=40)
    assert result.verdict == "violated"
    assert "does not stand" in result.reason
    assert "Gaussian" in result.reason
    claimed, certified = result.headline.claimed, result.headline.certified
    assert certified > claimed
    again = dp.StepResult.load(result.save(tmp_path / "steps"))
    assert again.to_dict() == result.to_dict()
    assert again.epsilon_at(DELTA) == result.epsilon_at(DELTA) == certified
    assert again.headline.text == result.headline.text
    assert 0.0 < again.advantage.low == float(result.certified.low(np.zeros(1))[0])
    assert again.advantage.low <= again.tpr_at(0.3).low <= 1.0
    page = (tmp_path / "steps" / "report.html").read_text()
    assert page.count("<img ") == 2
    assert "ROC curves" in page
    assert page.count("data:image/svg+xml") == 2
    earlier = {name: value for name, value in result.to_dict().items() if name != "attacker"}
    dp.StepResult.of(earlier).save(tmp_path / "earlier")
    assert (tmp_path / "earlier" / "report.html").read_text().count("<img ") == 1
    assert 'src="data:image/svg' in again._repr_html_()  # as a notebook shows it
    assert f"TPR at FPR {percent(0.01)}" in page
    assert "clipping) is refuted at step" in page
    assert (tmp_path / "steps" / "steps.png").stat().st_size > 5_000
    with pytest.raises(dp.InvalidInput, match=r"StepResult\.load"):
        dp.OneRunResult.load(tmp_path / "steps")


@pytest.mark.slow
def test_epsilon_counts_the_steps_and_the_rate_that_are_named():
    audit = refuted()
    less, more = audit.epsilon_at(DELTA, steps=20), audit.epsilon_at(DELTA, steps=90)
    assert 0.0 < less < audit.epsilon_at(DELTA) < more
    full = audit.epsilon_at(DELTA, steps=1, sample_rate=1.0)
    assert full == pytest.approx(float(dp.Claim.gdp(audit.mu).epsilon_at(DELTA)), rel=1e-3)
    assert full <= float(dp.Claim.gdp(audit.mu).epsilon_at(DELTA))


def test_no_epsilon_stands_on_a_sampling_rate_that_coins_refute():
    rng = np.random.default_rng(6)
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    for step in range(150):
        audit.update(rng.standard_normal() + (step % 10 == 3), step % 10 == 3, shift=1.0)
    assert audit.verdict == "violated"
    assert audit.epsilon_at(DELTA) == 0.0
    result = audit.result()
    assert result.headline.certified == 0.0
    assert "its premise is refuted" in result.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda audit: audit.update(0.1, True, noise=[0.1]), "noise must be given with shift"),
        (lambda audit: audit.update(0.1, True, shift=[1.0, 2.0]), "shift must be a finite number"),
        (lambda audit: audit.update(0.1, True, shift=1, noise=[[0.1]]), "noise must be a 1-D"),
        (lambda audit: audit.epsilon_at(1.0), "delta must be"),
        (lambda audit: audit.epsilon_at(DELTA, steps=0), "steps must be"),
        (lambda audit: audit.epsilon_at(DELTA, sample_rate=0.0), "sample_rate must be"),
        (lambda audit: audit.result(), "steps must be at least one step"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(dp.InvalidInput, match=message):
        call(dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0))
