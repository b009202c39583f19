"""audit_one_run: verdicts, errors that name their argument, what is saved and read again."""

import json

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.errors import InvalidInput
from reports.make.one_run import false

pytestmark = pytest.mark.quick

CLAIM = (1.0, 1e-5)


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(1)
    included = rng.random(150) < 0.5
    return included + 0.3 * rng.normal(size=150), included


@pytest.fixture(scope="module")
def violated(run):
    return dp.audit_one_run(*run, claim=CLAIM)


def test_a_run_that_remembers_its_canaries_violates_a_small_claim(violated):
    assert violated.verdict == "violated"
    assert violated.reason.startswith("Claimed ε = 1 at δ = 10⁻⁵. At 95 % confidence at least ")
    assert violated.epsilon_at(1e-5) == violated.headline.certified > 2.0
    assert violated.epsilon_at(0.3) < violated.epsilon_at(1e-5)
    assert violated.gdp_mu > 0.5


def test_a_run_that_remembers_nothing_does_not(run):
    scores = np.random.default_rng(2).normal(size=150)
    result = dp.audit_one_run(scores, run[1], claim=CLAIM)
    assert result.verdict == "not violated"
    assert "Had the scores told every coin" in result.reason


def test_without_a_claim_there_is_a_bound_and_no_verdict(run):
    result = dp.audit_one_run(*run, delta=1e-5)
    assert result.verdict == "inconclusive"
    assert "There is no claim to judge by." in result.reason
    assert result.headline.certified > 2.0


@pytest.mark.parametrize("claim", [dp.Claim.gdp(0.1), dp.Claim.zcdp(0.001)])
def test_claims_that_are_curves_are_refuted(run, claim):
    assert dp.audit_one_run(*run, claim=claim, delta=1e-5).verdict == "violated"


def test_scores_of_steps_that_sample_count_by_their_ranks(run):
    """Four steps, in each of which half of the records take part."""
    rng = np.random.default_rng(3)
    part = run[1] * rng.binomial(4, 0.5, len(run[1]))
    scores = 3.0 * part + rng.normal(0.0, 2.0, len(part))
    asked = {"claim": CLAIM, "canaries": "independent", "family": (0.5, 4)}
    found, again = (dp.audit_one_run(one, run[1], **asked) for one in (scores, np.exp(scores)))
    assert found.verdict == "violated"
    assert found.headline.certified == again.headline.certified


def test_too_few_canaries_are_no_pass():
    result = dp.audit_one_run([1.0, 2.0, 3.0], [False, True, True], claim=(3.0, 0.0))
    assert result.verdict == "inconclusive"
    assert result.reason.endswith("add canaries.")


def test_more_confidence_than_delta_leaves_is_no_pass(run):
    result = dp.audit_one_run(*run, claim=(1.0, 1e-2), level=0.995)
    assert result.verdict == "inconclusive"
    assert "Ask for less confidence" in result.reason


def test_equal_scores_are_no_pass(run):
    result = dp.audit_one_run(np.ones(150), run[1], claim=CLAIM)
    assert result.verdict == "inconclusive"
    assert "All scores are equal" in result.reason


def test_exactly_half_of_the_canaries_is_worth_a_word(run):
    included = np.arange(150) < 75
    assert "Exactly half" in dp.audit_one_run(run[0], included, claim=CLAIM).reason


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [[1.0]]}, "scores must be a 1-D array"),
        ({"scores": [np.nan] * 150}, "not finite"),
        ({"included": [True]}, "included must be 150 booleans"),
        ({"included": np.full(150, 2)}, "numbers beside 0 and 1"),
        ({"included": np.ones(150)}, "inclusion must be the probability"),
        ({"inclusion": 0.0}, "inclusion must be a number in"),
        ({"level": 1.0}, "level must be"),
        ({"delta": 1.0, "claim": None}, "delta must be"),
        ({"delta": 1e-3}, "delta must be left out, or 1e-05"),
        ({"claim": 1.0}, "claim must be"),
        ({"method": "best"}, "method must be one of"),
        ({"method": "likelihood", "claim": dp.Claim.gdp(1.0)}, "method must be 'f-dp'"),
    ],
)
def test_errors_name_the_argument(run, changed, message):
    given = {"scores": run[0], "included": run[1], "claim": CLAIM} | changed
    with pytest.raises(InvalidInput, match=message):
        dp.audit_one_run(given.pop("scores"), given.pop("included"), **given)


