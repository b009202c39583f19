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
from dpaudit.run.scenario.files import audits_in
from tests.scenarios.settings_read import SCENARIOS, digest
from tests.scenarios.wrong_files import MINE, WRONG

FROZEN = json.loads((SCENARIOS.parent / "tests/scenarios/settings_read.json").read_text())


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
    message = " ".join(line.removeprefix("error: ") for line in lines)
    assert start in message
    assert [word for word in words if word not in message.partition(start)[2]] == []


@pytest.mark.parametrize("key", ["row = [0.5, 73417.25, true]", 'bounds = [[1.0, "73417.25"]]'])
def test_values_of_rows_are_in_no_error(key, tmp_path, capsys):
    rule = "replace" if key.startswith("row") else "search"
    path = tmp_path / "wrong.toml"
    path.write_text(f'{MINE}[neighbour]\nrule = "{rule}"\nindex = 0\n{key}\n', encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    assert "73417" not in capsys.readouterr().err
