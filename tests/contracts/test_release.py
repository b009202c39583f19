"""What several files say of the project is the same in all, and builds hold what they must."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.cli.shipped import files_below
from dpaudit.run.suite.outputs import sarif

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = PROJECT["urls"]["Homepage"]
CONDA = {"matplotlib": "matplotlib-base"}  # without a window system
ELSEWHERE = ("CITATION.cff", ".conda/recipe.yaml", "action.yml", "docs/suites.md", "SECURITY.md")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def packed(monkeypatch):
    """The lists of a build, relative to the top folder."""
    pytest.importorskip("setuptools")
    monkeypatch.chdir(ROOT)
    from scenarios import packing

    return {
        "wheel": {path.as_posix() for path in packing.scenarios()},
        "source": {path.as_posix() for path in packing.sources()},
    }


def test_conda_wants_what_pip_wants():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(text(".conda/recipe.yaml"))
    python, *run = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = [re.fullmatch(r"([\w-]+)(.*)", one).groups() for one in PROJECT["dependencies"]]
    assert run == [f"{CONDA.get(name, name)} {version}" for name, version in wanted]
    (entry,) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(entry)]
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_one_version():
    assert dp.__version__ == PROJECT["version"]
    assert re.search(r"^version: (.+)$", text("CITATION.cff"), re.M)[1] == PROJECT["version"]


def test_the_page_on_citing_has_what_the_citation_file_has():
    for key, field in (("version", "version"), ("date-released", "date"), ("title", "title")):
        value = re.search(rf'^{key}: "?([^"\n]+)"?$', text("CITATION.cff"), re.MULTILINE)[1]
        assert f"{field:<7} = {{{value}}}," in text("docs/cite.md")


def test_one_address():
    """pyproject.toml has it. Where a format wants it written again, it is the same."""
    assert all(url.startswith(ADDRESS) for url in PROJECT["urls"].values())
    owner = re.compile(r"https://github\.com/dpaudit/[\w-]+|\bdpaudit/[\w-]+@v")
    allowed = {ADDRESS, f"{ADDRESS.removeprefix('https://github.com/')}@v"}
    found = {one for name in ELSEWHERE for one in owner.findall(text(name))}
    assert found == allowed
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "dpaudit").rglob("*.py")]
    assert not any(ADDRESS in module for module in modules)


def test_sarif_reads_the_address_from_the_metadata():
    named = importlib.metadata.metadata("dpaudit").get_all("Project-URL") or []
    if f"Homepage, {ADDRESS}" not in named:
        pytest.skip("installed before pyproject.toml had the address: install it again")
    assert sarif([])["runs"][0]["tool"]["driver"]["informationUri"] == ADDRESS


def test_the_wheel_has_the_scenarios_that_run_from_anywhere(packed):
    """All but those of released packages, which need environments of their own, and studies."""
    elsewhere = ("scenarios/libraries/", "scenarios/museum/")
    own = {
        path.relative_to(ROOT).as_posix()
        for path in files_below(ROOT / "scenarios")
        if "study" not in tomllib.loads(path.read_text(encoding="utf-8"))
    }
    shipped = {one for one in packed["wheel"] if one.endswith(".toml")}
    assert shipped == {one for one in own if not one.startswith(elsewhere)}
    assert packed["wheel"] - shipped == {
        "scenarios/synthesizers/histograms.py",
        "scenarios/synthesizers/people.csv",
    }


def test_the_source_distribution_has_all_that_is_written_here(packed):
    """Git knows what is written. Left out are drawn pages, which are 27 MB, and findings
    of which nobody has been told."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    command = ["git", "ls-files", "tests", "docs", "reports", "scenarios", ".ci", ".github"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    drawn = re.compile(r"reports/.*\.(html|png)")
    there = {one for one in listed.splitlines() if (ROOT / one).exists()}
    hidden = {one for one in there if "embargo" in one}
    assert {one for one in there - hidden if not drawn.fullmatch(one)} <= packed["source"]
    assert [one for one in packed["source"] if "embargo" in one] == []
    made = ("__pycache__", ".environments", "dpaudit-out", "docs/_build", "docs/api/generated")
    assert [one for one in packed["source"] if any(part in one for part in made)] == []


def test_the_site_has_no_finding_of_which_nobody_was_told():
    """Sphinx takes the files of these patterns, in which * stays within a folder."""
    listed = re.search(r"^include_patterns = \[(.*?)^\]", text("docs/conf.py"), re.M | re.S)[1]
    patterns = re.findall(r'"(.+?)"', listed)
    hidden = [path.relative_to(ROOT) for path in ROOT.glob("reports/embargo/**/*.md")]
    wild = [one for one in patterns if "**" in one]
    assert wild == ["docs/**"]
    assert not any(path.match(one) for path in hidden for one in patterns if one not in wild)


@pytest.mark.slow
def test_a_wheel_holds_no_more_than_it_may(tmp_path):
    """From a copy of what is tracked: build/ of a checkout may hold old files."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    options = ["--no-deps", "--quiet", "--wheel-dir", str(tmp_path)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(clone)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "setuptools" in done.stderr and "Could not find" in done.stderr:
        pytest.skip("no network: setuptools cannot be had")
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size <= 1.5 * 2**20
