"""Audits end to end on few draws: verdict, band, record, and one seed gives one result."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import scoring
from tests.cases import database, shifted
from tests.sparse import one_in

DATA = database()
# takes the first entry from 1 to 0, so shifted(μ) is a Gaussian shift by μ
PAIR = dp.neighbours.zero_row(DATA, 0)
GRID = [0.0, 0.5, 1.0, 2.0]
LEVEL = 0.999


def audit(mechanism, pair=PAIR, **changes):
    settings = {"epsilon": GRID, "draws": 10_000, "classifier": "qda", "rng": 5, "level": LEVEL}
    return dp.audit(mechanism, pair, **(settings | changes))


def without_clock(result):
    record = result.to_dict()
    assert set(record.pop("timings")) == {"started", "sample_s", "fit_s", "certify_s", "total_s"}
    assert record.pop("peak_memory_mb") > 0
    return record


# --- one seed, one result -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism", [dp.mechanisms.ALS(12), shifted(1.0)], ids=["law", "function"]
)
@pytest.mark.parametrize("classifier", one_in(2, ["qda", "auto"]))
def test_workers_change_nothing(mechanism, classifier):
    alone, two = (
        without_clock(audit(mechanism, draws=3000, classifier=classifier, n_jobs=n_jobs))
        for n_jobs in (1, 2)
    )
    assert alone == two


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_false_claim_is_violated():
    """A shift by 1 has δ(0.5) = 0.238, more than the claim allows. Its certified low is 0.198 ±
    0.0115: below 0.1 with probability under 1e-15.
    """
    result = audit(shifted(1.0), claim=dp.Claim(0.5, 0.1))
    assert result.verdict == "violated"
    assert result.reason.startswith("Claimed ε = 0.5 at δ = 0.1. At 99.9 % confidence")
    assert result.spectrum.low[1] > 0.1


@pytest.mark.quick
@pytest.mark.parametrize(
    "claim",
    [
        dp.Claim.gdp(1.0),
        dp.Claim(1.0, 0.127),
        dp.Claim.from_function(lambda e: dp.exact.gaussian_shift(1.0, e)),
    ],
)
def test_a_true_claim_is_not(claim):
    """Fails with probability at most 0.001, the level's complement."""
    result = audit(shifted(1.0), claim=claim)
    assert result.verdict == "not violated"
    assert "Ruled out" in result.headline.text
    assert "would have been shown with probability 0.8" in result.reason
    assert result.claim is claim


@pytest.mark.parametrize(
    "mechanism",
    [dp.mechanisms.ALS(12), dp.mechanisms.GaussianLS(0.1), dp.mechanisms.RandomProjection(2)],
)
def test_a_mechanism_keeps_its_own_exact_spectrum(mechanism):
    """Fails with probability at most 0.001 each."""
    result = audit(mechanism)
    assert result.verdict == "not violated"
    assert np.all(result.spectrum.low <= result.exact.delta)
    np.testing.assert_array_equal(
        result.exact.delta, dp.exact.spectrum(mechanism, PAIR, GRID).delta
    )


class HalfTheNoise(dp.mechanisms.GaussianLS):
    """A broken mechanism: its draws have half of the noise of its law."""

    def prepare(self, data):
        return dp.mechanisms.GaussianLS(sigma=0.5 * self.noise).prepare(data)


def test_a_sampler_that_breaks_its_law_is_violated_against_the_exact_spectrum():
    """The certified low of δ(0) is 0.941 ± 0.005 against the exact 0.683. Missed with probability
    below 1e-15.
    """
    row = int(np.argmax(dp.neighbours.row_statistics(DATA).displacement))
    pair = dp.neighbours.zero_row(DATA, row)
    result = audit(
        HalfTheNoise(sigma=0.5 * dp.neighbours.row_statistics(DATA).displacement[row]), pair
    )
    assert result.verdict == "violated"
    assert "The exact spectrum has" in result.reason


def test_without_claim_and_exact_spectrum_nothing_is_judged():
    result = audit(shifted(1.0))
    assert result.verdict == "inconclusive"
    assert "There is no claim to judge by, and no exact spectrum is known" in result.reason
    assert result.exact is result.claim is result.detectable is None


