"""--quiet, --verbose and --json of every command; defaults of a project; completion."""

import json
import os

import click
import numpy as np
import pytest
from click.shell_completion import ShellComplete

from dpaudit.cli import dpaudit, main
from dpaudit.cli.console import error_lines
from dpaudit.errors import InvalidInput, MechanismError, ScenarioError

pytestmark = pytest.mark.usefixtures("no_figures")

SCENARIO = """
name = "{name}"
[data]
path = "rows.csv"
[mechanism]
call = "noisy:total"
[neighbour]
rule = "row"
index = 1
[claim]
epsilon = {epsilon}
[audit]
draws = 600
"""
NOISY = """
def total(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))
"""
AUDIT = "audit noisy:total --data rows.csv --claim 3,0 --neighbours zero-out --draws 1000"
SCORES = "score,included\n" + "3,1\n-3,0\n" * 30


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("x\n0\n1\n0.5\n")
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "steps.csv").write_text("projection,included\n0.3,1\n-1.2,0\n")
    for name, epsilon in (("held", 3.0), ("broken", 0.01)):
        (tmp_path / f"{name}.toml").write_text(SCENARIO.format(name=name, epsilon=epsilon))
    return tmp_path


@pytest.fixture
def done(folder, capsys):
    assert main(["run", "broken.toml", "--ledger", "ledger.txt", "--seed", "0"]) == 1
    capsys.readouterr()
    return folder / "dpaudit-out" / "broken"


COMMANDS = {
    "run": (["run", "broken.toml"], 1),
    "suite": (["run", "broken.toml", "held.toml"], 1),
    "check": (["run", "--check", "held.toml"], 0),
    "audit": (AUDIT.split(), 0),
    "samples": (["samples", "P.npy", "Q.npy", "--classifier", "qda"], 3),
    "canaries": (["canaries", "scores.csv", "--claim", "1,0"], 1),
    "steps": (["steps", "steps.csv", "--sample-rate", "0.5", "--noise-multiplier", "1"], 3),
    "table": (["table", "train.csv", "train.csv", "holdout.csv", "--claim", "1,0"], 1),
    "init": (["init", "new"], 0),
    "list": (["list", "mechanisms"], 0),
    "spectrum": (["spectrum", "flight-als", "--epsilon", "0.1"], 0),
    "calibrate": (["calibrate", "flight-als", "--epsilon", "1", "--delta", "0.01"], 0),
    "plan": (["plan", "--claim", "1,0"], 0),
    "status": (["status", "dpaudit-out"], 0),
    "report": (["report", "dpaudit-out/broken"], 0),
    "compare": (["compare", "dpaudit-out/broken", "dpaudit-out/broken"], 0),
    "suite's report": (["report", "dpaudit-out"], 0),
    "ledger": (["ledger", "ledger.txt"], 1),
    "schema": (["schema"], 0),
}
SLOW = ("spectrum", "calibrate", "suite", "audit", "plan", "samples", "canaries", "steps", "table")
OF_A_RUN = ("status", "report", "suite's report", "compare", "ledger")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in COMMANDS],
)
def test_json_is_one_document_and_nothing_else(name, folder, capsys, request):
    if name in OF_A_RUN:
        request.getfixturevalue("done")
    arguments, status = COMMANDS[name]
    for side in "PQ":
        np.save(f"{side}.npy", np.random.default_rng(ord(side)).normal(size=(200, 1)))
    for seed, table in enumerate(("train", "holdout")):
        people = np.random.default_rng(seed).normal(size=(120, 2))
        np.savetxt(f"{table}.csv", people, delimiter=",", header="a,b", comments="")
    assert main([*arguments, "--json"]) == status
    json.loads(capsys.readouterr().out)


def test_every_command_is_asked_for_json():
    assert {arguments[0] for arguments, _ in COMMANDS.values()} == set(dpaudit.commands)


def test_what_a_mechanism_prints_is_no_part_of_the_document(folder, capfd):
    imports = 'import os\nprint("printed")\nos.write(1, b"by the process")\n'
    (folder / "noisy.py").write_text(imports + NOISY)
    assert main(["run", "broken.toml", "--json"]) == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["status"] == 1
    assert "printed" in err
    assert "by the process" in err
    os.write(1, b"as before")
    assert main(["run", "broken.toml", "--quiet"]) == 1
    out, err = capfd.readouterr()
    assert out.startswith("as before")
    assert "printed" in err


