"""Plausible mistakes that made a gate green for a leak, or red for none."""

import json
import warnings

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.one_run.table import STRANGE, SWAPPED

DATA = np.array([[0.1], [0.4], [0.5], [0.9], [1.0]])
PAIR = dp.neighbours.zero_row(DATA, 4)
SETTINGS = {"claim": (1.0, 0.0), "draws": 2000, "rng": 1}


def noisy_mean(data, size, *, rng):
    return data.mean() + rng.laplace(scale=0.2, size=size)


# --- what was not audited, or another claim than meant -----------------------------------------


def fails_without_the_largest(data, size, *, rng):
    if data.max() < 1.0:
        raise ValueError("no such row")
    return noisy_mean(data, size, rng=rng)


def test_an_error_on_one_neighbour_is_no_pass():
    found = dp.search_neighbours(fails_without_the_largest, DATA, relations="remove", **SETTINGS)
    assert found.audit.verdict == "inconclusive"
    assert found.audit.reason.startswith("Not audited: the mechanism failed on 1 of 5 neighbours")
    assert "row 4 removed" in found.audit.reason


def test_a_claim_about_a_group_is_not_silently_that_of_one_row():
    found = dp.audit(noisy_mean, PAIR, **{**SETTINGS, "claim": dp.Claim(1.0).group(3)})
    assert found.reason.startswith("The databases differ in one row, and the claim that was judged")
    assert "is about 3 rows: the stronger claim about one row was not. Claimed" in found.reason


def test_a_level_that_is_meant_as_an_error_is_said_first():
    found = dp.audit(noisy_mean, PAIR, level=0.05, **SETTINGS)
    assert found.reason.startswith("level = 0.05 is the confidence, not the probability of an er")


# --- outputs -----------------------------------------------------------------------------------


def keys_in_turn(data, size, *, rng):
    keys = ("a", "b") if data.sum() > 2.5 else ("b", "a")
    return [{key: float(rng.normal()) for key in keys} for _ in range(size)]


def inner_keys_in_turn(data, size, *, rng):
    keys = "dbca" if data.sum() > 2.5 else "dcba"
    return [{key: float(rng.normal()) for key in keys} for _ in range(size)]


def seeded_by_one_of_few(data, rng):
    return data.mean() + np.random.default_rng(rng.integers(10_000)).laplace(scale=0.2)


def rounded(data, size, *, rng):
    return np.round(noisy_mean(data, size, rng=rng), 3)


def test_a_seed_of_few_values_is_no_pass():
    """Each side has 10,000 outputs, and none of the other's: few draws do not certify it."""
    found = dp.audit(seeded_by_one_of_few, PAIR, **{**SETTINGS, "draws": 6000})
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("Not random: many outputs come again, and none on both sides")
    assert dp.audit(rounded, PAIR, **{**SETTINGS, "draws": 6000}).verdict == "not violated"


def test_a_large_privacy_loss_that_the_claim_allows_is_no_doubt():
    """Randomised response at ε = 6 beside one of 3,000 numbers: hardly a value is on both sides."""

    def response(data, size, *, rng):
        answer = (data.sum() > 2.5) ^ (rng.random(size) < 1.0 / (1.0 + np.exp(6.0)))
        return np.column_stack([answer, rng.integers(3000, size=size)])

    def verdict(claim):
        return dp.audit(response, PAIR, draws=4000, claim=claim, rng=1).verdict

    assert verdict((6.0, 0.0)) != "inconclusive"
    assert verdict((3.0, 0.0)) != "not violated"


@pytest.mark.parametrize("columns", [10, 100])
def test_wide_outputs_of_few_seeds_are_seen(columns):
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(2, 9000, columns))[:, rng.integers(9000, size=4000)]
    (note,) = dp.sampling.degenerate.notes(P, Q)
    assert note.text.startswith("Not random: many outputs come again")
    assert not dp.sampling.degenerate.notes(P, np.vstack([Q[:3999], P[:1]]))


@pytest.mark.parametrize("stop", [None, "verdict"])
@pytest.mark.parametrize("release", [keys_in_turn, inner_keys_in_turn])
def test_the_order_of_keys_leaks(release, stop):
    assert dp.audit(release, PAIR, stop=stop, **SETTINGS).verdict == "violated"


def test_one_order_of_keys_is_no_column():
    outputs = [[{"b": float(k), "a": 1.0} for k in range(start, start + 50)] for start in (0, 7)]
    P, Q = (dp.outcomes.rows(side) for side in outputs)
    assert dp.outcomes.described(P, Q).left.shape == (50, 1)


def test_files_with_columns_in_another_order_are_refused(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("a,b", "b,a"):
        rows = rng.normal(size=(100, 2)) + (3.0 if name == "a,b" else -3.0) * np.array([-1, 1])
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header=name, comments="")
    with pytest.raises(dp.InvalidInput, match="Q must be the columns of P in their order"):
        dp.audit_samples(tmp_path / "a,b.csv", tmp_path / "b,a.csv", claim=(1.0, 0.0))


def test_files_without_names_have_no_order(tmp_path):
    bits = np.random.default_rng(1).integers(0, 2, (200, 2))
    bits[[0, 100]] = [0, 1], [1, 0]
    for name, rows in (("P", bits[:100]), ("Q", bits[100:])):
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", fmt="%d")
    found = dp.audit_samples(tmp_path / "P.csv", tmp_path / "Q.csv", claim=(1.0, 0.0))
    assert found.verdict != "violated"


# --- files of an earlier run ---------------------------------------------------------------------