# --- what could have been detected ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("detect", "verdict"), [(1e-6, "inconclusive"), (0.5, "not violated"), (None, "not violated")]
)
def test_an_audit_that_could_not_have_shown_the_excess_is_inconclusive(detect, verdict):
    result = audit(shifted(0.05), claim=dp.Claim(1.0, 0.1), detect=detect)
    assert result.verdict == verdict
    if verdict == "inconclusive":
        assert "Take 3×10¹³ draws a side" in result.reason
        assert "10⁻⁶" in result.reason


# --- the band and the grid ------------------------------------------------------------------------


def test_the_claims_own_epsilon_joins_the_grid():
    result = audit(shifted(1.0), claim=dp.Claim(0.7, 0.3), epsilon=[2.0, 0.0, 2.0])
    np.testing.assert_array_equal(result.spectrum.epsilon, [0.0, 0.7, 2.0])


def test_the_default_grid_runs_from_0_to_4():
    spectrum = audit(shifted(1.0), epsilon=None).spectrum
    np.testing.assert_allclose(spectrum.epsilon, np.linspace(0.0, 4.0, 41))
    assert np.all(np.diff(spectrum.low) <= 0)
    assert np.all(
        (spectrum.low >= 0) & (spectrum.low <= 1) & (spectrum.delta >= 0) & (spectrum.delta <= 1)
    )
    assert spectrum.level == LEVEL


# --- draws made elsewhere -------------------------------------------------------------------------


def samples(size=6000, shift=1.0, columns=2, seed=3):
    rng = np.random.default_rng(seed)
    P, Q = rng.standard_normal((2, size, columns))
    Q[:, 0] += shift
    return P, Q


def audit_samples(P, Q, **changes):
    return dp.audit_samples(
        P, Q, **({"epsilon": GRID, "classifier": "qda", "rng": 5, "level": LEVEL} | changes)
    )


@pytest.mark.quick
def test_plain_arrays_are_audited():
    """Plain arrays pass a true claim and violate a false one.

    The true claim fails with probability at most 0.001; the false one passes with less than 1e-15:
    0.189 ± 0.013.
    """
    P, Q = samples()
    assert audit_samples(P, Q, claim=dp.Claim.gdp(1.0)).verdict == "not violated"
    broken = audit_samples(P, Q, claim=(0.5, 0.05))
    assert broken.verdict == "violated"
    assert "scores of one run are not independent: dpaudit.audit_one_run" in broken.reason
    assert audit_samples(P, Q).verdict == "inconclusive"


def test_flat_draws_are_one_column():
    P, Q = samples(columns=1)
    assert without_clock(audit_samples(P[:, 0], Q[:, 0])) == without_clock(
        audit_samples(P.tolist(), Q)
    )


def test_draws_made_elsewhere_equal_those_made_here():
    result = audit(shifted(1.0), draws=2000)
    from tests.drawing import draw

    P, Q = (
        draw(shifted(1.0), side, 2000, np.random.SeedSequence(5), i)
        for i, side in enumerate((PAIR.left, PAIR.right))
    )
    elsewhere = audit_samples(P, Q)
    np.testing.assert_array_equal(elsewhere.spectrum.delta, result.spectrum.delta)
    np.testing.assert_array_equal(elsewhere.spectrum.low, result.spectrum.low)


# --- refused --------------------------------------------------------------------------------------

REFUSED = {
    "epsilon negative": ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
    "level 95": ({"level": 95}, r"level must be a finite number in \(0, 1\), got 95"),
    "claim a number": ({"claim": 1.0}, r"claim must be a dpaudit\.Claim"),
    "claim a wrong curve": (
        {"claim": dp.Claim.from_function(lambda epsilon: 2.0)},
        r"claim must be a curve with values in \[0, 1\]",
    ),
    "stop": ({"stop": "early"}, "stop must be 'verdict', got 'early'"),
    "claim out of range": ({"claim": (1.0, 2.0)}, "claim delta must be a finite number"),
    "classifier unknown": (
        {"classifier": "svm"},
        "classifier must be one of auto, qda, .*, got 'svm'",
    ),
    "classifier none": ({"classifier": None}, "classifier must be an alias, an estimator"),
    "detect negative": ({"detect": -0.1}, "detect must be a finite number"),
    "train share": ({"train_share": 1.5}, "train share must be a finite number"),
    "choose share": ({"choose_share": "a"}, "choose share must be a finite number"),
    "shares too large": ({"train_share": 0.5, "choose_share": 0.5}, "draws must leave at least"),
    "rng": ({"rng": "today"}, "rng must be None, a non-negative integer"),
}


