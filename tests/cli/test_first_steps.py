"""What works in any folder: shipped scenarios by name, `dpaudit init`, and hints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import main, shipped
from dpaudit.errors import ScenarioError
from dpaudit.run import audits_in

pytestmark = pytest.mark.usefixtures("in_tmp_path")

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def test_every_shipped_scenario_has_a_name_of_its_own():
    """A file of several audits has one, too, that stands for all of them."""
    paths = list(SCENARIOS.rglob("*.toml"))
    audits = [file.path for path in paths for file in audits_in(path)]
    assert sorted(shipped.shipped().values()) == sorted({*paths, *audits})
    assert len(shipped.shipped()) == len({*paths, *audits})
    whole = shipped.scenario_path(Path("opendp"))
    assert shipped.scenario_path(Path("opendp-count")) == Path(f"{whole}:opendp-count")


def test_own_files_come_before_shipped_scenarios_of_the_same_name(tmp_path):
    """A folder hides none of them: `dpaudit run flight-als --out flight-als` leaves one."""
    path_of = shipped.scenario_path
    (tmp_path / "flight-als").mkdir()
    assert path_of(Path("flight-als")) == SCENARIOS / "flight-als.toml"
    (tmp_path / "flight-als").rmdir()
    (tmp_path / "flight-als").touch()
    assert path_of(Path("flight-als")) == Path("flight-als")
    assert path_of(Path("else/flight-als")) == Path("else/flight-als")
    (tmp_path / "ridge.toml").touch()
    assert path_of(Path("ridge")) == Path("ridge.toml")


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(ScenarioError, match=r"near names: flight-als, .*`dpaudit list scenarios`"):
        shipped.scenario_path(Path("fligt-als"))


@pytest.mark.usefixtures("no_figures")
def test_init_makes_a_scenario_that_runs_as_it_is(tmp_path, capsys):
    assert main(["init", "first"]) == 0
    assert "dpaudit run first/scenario.toml" in capsys.readouterr().out
    made = {path.relative_to("first") for path in Path("first").rglob("*") if path.is_file()}
    names = ["README.md", "mechanism.py", "rows.csv", "scenario.toml", "test_privacy.py"]
    assert made == {*map(Path, names), Path(".github/workflows/privacy.yml")}
    assert main(["run", "first/scenario.toml", "--draws", "4000"]) == 0
    assert "Neighbours tried: " in capsys.readouterr().out


def test_init_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "mechanism.py").write_text("mine")
    assert main(["init", "first"]) == 2
    assert "nothing was written: choose another name" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "first").iterdir()] == ["mechanism.py"]
    assert main(["init", "first/mechanism.py"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "status"), [("scale", 0), ("0.5 * scale", 1)])
def test_the_test_that_init_makes_is_green_until_the_noise_is_too_small(noise, status):
    assert main(["init", "first"]) == 0
    module = Path("first/mechanism.py")
    module.write_text(module.read_text().replace("scale=scale", f"scale={noise}"))
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "first"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stdout
    assert main(["run", "first/scenario.toml"]) == status


@pytest.mark.parametrize("command", ["plan", "samples", "audit"])
@pytest.mark.parametrize("option", ["--epsilon", "--delta"])
def test_a_claim_in_two_options_is_answered_with_claim(command, option, capsys):
    assert main([command, option, "1"]) == 2
    assert f"No such option '{option}': use --claim EPS,DELTA." in capsys.readouterr().err


@pytest.mark.parametrize("first", ["run flight-als", "audit release:", "init "])
def test_help_starts_with_what_works_anywhere(first, capsys):
    assert main(["--help"]) == 0
    assert f"dpaudit {first}" in capsys.readouterr().out.partition("An audit draws")[0]


def test_a_folder_that_commands_would_take_for_an_option_is_not_made(tmp_path, capsys):
    assert main(["init", "--", "-rf"]) == 2
    assert "NAME must not begin with -" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
