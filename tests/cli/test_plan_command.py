"""`dpaudit plan`, and that audits keep what it promises."""

import json

import numpy as np
import pytest

from dpaudit import power
from dpaudit.cli import main

pytestmark = pytest.mark.quick


@pytest.mark.slow
def test_the_table_and_the_words(capsys):
    assert main(["plan", "--claim", "1,1e-5"]) == 0
    out = capsys.readouterr().out
    assert "excess   " in out.splitlines()[2]
    assert "least ε at δ = 10⁻⁵" in out
    assert "Can be shown: that a mechanism is NOT (1, 1e-05)-DP" in out
    assert "Cannot be shown: that a mechanism IS (1, 1e-05)-DP." in out
    assert "--excess X" in out


def test_a_table_has_a_line_for_each_excess_and_for_each_number_of_draws(capsys):
    assert main(["plan", "--claim", "0.5,0", "--excess", "0.05", "--samples", "5000"]) == 0
    out = capsys.readouterr().out
    assert len([line for line in out.splitlines() if line.startswith("  ")]) == 4


def test_json_has_every_number(capsys):
    assert (
        main(["plan", "--claim", "1,0.001", "--excess", "0.01", "--excess", "0.1", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert [row["excess"] for row in found["rows"]] == [0.1, 0.01]
    row = found["rows"][1]
    assert row["audit"] == power.draws_to_detect(1.0, 1e-3, 0.01)
    assert row["early"] == power.draws_to_detect(1.0, 1e-3, 0.01, stop="verdict")
    assert row["audit"] < row["test"]
    assert row["delta"] == pytest.approx(0.011)
    p, q = (side[0] for side in power.hardest_sets(1.0, 0.011))
    assert p - np.exp(row["real_epsilon"]) * q == pytest.approx(1e-3, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--claim", "1"], "'1' is not of the form EPS,DELTA"),
        (["--claim", "-1,0.1"], "claim epsilon must be"),
        (["--claim", "1,1"], "claim must be one that a mechanism can break"),
        (["--claim", "1,0.5", "--excess", "0.5"], "excess must be a finite number in (0, 0.5)"),
        (["--claim", "1,0.5", "--samples", "5"], "draws must leave at least 10"),
        ([], "Missing option '--claim'"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message):
    assert main(["plan", *arguments]) == 2
    assert message in capsys.readouterr().err
