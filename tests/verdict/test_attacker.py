"""An attacker's rates: true positives, advantage and accuracy, with their certified limits."""

import numpy as np
import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.errors import InvalidInput
from dpaudit.report import render_html
from dpaudit.verdict import percent
from dpaudit.verdict.attacker import FPR, Rate, of_curve, of_guesses

PAIR = dp.NeighbourPair([[0.0], [0.0]], [[0.0], [2.0]])
TRUTH = norm.cdf(norm.ppf(FPR) + 2.0)  # of a shift by 2 standard deviations
ADVANTAGE = 2.0 * norm.cdf(1.0) - 1.0


def noisy_sum(data, size, *, rng):
    return data.sum() + rng.normal(size=(size, 1))


def score(rows):
    return -rows[:, 0]


@pytest.fixture(scope="module")
def result():
    return dp.audit(noisy_sum, PAIR, draws=40_000, claim=dp.Claim.advantage(0.5), rng=1)


@pytest.fixture(scope="module")
def one_run():
    rng = np.random.default_rng(1)
    included = rng.random(2_000) < 0.5
    return dp.audit_one_run(rng.normal(size=2_000) + 2.0 * included, included, claim=(1.0, 1e-5))


def test_limits_are_below_the_truth_and_estimates_near_it(result):
    roc = result.roc()
    np.testing.assert_array_equal(roc.fpr, FPR)
    assert np.all(roc.low <= TRUTH)
    assert np.all(roc.low >= FPR)
    np.testing.assert_allclose(roc.low, 1.0 - result.certified.tradeoff(FPR))
    np.testing.assert_allclose(roc.estimate[2:], TRUTH[2:], atol=0.02)
    assert result.tpr_at(0.01).low > 0.3
    assert 0.65 < result.advantage.low <= ADVANTAGE
    assert result.advantage.estimate == pytest.approx(ADVANTAGE, abs=0.01)
    assert result.accuracy.low == pytest.approx(0.5 * (1.0 + result.advantage.low))
    assert result.advantage.low == pytest.approx(np.max(roc.low - roc.fpr), abs=0.02)


def test_between_the_points_the_limit_holds(result):
    for fpr in (0.0005, 0.003, 0.07, 0.97):
        low = result.tpr_at(fpr).low
        assert low <= 1.0 - float(result.certified.tradeoff(fpr)) + 1e-12
        assert low <= norm.cdf(norm.ppf(fpr) + 2.0)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", ["result", "one_run"])
def test_a_loaded_result_has_the_same_rates(kind, tmp_path, request):
    made = request.getfixturevalue(kind)
    again = type(made).load(made.save(tmp_path))
    assert again.tpr_at(0.003) == made.tpr_at(0.003)
    assert (again.advantage, again.accuracy) == (made.advantage, made.accuracy)
    frame = again.roc().to_frame()
    assert list(frame) == ["fpr", "estimate", "low"]
    assert len(frame) == len(FPR)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"TPR at FPR {percent(0.001)}" in page
    assert ("at least, if the mechanism is Gaussian DP" in page) == (kind == "one_run")


def test_one_run_has_estimates_alone(one_run):
    often = FPR >= 0.01  # of fewer false positives there are hardly any
    np.testing.assert_allclose(one_run.roc().estimate[often], TRUTH[often], atol=0.09)
    assert one_run.advantage.estimate == pytest.approx(ADVANTAGE, abs=0.05)
    assert one_run.advantage.low is one_run.accuracy.low is one_run.tpr_at(0.01).low is None
    assert one_run.roc().to_frame()["low"].isna().all()