def never(data, size, *, rng):
    pytest.fail("drawn before the arguments were checked")


@pytest.mark.quick
@pytest.mark.parametrize("case", REFUSED)
def test_arguments_are_checked_before_anything_is_drawn(case):
    changes, message = REFUSED[case]
    with pytest.raises(dp.InvalidInput, match=message):
        audit(never, **changes)
    with pytest.raises(dp.InvalidInput, match=message):
        audit_samples(*samples(200), **changes)


@pytest.mark.parametrize(("focus", "choose"), [("spectrum", 100), ("pure", 200)])
def test_a_known_score_spends_no_draws_on_training(focus, choose):
    asked = []

    def score(x):
        asked.append(len(x))
        return x[:, 0]

    result = audit_samples(*samples(1000), classifier=score, focus=focus)
    assert (result.sizes.train, result.sizes.choose, result.sizes.certify) == (
        0,
        choose,
        1000 - choose,
    )
    assert min(asked) > 0  # never of no draws
    shared = audit_samples(*samples(1000), classifier=score, focus=focus, train_share=0.4)
    assert shared.sizes.train == 400


@pytest.mark.parametrize(
    ("size", "classifier", "message"),
    [(19, "auto", "at least 20 a side"), (99, "qda", "leave at least 10 a side")],
)
def test_too_few_samples_are_refused(size, classifier, message):
    with pytest.raises(dp.InvalidInput, match=f"draws must .*{message}.* got {size}"):
        audit(never, draws=size, classifier=classifier)
    with pytest.raises(dp.InvalidInput, match=f"draws must .*{message}.* got {size}"):
        audit_samples(*samples(size), classifier=classifier)


NO_DRAWS = {
    "empty": [],
    "a number": 1.0,
    "objects": [object()] * 200,
    "lists of objects": [[object()], [1.0]] * 100,
}


@pytest.mark.parametrize("case", NO_DRAWS)
def test_what_are_no_draws_is_named(case):
    good = np.zeros(200)
    with pytest.raises(dp.InvalidInput, match=r"^P must be"):
        audit_samples(NO_DRAWS[case], good)
    with pytest.raises(dp.InvalidInput, match=r"^Q must be"):
        audit_samples(good, NO_DRAWS[case])


# --- the record -----------------------------------------------------------------------------------

KEYS = (
    "schema_version scenario mechanism dataset neighbour level verdict reason epsilon empirical "
    "exact claim samples classifier seed versions timings peak_memory_mb headline detectable "
    "attacker certified sequential evidence ledger trial source search replay scenario_text"
)
PARTS = {
    "neighbour": "relation index leverage residual_share",
    "empirical": "delta low",
    "exact": "delta law",
    "samples": "train test",
    "timings": "sample_s fit_s certify_s total_s",
}
RUNS = {  # whether the record has an exact spectrum, and a claim
    "law": (lambda: audit(dp.mechanisms.ALS(12), draws=1000), True, False),
    "claim": (
        lambda: audit(
            dp.mechanisms.GaussianLS(epsilon=1.0, delta=1e-3, sensitivity=1.0), claim=(1.0, 1e-3)
        ),
        *(True, True),
    ),
    "function": (
        lambda: audit(shifted(1.0), draws=1000, claim=dp.Claim.gdp(1.0)),
        *(False, True),
    ),
    "samples": (lambda: audit_samples(*samples(1000)), False, False),
}


def test_the_page_on_reports_says_what_each_key_is():
    page = Path(dp.__file__).parents[1].joinpath("docs", "reports.md").read_text(encoding="utf-8")
    table = page.partition("## result.json")[2].partition("\n## ")[0]
    assert set(KEYS.split()) - {"schema_version"} <= set(re.findall(r"`(\w+)`", table))


@pytest.mark.parametrize(("run", "exact", "claim"), RUNS.values(), ids=RUNS)
def test_the_record_has_the_keys_of_the_contract_and_is_json_without_nan(run, exact, claim):
    record = run().to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert set(record) == set(KEYS.split())
    assert record["schema_version"] == 1
    for part, keys in PARTS.items():
        assert record[part] is None or set(keys.split()) <= set(record[part])
    for part, there in (("empirical", True), ("exact", exact), ("claim", claim)):
        assert (record[part] is not None) == there
        assert not there or len(record[part]["delta"]) == len(record["epsilon"])


