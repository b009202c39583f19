"""`dpaudit run`: exit statuses, what is printed where, kill and resume."""

import json
import re
import signal
from types import SimpleNamespace

import pytest

from dpaudit.cli import main
from tests.run.held_runs import held_run, held_scenario
from tests.run.records import text_without_clock

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

VIOLATED = "epsilon = 0.0\ndelta = 0.001"


def test_not_violated(write_scenario, tmp_path, capsys):
    assert main(["run", str(write_scenario())]) == 0
    out, err = capsys.readouterr()
    folder = tmp_path / "dpaudit-out" / "small"
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "result.json"]
    assert out.startswith("NOT VIOLATED: δ = 0.9 allows a mechanism to publish its data in that ")
    assert "\nClaimed ε = 1 at δ = 0.9. Ruled out at 95 % confidence: no ε (row " in out
    assert "\nNo lower bound on δ(1) is certified; 0.9 is allowed.\n" in out
    assert "would have been shown with probability 0.8 (whatever the shape" in out
    assert "no proof of privacy" in out
    assert re.search(r"^Mechanism +ALS", out, re.MULTILINE)
    assert re.search(r"^Data +small: 30 rows × 4 columns \(constant, a, b, y\);", out, re.MULTILINE)
    assert re.search(r"^Neighbour .* worst of 30 rows at ε = 1$", out, re.MULTILINE)
    assert re.search(r"^ +ε +exact δ +estimate +certified +claim$", out, re.MULTILINE)
    assert out.rstrip().endswith(f"Report: {'dpaudit-out/small/report.html'}")
    assert "drawing M(D) and M(D'): done" in err
    assert "\r" not in err


def test_stop_at_the_verdict(write_scenario, tmp_path, capsys):
    """δ(0) of ALS on this row is far above 0.001. 2000 draws are too few with probability below
    1e-15.
    """
    assert main(["run", str(write_scenario(claim=VIOLATED)), "--stop", "verdict"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("VIOLATED: Claimed ε = 0 at δ = 0.001. At 95 % confidence ")
    assert "Stopped after " in out
    assert re.search(r"^Draws per side +\d+ in batches, \d+ of them bet on$", out, re.MULTILINE)
    assert "drawing in batches" in err
    record = json.loads(
        (tmp_path / "dpaudit-out" / "small" / "result.json").read_text(encoding="utf-8")
    )
    assert record["sequential"]["rejected_at"] <= record["sequential"]["drawn"] < 2000
    assert record["samples"]["test"] == record["sequential"]["tested"]


def test_inconclusive(write_scenario, capsys):
    path = write_scenario(
        audit='draws = 1000\nclassifier = "qda"\nepsilon = [0.0, 1.0]\ndetect = 0.0001'
    )
    assert main(["run", str(path)]) == 3
    out = capsys.readouterr().out
    assert out.startswith("INCONCLUSIVE: ")
    assert "\nClaimed ε = 1 at δ = 0.9. " in out
    assert "would have been shown, not the" in out


@pytest.mark.parametrize("name", ["draws", "samples"])
def test_draws_seed_and_level_override_the_scenario(write_scenario, tmp_path, name):
    given = [f"--{name}", "4e2", "--seed", "9", "--level", "0.9", "--jobs", "2"]
    assert main(["run", str(write_scenario()), *given]) == 0
    record = json.loads((tmp_path / "dpaudit-out/small/result.json").read_text(encoding="utf-8"))
    assert (sum(record["samples"].values()), record["seed"], record["level"]) == (400, 9, 0.9)


@pytest.mark.parametrize("draws", ["400.5", "1e999"])
def test_draws_are_a_whole_number(write_scenario, capsys, draws):
    assert main(["run", str(write_scenario()), "--draws", draws]) == 2
    assert "is not a whole number, such as 100000 or 1e5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        (
            {"data": 'name = "cancer"'},
            [],
            r"small\.toml: \[data\]: data set 'cancer' not found: DPAUDIT_DATA is not set; .*",
        ),
        (
            {"data": 'path = "no.csv"\ntarget = "y"'},
            [],
            r"small\.toml: \[data\]: cannot read .*no\.csv: No such file or directory",
        ),
        (
            {"mechanism": 'name = "ALS"\nrows = 3'},
            [],
            r"small\.toml: \[mechanism\] rows: must be at least features \+ 1 = 4, got 3",
        ),
        (
            {"mechanism": 'call = "absent_module:f"'},
            [],
            r"small\.toml: \[mechanism\] call: absent_module:f: ModuleNotFound.*",
        ),
        ({}, ["--samples", "5"], r"small\.toml: draws: must leave at least 10 a side .*"),
        ({}, ["--out", "small.csv"], r".*small\.csv.*"),
    ],
)
def test_an_error_is_one_line_and_status_2(
    write_scenario, monkeypatch, capsys, changes, arguments, message
):
    monkeypatch.delenv("DPAUDIT_DATA", raising=False)
    assert main(["run", str(write_scenario(**changes)), *arguments]) == 2
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if "error" in line.lower()]
    assert out == ""
    assert len(errors) == 1
    assert re.fullmatch(f"(dpaudit: error|Error): {message}", errors[0])
    assert "Traceback" not in err


