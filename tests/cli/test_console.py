"""--quiet, --verbose and --json of every command; defaults of a project; completion."""

import json

import click
import pytest
from click.shell_completion import ShellComplete

from dpaudit.cli import main
from dpaudit.cli.commands import dpaudit

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
    for name, epsilon in (("held", 3.0), ("broken", 0.01)):
        (tmp_path / f"{name}.toml").write_text(SCENARIO.format(name=name, epsilon=epsilon))
    return tmp_path


@pytest.fixture
def done(folder, capsys):
    assert main(["run", "broken.toml"]) == 1
    capsys.readouterr()
    return folder / "dpaudit-out" / "broken"


COMMANDS = {
    "run": (["run", "broken.toml"], 1),
    "suite": (["run", "broken.toml", "held.toml"], 1),
    "check": (["run", "--check", "held.toml"], 0),
    "audit": (AUDIT.split(), 0),
    "canaries": (["canaries", "scores.csv", "--claim", "1,0"], 1),
    "init": (["init", "new"], 0),
    "list": (["list", "mechanisms"], 0),
    "spectrum": (["spectrum", "flight-als", "--epsilon", "0.1"], 0),
    "plan": (["plan", "--claim", "1,0"], 0),
    "status": (["status", "dpaudit-out"], 0),
    "report": (["report", "dpaudit-out/broken"], 0),
    "compare": (["compare", "dpaudit-out/broken", "dpaudit-out/broken"], 0),
    "schema": (["schema"], 0),
}
SLOW = ("spectrum", "suite", "audit", "plan", "canaries")
OF_A_RUN = ("status", "report", "compare")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in COMMANDS],
)
def test_json_is_one_document_and_nothing_else(name, folder, capsys, request):
    if name in OF_A_RUN:
        request.getfixturevalue("done")
    arguments, status = COMMANDS[name]
    assert main([*arguments, *(["--json"] if name != "schema" else [])]) == status
    json.loads(capsys.readouterr().out)


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
    said = capsys.readouterr()
    broken, held, counts = said.out.splitlines()
    assert broken.startswith("broken: VIOLATED: Claimed ε = 0.01 at δ = 0. At 95 % confidence")
    assert held.startswith("held: NOT VIOLATED: Claimed ε = 3 at δ = 0.")
    assert counts == "2 scenarios: 1 not violated, 1 violated"
    assert said.err == ""


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
    said = capsys.readouterr().err
    assert "dpaudit: time: " in said
    assert "dpaudit: run: " in said
    assert "71828" not in said


def set_by(folder, text):
    (folder / "pyproject.toml").write_text(text)


def test_a_project_sets_scenarios_and_places_from_below_too(folder, monkeypatch, capsys):
    set_by(folder, '[tool.dpaudit]\nscenarios = "held.toml"\nout = "reports"\nlevel = 0.9\n')
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert main(["run", "-q"]) == 0
    assert (folder / "reports" / "result.json").exists()
    assert json.loads((folder / "reports" / "result.json").read_text())["level"] == 0.95
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_what_changes_a_certificate_is_said_and_the_command_line_is_first(folder, capsys):
    set_by(folder, "[tool.dpaudit]\nlevel = 0.5\n[tool.dpaudit.plan]\nlevel = 0.9\n")
    assert main(["plan", "--claim", "1,0", "--json", "-q"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["level"] == 0.9
    assert said.err.startswith("dpaudit: note: level = 0.9, from ")
    assert main(["plan", "--claim", "1,0", "--json", "--level", "0.95"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out)["level"], said.err) == (0.95, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.dpaudit]\nlevl = 0.9", "[tool.dpaudit] levl: unknown key"),
        ('[tool.dpaudit]\nlevel = "x"', "[tool.dpaudit] level: 'x' is not a valid float"),
        ("[tool.dpaudit.run]\ndraws = 9", "[tool.dpaudit.run] draws: unknown key"),
        ("[tool.dpaudit]\nplan = 3", "[tool.dpaudit.plan] must be a table"),
        ("[tool.dpaudit", "cannot be read"),
    ],
)
def test_a_wrong_default_is_an_error_that_names_file_and_key(text, said, folder, capsys):
    set_by(folder, text)
    assert main(["plan", "--claim", "1,0"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert str(folder / "pyproject.toml") in error


def test_a_shell_completes_names_of_scenarios(monkeypatch):
    def completed(*words):
        shell = ShellComplete(dpaudit, {}, "dpaudit", "_DPAUDIT_COMPLETE")
        return [one.value for one in shell.get_completions([*words[:-1]], words[-1])]

    assert "flight-als" in completed("run", "flight-a")
    assert completed("list", "mech") == ["mechanisms"]
    assert isinstance(dpaudit, click.Group)
    assert "run" in completed("ru")
