"""The page of audited packages: nobody is accused without two audits, a reason and a line."""

from dataclasses import replace

import pytest

from dpaudit.errors import DpauditError
from reports.make.libraries import facts as facts_
from reports.make.libraries import outcome as outcome_
from reports.make.libraries import report
from reports.make.libraries.audits import audited, inputs
from reports.make.libraries.facts import packages
from reports.make.libraries.outcome import Outcome

FACTS = """
package = "leaky"
version = "1.0"
environment = "small"
documentation = "its README"
neighbours = "states none"

[mechanisms.leaky-sum]
name = "sum"
states = "'private'"
neighbours = "none stated; one record replaced"

[findings.leaky-sum]
kind = "privacy"
line = "leaky.py:1"
code = "return sum(x)"
reason = "No noise."
fix = "Add noise."
confirmed = "By reading."
"""
SHOWN = Outcome("abc", "violated", "(1, 0)-DP", "ε", 0.0, 1.0, 3.0, "row 0 replaced", confirmed=2.5)


@pytest.fixture
def leaky(tmp_path, monkeypatch):
    """A package with a scenario and its facts; a function that writes another outcome."""
    monkeypatch.chdir(tmp_path)
    folder = facts_.SCENARIOS / "leaky"
    folder.mkdir(parents=True)
    (folder / "leaky.toml").write_text('[[audit]]\nname = "leaky-sum"\nlevel = 0.999\n')
    facts_.FOLDER.mkdir(parents=True)
    (facts_.FOLDER / "leaky.toml").write_text(FACTS)
    (package,) = packages([])

    def found(one):
        outcome_.path_of(package).write_text(outcome_.text({"leaky-sum": one}))
        return package

    return found


def test_a_confirmed_violation_is_on_the_page_with_both_audits(leaky):
    leaky(SHOWN)
    markdown, html = (path.read_text(encoding="utf-8") for path in report.write(packages([])))
    for said in (
        "leaky.py:1",
        "No noise.",
        "Add noise.",
        "violated: privacy",
        "1 package, 1 mechanism, 1 audit.",
    ):
        assert said in markdown
    assert "ε ≥ 3 at δ = 0 certified at 99.9 %" in markdown
    assert "≥ 2.5 at 99.9999 % with another seed" in markdown
    assert "No noise." in html


@pytest.mark.parametrize(
    "change", [{"confirmed": None}, {"verdict": "not violated", "confirmed": None}]
)
def test_a_finding_that_was_not_confirmed_is_refused(leaky, change):
    leaky(replace(SHOWN, **change))
    with pytest.raises(DpauditError, match="leaky-sum must be confirmed"):
        report.write(packages([]))


def test_a_confirmed_violation_without_a_reason_is_refused(leaky):
    leaky(SHOWN)
    path = facts_.FOLDER / "leaky.toml"
    path.write_text(FACTS[: FACTS.index("[findings")])
    with pytest.raises(DpauditError, match="leaky-sum must be confirmed"):
        report.write(packages([]))


def test_a_violation_of_one_audit_alone_accuses_nobody(leaky):
    path = facts_.FOLDER / "leaky.toml"
    path.write_text(FACTS[: FACTS.index("[findings")])
    leaky(replace(SHOWN, confirmed=None))
    (markdown, _) = report.write(packages([]))
    text = markdown.read_text(encoding="utf-8")
    assert "violated once, not confirmed" in text
    assert "No claim was found violated" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("leaky-sum]\nname", "leaky-mean]\nname", "without a table"),
        ('kind = "privacy"', 'kind = "grave"', "kind = 'grave' is none of"),
        ('fix = "Add noise."', "", "fix"),
        ("[mechanisms", "mechanisms", "leaky.toml"),
    ],
)
def test_faults_of_the_facts_name_the_file(leaky, old, new, message):
    leaky(SHOWN)
    (facts_.FOLDER / "leaky.toml").write_text(FACTS.replace(old, new, 1))
    with pytest.raises(DpauditError, match=message):
        packages([])


def test_what_is_missing_is_said_with_the_command(leaky):
    package = leaky(SHOWN)
    with pytest.raises(DpauditError, match=r"environments\.py small"):
        audited(package, {}, again=False, keep=print)
    with pytest.raises(DpauditError, match="no package 'other'"):
        packages(["other"])


@pytest.mark.parametrize("package", packages([]), ids=lambda package: package.package)
def test_recorded_outcomes_are_of_the_scenarios_as_they_are_read(package):
    """A scenario with other inputs would have to be audited again."""
    assert outcome_.left(inputs(package), outcome_.read(package)) == []


def test_an_outcome_is_of_what_is_read_and_not_of_its_text(leaky):
    package = leaky(SHOWN)
    before, text = inputs(package), package.scenarios.read_text()
    package.scenarios.write_text(f"# A word more.\n{text}\n[[audit]]\nname = 'leaky-mean'\n")
    assert inputs(package) == before
    package.scenarios.write_text(text.replace("0.999", "0.99"))
    assert inputs(package) != before