MODULE = """
def release(data, size, *, rng):
    return data.mean() + rng.laplace(scale=1.0 / len(data), size=size)
"""
SCENARIO = """\ufeff[data]
path = "rows.csv"
[mechanism]
call = "gated:release"
[neighbour]
rule = "row"
index = 0
[claim]
epsilon = 1.0
[audit]
draws = 1000
"""


@pytest.mark.parametrize("change", [("return", "raise ValueError #"), ("release", "renamed")])
def test_a_run_that_fails_leaves_no_report_of_an_earlier_one(tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("v\n1.0\n0.5\n0.25\n")
    (tmp_path / "gated.py").write_text(MODULE)
    scenario, junit = tmp_path / "gate.toml", tmp_path / "junit.xml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    run = ["run", str(scenario), "--out", "out", "--junit", str(junit)]
    assert main(run) == 0
    assert (tmp_path / "out/result.json").exists()
    (tmp_path / "gated.py").write_text(MODULE.replace(*change))
    assert main(run) == 2
    assert not (tmp_path / "out/result.json").exists()
    assert not (tmp_path / "out/report.html").exists()
    assert 'errors="1"' in junit.read_text(encoding="utf-8")
    (tmp_path / "gated.py").write_text(MODULE)
    assert main(run) == 0
    scenario.write_text(SCENARIO.replace("draws", "drwas"), encoding="utf-8")
    assert main([*run[:4], "--check"]) == 2
    assert (tmp_path / "out/result.json").exists()
    assert main(run) == 2
    assert not junit.exists()
    assert not (tmp_path / "out/result.json").exists()
    assert not (tmp_path / "out/report.html").exists()
    assert main(["run", "--junit", str(scenario)]) == 2  # the name of FILE is forgotten
    assert scenario.exists()


@pytest.mark.parametrize("edit", [("exceeded", False), ("certified", 3.0)])
def test_a_verdict_that_was_edited_is_refused(tmp_path, edit):
    dp.audit(keys_in_turn, PAIR, **SETTINGS).save(tmp_path)
    file = tmp_path / "result.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    record["verdict"] = "not violated"
    record["headline"][edit[0]] = edit[1]
    file.write_text(json.dumps(record), encoding="utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
    with pytest.raises(dp.InvalidInput, match="the verdict that its headline shows"):
        dp.AuditResult.load(tmp_path)


# --- one run, steps, tables ----------------------------------------------------------------------


def test_canaries_that_are_listed_twice_are_refused():
    rng = np.random.default_rng(0)
    scores, coins = rng.normal(size=200), rng.random(200) < 0.5
    with pytest.raises(dp.InvalidInput, match="list each canary once"):
        dp.audit_one_run(np.tile(scores, 2), np.tile(coins, 2), claim=(1.0, 0.0))
    told = dp.audit_one_run(np.tile(coins + 0.0, 2), np.tile(coins, 2), claim=(1.0, 0.0))
    assert told.verdict == "violated"


def test_a_mechanism_that_ignores_its_canaries_is_no_pass():
    people = np.random.default_rng(0).normal(size=(50, 4))
    canaries = dp.canaries(people, 100, label=False, row_bound=1.0, rng=1)
    score = dp.one_run.SumAlignment(lambda rows: rows, people)
    settings = {"claim": (1.0, 1e-5), "rng": 1}

    def private(data, *, rng):
        return data.sum(axis=0) + 20.0 * rng.normal(size=4)

    for ignores in (lambda data, *, rng: rng.normal(size=4), lambda data, *, rng: np.ones(4)):
        result = dp.audit_canaries(ignores, people, canaries, score, **settings)
        assert result.verdict == result.to_dict()["verdict"] == "inconclusive"
        assert result.reason.startswith("Under the same random numbers all scores are the same")
    assert dp.audit_canaries(private, people, canaries, score, **settings).verdict != "inconclusive"


def test_steps_without_the_canary_show_nothing():
    rng, audit = np.random.default_rng(0), dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0)
    for _ in range(200):
        audit.update(rng.normal(), False)
    assert audit.verdict == "inconclusive"
    assert audit.reason.startswith("No canary was in the batch of any of 200 steps")


def test_a_hold_out_that_train_holds_is_refused():
    people = np.random.default_rng(0).normal(size=(400, 4))
    train, holdout, fresh = people[:200], people[200:], people + 0.01
    for wrong in (train, train[::-1], np.vstack([train[:80], holdout[:120]])):
        with pytest.raises(dp.InvalidInput, match="holdout must be records that train does not"):
            dp.audit_table(fresh[:200], train, wrong, claim=(1.0, 0.0), rng=0)
    swapped = dp.audit_table(fresh[:200], holdout, train, claim=(1.0, 0.0), rng=0)
    assert swapped.verdict == "inconclusive"
    assert SWAPPED in swapped.reason
    scaled = dp.audit_table(100.0 * fresh[:200], train, holdout, claim=(1.0, 0.0), rng=0)
    assert scaled.reason.startswith(STRANGE.format(columns="0, 1, 2, 3"))


def test_records_that_often_come_again_may_stand_in_both():
    answers = np.random.default_rng(0).integers(0, 3, (400, 3)).astype(float)
    found = dp.audit_table(answers[:100], answers[:200], answers[200:], claim=(1.0, 0.0), rng=0)
    assert found.verdict == "not violated"


def test_a_column_that_is_missing_everywhere_is_no_warning():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))
    table["b"] = np.nan
    parts = table[:100], table[100:200], table[200:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = dp.audit_table(*parts, claim=(1.0, 0.0), rng=0)
    assert not result.reason.startswith("Most synthetic values")