def test_an_error_leaves_no_document(folder, capsys):
    assert main(["run", "missing.toml", "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_the_schema_is_the_same_with_json_and_no_page(capsys):
    assert main(["schema"]) == 0
    plain = capsys.readouterr().out
    assert main(["schema", "--json"]) == 0
    assert capsys.readouterr().out == plain
    assert main(["schema", "--json", "--markdown"]) == 2


def test_every_command_takes_the_three_options():
    for command in dpaudit.commands.values():
        options = {one for option in command.params for one in option.opts}
        assert {"--quiet", "-q", "--verbose", "-v", "--json"} <= options, command.name


def test_the_document_of_a_run_has_its_verdict_and_where_the_rest_is(folder, capsys):
    assert main(["run", "broken.toml", "--json"]) == 1
    (audit,) = json.loads(capsys.readouterr().out)["audits"]
    record = json.loads((folder / audit["result"]).read_text())
    assert (audit["verdict"], audit["headline"]) == ("violated", record["headline"])


def test_quiet_is_a_line_an_audit_without_progress(folder, capsys):
    assert main(["run", "broken.toml", "held.toml", "--quiet"]) == 1
    output = capsys.readouterr()
    broken, held, counts = output.out.splitlines()
    assert broken.startswith("broken: VIOLATED: Claimed ε = 0.01 at δ = 0. At 95 % confidence")
    assert held.startswith("held: NOT VIOLATED: Claimed ε = 3 at δ = 0.")
    assert counts == "2 scenarios: 1 not violated, 1 violated"
    assert output.err == ""


def test_quiet_and_json_say_which_rows_were_not_audited(folder, capsys):
    (folder / "rows.csv").write_text("x\n0\n1\n0.5\nNA\n")
    assert main(["run", "broken.toml", "-q"]) == 1
    output = capsys.readouterr().out
    assert output.startswith("VIOLATED: Not audited: 1 row (missing value). Claimed ε = 0.01")
    assert main(["run", "broken.toml", "--json"]) == 1
    (audit,) = json.loads(capsys.readouterr().out)["audits"]
    assert audit["dataset"]["dropped"] == {"missing value": 1}


def test_quiet_answers_in_a_line_where_nothing_is_audited(done, capsys):
    for asked, message in (
        (["status", "dpaudit-out"], "broken: done: violated\n"),
        (["compare", "dpaudit-out/broken", "dpaudit-out/broken"], "nothing moved\n"),
        (["ledger", "ledger.txt"], "broken, (0.01, 0)-DP: VIOLATED\n"),
        (["list", "datasets", "flight"], "flight\n"),
    ):
        main([*asked, "--quiet"])
        assert capsys.readouterr().out == message
    assert main(["report", "dpaudit-out", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("broken: VIOLATED: ")


@pytest.mark.slow
def test_quiet_says_what_was_audited_otherwise_than_it_seems(folder, capsys):
    asked = "audit noisy:total --data rows.csv --claim 3,0 --neighbours replace --draws 2000 -q"
    assert main(asked.split()) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "bounds of the rows that may come in were taken from the data" in line


def test_quiet_prints_errors(folder, capsys):
    assert main(["run", "missing.toml", "-q"]) == 2
    assert "missing.toml" in capsys.readouterr().err
    assert main(["plan", "--claim", "1,0", "-q", "-v"]) == 2
    assert "give one" in capsys.readouterr().err


def test_verbose_says_what_took_how_long_and_no_value_of_the_data(folder, capsys):
    (folder / "rows.csv").write_text("x\n0\n1\n0.7182818\n")
    assert main(["run", "held.toml", "-v"]) == 0
    output = capsys.readouterr().err
    for step in ("held: held.toml", "choosing the neighbour ...", "drawing M(D) and M(D'): "):
        assert f" s: {step}" in output
    for found in ("data: rows: 3 rows × 1 column (x)", "neighbour: ", "score: "):
        assert f"dpaudit: {found}" in output
    assert "held/result.json" in output
    assert "run: done, exit status 0" in output
    assert "71828" not in output


def set_by(folder, text):
    (folder / "pyproject.toml").write_text(text)


def test_a_project_sets_scenarios_and_places_from_below_too(folder, monkeypatch, capsys):
    set_by(folder, '[tool.dpaudit]\nscenarios = "held.toml"\nout = "reports"\nlevel = 0.9\n')
    (folder / "below").mkdir()
    (folder / "below" / "pyproject.toml").write_text('[project]\nname = "no table of dpaudit"\n')
    monkeypatch.chdir(folder / "below")
    assert main(["run", "-q"]) == 0
    record = json.loads((folder / "reports" / "held" / "result.json").read_text())
    assert record["level"] == 0.95
    assert capsys.readouterr().err == ""


def test_a_ledger_of_the_project_is_said_unless_the_command_is_isolated(folder, capsys):
    set_by(folder, '[tool.dpaudit]\nledger = "l.txt"\njobs = 1\n')
    assert main(["run", "held.toml", "--json"]) == 0
    out, err = capsys.readouterr()
    assert f"note: ledger = {folder / 'l.txt'}, from {folder / 'pyproject.toml'}" in err
    assert "jobs" not in err
    assert json.loads(out)["defaults"]["ledger"] == str(folder / "l.txt")
    assert main(["run", "held.toml", "-q", "--isolated"]) == 0
    assert capsys.readouterr().err == ""
    assert len((folder / "l.txt").read_text().splitlines()) == 1


def test_a_file_that_cannot_be_read_is_no_matter_for_help(folder, capsys):
    set_by(folder, "[tool.dpaudit")
    assert main(["plan", "-q", "--help"]) == 0
    assert main(["run", "--check", "held.toml", "--isolated"]) == 0
    assert main(["run", "--check", "held.toml"]) == 2
    assert "--isolated goes without it" in capsys.readouterr().err


@pytest.mark.slow
def test_what_changes_a_certificate_is_said_and_the_command_line_is_first(folder, capsys):
    set_by(folder, "[tool.dpaudit]\nlevel = 0.5\n[tool.dpaudit.plan]\nlevel = 0.9\n")
    assert main(["plan", "--claim", "1,0", "--json", "-q"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["level"] == 0.9
    assert output.err.startswith("dpaudit: note: level = 0.9, from ")
    assert main(["plan", "--claim", "1,0", "--json", "--level", "0.95"]) == 0
    output = capsys.readouterr()
    assert (json.loads(output.out)["level"], output.err) == (0.95, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.dpaudit]\nlevl = 0.9", "[tool.dpaudit] levl: unknown key"),
        ("[tool.dpaudit]\njobs = 0", "jobs: must be an integer other than 0, got 0"),
        ("[tool.dpaudit]\nscenarios = [3]", "scenarios: must be the path or the name"),
        ("[tool.dpaudit]\nout = 3", "out: must be a path, got 3"),
        ("[tool]\ndpaudit = 3", "[tool.dpaudit] must be a table, got 3"),
        ("[tool.dpaudit]\nplan = 3", "[tool.dpaudit.plan] must be a table"),
        ("[tool.dpaudit", "cannot be read"),
    ],
)
def test_a_wrong_default_is_an_error_that_names_file_and_key(text, message, folder, capsys):
    set_by(folder, text)
    assert main(["plan", "--claim", "1,0"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert str(folder / "pyproject.toml") in error


def test_a_shell_completes_names_of_scenarios(folder):
    def completed(*words):
        shell = ShellComplete(dpaudit, {}, "dpaudit", "_DPAUDIT_COMPLETE")
        found = shell.get_completions([*words[:-1]], words[-1])
        assert "file" not in [one.type for one in found[1:]]  # bash would forget what is before it
        return [one.value for one in found if one.type == "plain"]

    assert "flight-als" in completed("run", "flight-a")
    assert {"flight-als", "opendp-count", "held.toml", "broken.toml"} <= {*completed("run", "")}
    assert completed("run", "hel") == ["held.toml"]
    assert completed("list", "mech") == ["mechanisms"]
    assert "ALS" in completed("list", "mechanisms", "A")
    assert "flight" in completed("audit", "--data", "fl")
    assert "qda" in completed("samples", "--classifier", "q")
    assert isinstance(dpaudit, click.Group)
    assert "run" in completed("ru")


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (ScenarioError("draws: a\nseed: b"), "error: draws: a\nerror: seed: b"),
        (MechanismError("the mechanism raised ValueError: a\nb"), "error: {}"),
        (InvalidInput("a\nb"), "error: {}"),
        (OSError(2, "not found", "x.csv"), "error: not found: x.csv"),
        (MemoryError("5 GiB"), "error: not enough memory: 5 GiB"),
    ],
)
def test_each_fault_of_a_scenario_is_an_error_and_any_other_error_is_one(error, lines):
    assert error_lines(error) == lines.format(error)
