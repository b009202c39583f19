"""`dpaudit run`: exit statuses, what is printed where, kill and resume."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from dpaudit.cli import main

SLOW = """
import os, time
import numpy as np

def release(data, size, *, rng):
    time.sleep(float(os.environ.get("SLOW", "0")))
    return data.mean(axis=0) + 0.1 * rng.standard_normal((size, data.shape[1]))
"""
VIOLATED = "epsilon = 0.0\ndelta = 0.001"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in tmp_path, without figures: they are drawn in test_commands.py and take most of a
    small run's time.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "dpaudit.report.write_report", lambda folder, record: (folder / "report.html").touch()
    )


@pytest.fixture
def slow(write, tmp_path):
    """A scenario whose draws take as long as the environment variable SLOW says."""
    (tmp_path / "slow_release.py").write_text(SLOW)
    return write(
        "slow", mechanism='call = "slow_release:release"', neighbour='rule = "row"\nindex = 4'
    )


def steady(folder):
    """The bytes of result.json without timings and memory."""
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    del record["timings"], record["peak_memory_mb"]
    return json.dumps(record)


def start(scenario, out):
    """A run in a process of its own, once it has kept some draws."""
    command = [sys.executable, "-m", "dpaudit", "run", str(scenario), "--out", str(out)]
    process = subprocess.Popen(
        command, env={**os.environ, "SLOW": "0.3"}, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while len(list(out.glob("draws/*.npy"))) < 3:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


def test_not_violated(write, tmp_path, capsys):
    assert main(["run", str(write())]) == 0
    out, err = capsys.readouterr()
    folder = tmp_path / "dpaudit-out" / "small"
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "result.json"]
    assert "NOT VIOLATED: No ε was found" in out
    assert "no proof of privacy" in out
    assert re.search(r"^Mechanism +ALS", out, re.MULTILINE)
    assert re.search(r"^Neighbour .* worst of 30 rows at ε = 1$", out, re.MULTILINE)
    assert re.search(r"^ +ε +exact δ +estimate +certified +claim$", out, re.MULTILINE)
    assert out.rstrip().endswith(f"Report: {'dpaudit-out/small/report.html'}")
    assert "drawing M(D): done" in err
    assert "\r" not in err


def test_stop_at_the_verdict(write, tmp_path, capsys):
    """δ(0) of ALS on this row is far above 0.001: 2000 draws do not suffice with probability below
    1e-15.
    """
    assert main(["run", str(write(claim=VIOLATED)), "--stop", "verdict"]) == 1
    out, err = capsys.readouterr()
    assert "\nVIOLATED: Stopped after " in out
    assert re.search(r"^Draws a side +\d+ in waves, \d+ of them bet on$", out, re.MULTILINE)
    assert "drawing in waves" in err
    record = json.loads(
        (tmp_path / "dpaudit-out" / "small" / "result.json").read_text(encoding="utf-8")
    )
    assert record["sequential"]["rejected_at"] <= record["sequential"]["drawn"] < 2000
    assert record["samples"]["test"] == record["sequential"]["tested"]


def test_a_resumed_run_in_waves_is_the_same(write, tmp_path):
    scenario = str(
        write(audit='samples = 600\nclassifier = "qda"\nepsilon = [0.0, 1.0]\nstop = "verdict"')
    )
    for name, more in (("whole", ["--keep-draws"]), ("whole", ["--resume"]), ("other", [])):
        assert main(["run", scenario, "--out", name, *more]) == 0
    assert steady(tmp_path / "whole") == steady(tmp_path / "other")


def test_violated(write, tmp_path, capsys):
    assert main(["run", str(write(claim=VIOLATED)), "--out", "there"]) == 1
    out = capsys.readouterr().out
    assert "\nVIOLATED: At 95% confidence δ(0) is at least" in out
    assert "exceeded" in out
    assert (tmp_path / "there" / "report.html").exists()


def test_inconclusive(write, capsys):
    path = write(audit='samples = 100\nclassifier = "qda"\nepsilon = [0.0, 1.0]\ndetect = 0.0001')
    assert main(["run", str(path)]) == 3
    assert "INCONCLUSIVE: These draws could have shown" in capsys.readouterr().out


def test_samples_and_seed_override_the_scenario(write, tmp_path):
    assert main(["run", str(write()), "--samples", "400", "--seed", "9", "--jobs", "2"]) == 0
    record = json.loads((tmp_path / "dpaudit-out/small/result.json").read_text(encoding="utf-8"))
    assert (sum(record["samples"].values()), record["seed"]) == (400, 9)


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        (
            {"data": 'name = "cancer"'},
            [],
            r"data set 'cancer' not found: DPAUDIT_DATA is not set; .*",
        ),
        (
            {"data": 'path = "no.csv"\ntarget = "y"'},
            [],
            r"cannot read .*no\.csv: No such file or directory",
        ),
        (
            {"data": 'path = "small.csv"\ntarget = "z"'},
            [],
            r"target must be the name of a column of small: .*",
        ),
        (
            {"mechanism": 'name = "ALS"\nrows = 3'},
            [],
            r"rows must be at least features \+ 1 = 4, got 3",
        ),
        (
            {"neighbour": 'rule = "row"\nindex = 99'},
            [],
            r"index must be a row number below 30, got 99",
        ),
        ({"neighbour": 'rule = "replace"\nindex = 1\nrow = [1]'}, [], r"row must be 4 numbers, .*"),
        (
            {"mechanism": 'call = "absent_module:f"'},
            [],
            r"\[mechanism\] call: absent_module:f: ModuleNotFound.*",
        ),
        ({}, ["--samples", "5"], r"samples must leave at least 10 draws a side .*"),
        ({}, ["--seed", "-1"], r"seed must be an integer >= 0, got -1"),
        ({}, ["--out", "small.csv"], r".*small\.csv.*"),
    ],
)
def test_an_error_is_one_line_and_status_2(write, monkeypatch, capsys, changes, arguments, message):
    monkeypatch.delenv("DPAUDIT_DATA", raising=False)
    assert main(["run", str(write(**changes)), *arguments]) == 2
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if "error" in line.lower()]
    assert out == ""
    assert len(errors) == 1
    assert re.fullmatch(f"(dpaudit: error|Error): {message}", errors[0])
    assert "Traceback" not in err


def test_every_fault_of_a_scenario_is_a_line(write, capsys):
    path = write(mechanism='name = "ALS"\nrowz = 3', claim="delta = 2", head='"a\\u001bb" = 1\n')
    assert main(["run", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "dpaudit: error: small.toml: [mechanism] rows: missing",
        "dpaudit: error: small.toml: [mechanism] rowz: unknown key (known: name, rows, sampler)",
        "dpaudit: error: small.toml: [claim] delta: must be a finite number in [0, 1], got 2",
        "dpaudit: error: small.toml: [claim]: must be of one kind: epsilon (and delta), gdp, rho (and omega), rows "
        "and gamma, or printed",
        "dpaudit: error: small.toml: a b: unknown key (known: name, data, mechanism, claim, neighbour, audit)",
    ]


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["run", "x.toml", "--nope"], ["ru"], ["run", "x.toml", "--jobs=0"]]
)
def test_usage_errors(arguments, capsys):
    assert main(arguments) == 2
    assert "Usage: dpaudit" in capsys.readouterr().err


def test_a_crash_is_not_taken_for_a_violation(write, monkeypatch, capsys):
    monkeypatch.setattr("dpaudit.cli.running.execute", lambda *args, **kwargs: 1 / 0)
    assert main(["run", str(write())]) == 3
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert err.splitlines()[-1].startswith("dpaudit: error: this should not have happened")


def test_too_little_memory(write, monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise MemoryError("Unable to allocate 1 PiB")

    monkeypatch.setattr("dpaudit.cli.running.execute", fail)
    assert main(["run", str(write())]) == 2
    assert (
        capsys.readouterr().err == "dpaudit: error: not enough memory: Unable to allocate 1 PiB\n"
    )


def test_kill_and_resume_to_the_same_bytes(slow, tmp_path):
    assert main(["run", str(slow), "--out", "whole"]) == 0
    process = start(slow, tmp_path / "killed")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["draws"]
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").glob("draws/*.npy")}

    assert main(["run", str(slow), "--out", "killed", "--resume", "--keep-draws"]) == 0
    assert steady(tmp_path / "killed") == steady(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not (tmp_path / "whole" / "draws").exists()


def test_interrupt_keeps_the_draws(slow, tmp_path):
    process = start(slow, tmp_path / "out")
    process.send_signal(signal.SIGINT)
    err = process.communicate()[1]
    assert process.returncode == 130
    assert err.splitlines()[-1] == "dpaudit: interrupted; a run goes on where it was with --resume"
    assert "Traceback" not in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["draws"]
    assert len(list((tmp_path / "out" / "draws").glob("*.npy"))) >= 3


def test_resume_with_other_settings_says_what_differs(slow, capsys):
    assert main(["run", str(slow), "--keep-draws"]) == 0
    assert main(["run", str(slow), "--resume", "--seed", "4"]) == 2
    assert "(seed 0, now 4); run without --resume to start afresh" in capsys.readouterr().err
