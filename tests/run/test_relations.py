"""`dpaudit audit` without a relation: a claim is accused only where it fails under both."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpaudit.cli import main
from dpaudit.errors import MechanismError
from dpaudit.run.suite.relations import together
from dpaudit.run.suite.suite import ScenarioOutcome

pytestmark = pytest.mark.quick
FIXED = """
import numpy as np

def fixed(data):
    if len(data) != 5:
        raise ValueError("five rows")
    return data[:, -1].sum() + np.random.laplace(scale=0.2)
"""


@pytest.fixture(autouse=True)
def unsaved(request, monkeypatch):
    """Reports are not written again where outcomes are made up."""
    if "in_tmp_path" not in request.fixturenames:
        monkeypatch.setattr("dpaudit.run.suite.relations.save_record", lambda record, folder: None)


def outcome(kind, low=0.0):
    """Of a claim (1, 0), as `alone` leaves it; low : of δ at ε = 2."""
    if kind == "error":
        error = MechanismError("n is fixed")
        return ScenarioOutcome("x", Path(), Path(), kind, "n is fixed", 0.0, None, error)
    exceeded = kind == "violated"
    record = {
        "verdict": "inconclusive" if exceeded else kind,
        "reason": "A reason.",
        "headline": {"claimed": 1.0, "delta": 0.0, "exceeded": exceeded},
        "epsilon": [0.0, 1.0, 2.0],
        "empirical": {"low": [1.0, 1.0, low]},
    }
    return ScenarioOutcome("x", Path(), Path(), record["verdict"], "A reason.", 0.0, record)


@pytest.mark.parametrize(
    ("added", "replaced", "low", "verdict", "said"),
    [
        ("violated", "violated", 0.0, "violated", "whichever neighbours"),
        ("not violated", "violated", 0.0, "inconclusive", "--neighbours replace, if"),
        ("violated", "not violated", 0.0, "inconclusive", "--neighbours remove,add, if"),
        ("not violated", "violated", 0.01, "violated", "δ(2) would be at most 0 for rows replaced"),
        ("not violated", "not violated", 0.0, "not violated", "No violation was seen"),
        ("inconclusive", "not violated", 0.0, "inconclusive", "decide for one row added or"),
        ("error", "violated", 0.0, "violated", "Left out: one row added or removed. "),
        ("error", "not violated", 0.0, "not violated", "The verdict is that of the other relation"),
    ],
)
def test_the_verdict_is_fair_to_either_claim(added, replaced, low, verdict, said):
    found, text = together([outcome(added), outcome(replaced, low)])
    assert said in text
    assert len(found) == 2 - (added == "error")
    for one in found:
        assert (one.kind, one.record["verdict"]) == (verdict, verdict)
        assert one.reason == one.record["reason"] == f"{' '.join(text.split())} A reason."


def test_two_failures_stay_errors():
    failed = [outcome("error"), outcome("error")]
    assert together(failed) == (failed, "")


def test_the_largest_epsilon_has_a_group():
    found = outcome("not violated")
    found.record["headline"]["claimed"] = 1e4
    assert together([found, found])[0][0].kind == "not violated"


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_a_mechanism_of_a_fixed_number_of_rows_is_audited_on_replaced_ones(tmp_path, capsys):
    rows = np.linspace(3.125, 3.75, 5)[:, None]
    np.savetxt(tmp_path / "rows.csv", rows, header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED)
    given = ["--data", "rows.csv", "--claim", "0.1,0", "--draws", "300", "--out", "out"]
    assert main(["audit", "audited_fixed:fixed", *given]) == 1
    said = capsys.readouterr().out
    left_out = "Left out: one row added or removed. There the mechanism cannot be audited: "
    assert said.startswith(f"VIOLATED: {left_out}")
    assert "No relation was named: this is for one row replaced, which the claim may" in said
    text = (tmp_path / "out" / "audited_fixed.fixed-replace" / "result.json").read_text("utf-8")
    record = json.loads(text)
    assert "were taken from the data: they are not public" in record["reason"]
    # by its signature
    assert record["mechanism"]["parameters"] == {"batched": False, "seeds": "global"}
    assert record["neighbour"]["row_put_in"]["from"] == "data_bounds"
    assert "3.125" not in text  # the least value, which came in
    assert "3.75" not in text
