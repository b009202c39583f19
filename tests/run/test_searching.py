"""Scenario files that ask for a search: their keys, what runs, and what is left in the folder."""

import json

import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.faults import faults

SEARCH = 'rule = "search"\nshortlist = 4\nbudget = 6'


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            'relations = ["swap"]',
            ["relations[0]: must be one of 'zero-out', 'remove', 'replace', 'add', got 'swap'"],
        ),
        (
            'relations = ["add"]',
            ["relations: 'replace' and 'add' need candidates, row_bound or bounds"],
        ),
        ("row_bound = 2", ["row_bound: goes with the relations 'replace' and 'add'"]),
        (
            'relations = ["add"]\nbounds = [[2, 1]]\nrank = "best"',
            [
                "bounds[0]: must be [least, largest], in that order, got 2 numbers",
                "rank: must be one of 'auto', 'linear', 'influence', 'random', got 'best'",
            ],
        ),
        ("budget = 1\nindex = 3", ["budget: must be a finite number > 1, got 1", None]),
    ],
)
def test_every_fault_is_told(write_scenario, text, lines):
    found = faults(write_scenario(neighbour=f'rule = "search"\n{text}'))
    assert len(found) == len(lines)
    for line, wanted in zip(found, lines, strict=True):
        assert wanted is None or line == f"[neighbour] {wanted}"


@pytest.mark.usefixtures("undrawn")
def test_a_run_leaves_the_table_of_what_was_tried(write_scenario, tmp_path):
    path = write_scenario(neighbour=SEARCH)
    result = run(Scenario.load(path), tmp_path / "out")
    data = Scenario.load(path).data.load().database
    found = dp.search_neighbours(
        dp.mechanisms.ALS(20),
        data,
        at=1.0,
        shortlist=4,
        budget=6,
        draws=2000,
        claim=(1.0, 0.9),
        classifier="qda",
        epsilon=[0.0, 1.0, 2.0],
        rng=0,
    )
    assert result.spectrum.low.tolist() == found.audit.spectrum.low.tolist()
    record = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert record["neighbour"]["rule"] == found.selection.rule
    assert record["neighbour"]["index"] == found.selection.best.change.index
    assert (tmp_path / "out" / "search.csv").read_text(encoding="utf-8") == found.selection.to_csv()


@pytest.mark.usefixtures("undrawn")
def test_candidates_and_a_score_of_the_users_own(write_scenario, tmp_path):
    (tmp_path / "scores_of_mine.py").write_text(
        "def largest(data, out, into):\n    return into[:, 1]\n"
    )
    (tmp_path / "more.csv").write_text("y,a,b\n0,9,0\n0,2,0\n1,-9,1\n")
    path = write_scenario(
        neighbour='rule = "search"\nshortlist = 1\nrelations = ["add"]\ncandidates = "more.csv"\n'
        'rank = "scores_of_mine:largest"'
    )
    result = run(Scenario.load(path), tmp_path / "out")
    assert result.subject.pair.right[-1].tolist() == [1.0, 9.0, 0.0, 0.0]
    missing = write_scenario(
        "missing", neighbour='rule = "search"\nrank = "scores_of_mine:smallest"'
    )
    with pytest.raises(
        dp.ScenarioError, match=r"\[neighbour\] rank: scores_of_mine:smallest: AttributeError"
    ):
        run(Scenario.load(missing), tmp_path / "out")


def test_bounds_are_a_pair_for_all_a_file_or_those_of_the_data(write_scenario, tmp_path):
    (tmp_path / "public.csv").write_text("y,b,a\n-1,-2,-3\n1,2,3\n")
    expected = {
        "[[-1, 1]]": [[-1, 1]] * 4,
        '"public.csv"': [[1, 1], [-3, 3], [-2, 2], [-1, 1]],  # the constant first
    }
    text = 'rule = "search"\nrelations = ["add"]\nnamed = false\nbounds = '
    for bounds, wanted in expected.items():
        scenario = Scenario.load(write_scenario(neighbour=text + bounds))
        data = scenario.data.load()
        assert [list(pair) for pair in scenario.neighbour.bounds_of(data)] == wanted
        assert len(scenario.neighbour.notes) == 1
    of_data = Scenario.load(write_scenario(neighbour=f'{text}"data"')).neighbour
    assert "this audit is about one row added" in of_data.notes[0].text
    assert "were taken from the data" in of_data.notes[1].text
