"""What a mechanism sees of a scenario's data: the rows of the file, and what is said of changes."""

import json
import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.faults import faults

pytestmark = pytest.mark.usefixtures("no_figures")

ROW = 'rule = "row"\nindex = 4'
FEW = 'draws = 600\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
PLAIN = 'path = "small.csv"'
OWN = '''
from pathlib import Path

import numpy as np

SEEN = Path(__file__).with_name("seen.npy")


def keep(rows):
    if not SEEN.exists():
        np.save(SEEN, rows)


def release(data, size, *, rng):
    """The mean plus noise."""
    keep(data)
    return data.mean(axis=0) + rng.normal(size=(size, data.shape[1]))
'''
PROGRAM = """
import random, sys
from pathlib import Path

Path("seen.csv").write_text(Path(sys.argv[1]).read_text())
random.seed(int(sys.argv[3]))
for _ in range(int(sys.argv[2])):
    print(random.gauss(0.0, 1.0))
"""
CALL = 'call = "seen_rows:release"'


@pytest.fixture
def ran(write_scenario, tmp_path, monkeypatch):
    """ran(mechanism, data) → result.json of a short run; what the mechanism saw is in seen.*."""
    (tmp_path / "seen_rows.py").write_text(OWN)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.delitem(sys.modules, "seen_rows", raising=False)

    def ran(mechanism, data=PLAIN, neighbour=ROW, audit=FEW):
        path = write_scenario(mechanism=mechanism, data=data, neighbour=neighbour, audit=audit)
        run(Scenario.load(path), tmp_path / "out")
        return json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))

    return ran


def dataset(write, **tables):
    """The data of a scenario, as its mechanism sees them."""
    return Scenario.load(write(**tables)).data.load()


def in_file(tmp_path):
    """The rows of small.csv, by a reader of another kind."""
    return np.loadtxt(tmp_path / "small.csv", delimiter=",", skiprows=1)


def assert_seen(seen, rows):
    """Row 4 is zero on one of the sides."""
    assert np.array_equal(seen[4], rows[4]) or not seen[4].any()
    np.testing.assert_array_equal(np.delete(seen, 4, axis=0), np.delete(rows, 4, axis=0))


def test_a_call_gets_the_rows_of_the_file(ran, tmp_path):
    record = ran(CALL)["dataset"]
    assert_seen(np.load(tmp_path / "seen.npy"), in_file(tmp_path))
    assert (record["columns"], record["shape"]) == (["a", "b", "y"], [30, 3])
    assert (record["target"], record["changes"], record["features"]) == (None, [], 3)


def test_a_command_gets_the_rows_of_the_file(ran, tmp_path):
    command = 'command = ["{python}", "-S", "program.py", "{data}", "{size}", "{seed}"]'
    ran(command, audit="draws = 20")
    assert_seen(np.loadtxt(tmp_path / "seen.csv", delimiter=","), in_file(tmp_path))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("mechanism", "data", "columns", "changes"),
    [
        (CALL, PLAIN, "a b y", []),
        (CALL, f'{PLAIN}\ntarget = "b"', "a y b", ["'b' moved last"]),
        (CALL, f"{PLAIN}\nconstant = true", "constant a b y", ["a column of ones added first"]),
        (
            'name = "ALS"\nrows = 9',
            f'{PLAIN}\ntarget = "b"',
            "constant a y b",
            ["'b' moved last", "a column of ones added first"],
        ),
        ('name = "ALS"\nrows = 9', f'{PLAIN}\ntarget = "y"\nconstant = false', "a b y", []),
    ],
)
def test_columns_are_added_and_moved_only_where_that_is_said(
    write_scenario, mechanism, data, columns, changes
):
    found = dataset(write_scenario, mechanism=mechanism, data=data, neighbour=ROW)
    assert (found.columns, found.changes) == (tuple(columns.split()), tuple(changes))
    assert found.values.shape[1] == len(found.columns)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("mechanism", "needs"),
    [
        ('name = "ALS"\nrows = 9', True),
        ('call = "m:F"\nkind = "estimator"', True),
        ('call = "m:f"', False),
        ('command = ["x", "{data}"]', False),
    ],
)
def test_a_target_is_needed_where_something_predicts(write_scenario, mechanism, needs):
    path = write_scenario(mechanism=mechanism, data=PLAIN, neighbour=ROW)
    if needs:
        assert faults(path) == ["[data] target: missing (the column to predict)"]
    else:
        assert Scenario.load(path).data.target is None


@pytest.mark.quick
@pytest.mark.parametrize("text", [None, "at = 0.5"])
def test_without_a_rule_a_mechanism_without_a_law_is_searched(write_scenario, text):
    scenario = Scenario.load(write_scenario(mechanism=CALL, data=PLAIN, neighbour=text))
    rule = scenario.neighbour.settled(lambda data, size, *, rng: None)
    assert rule.options == {"at": 1.0 if text is None else 0.5}
    worst = scenario.neighbour.settled(dp.mechanisms.ALS(9))
    assert (worst.rule, worst.at) == ("worst", rule.at)


def test_a_callable_with_a_law_is_still_audited_on_its_worst_row(write_scenario, tmp_path):
    path = write_scenario(
        mechanism='call = "dpaudit.mechanisms:ALS"\nparameters = {rows = 20}',
        data='path = "small.csv"\ntarget = "y"\nconstant = true',
        neighbour=None,
        audit=FEW,
    )
    built_in = run(Scenario.load(write_scenario("als", audit=FEW)), tmp_path / "als")
    found = run(Scenario.load(path), tmp_path / "out")
    assert found.subject.rule == built_in.subject.rule == "worst of 30 rows at ε = 1"
    assert found.spectrum.low.tolist() == built_in.spectrum.low.tolist()