def test_every_fault_of_a_scenario_is_a_line(write_scenario, capsys):
    path = write_scenario(
        mechanism='name = "ALS"\nrowz = 3', claim="delta = 2", head='"a\\u001bb" = 1\n'
    )
    assert main(["run", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "dpaudit: error: small.toml: [mechanism] rows: missing",
        "dpaudit: error: small.toml: [mechanism] rowz: unknown key (known: name, rows, sampler); "
        "did you mean 'rows'?",
        "dpaudit: error: small.toml: [claim] delta: must be a finite number in [0, 1], got 2",
        r"dpaudit: error: small.toml: a\u001bb: unknown key (known: name, data, mechanism, claim, "
        "neighbour, audit)",
    ]


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["run", "x.toml", "--nope"], ["ru"], ["run", "x.toml", "--jobs=0"]]
)
def test_usage_errors(arguments, capsys):
    assert main(arguments) == 2
    assert "Usage: dpaudit" in capsys.readouterr().err


def test_a_crash_is_not_taken_for_a_violation(write_scenario, monkeypatch, capsys):
    monkeypatch.setattr("dpaudit.cli.running.execute", lambda *args, **kwargs: 1 / 0)
    assert main(["run", str(write_scenario())]) == 3
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert err.splitlines()[-1].startswith("dpaudit: error: this should not have happened")


def test_too_little_memory(write_scenario, monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise MemoryError("Unable to allocate 1 PiB")

    monkeypatch.setattr("dpaudit.cli.running.execute", fail)
    assert main(["run", str(write_scenario())]) == 2
    assert (
        capsys.readouterr().err == "dpaudit: error: not enough memory: Unable to allocate 1 PiB\n"
    )


def test_kill_and_resume_to_the_same_bytes(write_scenario, tmp_path):
    scenario = held_scenario(write_scenario)
    assert main(["run", str(scenario), "--out", "whole"]) == 0
    with held_run(scenario, tmp_path / "killed") as process:
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["draws"]
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").glob("draws/*.npy")}
    kept = dict(sorted(made.items(), key=lambda one: one[1])[:-1])  # the last may lack its checksum

    assert main(["run", str(scenario), "--out", "killed", "--resume", "--keep-draws"]) == 0
    assert text_without_clock(tmp_path / "killed") == text_without_clock(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not (tmp_path / "whole" / "draws").exists()


def test_interrupt_keeps_the_draws(write_scenario, tmp_path):
    with held_run(held_scenario(write_scenario), tmp_path / "out") as process:
        process.send_signal(signal.SIGINT)
        err = process.communicate()[1]
    assert process.returncode == 130
    message = r"dpaudit: interrupted; [\d,]+ draws a side are kept in .*draws; the same command .*"
    assert re.fullmatch(message, err.splitlines()[-1])
    assert "Traceback" not in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["draws"]
    assert len(list((tmp_path / "out" / "draws").glob("*.npy"))) >= 3


@pytest.mark.parametrize(
    ("draws", "searched", "message"),
    [
        (
            (300, 200),
            False,
            "interrupted; 200 draws a side are kept in out/draws; the same",
        ),
        ((0, 0), True, "interrupted; the audits of the search are kept in out/draws; the same"),
        ((0, 0), False, "interrupted; nothing was kept"),
    ],
)
def test_an_interruption_says_what_it_left(
    write_scenario, monkeypatch, capsys, draws, searched, message
):
    def stopped(*given, **options):
        raise KeyboardInterrupt

    left = SimpleNamespace(state="interrupted", made=draws)
    monkeypatch.setattr("dpaudit.cli.running.execute", stopped)
    monkeypatch.setattr("dpaudit.cli.running.state_of", lambda folder: left)
    monkeypatch.setattr("dpaudit.cli.running.has_search", lambda folder: searched)
    assert main(["run", str(write_scenario()), "--out", "out"]) == 130
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"dpaudit: {message}")


def test_a_mechanism_that_fails_half_way_leaves_what_is_said(write_scenario, tmp_path, capsys):
    """The outputs that are left must not go into an archive of reports unseen."""
    (tmp_path / "tired.py").write_text(
        "calls = []\n"
        "def mean(data, size, *, rng):\n"
        "    calls.append(size)\n"
        "    if sum(calls) > 6 * 256:\n"
        "        raise RuntimeError('tired')\n"
        "    return data.mean() + rng.laplace(size=(size, 1))\n"
    )
    pair = 'rule = "row"\nindex = 0'
    scenario = write_scenario(mechanism='call = "tired:mean"', neighbour=pair)
    assert main(["run", str(scenario), "--out", "out"]) == 2
    assert list((tmp_path / "out" / "draws").glob("*.npy"))
    assert "draws a side are kept in out/draws" in capsys.readouterr().err
