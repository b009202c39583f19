"""`dpaudit audit` without a relation: a claim is accused only where it fails under both."""

import json

import numpy as np
import pytest

from dpaudit._core import check
from dpaudit.auditing.clock import TIME
from dpaudit.cli import main
from dpaudit.run import run

pytestmark = pytest.mark.quick
FIXED = """
import numpy as np

def fixed(data):
    if len(data) != 5:
        raise ValueError("five rows")
    return data[:, -1].sum() + np.random.laplace(scale=0.2)
"""


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_a_mechanism_of_a_fixed_number_of_rows_is_audited_on_replaced_ones(tmp_path, capsys):
    rows = np.linspace(3.12589, 3.75713, 5)[:, None]
    np.savetxt(tmp_path / "rows.csv", rows, header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED)
    given = ["--data", "rows.csv", "--claim", "0.1,0", "--draws", "300", "--out", "out"]
    assert main(["audit", "audited_fixed:fixed", *given]) == 1
    output = capsys.readouterr().out
    left_out = "Left out: one row added or removed. There the mechanism cannot be audited: "
    assert output.startswith(f"VIOLATED: {left_out}")
    assert (
        "No neighbours were named (--neighbours): this audit is about one row replaced." in output
    )
    text = (tmp_path / "out" / "audited_fixed.fixed-replace" / "result.json").read_text("utf-8")
    record = json.loads(text)
    assert "were taken from the data, which is not public" in record["reason"]
    # by its signature
    assert record["mechanism"]["parameters"] == {"batched": False, "seeds": "global"}
    assert record["neighbour"]["row_put_in"]["from"] == "data_bounds"
    assert "3.12589" not in text  # the least value, which came in
    assert "3.75713" not in text


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_a_time_too_short_for_one_relation_does_not_leave_it_out(tmp_path, monkeypatch, capsys):
    """Once the other relation, for which the time was enough, was "not violated" for both."""

    def timed(scenario, *given, **options):
        if scenario.name.endswith("-add-remove"):
            check.fail(TIME, check.Words("7 s"), "at least 7.2 s")
        return run(scenario, *given, **options | {"seconds": None, "draws": 300})

    monkeypatch.setattr("dpaudit.cli.running.execute", timed)
    np.savetxt(tmp_path / "rows.csv", np.arange(5.0), header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED)
    given = ["--data", "rows.csv", "--claim", "9,0", "--time", "14s", "--junit", "j.xml"]
    assert main(["audit", "audited_fixed:fixed", *given]) == 2
    output = capsys.readouterr()
    assert "note: 2 audits share the time of --time: 7 s for each" in output.err
    assert output.err.splitlines()[-1].endswith("(--time) must be at least 7.2 s, got 7 s")
    assert output.out == ""


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_two_failures_stay_errors(tmp_path, capsys):
    np.savetxt(tmp_path / "rows.csv", np.ones((4, 1)), header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED.replace("!= 5", "> 0"))
    assert main(["audit", "audited_fixed:fixed", "--data", "rows.csv", "--claim", "0.1,0"]) == 2
    output = capsys.readouterr()
    assert output.err.count("five rows") == 1
    assert output.out == ""  # neither a count of scenarios nor an index


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_a_misspelt_function_is_one_message(tmp_path, capsys):
    np.savetxt(tmp_path / "rows.csv", np.ones((4, 1)), header="score", comments="")
    (tmp_path / "audited_fixed.py").write_text(FIXED)
    assert main(["audit", "audited_fixed:fixd", "--data", "rows.csv", "--claim", "0.1,0"]) == 2
    output = capsys.readouterr()
    errors = [line for line in output.err.splitlines() if line.startswith("dpaudit")]
    assert [line.rpartition("; ")[2] for line in errors] == ["did you mean 'fixed'?"]
    assert output.out == ""


LEAKY = """
def leaky(data, size, *, rng):
    spread = data[:, 0].max()
    return data[:, 0].sum() + rng.laplace(scale=spread, size=(size, 1))
"""


@pytest.mark.usefixtures("in_tmp_path")
def test_the_line_that_a_hint_names_is_in_sarif_junit_and_report(tmp_path):
    np.savetxt(tmp_path / "rows.csv", [[0.1], [0.2], [1.0]], header="score", comments="")
    (tmp_path / "audited_leaky.py").write_text(LEAKY)
    given = ["--data", "rows.csv", "--claim", "0.1,0", "--draws", "1000", "--out", "out"]
    files = ["--neighbours", "zero-out", "--sarif", "found.sarif", "--junit", "found.xml"]
    assert main(["audit", "audited_leaky:leaky", *given, *files]) == 1
    (result,) = json.loads((tmp_path / "found.sarif").read_text("utf-8"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "audited_leaky.py"
    assert place["region"]["startLine"] == 4
    hint = "Hint: The scale of noise call 1, laplace at audited_leaky.py:4, depends on the data."
    assert hint in result["message"]["text"]
    assert hint in (tmp_path / "found.xml").read_text("utf-8")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    top = page[: page.index("<main>")]
    assert "noise call 1, laplace at audited_leaky.py:4," in top[top.index("What now?") :]


@pytest.mark.usefixtures("in_tmp_path", "no_figures")
def test_the_line_that_failed_is_in_sarif_and_the_last_on_the_terminal(tmp_path, capsys):
    np.savetxt(tmp_path / "rows.csv", np.ones((4, 1)), header="score", comments="")
    code = "import numpy as np\ndef f(data, *, rng):\n    return np.linalg.inv(np.zeros((2, 2)))\n"
    (tmp_path / "audited_inverse.py").write_text(code)
    given = ["--data", "rows.csv", "--claim", "0.1,0", "--neighbours", "zero-out"]
    assert main(["audit", "audited_inverse:f", *given, "--sarif", "found.sarif"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("audited_inverse.py, line 3)")
    (result,) = json.loads((tmp_path / "found.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
