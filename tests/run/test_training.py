"""Scenarios of a training: recorded steps, a function that trains, claims, faults, JUnit."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dpaudit.cli import main
from dpaudit.run import TrainingScenario, load_scenario
from tests.run.faults import faults
from tests.run.records import record_of

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

RECORDED = """
[training]
steps = "steps.npz"
sample_rate = 0.5
noise_multiplier = 1.0
level = 0.99
"""
RUN = '[training]\nfunction = "trained:run"\nseed = 3\n'
TRAINED = """
import numpy as np
import dpaudit as dp

def run(seed):
    rng = np.random.default_rng(seed)
    audit = dp.StepAudit(sample_rate=0.5, noise_multiplier=1.0, level=0.99)
    for _ in range(60):
        included = rng.random() < 0.5
        audit.update(included + rng.normal(), included, shift=1.0)
    return audit

def silent(seed):
    pass

def wrong(seed):
    raise RuntimeError("no batch")
"""


@pytest.fixture
def write(tmp_path):
    """write(content): the path of a scenario, with recorded steps and a module beside it."""
    rng = np.random.default_rng(0)
    included = rng.random(60) < 0.5
    noisy = included + rng.normal(size=60)
    np.savez("steps.npz", projection=noisy, included=included, shift=np.ones(60))
    np.savez("unclipped.npz", projection=noisy + 9.0 * included, included=included)
    (tmp_path / "trained.py").write_text(TRAINED)

    def write(content):
        path = tmp_path / "training.toml"
        path.write_text(content)
        return path

    return write


@pytest.mark.parametrize("content", [RECORDED, pytest.param(RUN, marks=pytest.mark.slow)])
def test_a_sound_training_is_audited_with_the_accountants_claim(write, tmp_path, capsys, content):
    assert isinstance(load_scenario(write(content)), TrainingScenario)
    assert main(["run", "training.toml", "--junit", "junit.xml"]) == 0
    assert "The accountant gives ε" in capsys.readouterr().out
    record = record_of(tmp_path / "dpaudit-out" / "training")
    assert (record["scenario"], record["level"], record["kind"]) == ("training", 0.99, "steps")
    assert record["steps"]["steps"] == 60
    assert ET.parse("junit.xml").getroot().get("failures") == "0"


@pytest.mark.slow
def test_a_claim_below_the_certified_epsilon_is_violated(write, tmp_path, capsys):
    write(f"{RECORDED}[claim]\nepsilon = 2.0\ndelta = 1e-5\n")
    assert main(["run", "training.toml", "--junit", "junit.xml"]) == 1
    assert "VIOLATED: Claimed ε = 2 at δ = 10⁻⁵" in capsys.readouterr().out
    record = record_of(tmp_path / "dpaudit-out" / "training")
    assert record["claim"] == {"text": "(2, 1e-05)-DP", "epsilon": 2.0, "delta": 1e-5}
    assert record["headline"]["certified"] > 2.0
    assert record["steps"]["verdict"] == "not violated"
    assert ET.parse("junit.xml").getroot().get("failures") == "1"


@pytest.mark.slow
def test_a_claim_that_is_kept_stands_and_steps_that_break_the_premise_refute_any(write, capsys):
    claim = "[claim]\nepsilon = 500.0\ndelta = 1e-4\n"
    write(RECORDED + claim)
    assert main(["run", "training.toml"]) == 0
    assert "Claimed ε = 500 at δ = 10⁻⁴" in capsys.readouterr().out
    write(RECORDED.replace("steps.npz", "unclipped.npz") + claim)
    assert main(["run", "training.toml"]) == 1
    assert "its premise is refuted" in capsys.readouterr().out


@pytest.mark.slow
def test_another_seed_is_passed_to_the_function(write, tmp_path):
    write(RUN)
    for out, more in (("first", []), ("again", ["--seed", "3"]), ("other", ["--seed", "4"])):
        main(["run", "training.toml", "--out", out, *more])
    first, again, other = (record_of(tmp_path / out) for out in ("first", "again", "other"))
    assert first == again
    assert first["steps"]["e_values"] != other["steps"]["e_values"]


@pytest.mark.parametrize(
    ("function", "message"),
    [("silent", "must return its audit"), ("wrong", "the training raised RuntimeError: no batch")],
)
def test_a_function_that_fails_is_an_error_in_words(write, capsys, function, message):
    write(RUN.replace(":run", f":{function}"))
    assert main(["run", "training.toml"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[training]\n", ["[training] function: missing"]),
        (
            RECORDED.replace("0.5", "1.0") + "[claim]\ngdp = 1.0\n",
            [
                "[training] sample_rate: must be a finite number in (0, 1), got 1.0",
                "[claim]: must have epsilon and delta, and no other key, for a training",
            ],
        ),
        (
            f"{RUN}delta = 0.1\n[claim]\nepsilon = 1.0\ndelta = 0.1\n",
            ["[training] delta: must be left out: the claim has its own"],
        ),
        (
            f"{RUN}[claim]\nepsilon = 1.0\ndelta = 0.0\n[audit]\ndraws = 5\n",
            [
                "[claim] delta: must be in (0, 1) for a training, got 0",
                "audit: unknown key (known: name, training, claim)",
            ],
        ),
    ],
)
def test_faults_of_a_file(write, content, expected):
    assert faults(write(content), TrainingScenario.load) == expected


def test_missing_steps_and_modules_are_found_before_anything_runs(write, capsys):
    for content in (RECORDED.replace("steps.npz", "no.npz"), RUN.replace("trained:", "absent:")):
        write(content)
        assert main(["run", "training.toml"]) == 2
        assert "[training]" in capsys.readouterr().err
