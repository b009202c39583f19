"""`dpaudit audit` without a relation: a claim is accused only where it fails under both."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpaudit.cli import main
from dpaudit.cli.readings import judged
from dpaudit.errors import MechanismError
from dpaudit.run.suite.suite import ScenarioOutcome

pytestmark = pytest.mark.quick
FIXED = """
import numpy as np

def fixed(data):
    if len(data) != 5:
        raise ValueError("five rows")
    return data[:, -1].sum() + np.random.laplace(scale=0.2)
"""


def outcome(kind, low=0.0):
    """Of a claim (1, 0); low : of δ at ε = 2."""
    record = {
        "headline": {"claimed": 1.0, "delta": 0.0},
        "epsilon": [0.0, 1.0, 2.0],
        "empirical": {"low": [1.0, 1.0, low]},
    }
    error = MechanismError("n is fixed") if kind == "error" else None
    return ScenarioOutcome("x", Path(), Path(), kind, "n is fixed", 0.0, record, error)


@pytest.mark.parametrize(
    ("added", "replaced", "low", "status", "said"),
    [
        ("violated", "violated", 0.0, 1, "whichever neighbours"),
        ("not violated", "violated", 0.0, 3, "--neighbours replace, if"),
        ("violated", "not violated", 0.0, 3, "--neighbours remove,add, if"),
        ("not violated", "violated", 0.01, 1, "δ(2) would be at most 0 for rows replaced"),
        ("not violated", "not violated", 0.0, 0, "No violation was seen"),
        ("inconclusive", "not violated", 0.0, 3, "cannot decide for one row added or removed"),
        ("error", "violated", 0.0, 1, "Left out: one row added or removed. "),
        ("error", "not violated", 0.0, 0, "The verdict is that of the other relation"),
    ],
)
def test_the_status_is_fair_to_either_claim(added, replaced, low, status, said):
    found = judged([outcome(added), outcome(replaced, low)])
    assert found.status == status
    assert said in found.text


def test_two_failures_are_one_error():
    with pytest.raises(MechanismError, match="n is fixed"):
        judged([outcome("error"), outcome("error")])


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_a_mechanism_of_a_fixed_number_of_rows_is_audited_on_replaced_ones(tmp_path, capsys):
    rows = np.linspace(3.125, 3.75, 5)[:, None]
    np.savetxt(tmp_path / "rows.csv", rows, header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED)
    given = ["--data", "rows.csv", "--claim", "0.1,0", "--draws", "300", "--out", "out"]
    assert main(["audit", "audited_fixed:fixed", *given]) == 1
    said = capsys.readouterr().out
    assert (
        "VIOLATED: No relation was named: this is for one row replaced, which the claim may" in said
    )
    assert "Left out: one row added or removed. There the mechanism cannot be audited: " in said
    text = (tmp_path / "out" / "audited_fixed.fixed-replace" / "result.json").read_text("utf-8")
    record = json.loads(text)
    assert "were taken from the data: they are not public" in record["reason"]
    # by its signature
    assert record["mechanism"]["parameters"] == {"batched": False, "seeds": "global"}
    assert record["neighbour"]["row_put_in"]["from"] == "data_bounds"
    assert "3.125" not in text  # the least value, which came in
    assert "3.75" not in text
