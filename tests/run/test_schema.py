"""The reference of scenarios: one source for the readers, the JSON Schema and the page."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpaudit.cli import main
from dpaudit.errors import ScenarioError
from dpaudit.mechanisms import REGISTRY
from dpaudit.run.scenario.files import File
from dpaudit.run.scenario.study import kind_of
from dpaudit.run.schema import described, keys_of, schema, tables
from dpaudit.run.schema_page import page
from tests.scenarios.wrong_files import BY_THE_KEY, WRONG

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios").rglob("*.toml"))
MINIMAL = {"data": {"name": "flight"}, "mechanism": {"name": "ALS", "rows": 3}}


@pytest.fixture(scope="module")
def validator():
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def content(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def check_all(paths, validator):
    assert [path.name for path in paths if not validator.is_valid(content(path))] == []


def test_some_shipped_scenarios_are_valid(validator):
    assert len(SHIPPED) > 100
    check_all(SHIPPED[::15], validator)


@pytest.mark.slow
def test_all_shipped_scenarios_are_valid(validator):
    check_all(SHIPPED, validator)


def read(content):
    """The faults that the reader of scenarios finds."""
    file = File(Path("scenario.toml"), "", content)
    try:
        kind_of(file).read(file)
    except ScenarioError as error:
        return str(error).splitlines()
    return []


MINE = {"data": {"path": "x.csv"}, "mechanism": {"call": "a:b"}}
OWN = {"mechanism": {"name": "PMTRR", "mu": 1.0, "public_rows": 9}, "neighbour": {"rule": "own"}}
SEVERAL = {
    **MINIMAL,
    "mechanism": {"name": "ALS"},
    "audit": [
        {"name": "few", "mechanism": {"rows": 30}, "draws": 300},
        {"name": "many", "mechanism": {"rows": 300}, "claim": {"gdp": 1.0}},
    ],
}
SCORES = {"one_run": {"scores": "s.csv"}}
MADE = {**MINE, "one_run": {"count": 3}}
RIGHT = {
    "minimal": MINIMAL,
    "no rule": {**MINIMAL, "neighbour": {"at": 0.1}},
    "search": {**MINE, "neighbour": {"relations": ["replace"], "bounds": "data"}},
    "own pair": OWN,
    "claim of a group": {**MINIMAL, "claim": {"epsilon": 1.0, "delta": 0.1, "group": 3}},
    "by distance": {**MINIMAL, "claim": {"epsilon": 1.0, "per": "hamming"}},
    "tCDP": {**MINIMAL, "claim": {"rho": 0.1, "omega": 20}},
    "scores": {**SCORES, "claim": {"gdp": 1.0}},
    "one run": {**MADE, "claim": {"epsilon": 1.0}},
    "training": {"training": {"function": "a:b"}, "claim": {"epsilon": 1.0, "delta": 0.1}},
    "steps": {"training": {"steps": "s.npz", "sample_rate": 0.1, "noise_multiplier": 1.0}},
}


def test_the_schema_refuses_an_unknown_key_and_a_wrong_value(validator):
    """That the reader refuses these and more, in what words, is seen in tests/scenarios."""
    texts = {name: WRONG[name][0] for name in BY_THE_KEY}
    assert [name for name, text in texts.items() if validator.is_valid(tomllib.loads(text))] == []


def test_what_is_right_is_taken_by_both(validator):
    for name, right in RIGHT.items():
        assert read(right) == [], name
        assert validator.is_valid(right), name


def test_several_audits_share_tables(validator, tmp_path):
    assert validator.is_valid(SEVERAL)
    for key, value in (("drawss", 3), ("mechanism", {"rowz": 3}), ("level", 2.0), ("name", 3)):
        wrong = {**SEVERAL, "audit": [{"name": "few", key: value}]}
        (error,) = validator.iter_errors(wrong)
        assert list(error.path)[:2] == ["audit", 0]
    assert not validator.is_valid({**SEVERAL, "audit": [{"draws": 300}]})


VALUES = [
    *(True, -1, 0, 1, 25, 501, -0.5, 0.5, 2.5, 10**13, "", " ", "x", "a\nb", "a.b:c", "1a:b"),
    *("a:b:c", "verdict", "auto", "float", "array", [], [1], [1.5, 2.0], [[1.0, 2.0]], ["a", "b"]),
    *(["a", "a"], ["zero-out"], [-1.5], ["{data}"], {}, {"a": "float"}, {"a": 1}),
    *({"start": 0.0, "stop": 1.0, "num": 3}, {"start": 0.0}),
]
KEYS_OF_THE_READER = {  # it refuses more, by other keys or by what there is
    *(("neighbour", key) for key in ("row_bound", "bounds", "candidates")),
    *(("audit", key) for key in ("draws", "train_share", "choose_share", "address")),
    ("data", "name"),
}
AROUND = {
    "claim": {"audit": {"epsilon": [1.0]}, **MINIMAL},
    "neighbour": MINE,
    "audit": MINIMAL,
    "mechanism": MINE,
}


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        pytest.param(place, kind, id=f"{place}-{kind.title}")
        for place in AROUND
        for kind in tables()[place]
        if kind.title not in [*REGISTRY][1:]
    ],
)
def test_the_reader_and_the_schema_refuse_the_same_values(place, kind, step):
    """Each key of each kind of table has an eighth of the values, or all of them.

    One of dpaudit's own mechanisms is enough.
    """
    ways = {"call": "module:callable", "command": ["program", "{data}"]}
    fixed = {key: words["const"] for key, words in kind.keys.items() if "const" in words}
    base = {**{way: ways[way] for way in set(ways) & set(kind.keys)}, **fixed}
    own = Draft202012Validator(described(place, tables()[place]))
    for number, key in enumerate(sorted(kind.keys.keys() - fixed.keys())):
        for value in VALUES[number % step :: step]:
            content = {**AROUND[place], place: {**base, key: value}}
            names = (f"[{place}] {key}:", f"[{place}] {key}[", f"[{place}.{key}]")
            lines = [line.partition(": ")[2] for line in read(content)]
            by_reader = any(line.startswith(names) for line in lines)
            by_schema = not Draft202012Validator(kind.keys[key]).is_valid(value)
            if "name" not in fixed and (place, key) not in KEYS_OF_THE_READER:
                assert by_reader == by_schema, (key, value)
            marked = any(list(error.path)[:1] == [key] for error in own.iter_errors(content[place]))
            assert by_reader or not (by_schema or marked), (key, value)


def test_every_key_has_a_meaning_and_a_default_that_the_schema_takes():
    for place, kinds in tables().items():
        keys = keys_of(kinds)
        for kind in kinds:
            own = kind.keys.keys() - {"name"} if kind.title in REGISTRY else set()
            assert [key for key in kind.keys.keys() - own if not keys[key].get("description")] == []
            for key, words in kind.keys.items():
                if "default" in words:
                    assert Draft202012Validator(words).is_valid(words["default"]), (place, key)


def test_the_page_is_what_the_code_says(capsys):
    assert (ROOT / "docs" / "scenario-keys.md").read_text(encoding="utf-8") == page() + "\n"
    assert main(["schema", "--markdown"]) == 0
    assert capsys.readouterr().out == page() + "\n"


def test_the_command_prints_the_schema(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