def test_rates_of_one_run_are_those_of_its_thresholds():
    """Three canaries in, with scores 4, 3, 1, and two out, with 3 (a tie) and 0."""
    scores, included = np.array([4.0, 3.0, 1.0, 3.0, 0.0]), np.array([1, 1, 1, 0, 0]) == 1
    rates = of_guesses(dp.audit_one_run(scores, included).guesses)
    at = dict(zip(rates["fpr"], rates["tpr"]["estimate"], strict=True))
    assert (at[0.0], at[0.4], at[0.5], at[1.0]) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
        pytest.approx(1.0),
        pytest.approx(1.0),
    )
    assert rates["advantage"] == {"estimate": pytest.approx(0.5), "low": None}
    equal = dp.audit_one_run(np.ones(5), included)
    assert equal.advantage == Rate(None, None)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("points", [40, 4000])
def test_rates_of_a_curve_are_below_those_of_its_laws(mu, points):
    """N(0, 1) against N(μ, 1), whose rates are known, from δ(ε) on a coarse and a fine grid."""
    grid = np.linspace(0.0, 30.0, points)
    rates = of_curve(grid, dp.exact.gaussian_shift(mu, grid))
    low, truth = rates["tpr"]["low"], norm.cdf(norm.ppf(FPR) + mu)
    assert np.all(low <= truth + 1e-12)
    assert rates["advantage"]["low"] == pytest.approx(2.0 * norm.cdf(mu / 2.0) - 1.0)
    if points == 4000:
        np.testing.assert_allclose(low, truth, rtol=0.02, atol=0.002)


def test_without_epsilon_zero_there_is_no_estimate_but_a_limit():
    result = dp.audit(noisy_sum, PAIR, draws=5_000, epsilon=[1.0, 2.0], claim=(5.0, 0.1), rng=1)
    assert result.advantage.estimate is result.tpr_at(0.1).estimate is None
    assert 0.0 < result.advantage.low <= ADVANTAGE


def test_an_advantage_is_a_claim(result, tmp_path):
    assert result.verdict == "violated"
    assert result.headline.text.startswith("Claimed advantage = 0.5. At 95 % confidence at least 0")
    assert result.headline.certified == result.advantage.low
    again = dp.AuditResult.load(result.save(tmp_path))
    assert (again.claim, again.headline) == (result.claim, result.headline)
    kept = dp.audit(noisy_sum, PAIR, draws=5_000, claim=dp.Claim.advantage(0.8), rng=1)
    assert kept.verdict == "not violated"
    assert "Ruled out at 95 % confidence: every advantage below 0.6" in kept.headline.text
    with pytest.raises(dp.testing.PrivacyFailure, match=r"dpaudit\.Claim\.advantage\(0\.3\)"):
        dp.testing.assert_private(noisy_sum, PAIR, dp.Claim.advantage(0.3), draws=5_000)


@pytest.mark.quick
def test_a_claimed_advantage_is_a_total_variation():
    claim = dp.Claim.advantage(0.1)
    np.testing.assert_array_equal(claim.delta_at([0.0, 1.0]), [0.1, 0.1])
    assert (claim.text, claim.epsilon) == ("advantage ≤ 0.1", 0.0)
    assert claim.group(3).delta == pytest.approx(0.3)
    for wrong in (1.0, -0.1, "a"):
        with pytest.raises(InvalidInput, match="limit"):
            dp.Claim.advantage(wrong)


def test_a_result_of_an_earlier_version_says_so_and_has_a_report(result):
    record = result.to_dict()
    del record["attacker"]
    with pytest.raises(InvalidInput, match="earlier version"):
        _ = dp.AuditResult.of(record).advantage
    assert "TPR at FPR" not in render_html(record)


@pytest.mark.slow
def test_limits_fail_in_at_most_a_tenth_of_audits_at_level_90():
    """100 audits of 400 draws a side: any limit above the truth, all rates together (50 s)."""
    wrong, rng = 0, np.random.default_rng(7)
    for seed in range(100):
        P, Q = rng.normal(size=(400, 1)), rng.normal(2.0, size=(400, 1))
        result = dp.audit_samples(P, Q, claim=(9.0, 0.1), level=0.9, classifier=score, rng=seed)
        wrong += bool(np.any(result.roc().low > TRUTH) or result.advantage.low > ADVANTAGE)
    assert wrong <= 19  # 10 expected at most; more with probability 0.002
