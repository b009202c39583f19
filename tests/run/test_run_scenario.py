"""A run: neighbour, record, draws kept and reused, the user's own callables."""

import json
import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, analyse, run

pytestmark = [pytest.mark.quick, pytest.mark.usefixtures("no_figures")]

OWN = '''
"""Own."""
import numpy as np

def noisy_mean(data, size, *, rng):
    """The mean with noise."""
    return data.mean(axis=0) + 0.1 * rng.standard_normal((size, data.shape[1]))

def make(scale):
    return lambda data, size, *, rng: scale * noisy_mean(data, size, rng=rng)

def breaks(data, size, *, rng):
    if rng.random() < 0.1:
        raise RuntimeError("midway")
    return noisy_mean(data, size, rng=rng)

class Costly:
    most_calls = 8

    def __init__(self, log):
        self.log = log

    def __call__(self, data, size, *, rng):
        with open(self.log, "a") as file:
            file.write(f"{size}\\n")
        return noisy_mean(data, size, rng=rng)

nothing = 3
'''
ROW = 'rule = "row"\nindex = 4'


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The name of a module beside the scenario."""
    (tmp_path / "own_mechanisms.py").write_text(OWN)
    monkeypatch.delitem(sys.modules, "own_mechanisms", raising=False)
    return "own_mechanisms"


@pytest.mark.parametrize("keys", ["", 'timeout = 60\nseeds = "global"'])
def test_a_class_may_ask_for_few_calls(own, write_scenario, tmp_path, keys):
    log = tmp_path / "log"
    call = f'call = "{own}:Costly"\nparameters = {{ log = "{log.as_posix()}" }}\n{keys}'
    audit = 'draws = 4000\nclassifier = "qda"'
    run(Scenario.load(write_scenario(mechanism=call, neighbour=ROW, audit=audit)), tmp_path / "out")
    sizes = [int(line) for line in log.read_text().split()]
    assert 16 <= sizes.count(4000 // 8) <= 17  # 8 a side, and one of the look at common noise


def test_the_record_says_what_was_audited(write_scenario, tmp_path):
    result = run(Scenario.load(write_scenario()), tmp_path / "out")
    record = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    data = dp.datasets.load(tmp_path / "small.csv", target="y").database
    assert (
        record["neighbour"]["index"]
        == dp.exact.worst_case(dp.mechanisms.ALS(20), data, [1.0]).index[0]
    )
    assert record["neighbour"]["rule"] == "worst of 30 rows at ε = 1"
    assert record["scenario"] == "small"
    assert record["dataset"]["feature_names"] == ["constant", "a", "b"]
    assert (record["dataset"]["n"], record["dataset"]["features"], record["dataset"]["target"]) == (
        30,
        3,
        "y",
    )
    assert (record["seed"], record["verdict"]) == (0, result.verdict)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "report.html",
        "result.json",
    ]


def test_a_faulty_override_leaves_kept_draws_alone(write_scenario, tmp_path):
    scenario = Scenario.load(write_scenario())
    run(scenario, tmp_path / "out", keep_draws=True)
    with pytest.raises(dp.InvalidInput, match="draws must leave"):
        run(scenario, tmp_path / "out", draws=5)
    assert list((tmp_path / "out" / "draws").glob("*.npy"))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "no_such_module:f",
            r"\[mechanism\] call: no_such_module:f: ModuleNotFoundError: No module named"
            ".*; it is not installed, nor in the scenario's folder",
        ),
        ("own_mechanisms:absent", r"\[mechanism\] call: own_mechanisms:absent: AttributeError"),
        ("own_mechanisms:nothing", r"own_mechanisms:nothing must be callable, got int"),
    ],
)
def test_a_call_that_cannot_be_loaded(write_scenario, tmp_path, own, target, message):
    with pytest.raises(dp.ScenarioError, match=message):
        run(
            Scenario.load(write_scenario(mechanism=f'call = "{target}"', neighbour=ROW)),
            tmp_path / "out",
        )


def test_a_mechanism_that_raises_midway_leaves_no_report(write_scenario, tmp_path, own):
    with pytest.raises(dp.MechanismError, match="RuntimeError: midway"):
        run(
            Scenario.load(write_scenario(mechanism=f'call = "{own}:breaks"', neighbour=ROW)),
            tmp_path / "out",
        )
    assert not list((tmp_path / "out").glob("re*"))


def test_worst_needs_an_exact_spectrum(write_scenario, tmp_path, own):
    scenario = Scenario.load(write_scenario(mechanism=f'call = "{own}:noisy_mean"'))
    with pytest.raises(
        dp.ScenarioError, match=r'\[neighbour\] rule: give "search", or "row" and an index'
    ):
        run(scenario, tmp_path / "out")
    with pytest.raises(dp.NoExactSpectrum):
        analyse(scenario)


def test_rows_are_shrunk_to_a_public_bound(write_scenario):
    scenario = Scenario.load(
        write_scenario(data='path = "small.csv"\ntarget = "y"\nrow_bound = 1.5')
    )
    database, plain = (
        scenario.data.load().database,
        Scenario.load(write_scenario(name="plain")).data.load().database,
    )
    norms = np.linalg.norm(plain, axis=1)
    np.testing.assert_allclose(np.linalg.norm(database, axis=1), np.minimum(norms, 1.5), rtol=1e-14)
    assert f"{np.count_nonzero(norms > 1.5)} rows shrunk to norm 1.5" in scenario.data.load().source


def test_printed_claim_is_the_mechanisms_own(write_scenario):
    made = 'name = "GaussianLS"\nepsilon = 0.5\ndelta = 0.01\nsensitivity = 1.0'
    assert Scenario.load(write_scenario(mechanism=made, claim="printed = true")).claim == dp.Claim(
        0.5, 0.01
    )
    with pytest.raises(dp.errors.ScenarioError, match="ALS claims nothing"):
        Scenario.load(write_scenario(claim="printed = true"))
    with pytest.raises(dp.errors.ScenarioError, match="must be true, or be left out"):
        Scenario.load(write_scenario(mechanism=made, claim="printed = false"))
