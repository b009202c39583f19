"""Files with several [[audit]] tables: each is read, run and named as a file of its own."""

import json

import pytest

from dpaudit.cli import main
from dpaudit.errors import ScenarioError
from dpaudit.run import OneRunScenario, audits_in, load_scenario

pytestmark = pytest.mark.quick

SEVERAL = """
[data]
path = "small.csv"
target = "y"

[mechanism]
name = "ALS"

[claim]
epsilon = 1.0
delta = 0.9

# Few rows of the sketch
# and a line more
[[audit]]
name = "few"
mechanism.rows = 20
draws = 200

# Many rows
[[audit]]
name = "many"
mechanism = { rows = 60, sampler = "literal" }
neighbour = { rule = "replace", index = 3, row = [1, 0.5, 0.25, 0.125] }
claim.delta = 0.5
draws = 200
"""


@pytest.fixture
def several(write_scenario, tmp_path):
    """A file of two audits, beside its data."""
    write_scenario()
    path = tmp_path / "several.toml"
    path.write_text(SEVERAL, encoding="utf-8")
    return path


def test_each_has_the_tables_of_the_file_with_its_own_keys(several):
    few, many = (load_scenario(f"{several}:{name}") for name in ("few", "many"))
    assert (few.name, few.mechanism.rows, few.neighbour.rule) == ("few", 20, "worst")
    assert (many.name, many.mechanism.sampler, many.neighbour.index) == ("many", "literal", 3)
    assert (few.claim.delta, many.claim.delta, many.settings.draws) == (0.9, 0.5, 200)
    assert few.folder == many.folder == several.parent


@pytest.mark.usefixtures("no_figures")
def test_a_run_of_the_file_runs_them_all(several, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["run", f"{several}", "--check"]) == 0
    assert capsys.readouterr().out == "few: valid\nmany: valid\n"
    main(["run", str(several), "--out", str(out), "--sarif", str(tmp_path / "found.json")])
    records = {
        name: json.loads((out / name / "result.json").read_text()) for name in ("few", "many")
    }
    assert [record["scenario"] for record in records.values()] == ["few", "many"]
    assert "row = […]" in records["many"]["scenario_text"]
    for result in json.loads((tmp_path / "found.json").read_text())["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        line = several.read_text(encoding="utf-8").splitlines()[place["region"]["startLine"] - 1]
        assert result["message"]["text"].startswith(line.split('"')[1])
        assert place["artifactLocation"]["uri"].endswith("several.toml")


def test_audits_of_one_run_share_tables_too(tmp_path):
    path = tmp_path / "runs.toml"
    path.write_text(
        '[one_run]\nlevel = 0.9\n[[audit]]\nname = "a"\none_run.scores = "a.csv"\n'
        '[[audit]]\nname = "b"\none_run.scores = "b.csv"\none_run.level = 0.8\n',
        encoding="utf-8",
    )
    runs = [OneRunScenario.load(file.path) for file in audits_in(path)]
    assert [run.table.scores.name for run in runs] == ["a.csv", "b.csv"]
    assert [run.table.options["level"] for run in runs] == [0.9, 0.8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[audit]]\ndraws = 3\n", "[[audit]] 1 name: missing"),
        ("audit = [3]\n", "[[audit]] 1 name: missing"),
        ("audit = []\n", "audit: must be a table, or [[audit]] tables, got none"),
        ('[[audit]]\nname = "a:b"\n', "[[audit]] 1 name: must be text without / and :, got 'a:b'"),
        (2 * '[[audit]]\nname = "a"\n', "[[audit]] 2 name: 'a' is the name of an earlier one, too"),
        ('name = "x"\n[[audit]]\nname = "a"\n', "name: goes into each [[audit]]"),
    ],
)
def test_names_are_needed(tmp_path, text, message, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 2
    assert f"wrong.toml: {message}" in capsys.readouterr().err


def test_a_fault_is_of_one_audit(several, capsys):
    several.write_text(SEVERAL.replace("sampler", "smapler"), encoding="utf-8")
    assert main(["run", str(several), "--check"]) == 2
    assert "several.toml:many: [mechanism] smapler: unknown key" in capsys.readouterr().err


def test_where_one_is_wanted_it_must_be_named(several):
    with pytest.raises(ScenarioError, match=r"has 2 audits: name one of them as .* few, many"):
        load_scenario(several)
    with pytest.raises(ScenarioError, match=r"has no audit 'fwe'; did you mean 'few'?"):
        load_scenario(f"{several}:fwe")
    alone = several.with_name("small.toml")
    assert load_scenario(f"{alone}:small").name == load_scenario(alone).name == "small"
    with pytest.raises(ScenarioError, match=r"small.toml: has no audit 'x'; its audits are small"):
        load_scenario(f"{alone}:x")