def test_a_name_that_is_no_argument_is_refused(run):
    with pytest.raises(TypeError, match="epsilon"):
        dp.audit_one_run(*run, epsilon=1.0)


def test_the_same_scores_give_the_same_result_and_none_of_them_is_kept(run, violated, tmp_path):
    violated.save(tmp_path / "one")
    again = dp.audit_one_run(*run, claim=CLAIM).to_dict()
    text = (tmp_path / "one" / "result.json").read_text()
    assert json.loads(text) == violated.to_dict() == again
    assert f"{run[0][0]:.6f}" not in text
    page = (tmp_path / "one" / "report.html").read_text()
    assert violated.headline.certified_text in page
    assert (tmp_path / "one" / "guesses.png").stat().st_size > 5_000


def test_a_saved_result_is_read_by_its_own_kind(violated, tmp_path):
    folder = violated.save(tmp_path)
    again = dp.OneRunResult.load(folder)
    assert (again.verdict, again.headline) == (violated.verdict, violated.headline)
    assert again.to_dict() == violated.to_dict()
    with pytest.raises(InvalidInput, match=r"OneRunResult\.load"):
        dp.AuditResult.load(folder)


def test_scores_that_are_smaller_where_a_canary_is_in_are_no_pass(run):
    result = dp.audit_one_run(-run[0], run[1], claim=CLAIM)
    assert result.verdict == "inconclusive"
    assert result.reason.endswith("Reverse their sign.")
    assert result.gdp_mu == 0.0


def test_a_large_delta_that_no_scores_refute_is_no_pass():
    """At δ = 0.01 the coins' own spread about the centre hides what scores tell."""
    rng = np.random.default_rng(8)
    included = rng.random(500) < 0.5
    scores = 10.0 * included + rng.normal(size=500)
    result = dp.audit_one_run(scores, included, claim=(1.0, 0.01))
    assert result.verdict == "inconclusive"
    assert "more canaries seldom help" in result.reason


def test_a_claim_that_nothing_breaks_is_refused(run):
    with pytest.raises(InvalidInput, match="did you mean"):
        dp.audit_one_run(*run, claim=(1e-5, 1.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"canaries": "some"}, "canaries must be"),
        ({"canaries": "independent", "inclusion": np.linspace(0.3, 0.7, 40)}, "inclusion must be"),
        ({"family": "laplace", "delta": 1e-5}, "family must be"),
        ({"family": (0.2, 1), "delta": 1e-5}, "family must be 'gaussian' or None"),
        ({"family": "gaussian"}, "delta must be above 0"),
        ({"family": "gaussian", "delta": 1e-5, "claim": dp.Claim.gdp(1.0)}, "family must be None"),
        ({"family": (0.2, 0), "canaries": "independent", "delta": 1e-5}, "steps"),
    ],
)
def test_wrong_assumptions_are_named(options, message):
    coins = np.arange(40) % 2 == 0
    with pytest.raises(dp.InvalidInput, match=message):
        dp.audit_one_run(np.arange(40.0), coins, **options)


# How often more than the true ε or μ is certified of one run, a tenth of the page's runs.

RUNS, MOST = 200, 24


@pytest.mark.slow
@pytest.mark.parametrize("case", false.CASES, ids=lambda case: case.name)
def test_the_true_parameter_is_seldom_refuted(case):
    """About 2 CPU seconds a case."""
    assert binom.sf(MOST, RUNS, 0.05) < 1e-4
    method = "auto" if case.mu is None else "f-dp"
    assert false.refutations(case, 100, method, RUNS) <= MOST
