"""Blocks of TOML and YAML on the pages have the keys and values that their readers know.

Those of scenarios/README.md are run (tests/scenarios/test_readme.py).
"""

import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpaudit.cli import defaults
from dpaudit.run import audits_in
from dpaudit.run.schema import NAME, Kind, tables

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts),
]
KINDS = {"": (Kind("", {"name": NAME}),), **tables()}


def blocks(language):
    """Each block, by its page and its number there."""
    found = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [
        pytest.param(text, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, text in enumerate(found.findall(page.read_text(encoding="utf-8")), 1)
    ]


def taken(place, content):
    """Whether some kind of the table has all keys, with such values. A block may be a part."""
    for kind in KINDS[place]:
        known = kind.keys
        if content.keys() <= known.keys() and all(
            Draft202012Validator(known[key]).is_valid(value) for key, value in content.items()
        ):
            return True
    return False


def wrong(content):
    """The tables of a part of a scenario that no reader takes."""
    top = {key: value for key, value in content.items() if not isinstance(value, dict)}
    return [
        place
        for place, one in {"": top, **{key: content[key] for key in content.keys() - top}}.items()
        if not taken(place, one)
    ]


@pytest.mark.parametrize("text", blocks("toml"))
def test_a_scenario_or_the_defaults_of_a_project(text, tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    if "tool" in tomllib.loads(text):
        assert defaults.read(tmp_path).path == path
    else:
        assert [wrong(file.content) for file in audits_in(path)] == [[]] * len(audits_in(path))


def test_a_misspelt_key_and_a_wrong_value_are_found():
    assert wrong({"audit": {"drawss": 100}}) == ["audit"]
    assert wrong({"claim": {"epsilon": "one"}}) == ["claim"]


@pytest.mark.parametrize("text", blocks("yaml"))
def test_inputs_of_the_action_and_names_of_the_hooks(text):
    content = yaml.safe_load(text)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    if isinstance(content, list):
        (ours,) = (step for step in content if step["uses"].startswith("dpaudit/dpaudit@"))
        assert set(ours["with"]) <= set(action["inputs"])
    else:
        used = {hook["id"] for repo in content["repos"] for hook in repo["hooks"]}
        assert used <= {hook["id"] for hook in hooks}
