"""The user's own mechanisms in a scenario: one output a call, estimators, commands, time limits."""

import json
import re
import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run

pytestmark = pytest.mark.usefixtures("no_figures")

OWN = '''
import time
import numpy as np

def one(data, *, rng):
    """One noisy mean."""
    return {"mean": data.mean() + rng.normal()}

def undescribed(data, *, rng):
    return rng.normal()

def hangs(data, size, *, rng):
    time.sleep(20)

class Noisy:
    """Least squares with noise."""
    def __init__(self, sigma=1.0):
        self.sigma, self.seed = sigma, None
    def fit(self, X, y):
        self.coef_ = np.linalg.lstsq(X, y, rcond=None)[0]
        rng = np.random.default_rng(self.seed)
        self.coef_ = self.coef_ + self.sigma * rng.normal(size=len(self.coef_))
        return self
    def predict(self, X):
        return X @ self.coef_

def first(model):
    return model.coef_[0]

def mean(values, scale, random_state=None):
    noise = np.random.default_rng(random_state).laplace(scale=scale)
    return sum(values) / len(values) + noise

def counted(records, rng):
    return [one["size"] + rng.normal() for one in records]

def rounded(records):
    return [round(one["size"] + np.random.laplace()) for one in records]

class Centred(Noisy):
    def fit(self, X):
        return super().fit(X, X[:, -1])
    def transform(self, X):
        return self.predict(X)
'''
PROGRAM = """
import csv, random, sys
rows = [[float(cell) for cell in row] for row in csv.reader(open(sys.argv[1]))]
random.seed(int(sys.argv[3]))
for _ in range(int(sys.argv[2])):
    print(sum(row[-1] for row in rows) / len(rows) + random.gauss(0.0, 1.0))
"""
ROW = 'rule = "row"\nindex = 4'
COMMAND = 'command = ["{python}", "mech.py", "{data}", "{size}", "{seed}"]'


@pytest.fixture
def ran(write_scenario, tmp_path, monkeypatch):
    """ran(mechanism, options) → result.json of a run."""
    (tmp_path / "own_code.py").write_text(OWN)
    (tmp_path / "mech.py").write_text(PROGRAM)
    monkeypatch.delitem(sys.modules, "own_code", raising=False)

    def ran(mechanism, **options):
        run(
            Scenario.load(write_scenario(mechanism=mechanism, neighbour=ROW)),
            tmp_path / "out",
            **options,
        )
        return json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))

    return ran


@pytest.mark.slow  # 5 s
def test_what_a_program_will_cost_is_told_before_its_draws(ran):
    notes = []
    ran(COMMAND, look=notes.append, seconds=60.0)
    assert len(notes) == 1
    cost = r"(About .* s|A few seconds) for [\d,]+ draws(; .* in the mechanism, .* a call)?\. They"
    assert re.match(cost, notes[0])


def test_parameters_of_a_function_that_does_not_make_the_mechanism(ran):
    with pytest.raises(
        dp.ScenarioError, match=r"with parameters it is called as f\(scale=\.\.\.\)"
    ):
        ran('call = "own_code:undescribed"\nbatched = false\nparameters = {scale = 2}')


@pytest.mark.parametrize(
    "more",
    ["", 'outputs = "own_code:first"', "predict = [[0, 0.5], [2, 3]]\nparameters = {sigma = 2}"],
)
def test_an_estimator(ran, more):
    record = ran(f'call = "own_code:Noisy"\nkind = "estimator"\n{more}')
    assert record["mechanism"]["parameters"]["kind"] == "estimator"
    assert record["verdict"] in ("violated", "not violated")


COLUMNS = 'columns = {one = "float", size = "float", y = "float"}\nrecord = 4\nform = "dicts"'
ADAPTED = {
    "values": 'call = "own_code:mean"\nkind = "values"\ncolumn = -1\nform = "list"\n'
    "parameters = {scale = 0.1}",
    "records": f'call = "own_code:rounded"\nkind = "records"\nseeds = "global"\n{COLUMNS}',
    "records with rng": f'call = "own_code:counted"\nkind = "records"\n{COLUMNS}',
    "transformer": 'call = "own_code:Centred"\nkind = "transformer"\npoints = [[1, 2, 3]]',
}


@pytest.mark.parametrize("kind", ADAPTED)
def test_such_a_function_gives_draws_of_its_own(write_scenario, tmp_path, kind, monkeypatch):
    (tmp_path / "own_code.py").write_text(OWN)
    path = write_scenario(mechanism=ADAPTED[kind], neighbour=ROW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_code", raising=False)
    scenario = Scenario.load(path)
    mechanism = scenario.mechanism.load(scenario.data.load())
    monkeypatch.delitem(sys.modules, "own_code")
    draws = mechanism(np.arange(12.0).reshape(4, 3).repeat(2, axis=0), 2, rng=1)
    again = mechanism(np.arange(12.0).reshape(4, 3).repeat(2, axis=0), 2, rng=1)
    assert repr(draws) == repr(again)
    assert len({repr(one) for one in draws}) == 2


@pytest.mark.slow
def test_a_command_runs_in_the_folder_of_the_scenario(ran, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    record = ran(f"{COMMAND}\ntimeout = 60")
    assert record["mechanism"]["name"] == "'{python}' mech.py '{data}' '{size}' '{seed}'"
    assert record["verdict"] == "not violated"


def test_what_hangs_or_fails_is_said_with_its_block(ran):
    with pytest.raises(
        dp.MechanismError,
        match=r"no output within 0\.2 s .*M\(D\), block 0 \(\d+ draws?, seed 0, key ",
    ):
        ran('call = "own_code:hangs"\ntimeout = 0.2')
    with pytest.raises(
        dp.MechanismError,
        match=r"the command .*exit status 2; .*No such file.*block 0 \(\d+ draws, ",
    ):
        ran(COMMAND.replace("mech.py", "absent.py"))


@pytest.mark.parametrize(
    ("mechanism", "fault"),
    [
        (
            'command = "python mech.py {data}"',
            "command: must be a list of arguments (there is no shell)",
        ),
        (
            'call = "own_code:N"\nkind = "estimator"\noutputs = ["a b"]',
            "outputs: must be a list of attributes",
        ),
        (
            'call = "own_code:N"\nkind = "estimator"\npredict = [[1], [1, 2]]',
            "predict: must be points of equally many",
        ),
        ('call = "own_code:N"\nkind = "records"\ncolumns = "a"', "columns: must be names of the"),
    ],
)
def test_faults_are_found_before_anything_runs(write_scenario, tmp_path, mechanism, fault):
    (tmp_path / "unread_code.py").write_text("raise SystemExit('ran')")
    mechanism = mechanism.replace("own_code", "unread_code")
    with pytest.raises(dp.ScenarioError) as caught:
        Scenario.load(write_scenario(mechanism=mechanism, neighbour=ROW))
    assert len(str(caught.value).splitlines()) == 1
    assert fault in str(caught.value)
    assert "unread_code" not in sys.modules


def test_a_column_that_the_data_lack_is_said(ran):
    for column in ("3", "[0, 3]"):
        with pytest.raises(
            dp.ScenarioError, match=r"\[mechanism\] column: must be below 3, .* got"
        ):
            ran(f'call = "own_code:mean"\nkind = "values"\ncolumn = {column}')


def test_an_output_that_cannot_be_imported_is_said(ran):
    with pytest.raises(
        dp.ScenarioError, match=r"\[mechanism\] outputs: own_code:absent: AttributeError"
    ):
        ran('call = "own_code:Noisy"\nkind = "estimator"\noutputs = "own_code:absent"')
