"""Scenarios of one run: what they become, faults with their place, suites, drawing again."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dpaudit.cli import main
from dpaudit.run import OneRunScenario, load_scenario
from tests.run.faults import faults
from tests.run.records import record_of

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

# at so large a δ the bound is cheap
TOLD = "[one_run]\nscores = 'scores.csv'\n[claim]\nepsilon = 1.0\ndelta = 0.02\n"
INSERTED = """
[data]
path = "rows.csv"
[mechanism]
call = "publishing:everything"
batched = false
[one_run]
count = 60
row_bound = 1.0
label_bound = 1.0
score = "publishing:present"
relation = "zero-out"
seed = 4
[claim]
epsilon = 0.5
delta = 0.02
"""
PUBLISHING = """
import numpy as np

def everything(data, rng):
    return data

def present(output, rows):
    return np.array([np.any(np.all(output == row, axis=1)) for row in rows], dtype=float)
"""


@pytest.fixture
def write(tmp_path):
    """write(content, name): the path of a scenario, with files for it beside it."""
    rng = np.random.default_rng(0)
    coins = rng.random(60) < 0.5
    lines = [f"{coin + 0.1 * rng.normal():.4f},{int(coin)}" for coin in coins]
    (tmp_path / "scores.csv").write_text("\n".join(["score,included", *lines]))
    np.savetxt(
        tmp_path / "rows.csv", rng.normal(size=(9, 3)), delimiter=",", header="a,b,c", comments=""
    )
    (tmp_path / "publishing.py").write_text(PUBLISHING)

    def write(content, name="once"):
        path = tmp_path / f"{name}.toml"
        path.write_text(content)
        return path

    return write


def test_scores_are_audited(write, tmp_path, capsys):
    assert isinstance(load_scenario(write(TOLD)), OneRunScenario)
    assert main(["run", "once.toml"]) == 1
    assert "VIOLATED: Claimed ε = 1 at δ = 0.02" in capsys.readouterr().out
    record = record_of(tmp_path / "dpaudit-out" / "once")
    assert (record["scenario"], record["score"]) == ("once", "scores.csv")


def test_options_for_draws_are_named_as_ignored(write, capsys):
    write(TOLD)
    main(["run", "once.toml", "--level", "0.9", "--time", "9s"])
    assert "once ignores --time and --level: its file sets all but" in capsys.readouterr().err


def test_assumptions_are_named_and_give_more(write, tmp_path):
    named = "assume = 'independent'\nfamily = 'gaussian'\n[claim]"
    certified = []
    for name, text in (("any", TOLD), ("own", TOLD.replace("[claim]", named))):
        write(text)
        assert main(["run", "once.toml", "--out", name]) == 1
        record = record_of(tmp_path / name)
        certified.append(record["certified"]["epsilon"])
    assert record["assumed"]["canaries"] == "independent"
    assert "Gaussian" in record["assumed"]["family"]
    assert certified[1] > certified[0]


def test_a_mechanism_runs_on_canaries_that_coins_put_in(write, tmp_path):
    write(INSERTED)
    assert main(["run", "once.toml", "--out", "first"]) == 1
    record = record_of(tmp_path / "first")
    assert record["mechanism"]["name"] == "publishing:everything"
    assert record["dataset"]["name"] == "rows.csv"
    assert record["inserted"] == {"kind": "orthogonal", "relation": "zero-out"}
    assert record["guesses"]["right"][-1] == record["canaries"]["count"] == 60
    assert record["seed"] == 4
    main(["run", "once.toml", "--out", "again"])
    assert record_of(tmp_path / "again") == record
    main(["run", "once.toml", "--out", "other", "--seed", "5"])
    other = record_of(tmp_path / "other")
    assert other["seed"] == 5
    assert other["canaries"]["included"] != record["canaries"]["included"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[one_run]\n", ["[data]: missing", "[mechanism]: missing", "[one_run] count: missing"]),
        (f"{TOLD}[audit]\ndraws = 5\n", ["audit: unknown key (known: name, one_run, claim)"]),
        (
            "[one_run]\nscores = 'scores.csv'\nlevel = 1.0\n[claim]\nprinted = true\n",
            [
                "[claim] printed: needs a [mechanism]; scores have none",
                "[one_run] level: must be a finite number in (0, 1), got 1.0",
            ],
        ),
        (
            TOLD.replace("[claim]", "assume = 'all'\nfamily = [0.1, 20, 3]\n[claim]"),
            [
                "[one_run] assume: must be one of 'any', 'independent', got 'all'",
                '[one_run] family: must be "gaussian" or [sample_rate, steps], got a list of 3',
            ],
        ),
        (
            TOLD.replace("[claim]", "family = [0.1, 20]\n[claim]"),
            [
                "[one_run] family: must be 'gaussian' or None unless canaries are assumed "
                "independent, got a tuple of 2"
            ],
        ),
        (
            "[one_run]\nscores = 'scores.csv'\nfamily = 'gaussian'\n[claim]\ngdp = 1.0\n",
            [
                "[one_run] family: must be None for a claim that is a curve, got 'gaussian'; "
                "leave it out"
            ],
        ),
        (
            INSERTED.replace("count = 60", "count = 0").replace('"publishing:present"', '"best"'),
            [
                "[one_run] count: must be an integer >= 1, got 0",
                "[one_run] score: must be one of ('gradient', 'loss', 'nearest'), or "
                "\"package.module:callable\", got 'best'",
            ],
        ),
    ],
)
def test_faults_have_their_place(write, content, expected):
    assert faults(write(content), OneRunScenario.load) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TOLD.replace("scores.csv", "none.csv"), "once.toml: [one_run] scores: there is no file"),
        (INSERTED.replace("rows.csv", "none.csv"), "once.toml: [data]"),
        (
            INSERTED.replace("row_bound = 1.0\n", ""),
            "once.toml: [one_run] label_bound: must be given with row_bound",
        ),
    ],
)
def test_files_are_checked_before_anything_runs(write, tmp_path, capsys, content, expected):
    write(INSERTED, "good")
    write(content)
    assert main(["run", "good.toml", "once.toml"]) == 2
    assert expected in capsys.readouterr().err.replace(str(tmp_path), "")
    assert not (tmp_path / "dpaudit-out").exists()


def test_a_suite_has_a_row_and_a_case_for_it(write, write_scenario, tmp_path, capsys):
    write(TOLD.replace("1.0", "9.0"))
    paths = ["once.toml", str(write_scenario())]
    assert main(["run", *paths, "--out", "out", "--junit", "j.xml"]) == 3
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "60 canaries" in page
    assert 'href="once/report.html"' in page
    case = ET.parse(tmp_path / "j.xml").getroot()[0][0]
    shown = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert (shown["dpaudit.verdict"], shown["dpaudit.draws"]) == ("inconclusive", "1")
    assert case.find("skipped") is not None
    write(TOLD)
    capsys.readouterr()
    assert main(["run", paths[0], "--out", "out/once", "--against", "out/once"]) == 1
    output = capsys.readouterr().out
    assert "once: verdict: inconclusive, now violated" in output
    assert "once: claim: (9, 0.02)-DP, now (1, 0.02)-DP" in output


@pytest.mark.usefixtures("undrawn")
def test_its_report_is_drawn_again(write, tmp_path):
    write(TOLD)
    main(["run", "once.toml"])
    folder = tmp_path / "dpaudit-out"
    (folder / "once" / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    assert (folder / "once" / "report.html").exists()
    assert "60 canaries" in (folder / "index.html").read_text(encoding="utf-8")
    assert json.loads((folder / "once" / "result.json").read_text())["scenario"] == "once"
