"""Real faults of released software, audited before and after they were mended.

`pytest -m museum` audits all of them, one seed each: some 20 s of those that are re-enacted, and a
minute more of released packages, whose environments scenarios/libraries/environments.py makes.
"""

import dataclasses
from pathlib import Path

import pytest

from dpaudit.run import Scenario, audits_in
from reports.make import museum
from reports.make.libraries.facts import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
FAULTS = museum.faults(ROOT)
NAMES = [fault.name for fault in FAULTS]


@pytest.fixture(autouse=True)
def checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.quick
def test_each_scenario_is_of_a_fault_that_is_told_with_its_thread():
    told = {fault.scenario(kind).name for fault in FAULTS for kind in museum.KINDS}
    assert {file.path.name for file in audits_in(museum.SCENARIOS)} == told
    assert len(FAULTS) >= 15
    assert all(fault.threads for fault in FAULTS)


@pytest.mark.quick
@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_before_and_after_differ_in_the_software_alone(fault):
    """One call on one named pair, without a search, against one claim with as many draws."""
    before, after = (Scenario.load(fault.scenario(kind)) for kind in museum.KINDS)
    assert [before.name, after.name] == [f"museum-{fault.name}-{kind}" for kind in museum.KINDS]
    assert before.claim == after.claim
    assert before.data == after.data
    assert type(before.neighbour).__name__ in ("Added", "Replaced", "Zeroed")
    ours, theirs = (_without_fixed(scenario) for scenario in (before, after))
    assert ours == theirs
    places = [museum.environment(fault.scenario(kind)) for kind in museum.KINDS]
    assert bool(places[0]) == bool(places[1])
    assert places[0] != places[1] or "fixed" in before.text


def _without_fixed(scenario):
    """The text, but for what is said of it, its name and the switch of a re-enacted fault."""
    lines = [line for line in scenario.text.splitlines() if not line.startswith(("#", "name ="))]
    return [line.replace("fixed = true", "fixed = false") for line in lines]


@pytest.mark.quick
def test_the_environments_that_scenarios_name_have_lists():
    named = {museum.environment(file.path) for file in audits_in(museum.SCENARIOS)} - {""}
    lists = {path.stem for path in Path("scenarios/libraries/environments").glob("*.txt")}
    assert named <= lists


@pytest.mark.quick
def test_the_page_tells_of_each_fault():
    text = Path("docs/museum.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in text] == []
    threads = [thread for fault in FAULTS for thread in fault.threads]
    assert [thread for thread in threads if thread not in text] == []


@pytest.mark.quick
def test_the_table_counts_what_was_caught_and_what_was_not_there():
    fault = museum.Fault("mbi-jam", "mbi", "1", "2", "a fault", ("a/b/issues/7",), "", "")
    found = museum.Outcome(2, 2, 500, 1.0, 1.25, 3.0)
    outcomes = {"mbi-jam-before": found, "mbi-jam-after": dataclasses.replace(found, violated=1)}
    text = museum.render([fault], outcomes)
    assert "1 of 1 are caught with every one of 2 seeds, and 1 of 2 audits" in text
    assert "| [a/b#7](https://github.com/a/b/issues/7) | 500 | 2 of 2 | 1 of 2 |" in text


@pytest.mark.museum
@pytest.mark.parametrize("kind", museum.KINDS)
@pytest.mark.parametrize("fault", FAULTS, ids=NAMES)
def test_the_fault_is_caught_and_what_replaced_it_is_not(fault, kind):
    """At level 0.9999 a sound version is called violated in one of 10,000 runs at most."""
    scenario = fault.scenario(kind)
    name = museum.environment(scenario)
    if name and not (ENVIRONMENTS / name).exists():
        pytest.skip(f"{ENVIRONMENTS / name} has not been made")
    assert museum.audited(scenario, 1).violated == int(kind == "before")
