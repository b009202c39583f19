"""The page of audited packages: nobody is accused without two audits, a reason and a line."""

import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from dpaudit.errors import DpauditError
from reports.make.libraries import facts as facts_
from reports.make.libraries import letter, report
from reports.make.libraries import outcome as outcome_
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
known = ["https://example.org/1"]
"""
SCENARIO = """
[[audit]]
name = "leaky-mean"
data = { path = "values.csv", constant = false }
mechanism = { call = "leaky_embargo:total", parameters = { scale = 0.2 } }
neighbour = { rule = "replace", index = 1, row = [1.0] }
claim = { epsilon = 1.0, delta = 0.0 }
"""
CALLS = (
    '"""Calls."""\n\nfrom typing import Any\n\nimport numpy as np\n\n\n'
    + """
def total(scale):
    def draw(data: Any, size: int, *, rng: Any) -> Any:
        return data.sum() + rng.laplace(scale=scale, size=(size, 1))

    return draw
"""
)
EMBARGO = (
    '"""More calls."""\n\nfrom __future__ import annotations\n\nfrom leaky_calls import total\n'
)
BARRED = "import sys; sys.modules['dpaudit'] = None; "
FINDING = FACTS.index("[findings")
HIDDEN = FACTS[FACTS.index("[mechanisms") :].replace("sum", "mean").replace("known", "# known")
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
        outcome_.write(package, {"leaky-sum": one})
        return package

    return found


def test_a_confirmed_violation_is_on_the_page_with_both_audits(leaky):
    leaky(SHOWN)
    markdown, html = (path.read_text(encoding="utf-8") for path in report.write(packages([])))
    for message in (
        "leaky.py:1",
        "No noise.",
        "Add noise.",
        "violated: privacy",
        "1 package, 1 mechanism, 1 audit.",
        "1 mechanism of 1 package break ε as stated; 0 leak through floating point.",
        "Reported by others: https://example.org/1. We have told nobody. Fixed in: not known.",
    ):
        assert message in markdown
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
    path.write_text(FACTS[:FINDING])
    with pytest.raises(DpauditError, match="leaky-sum must be confirmed"):
        report.write(packages([]))


def test_a_violation_of_one_audit_alone_accuses_nobody(leaky):
    path = facts_.FOLDER / "leaky.toml"
    path.write_text(FACTS[:FINDING])
    leaky(replace(SHOWN, confirmed=None))
    (markdown, _) = report.write(packages([]))
    text = markdown.read_text(encoding="utf-8")
    assert "not violated, by the second audit" in text
    assert "No claim was found violated" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("leaky-sum]\nname", "leaky-mean]\nname", "without a table"),
        ('kind = "privacy"', 'kind = "grave"', "kind = 'grave' is none of"),
        ('known = ["https://example.org/1"]', "", "is public and nobody was told"),
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


def test_what_nobody_was_told_is_in_no_public_file(leaky, tmp_path):
    """Its words, scenario and outcome are in files of the embargo alone; it is counted."""
    name = facts_.FOLDER / "leaky.toml"
    scenarios = facts_.SCENARIOS / "leaky"
    facts_.EMBARGO.mkdir()
    (facts_.EMBARGO / "leaky.toml").write_text(HIDDEN)
    (scenarios / "leaky-embargo.toml").write_text('[[audit]]\nname = "leaky-mean"\n')
    leaky(SHOWN)
    (package,) = packages([])
    outcome_.write(package, {"leaky-sum": SHOWN, "leaky-mean": replace(SHOWN, draws=500)})
    markdown, html, hidden = (path.read_text() for path in report.write(packages([])))
    public = [name.read_text(), outcome_.paths(package)[0].read_text(), markdown, html]
    assert not any("leaky-mean" in text or "leaky mean" in text for text in public)
    assert "2 mechanisms of 1 package break ε as stated" in markdown
    assert "1 of 2 findings are public" in markdown
    assert "leaky-mean" in hidden
    assert "We have told nobody" in hidden
    assert "500, weak" in hidden
    assert "leaky-sum" not in hidden


def test_a_claim_without_a_relation_counts_once_a_package_and_not_in_the_headline(leaky):
    name = facts_.FOLDER / "leaky.toml"
    second = FACTS[FACTS.index("[mechanisms") : FINDING].replace("sum", "mean")
    name.write_text(
        (FACTS[:FINDING] + second + FACTS[FINDING:])
        .replace('kind = "privacy"', 'kind = "neighbours"\nalso = ["leaky-mean"]')
        .replace("known", "# known")
    )
    with (facts_.SCENARIOS / "leaky" / "leaky.toml").open("a") as file:
        file.write('[[audit]]\nname = "leaky-mean"\n')
    (package,) = packages([])
    outcome_.write(package, {"leaky-sum": SHOWN, "leaky-mean": SHOWN})
    (markdown, _) = report.write(packages([]))
    text = markdown.read_text()
    assert "0 mechanisms of 0 packages break ε as stated" in text
    assert "1 package: neighbours." in text
    assert text.count("### leaky 1.0") == 1
    assert "violated:" not in text


@pytest.mark.parametrize("event", ["", "x[:, 0] >= 2.5"])
def test_a_letter_has_a_script_that_needs_the_package_alone(leaky, event):
    """The scenario's own call, on its pair; what it prints is far above the claim."""
    leaky(SHOWN)
    folder = facts_.SCENARIOS / "leaky"
    (folder / "leaky_calls.py").write_text(CALLS)
    (folder / "leaky_embargo.py").write_text(EMBARGO)
    (folder / "values.csv").write_text("value\n1\n2\n")
    (folder / "leaky-embargo.toml").write_text(SCENARIO)
    facts_.EMBARGO.mkdir()
    (facts_.EMBARGO / "leaky.toml").write_text(HIDDEN + f'event = "{event}"\n')
    outcome_.write(packages([])[0], {"leaky-mean": replace(SHOWN, draws=2000)})
    text, script = letter.write(packages([])[0])
    assert "No noise." in text.read_text()
    assert f"python {script.name}" in text.read_text()
    assert "dpaudit" not in script.read_text()
    command = [sys.executable, "-c", f"{BARRED}exec(open({str(script)!r}).read())"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    above, errors = re.search(r"That is ([\d.]+) more .* ([\d.]+) standard", done.stdout).groups()
    assert float(above) > 0.3
    assert float(errors) > 10


def test_counts_are_the_same_on_all_pages():
    """README and the two pages say what the files of findings and outcomes add up to."""
    if not facts_.EMBARGO.is_dir():
        pytest.skip("not a checkout: a release has no embargo folder")
    made = [one for package in packages([]) for one in report.audits(package)]
    counts = report.sentences(made)
    for name in ("libraries.md", "libraries.html"):
        text = Path("reports", name).read_text(encoding="utf-8")
        assert all(one in text for one in counts)
    (row,) = [
        line
        for line in Path("README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| What has it found?")
    ]
    assert report.headline(made) in row
    audited = f"{len(report.mechanisms(made))} mechanisms of {len(packages([]))} released packages"
    assert audited in row


def test_no_tracked_file_names_what_nobody_was_told():
    """Not the scenarios, nor the lines at fault. The museum has faults of the same name, mended."""
    if not Path(".git").exists():
        pytest.skip("not a checkout")
    hidden = [(one, name) for one in packages([]) for name in one.embargo]
    mended = tomllib.loads(Path("reports/museum.toml").read_text(encoding="utf-8"))
    secret = {name for _, name in hidden} - set(mended)
    secret |= {one.findings[name].line for one, name in hidden if name in one.findings}
    words = [option for word in secret for option in ("-e", word)]
    command = ["git", "grep", "-hIF", *words, "--", ".", ":!*embargo*"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stderr  # 1: none
    whole = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, secret))})(?![\w-])")
    assert set(whole.findall(found.stdout)) == set()


