"""What is read from each shipped scenario is what it was, and what is wrong is refused helpfully.

`settings_read.json` has a digest of the settings of every shipped scenario by its name. The ways in
which files are wrong below are answered in lines that name the file, the key, what was there and
what may be there.
"""

import json
from itertools import chain

import pytest

from dpaudit.cli import main
from dpaudit.run import load_scenario
from dpaudit.run.scenario.audits import audits_in
from tests.scenarios.settings_read import SCENARIOS, digest

FROZEN = json.loads((SCENARIOS.parent / "tests/scenarios/settings_read.json").read_text())

DATA = '[data]\nname = "flight"\n'
ALS = '[mechanism]\nname = "ALS"\nrows = 30\n'
GOOD = DATA + ALS
MINE = DATA + '[mechanism]\ncall = "a:b"\n'
SCORES = '[one_run]\nscores = "scores.csv"\n'
# a file, the place that its fault is said to have, and words of what was there or may be there
WRONG = {
    "not TOML": ("[data\n", "", ["not TOML"]),
    "unknown top key": (f"dta = 1\n{GOOD}", "dta", ["unknown key", "data"]),
    "unknown table": (f"{GOOD}[clam]\nepsilon = 1\n", "clam", ["unknown key", "claim"]),
    "unknown key of data": (f'{DATA}traget = "y"\n{ALS}', "[data] traget", ["target"]),
    "unknown parameter": (f"{GOOD}rowz = 3\n", "[mechanism] rowz", ["unknown key", "rows"]),
    "unknown key of a rule": (
        f'{GOOD}[neighbour]\nrule = "row"\nindex = 1\nrow = [1.0]\n',
        "[neighbour] row",
        ["unknown key", "replace"],
    ),
    "unknown key of a call": (f"{MINE}batchd = false\n", "[mechanism] batchd", ["batched"]),
    "unknown key of a claim": (f"{GOOD}[claim]\nepsilon = 1\nmu = 1\n", "[claim] mu", ["unknown"]),
    "unknown key of audit": (f"{GOOD}[audit]\ndrawz = 5\n", "[audit] drawz", ["draws"]),
    "no data": (ALS, "[data]", ["missing"]),
    "no mechanism": (DATA, "[mechanism]", ["missing"]),
    "no parameter": (f'{DATA}[mechanism]\nname = "ALS"\n', "[mechanism] rows", ["missing"]),
    "no index": (f'{GOOD}[neighbour]\nrule = "row"\n', "[neighbour] index", ["missing"]),
    "no end of a grid": (
        f"{GOOD}[audit]\nepsilon = {{ start = 0, stop = 1 }}\n",
        "[audit.epsilon] num",
        ["missing"],
    ),
    "name and path": (f'{DATA}path = "x.csv"\n{ALS}', "[data]", ["either name or path"]),
    "call and name": (f'{GOOD}call = "a:b"\n', "[mechanism]", ["either name or call"]),
    "draws and samples": (
        f"{GOOD}[audit]\ndraws = 100\nsamples = 100\n",
        "[audit] samples",
        ["another name of draws"],
    ),
    "outputs and predict": (
        f'{MINE}kind = "estimator"\noutputs = ["coef_"]\npredict = [[1.0]]\n',
        "[mechanism] predict",
        ["outputs"],
    ),
    "two kinds of claim": (f"{GOOD}[claim]\nepsilon = 1\nrho = 1\n", "[claim]", ["of one kind"]),
    "half a claim": (f"{GOOD}[claim]\nomega = 2\n", "[claim]", ["rho (and omega)"]),
    "a distance without epsilon": (
        f'{GOOD}[claim]\nrho = 1\nper = "euclidean"\n',
        "[claim] per",
        ["epsilon"],
    ),
    "own pair with data": (f'{GOOD}[neighbour]\nrule = "own"\n', "neighbour", ["no [data]"]),
    "rule of no kind": (
        f'{GOOD}[neighbour]\nrule = "worse"\n',
        "[neighbour] rule",
        ["'worst'", "'template'", "'worse'"],
    ),
    "a rule that is a number": (f"{GOOD}[neighbour]\nrule = 3\n", "[neighbour] rule", ["3"]),
    "mechanism of no kind": (
        f'{DATA}[mechanism]\nname = "ALZ"\n',
        "[mechanism] name",
        ["'ALS'", "'ALZ'"],
    ),
    "kind of no kind": (f'{MINE}kind = "oracle"\n', "[mechanism] kind", ["'estimator'", "oracle"]),
    "a relation of no kind": (
        f'{MINE}[neighbour]\nrelations = ["swap"]\n',
        "[neighbour] relations",
        ["'zero-out'", "'swap'"],
    ),
    "text for a number": (f'{DATA}[mechanism]\nname = "ALS"\nrows = "x"\n', "[mechanism] rows", []),
    "true for a number": (f"{GOOD}[claim]\nepsilon = true\n", "[claim] epsilon", ["number"]),
    "a number for text": (f"{DATA}target = 3\n{ALS}", "[data] target", ["text", "3"]),
    "a number for true": (f"{DATA}constant = 1\n{ALS}", "[data] constant", ["true or false", "1"]),
    "a fraction for a count": (f"{GOOD}[audit]\ndraws = 99.5\n", "[audit] draws", ["99.5"]),
    "a number for a table": (f"claim = 3\n{GOOD}", "[claim]", ["must be a table", "3"]),
    "a number for a list": (f"{GOOD}[audit]\nepsilon = 1.0\n", "[audit] epsilon", ["list"]),
    "too small": (f"{GOOD}[neighbour]\nat = -1\n", "[neighbour] at", ["0", "-1"]),
    "too large": (f"{GOOD}[audit]\nlevel = 1.5\n", "[audit] level", ["1", "1.5"]),
    "not finite": (f"{GOOD}[claim]\nepsilon = inf\n", "[claim] epsilon", ["finite", "inf"]),
    "a value that its class refuses": (
        f'{DATA}[mechanism]\nname = "ALS"\nrows = 1\n',
        "[mechanism] rows",
        [">= 2", "1"],
    ),
    "too few draws": (f"{GOOD}[audit]\ndraws = 3\n", "[audit] draws", ["20", "3"]),
    "a folder for a name": (f'name = "a/b"\n{GOOD}', "name", ["name a folder", "'a/b'"]),
    "a file for a data set": (f'[data]\nname = "x.csv"\n{ALS}', "[data] name", ["path", "'x.csv'"]),
    "a call without a colon": (
        f'{DATA}[mechanism]\ncall = "module"\n',
        "[mechanism] call",
        ["package.module:callable", "'module'"],
    ),
    "a command without data": (
        f'{DATA}[mechanism]\ncommand = ["x"]\n',
        "[mechanism] command",
        ["{data}"],
    ),
    "replace without rows": (
        f'{MINE}[neighbour]\nrelations = ["replace"]\n',
        "[neighbour] relations",
        ["candidates, row_bound or bounds"],
    ),
    "an address without Dask": (
        f'{GOOD}[audit]\naddress = "tcp://x:1"\n',
        "[audit] address",
        ['backend = "dask"'],
    ),
    "a synthesizer that is searched": (
        f'{MINE}kind = "synthesizer"\n',
        "[neighbour] rule",
        ['"template"'],
    ),
    "stop without a claim": (
        f'{MINE}kind = "values"\n[audit]\nstop = "verdict"\n',
        "[audit] stop",
        ["claim"],
    ),
    "one run with an audit": (f"{SCORES}[audit]\ndraws = 99\n", "audit", ["unknown key"]),
    "one run of a printed claim": (
        f"{SCORES}[claim]\nprinted = true\n",
        "[claim] printed",
        ["[mechanism]"],
    ),
    "a study without its class": ('[study]\ncall = "x"\n', "[study] call", ["module:Name", "'x'"]),
}


def test_every_shipped_scenario_is_read_as_before():
    files = chain(*map(audits_in, SCENARIOS.rglob("*.toml")))
    scenarios = [load_scenario(file.path) for file in files]
    assert {scenario.name: digest(scenario) for scenario in scenarios} == FROZEN
    assert len(scenarios) == len(FROZEN)


@pytest.mark.quick
@pytest.mark.parametrize(("text", "place", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(text, place, words, tmp_path, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    lines = capsys.readouterr().err.splitlines()
    start = f"wrong.toml: {place}"
    said = " ".join(line.removeprefix("error: ") for line in lines)
    assert start in said
    assert [word for word in words if word not in said.partition(start)[2]] == []


@pytest.mark.parametrize("key", ["row = [0.5, 73417.25, true]", 'bounds = [[1.0, "73417.25"]]'])
def test_values_of_rows_are_in_no_error(key, tmp_path, capsys):
    rule = "replace" if key.startswith("row") else "search"
    path = tmp_path / "wrong.toml"
    path.write_text(f'{MINE}[neighbour]\nrule = "{rule}"\nindex = 0\n{key}\n', encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    assert "73417" not in capsys.readouterr().err
