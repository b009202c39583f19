"""Scenarios of synthesizers: how they name pair and tables, and what is refused."""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.faults import faults

MECHANISM = 'call = "tables:Cells"\nkind = "synthesizer"'
TEMPLATE = 'rule = "template"\ntemplate = "extreme"'
MODULE = """
class Cells:
    columns = ["a", "b"]
    categories = {0: ["no", "yes"], 1: None}

    def __init__(self, share=0.5):
        self.share = share

    def fit(self, data, rng):
        keep = rng.random(len(data)) < self.share
        return data[keep]

    def sample(self, model, rng):
        return {"b": model[:, 1], "a": [("no", "yes")[int(a)] for a in model[:, 0]]}
"""


@pytest.fixture
def write(write_scenario, tmp_path):
    (tmp_path / "tables.py").write_text(MODULE)
    np.savetxt(tmp_path / "t.csv", np.tile([[0, 1], [1, 2]], (6, 1)), delimiter=",", header="a,b")

    def written(mechanism=MECHANISM, neighbour=TEMPLATE, audit='draws = 200\nclassifier = "qda"'):
        tables = {"data": 'path = "t.csv"', "claim": "epsilon = 1.0\ndelta = 0.0", "audit": audit}
        return write_scenario(mechanism=mechanism, neighbour=neighbour, **tables)

    return written


@pytest.mark.usefixtures("no_figures")
def test_a_record_that_half_of_the_tables_keep_is_given_away(write, tmp_path):
    path = write(neighbour='rule = "add"\nrow = [0.0, 7.0]')
    notes = []
    result = run(Scenario.load(path), tmp_path / "out", look=notes.append)
    assert result.verdict == "violated"
    assert [note.partition(" for ")[2][:13] for note in notes] == ["864 draws. Th"]
    record = json.loads((tmp_path / "out" / "result.json").read_text())
    assert record["mechanism"]["name"] == "tables:Cells"
    assert record["neighbour"]["relation"] == "add"
    assert record["source"]["sha256"]
    assert "7.0" not in record["scenario_text"]


@pytest.mark.parametrize(
    ("neighbour", "relation"),
    [(TEMPLATE, "add"), ('rule = "template"\ntemplate = "rarest"', "remove")],
)
def test_a_template_is_the_pair_of_that_name(write, neighbour, relation):
    scenario = Scenario.load(write(neighbour=neighbour))
    rows = scenario.data.load().database
    pair = scenario.neighbour.pair(None, rows)
    known = dp.neighbours.record_templates(rows)[scenario.neighbour.template]
    assert pair.relation == relation
    assert np.array_equal(pair.right, known.right)


def test_a_synthesizer_has_no_search(write):
    given = 'give "template", "add", "replace" or "row": a synthesizer has no search'
    for neighbour in (None, 'rule = "search"'):
        assert faults(write(neighbour=neighbour)) == [f"[neighbour] rule: {given}"]


@pytest.mark.parametrize(
    ("neighbour", "message"),
    [
        ('rule = "template"\ntemplate = "oldest"', "template must be one of .outside"),
        ('rule = "add"\nrow = [1.0]', "row .* 2 numbers"),
    ],
)
def test_a_pair_that_the_data_have_not_is_refused(write, neighbour, message):
    scenario = Scenario.load(write(neighbour=neighbour))
    with pytest.raises(dp.InvalidInput, match=message):
        scenario.neighbour.check(scenario.data.load())


def test_what_makes_no_synthesizer_is_refused(write, tmp_path):
    (tmp_path / "tables.py").write_text("class Cells:\n    fit = None\n")
    with pytest.raises(dp.ScenarioError, match=r"an object with fit\(data, rng\) and sample"):
        run(Scenario.load(write()), tmp_path / "out")