@pytest.mark.quick
def test_the_record_says_what_was_audited():
    record = audit(dp.mechanisms.ALS(12), draws=1000).to_dict()
    rows = dp.neighbours.row_statistics(DATA)
    assert record["mechanism"]["name"] == "ALS"
    assert record["mechanism"]["parameters"] == {"rows": 12, "sampler": "student"}
    assert (
        record["neighbour"].items()
        >= {
            "relation": "zero-out",
            "index": 0,
            "leverage": rows.leverage[0],
            "residual_share": rows.residual_share[0],
        }.items()
    )
    assert record["samples"] == {"train": 400, "choose": 100, "test": 500}
    assert (record["level"], record["seed"], record["classifier"]["chosen"]) == (LEVEL, 5, "qda")
    assert {"python", "dpaudit", "numpy", "scipy"} <= set(record["versions"])


def test_a_row_without_statistics_leaves_them_out():
    data = np.column_stack([np.ones(30), np.ones(30), np.arange(30.0)])
    record = audit(shifted(1.0), dp.neighbours.zero_row(data, 0), draws=1000).to_dict()
    assert record["neighbour"]["leverage"] is record["neighbour"]["residual_share"] is None


def test_a_row_of_leverage_one_is_recorded():
    data = database()
    data[:, 2] = 0.0
    data[7, 2] = 1.0
    record = audit(shifted(1.0), dp.neighbours.zero_row(data, 7), draws=1000).to_dict()
    assert record["neighbour"]["leverage"] == 1.0
    json.dumps(record, allow_nan=False)


def test_values_of_the_row_are_saved_only_if_asked_for(tmp_path, no_figures):
    result = audit(shifted(1.0), dp.neighbours.zero_row(DATA, 7), draws=1000)
    taken_out = []
    for show_data in (False, True, False):
        result.save(tmp_path, show_data=show_data)
        saved = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
        taken_out.append(saved["neighbour"]["row_taken_out"])
    assert taken_out == [None, DATA[7].tolist(), None]


@pytest.mark.usefixtures("undrawn")
def test_saving_writes_the_three_files(tmp_path):
    result = audit(dp.mechanisms.ALS(12), draws=1000)
    folder = result.save(tmp_path / "new" / "run")
    assert {path.name for path in folder.iterdir()} == {
        "result.json",
        "report.html",
        "spectrum.png",
    }
    assert dp.AuditResult.load(folder).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"schema_version": 99}', '{"verdict": "violated"}', "\xff"]
)
def test_what_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "result.json").write_text(text, encoding="latin-1")
    with pytest.raises(dp.InvalidInput, match=r"result\.json must"):
        dp.AuditResult.load(tmp_path)


def test_a_result_of_dpaudit_0_1_is_refused_by_name(tmp_path):
    pair = dp.neighbours.zero_row([[0.0], [1.0]], 1)
    record = dp.audit(lambda data, size, *, rng: rng.normal(size=size), pair, draws=60).to_dict()
    del record["headline"]
    (tmp_path / "result.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(dp.InvalidInput, match=r"result\.json has no headline, .* run .* again"):
        dp.AuditResult.load(tmp_path)


def test_a_missing_result_is_named(tmp_path):
    with pytest.raises(
        dp.InvalidInput, match=r"result\.json must be an audit's result, but there is no such file"
    ):
        dp.AuditResult.load(tmp_path / "nowhere")


# --- the estimate ---------------------------------------------------------------------------------


def test_a_score_of_two_normal_laws_is_known_as_one():
    rng = np.random.default_rng(1)
    draws = [scoring.Sides(rng.normal(1.0, 1.0, (200, 2)), rng.normal(0.0, 1.0, (200, 2)))] * 2
    seed = np.random.SeedSequence(0)
    assert scoring.fit("qda", *draws, seed).closed
    assert not scoring.fit("elliptical", *draws, seed).closed


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_n_jobs_is_checked(n_jobs):
    with pytest.raises(dp.InvalidInput, match="n_jobs"):
        audit(shifted(1.0), n_jobs=n_jobs)


def test_nan_in_a_record_is_a_bug(monkeypatch):
    monkeypatch.setattr("dpaudit.auditing.engine.peak_memory_mb", lambda: np.nan)
    with pytest.raises(dp.InvalidInput, match="no NaN"):
        audit_samples(*samples(200)).to_dict()