@pytest.mark.parametrize("package", packages([]), ids=lambda package: package.package)
def test_data_and_code_of_the_embargo_alone_are_in_its_files(package):
    """Builds leave these out by their names: what others hold, a public scenario uses."""
    public = [
        path
        for path in package.scenarios.parent.iterdir()
        if path.is_file() and not path.stem.endswith("embargo")
    ]
    text = "".join(path.read_text() for path in public if path.suffix in (".toml", ".py"))
    data = {path.name for path in public if path.suffix in (".csv", ".txt")}
    assert {name for name in data if name not in text} == set()
    names = re.findall(r"^(?:def|class) (\w+)", text, re.M)
    assert [name for name in names if len(re.findall(rf"\b{name}\b", text)) < 2] == []


@pytest.mark.parametrize("package", packages([]), ids=lambda package: package.package)
def test_recorded_outcomes_are_of_the_scenarios_as_they_are_read(package):
    """A scenario with other inputs would have to be audited again."""
    assert outcome_.left(inputs(package), outcome_.read(package)) == []


def test_an_outcome_is_of_what_is_read_and_not_of_its_text(leaky):
    package = leaky(SHOWN)
    before, text = inputs(package), package.scenarios.read_text()
    package.scenarios.write_text(f"# A word more.\n{text}\n[[audit]]\nname = 'leaky-mean'\n")
    assert inputs(package) == before
    (package.scenarios.parent / "other.csv").write_text("x\n1\n")
    assert inputs(package) == before
    package.scenarios.write_text(text.replace("0.999", "0.99"))
    assert inputs(package) != before


def test_an_outcome_is_of_the_code_that_its_scenario_imports(leaky):
    package = leaky(SHOWN)
    folder = package.scenarios.parent
    package.scenarios.write_text(
        SCENARIO.replace("leaky-mean", "leaky-sum").replace(
            'path = "values.csv"', 'name = "flight"'
        )
    )
    (folder / "leaky_embargo.py").write_text(EMBARGO)
    (folder / "leaky_calls.py").write_text(CALLS)
    before = inputs(package)
    (folder / "leaky_calls.py").write_text(CALLS.replace("data.sum()", "data.max()"))
    assert inputs(package) != before


def test_an_outcome_is_of_the_data_that_its_scenario_names(leaky):
    package = leaky(SHOWN)
    data = package.scenarios.parent / "values.csv"
    data.write_text("x\n1\n")
    package.scenarios.write_text('[[audit]]\nname = "leaky-sum"\ndata.path = "values.csv"\n')
    before = inputs(package)
    data.write_text("x\n2\n")
    assert inputs(package) != before
