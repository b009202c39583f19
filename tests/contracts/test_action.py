"""The GitHub Action and the pre-commit hooks: their own scripts and commands are run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import main

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
BASH = shutil.which("bash")
PRINTS = """#!/bin/sh
for one in "$@"; do printf '%s\\n' "$one" >> given.txt; done
exit {status}
"""

needs_bash = pytest.mark.skipif(BASH is None, reason="bash is missing")
pytestmark = pytest.mark.usefixtures("in_tmp_path")


@pytest.fixture
def program(tmp_path):
    """program("dpaudit", status): a program that writes its arguments, one a line, to given.txt."""

    def put(name, status=0):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PRINTS.format(status=status))
        path.chmod(0o755)

    return put


def run_step(name, folder, **inputs):
    """Run a step as GitHub does; the exit status, the outputs and the summary."""
    values = {key: one.get("default", "") for key, one in ACTION["inputs"].items()}
    values |= {key.replace("_", "-"): value for key, value in inputs.items()}
    step = STEPS[name]
    given = {
        key: INPUT.sub(lambda found: values[found[1]], text) for key, text in step["env"].items()
    }
    (folder / "outputs").write_text("")
    (folder / "summary").write_text("before\n")
    path = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    surroundings = {
        "PATH": os.pathsep.join(path),
        "HOME": str(folder),
        "MPLBACKEND": "agg",
        "GITHUB_ACTION_PATH": "/action",
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=surroundings | given,
        check=False,
        capture_output=True,
        text=True,
    )
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    return done.returncode, outputs, (folder / "summary").read_text()


def given_to(folder):
    return (folder / "given.txt").read_text().splitlines()


def test_no_input_is_written_into_a_script():
    assert [step["id"] for step in STEPS.values() if "${{" in step["run"]] == []
    used = {name for step in STEPS.values() for name in INPUT.findall(str(step))}
    assert used | {"python-version"} == set(ACTION["inputs"])


@needs_bash
def test_what_is_installed(tmp_path, program):
    program("python")
    assert run_step("install", tmp_path)[0] == 0
    assert given_to(tmp_path) == ["-m", "pip", "install", "/action"]
    (tmp_path / "given.txt").unlink()
    run_step("install", tmp_path, version="1.0; touch made $(touch made)")
    assert given_to(tmp_path)[-1] == "dpaudit==1.0; touch made $(touch made)"
    assert not (tmp_path / "made").exists()


@needs_bash
def test_arguments_of_the_action_reach_the_command_as_they_are(tmp_path, program):
    program("dpaudit")
    for name in ("a 1.toml", "b.toml"):
        (tmp_path / name).touch()
    run_step(
        "audit",
        tmp_path,
        scenarios="*.toml\n$(touch made)\n--seed",
        draws="1e5",
        ledger="two words",
        extra_args="--against=old *\n`touch made`",
    )
    options, _, scenarios = "\n".join(given_to(tmp_path)).partition("\n--\n")
    assert scenarios.splitlines() == ["a 1.toml", "b.toml", "$(touch made)", "--seed"]
    assert options.splitlines()[-6:] == [
        *("--draws", "1e5", "--ledger", "two words"),
        *("--against=old *", "`touch made`"),
    ]
    assert not (tmp_path / "made").exists()


@needs_bash
@pytest.mark.parametrize(
    ("status", "verdict"),
    [(0, "nothing audited"), (1, "violated"), (2, "error"), (3, "inconclusive"), (130, "error")],
)
def test_the_job_ends_with_the_status_of_the_suite(tmp_path, program, status, verdict):
    program("dpaudit", status)
    found, outputs, _ = run_step("audit", tmp_path, scenarios="a", working_directory="work")
    assert found == status
    expected = {"status": str(status), "verdict": verdict, "report": "work/dpaudit-out"}
    assert outputs == expected  # no SARIF: the program wrote none


@needs_bash
@pytest.mark.slow
def test_the_action_audits_a_folder_that_init_made(tmp_path):
    assert main(["init", "first"]) == 0
    leaky = Path("first/mechanism.py")
    status, outputs, summary = run_step(
        "audit", tmp_path, scenarios="first/*.toml", draws="4000", out="report"
    )
    assert status == 0
    assert outputs["sarif"] == "./report/dpaudit.sarif"
    assert summary.startswith("before\n")
    assert "mean-hours" in summary
    leaky.write_text(leaky.read_text().replace("scale=scale", "scale=0.3 * scale"))
    status, outputs, summary = run_step("audit", tmp_path, scenarios="first/*.toml", draws="2e4")
    assert (status, outputs["verdict"]) == (1, "violated")
    assert Path(outputs["report"], "report.html").exists()
    assert "violated" in summary
    assert run_step("audit", tmp_path, scenarios="none.toml")[1]["verdict"] == "error"


def command(hook, *files):
    return [*shlex.split(hook["entry"]), *hook.get("args", []), *files]


def test_the_hook_checks_scenarios_and_draws_nothing(tmp_path, monkeypatch, capsys):
    assert main(["init", "first"]) == 0
    monkeypatch.chdir("first")
    name, *arguments = command(HOOKS["dpaudit-check"], "scenario.toml")
    assert name == "dpaudit"
    assert main(arguments) == 0
    assert "mean-hours: valid" in capsys.readouterr().out
    assert not Path("dpaudit-out").exists()
    scenario = Path("scenario.toml")
    scenario.write_text(scenario.read_text().replace("epsilon = 1.0", "epsilon = -1.0"))
    assert main(arguments) == 2
    assert "epsilon" in capsys.readouterr().err


@pytest.mark.slow
def test_the_hook_before_a_push_audits(tmp_path):
    """The mechanism that `init` writes has half of its noise here, so the audit is violated."""
    assert main(["init", "first"]) == 0
    module = Path("first/mechanism.py")
    module.write_text(module.read_text().replace("scale=scale", "scale=0.5 * scale"))
    name, *arguments = command(HOOKS["dpaudit-run"])
    program = Path(sys.executable).with_name(name)
    done = subprocess.run([program, *arguments], cwd="first", capture_output=True, check=False)
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize(
    ("path", "checked"),
    [
        ("scenario.toml", True),
        ("audits/my-scenario.toml", True),
        ("scenarios/a.toml", True),
        ("scenarios/deep/a.toml", True),
        ("pyproject.toml", False),
        ("scenarios/pyproject.toml", False),
        ("settings.toml", False),
        ("scenarios/a.py", False),
    ],
)
def test_files_that_the_hook_checks(path, checked):
    hook = HOOKS["dpaudit-check"]
    match = re.search(hook["files"], path) and not re.search(hook["exclude"], path)
    assert bool(match) == checked
