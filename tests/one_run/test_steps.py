"""DP-SGD watched from inside: fair bets, and what each bettor sees."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.special import ndtr

import dpaudit as dp
from dpaudit.certify.one_run.steps import (
    CoinBets,
    DividedBets,
    NoiseBets,
    SamplingBets,
    SizeBets,
)

pytestmark = pytest.mark.quick

Z = np.linspace(-9.0, 9.0, 3601)
WEIGHT = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()


def mean(log_payoff):
    """Means (k,) of payoffs (k, nodes) over standard normal noise."""
    return np.exp(log_payoff) @ WEIGHT


def coin_means(bets, rate, law, score):
    """Exact mean payoffs, (k,), of bets on a coin.

    law : (shift, sd) of the projection; score : slope and centre of a score that is linear in it.
    """
    slope, centre = score
    epsilon, payoff = bets.epsilon[:, 0], 0.0
    for coin, chance in ((0.0, 1.0 - rate), (1.0, rate)):
        mean, sd = slope * (law[0] * coin - centre), abs(slope) * law[1]
        above, below = ndtr((mean - epsilon) / sd), ndtr((-mean - epsilon) / sd)
        logs = bets.payoff(np.array([np.inf, -np.inf, 0.0]), np.full(3, coin))
        odds = chance * np.stack([above, below, 1.0 - above - below], axis=1)
        payoff = payoff + (odds * np.exp(logs)).sum(axis=1)
    return payoff


@pytest.mark.parametrize("rate", [0.01, 0.5, 0.9])
def test_a_bet_on_the_coin_is_fair_for_every_share_and_score(rate):
    """Whether the score is right, too sure, or the wrong way round."""
    for sigma, slope, centre in itertools.product((0.4, 1, 5), (0.5, 1, 3, -1), (0.0, 0.5, 2.0)):
        bets = CoinBets(rate, sigma, True)
        for shift in (1.0, 0.3, -1.0):
            found = coin_means(bets, rate, (shift, sigma), (slope / sigma**2, centre))
            assert np.all(found <= 1.0 + 1e-12)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
def test_a_bet_on_the_noise_is_fair_wherever_the_rest_of_the_batch_lies(sigma):
    """The widest bets by quadrature; the narrower ones have their whole mean between nodes."""
    for centre in (0.0, 0.3, 1.0, 5.0):
        means = mean(NoiseBets(sigma, True).payoff(sigma * (Z - centre)))[:7]
        assert np.all(means <= 1.0 + 1e-9)
        if centre == 0.0:
            np.testing.assert_allclose(means, 1.0, atol=1e-9)


@pytest.mark.parametrize("rate", [0.3, 0.5])
@pytest.mark.parametrize("canaries", [1, 2])
def test_forecasts_of_coins_are_fair(rate, canaries):
    """The mean wealth over all sequences of six coins is 1."""
    total = 0.0
    for coins in itertools.product((0.0, 1.0), repeat=6):
        bets = SamplingBets(rate)
        for step in np.reshape(coins, (-1, canaries)):
            bets.bet(step)
        total += np.exp(bets.log_wealth) * rate ** sum(coins) * (1.0 - rate) ** (6 - sum(coins))
    assert total == pytest.approx(1.0, abs=1e-12)


def test_forecasts_of_sizes_are_fair():
    """The mean wealth over all sequences of six batches of three rows is 1."""
    rate = 0.3
    total, chance = 0.0, [math.comb(3, b) * rate**b * (1.0 - rate) ** (3 - b) for b in range(4)]
    for sizes in itertools.product(range(4), repeat=6):
        bets = SizeBets(rate, 3)
        for size in sizes:
            bets.bet(size)
        total += np.exp(bets.log_wealth) * math.prod(chance[size] for size in sizes)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_a_bet_on_division_by_the_batch_size_is_fair_whatever_the_rest_is():
    for size, known, centre in itertools.product((80, 110, 150), (0.0, -40.0), (0.0, 0.3, 4.0)):
        wealth = []
        for z in Z[::30]:
            bets = DividedBets(100.0, 0.7, True)
            bets.bet(0.7 * (np.array([z]) - centre), known, np.array([1.0]), size)
            wealth.append(np.exp(bets.log_wealth))
        assert np.dot(wealth, WEIGHT[::30]) / WEIGHT[::30].sum() <= 1.0 + 1e-6


SIZES = {
    "shuffled": lambda t, rng: 100 if t % 11 < 10 else 37,
    "balls in bins": lambda t, rng: BINS[t // 10 % 20][t % 10],
    "two batches as one": lambda t, rng: rng.binomial(1000, 0.1, size=2).sum(),
    "more than there are rows": lambda t, rng: 1001,
}
BINS = np.random.default_rng(5).multinomial(1000, [0.1] * 10, size=20)


@pytest.mark.parametrize("name", [*SIZES, "sampled"])
def test_sizes_of_batches_show_how_they_were_sampled(name):
    size = SIZES.get(name, lambda t, rng: rng.binomial(1000, 0.1))
    rng = np.random.default_rng(2)
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, rows=1000)
    for t in range(60):
        audit.update(rng.standard_normal(), False, batch_size=int(size(t, rng)))
    assert (audit.verdict == "violated") == (name != "sampled")
    if name != "sampled":
        assert best(audit) == "sampling"


def test_a_sum_that_is_divided_by_the_size_of_its_batch_is_seen():
    rng, verdicts = np.random.default_rng(3), []
    for divided in (False, True):
        audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, orthogonal=True, rows=1000)
        for _ in range(100):
            size, known = rng.binomial(1000, 0.1), 5.0 * rng.standard_normal(50)
            included = rng.random(50) < 0.1
            noisy = known + included + rng.standard_normal(50)
            noisy *= 100.0 / size if divided else 1.0
            audit.update(noisy, included, known=known, batch_size=size)
        verdicts.append((audit.verdict, best(audit)))
    assert verdicts[0][0] == "not violated"
    assert verdicts[1] == ("violated", "noise")


@pytest.mark.parametrize(("rows", "size"), [(None, 3), (100, None), (100, -1), (100, 2.5)])
def test_the_size_of_a_batch_is_asked_for_where_it_is_used(rows, size):
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, rows=rows)
    with pytest.raises(dp.InvalidInput, match="batch_size"):
        audit.update(0.1, True, batch_size=size)
    assert audit.steps == 0


def watched(
    steps=150, *, rate=0.1, sigma=1.0, seed=1, shift=1.0, noise=None, coins=None, **options
):
    """An audit of a run whose steps are honest but for what is given."""
    rng = np.random.default_rng(seed)
    audit = dp.StepAudit(sample_rate=rate, noise_multiplier=sigma, **options)
    for t in range(steps):
        included = rng.random() < rate if coins is None else coins(t, rng)
        z = sigma * rng.standard_normal()
        audit.update(shift * included + (z if noise is None else noise(t, z)), included)
    return audit


def best(audit):
    return max(audit.e_values, key=audit.e_values.get)


BUGS = {
    "noise too small": ({"noise": lambda t, z: 0.3 * z}, "noise"),
    "no noise in the last step": ({"noise": lambda t, z: z * (t < 149)}, "noise"),
    "not clipped": ({"shift": 6.0, "rate": 0.2}, "privacy"),
    "the canary comes by turns": ({"coins": lambda t, rng: t % 10 == 3}, "sampling"),
    "the canary comes too often": ({"coins": lambda t, rng: rng.random() < 0.4}, "sampling"),
}


@pytest.mark.parametrize("name", BUGS)
def test_each_bug_is_seen_by_its_bettor(name):
    changed, bettor = BUGS[name]
    audit = watched(**changed)
    assert audit.verdict == "violated"
    assert best(audit) == bettor


def test_noise_that_is_used_twice_is_seen():
    kept = []

    def noise(t, z):
        kept.append(z if t % 4 == 0 else kept[-1])
        return kept[-1]

    audit = watched(12, noise=noise)
    assert audit.verdict == "violated"
    assert best(audit) == "fresh noise"
    assert "repeats" in audit.reason


def test_a_violation_stays_one_and_says_at_which_step():
    audit = watched(200, noise=lambda t, z: 0.2 * z if t < 20 else 3.0 * z)
    assert audit.verdict == "violated"
    assert 0 < audit.violated_at <= 20
    assert audit.e_value < 20.0
    assert f"step {audit.violated_at}" in audit.reason


def test_steps_that_could_show_nothing_are_inconclusive():
    assert dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0).verdict == "inconclusive"
    never = watched(40, rate=0.001)
    assert never.verdict == "inconclusive"
    assert "more steps" in never.reason
    assert watched(150, sigma=0.05).verdict == "inconclusive"  # 20-GDP promises next to nothing


def test_what_is_known_of_the_rest_of_the_batch_is_taken_off():
    rng = np.random.default_rng(3)
    one, other = (dp.StepAudit(sample_rate=0.5, noise_multiplier=1.0) for _ in range(2))
    for _ in range(20):
        included, y, rest = rng.random() < 0.5, rng.standard_normal(), 50.0 * rng.standard_normal()
        one.update(y, included)
        other.update(y + rest, included, known=rest)
    assert one.e_value == pytest.approx(other.e_value, rel=1e-9)


def test_a_record_has_json_types_and_a_repr_no_projection():
    audit = watched(30, noise=lambda t, z: 0.0)
    record = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert record["verdict"] == "violated"
    assert record["steps"] == 30
    assert record["canaries"] == 1
    assert record["e_values"].keys() == audit.e_values.keys()
    shown = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    shown.update(123.456, True)
    assert "123" not in repr(shown) + str(shown.to_dict()) + str(vars(shown))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, True), "projection must be a finite number"),
        (([[0.1], [0.2, 0.3]], [True, False]), "projection must be .* got a list of 2"),
        ((0.1, 2), "included must be True or False"),
        (([0.1, 0.2], True), "projection must be .* got shape"),
        (([], []), "included must be"),
    ],
)
def test_a_wrong_step_is_named_and_changes_nothing(arguments, message):
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    with pytest.raises(dp.InvalidInput, match=message):
        audit.update(*arguments)
    assert audit.steps == 0


def test_the_number_of_canaries_stays():
    audit = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    audit.update([0.1, 0.2], [True, False])
    with pytest.raises(dp.InvalidInput, match="2 canaries as before"):
        audit.update(0.1, True)


@pytest.mark.parametrize(
    "wrong",
    [{"sample_rate": 1.0}, {"noise_multiplier": 0.0}, {"level": 1.0}, {"orthogonal": "yes"}],
)
def test_a_wrong_parameter_is_named(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        dp.StepAudit(**{"sample_rate": 0.1, "noise_multiplier": 1.0, **wrong})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "sigma", "canaries"), [(0.5, 0.7, 1), (0.1, 1.0, 5), (0.02, 2.0, 3)]
)
def test_false_alarms_are_rare_whatever_the_history(rate, sigma, canaries):
    """500 runs of 60 honest steps at level .95 (50 s each); at most 5 % is proved.

    The rest of the batch repeats the last projections, so that they depend on all earlier noise and
    coins; shares of the canaries change from step to step.
    """
    alarms = 0
    for seed in range(500):
        rng = np.random.default_rng([7, seed])
        audit = dp.StepAudit(sample_rate=rate, noise_multiplier=sigma, orthogonal=True)
        before = np.zeros(canaries)
        for _ in range(60):
            included = rng.random(canaries) < rate
            share = np.tanh(before)
            before = before * (rng.random() < 0.5) + share * included
            before = before + sigma * rng.standard_normal(canaries)
            audit.update(before, included)
        alarms += audit.verdict == "violated"
    assert alarms <= 0.05 * 500
