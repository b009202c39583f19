"""The reference of scenarios: one source for the readers, the JSON Schema and the page."""

import datetime
import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpaudit.cli import main
from dpaudit.run import one_run
from dpaudit.run.scenario import file
from dpaudit.run.scenario.study import STUDY
from dpaudit.run.scenario.table import Table
from dpaudit.run.schema import page, schema
from dpaudit.run.schema.asked import PLACE, tables
from dpaudit.run.schema.document import way
from dpaudit.run.schema.summaries import KEYS, TABLES

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios").rglob("*.toml"))
KINDS = [
    pytest.param(place, kind, id=f"{place}-{kind.title}".strip("-"))
    for place, kinds in tables().items()
    for kind in kinds
    if place and place != STUDY  # a study's module is imported to read its keys
]
NEVER = datetime.date(2026, 1, 1)  # a value of TOML that no key takes


@pytest.fixture(scope="module")
def validator():
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def content(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def check_all(paths, validator):
    assert [path.name for path in paths if not validator.is_valid(content(path))] == []


def test_some_shipped_scenarios_are_valid(validator):
    assert len(SHIPPED) > 500
    check_all(SHIPPED[::15], validator)


@pytest.mark.slow
def test_all_shipped_scenarios_are_valid(validator):
    check_all(SHIPPED, validator)


@pytest.mark.parametrize(
    "text",
    [
        '[data]\nname = "flight"\n[mechanism]\nname = "ALS"\nrowz = 3',
        '[mechanism]\nname = "ALS"\nrows = 3\n[claim]\nepsilon = -1.0',
        '[mechanism]\nname = "ALS"\nrows = 3\n[claim]\nepsilon = 1.0\nrho = 1.0',
        '[mechanism]\nname = "ALS"\nrows = 3\n[audit]\nlevel = 1.0',
        '[mechanism]\nname = "ALS"\nrows = 3\n[neighbour]\nrule = "row"',
        '[mechanism]\ncall = "no callable"',
        '[one_run]\nscores = "s.csv"\n[audit]\ndraws = 3',
        'title = "x"\n[mechanism]\nname = "ALS"\nrows = 3',
    ],
)
def test_what_is_wrong_is_refused_by_both(text, validator, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(text)
    assert main(["run", "--check", str(wrong)]) == 2
    assert not validator.is_valid(content(wrong))


def faults(place, kind, key, value):
    """What the reader of scenarios says of a table with one faulty value."""
    ways = {"call": "module:callable", "command": ["program"]}
    own = {way: ways[way] for way in set(ways) & set(kind.keys)}
    top = Table("", {place: {**own, **kind.fixed, key: value}}, [])
    reader = one_run.read_tables if place == one_run.ONE_RUN else file.read_tables
    reader(PLACE, top)
    return [one for one in top.faults if one.startswith(f"[{place}] {key}")]


def errors(place, kind, key, value):
    """What the schema says of the same."""
    found = Draft202012Validator(way(place, kind)).iter_errors({**kind.fixed, key: value})
    return [one for one in found if list(one.path)[:1] == [key]]


@pytest.mark.parametrize(("place", "kind"), KINDS)
def test_values_that_a_reader_refuses_the_schema_refuses(place, kind):
    known = way(place, kind)["properties"]
    for key in set(kind.keys) - set(kind.fixed):
        lowest = known[key].get("minimum", known[key].get("exclusiveMinimum"))
        for value in [NEVER] + ([] if lowest is None else [lowest - 1]):
            assert faults(place, kind, key, value), (key, value)
            assert errors(place, kind, key, value), (key, value)


@pytest.mark.parametrize("place", [place for place in tables() if place != "mechanism"])
def test_every_key_has_a_meaning_and_no_other_has(place):
    asked = {key for kind in tables()[place] for key in kind.keys}
    assert asked == set(KEYS[place])
    assert set(TABLES) == set(tables()) - {""}


def test_keys_of_a_users_mechanism_have_a_meaning():
    kinds = [kind for kind in tables()["mechanism"] if "name" not in kind.fixed]
    assert {key for kind in kinds for key in kind.keys} | {"name"} == set(KEYS["mechanism"])


def test_the_page_is_what_the_code_says(capsys):
    assert (ROOT / "docs" / "scenario-keys.md").read_text(encoding="utf-8") == page() + "\n"
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
