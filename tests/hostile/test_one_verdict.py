"""Terminal, result.json, report.html, JUnit, SARIF, job summary and exit status: one verdict."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dpaudit.cli import main
from tests.sparse import one_in

pytestmark = pytest.mark.usefixtures("in_tmp_path", "undrawn")

MECHANISMS = """
import numpy as np

ROWS = np.array([[0.5], [-0.2], [0.9], [0.1]])

def bare(data, size, *, rng):
    return np.repeat(data.sum(), size)[:, None] + rng.laplace(scale=1e-3, size=(size, 1))

def release(data, size, *, rng):
    return data.sum() + rng.laplace(scale=0.5, size=(size, 1))

def private(data, size, *, rng):
    return data.sum() + rng.laplace(scale=20.0, size=(size, 1))

def fixed(data, size, *, rng):
    if len(data) != 4:
        raise ValueError("four rows")
    return bare(data, size, rng=rng)

def fixed_private(data, size, *, rng):
    if len(data) != 4:
        raise ValueError("four rows")
    return private(data, size, rng=rng)

def broken(data, size, *, rng):
    raise ValueError("broken")

def interrupted(data, size, *, rng):
    # audited where rows come and go; Ctrl-C comes when one is replaced
    if len(data) == 4 and (data != ROWS).any():
        raise KeyboardInterrupt
    return bare(data, size, rng=rng)
"""
SCENARIO = """
name = "{name}"
[data]
path = "rows.csv"
[mechanism]
call = "one_verdict_mechanisms:{call}"
[neighbour]
rule = "search"
relations = ["replace"]
bounds = [[-1.0, 1.0]]
{named}
[claim]
epsilon = {epsilon}
delta = 0.0
[audit]
draws = 300
"""
STATUS = {"error": 2, "violated": 1, "inconclusive": 3, "not violated": 0}  # the gravest first
TAGS = {"failure": "violated", "skipped": "inconclusive", "error": "error"}
LEVELS = {"violated": "error", "inconclusive": "warning", "error": "error"}
FILES = ["--junit", "j.xml", "--sarif", "s.json", "--summary", "m.md", "--out", "out"]
OPTIONS = {"--data": "rows.csv", "--claim": "1,0", "--draws": "300", "--bounds": "-1:1"}
SITUATIONS = {
    # `audit` without a relation: the function, and what is said of the claim
    "both": (["audit", "bare"], "violated"),
    "replaced alone": (["audit", "release", "--claim", "2,0", "--draws", "2000"], "inconclusive"),
    "neither": (["audit", "private"], "not violated"),
    "too few": (["audit", "private", "--claim", "7,0"], "inconclusive"),
    "left out": (["audit", "fixed"], "violated"),
    "left out, green": (["audit", "fixed_private"], "not violated"),
    "no relation runs": (["audit", "broken"], "error"),
    # `audit` with a relation
    "named": (["audit", "bare", "--neighbours", "replace"], "violated"),
    "named, green": (["audit", "private", "--neighbours", "replace"], "not violated"),
    # scenarios
    "scenarios": (["run", "private.toml", "bare.toml", "few.toml"], "violated"),
    "an error among them": (["run", "private.toml", "broken.toml", "bare.toml"], "error"),
    "a guessed relation": (["run", "guess.toml"], "inconclusive"),
}


@pytest.fixture(autouse=True)
def files(tmp_path):
    np.savetxt(tmp_path / "rows.csv", [0.5, -0.2, 0.9, 0.1], header="score", comments="")
    (tmp_path / "one_verdict_mechanisms.py").write_text(MECHANISMS)
    cases = {
        "bare": {"call": "bare"},
        "private": {"call": "private"},
        "broken": {"call": "broken"},
        "few": {"call": "private", "epsilon": 7.0},
        "guess": {"call": "bare", "named": "named = false"},
    }
    for name, case in cases.items():
        text = SCENARIO.format(**{"name": name, "named": "", "epsilon": 1.0, **case})
        (tmp_path / f"{name}.toml").write_text(text)


def outputs(folder, printed):
    """By output the verdicts that it has, in alphabetical order."""
    records = [json.loads(path.read_text("utf-8")) for path in folder.rglob("result.json")]
    pages = [path.read_text("utf-8") for path in folder.rglob("report.html")]
    badges = [re.search(r'class="badge">.*?</span> (.*?)</span>', page) for page in pages]
    cases = ET.parse(folder / "j.xml").getroot().findall(".//testcase")
    tags = [[TAGS[part.tag] for part in case if part.tag in TAGS] for case in cases]
    results = json.loads((folder / "s.json").read_text("utf-8"))["runs"][0]["results"]
    assert all(LEVELS[result["ruleId"]] == result["level"] for result in results)
    rows = (folder / "m.md").read_text("utf-8").splitlines()[4:]
    document = json.loads(printed)
    verdicts_of = {
        "result.json": [record["verdict"] for record in records],
        "report.html": [badge[1].lower() for badge in badges],
        "JUnit": [tag[0] if tag else "not violated" for tag in tags],
        "SARIF": [result["ruleId"] for result in results],
        "summary": [row.split(" | ")[1].strip("*") for row in rows],
        "JSON": [audit["verdict"] for audit in document["audits"]],
    }
    return {name: sorted(verdicts) for name, verdicts in verdicts_of.items()}, document["status"]


@pytest.mark.parametrize("situation", one_in(4, SITUATIONS))
def test_all_outputs_have_the_verdict_of_the_exit_status(situation, tmp_path, capsys):
    command, wanted = SITUATIONS[situation]
    if command[0] == "audit":
        command = ["audit", f"one_verdict_mechanisms:{command[1]}", *command[2:]]
        command += [f"{key}={value}" for key, value in OPTIONS.items() if key not in command]
    status = main([*command, *FILES, "--json"])
    assert status == STATUS[wanted]
    printed = capsys.readouterr().out
    if not printed:  # of an error that ends the command
        cases = ET.parse(tmp_path / "j.xml").getroot().findall(".//testcase/error")
        assert (wanted, len(cases)) == ("error", 2)
        return
    seen, status_of_document = outputs(tmp_path, printed)
    assert status_of_document == status
    everything = seen["JUnit"]
    assert next(kind for kind in STATUS if kind in everything) == wanted
    assert seen["summary"] == seen["JSON"] == everything
    assert seen["SARIF"] == [kind for kind in everything if kind != "not violated"]
    assert seen["result.json"] == seen["report.html"]
    assert seen["result.json"] == [kind for kind in everything if kind != "error"]


def test_an_interrupted_audit_of_both_relations_accuses_nobody(tmp_path, capsys):
    """What is left says nothing of the relation that was not audited, so it is no violation."""
    options = [f"{key}={value}" for key, value in OPTIONS.items()]
    assert main(["audit", "one_verdict_mechanisms:interrupted", *options, *FILES]) == 130
    (record,) = (json.loads(path.read_text("utf-8")) for path in tmp_path.rglob("result.json"))
    assert record["headline"]["exceeded"]
    assert record["verdict"] == "inconclusive"
    root = ET.parse(tmp_path / "j.xml").getroot()
    assert [root.get(kind) for kind in ("failures", "errors", "skipped")] == ["0", "0", "1"]
