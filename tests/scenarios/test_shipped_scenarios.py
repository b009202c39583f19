"""The scenarios in scenarios/ are valid, can be audited, and give the verdicts of their names.

Those in scenarios/exact/ claim nothing: what they say of their exact spectrum is checked, and no
draw is made. Those in scenarios/papers/ hold an algorithm of a paper against its printed claim, or
make a figure again. Those in scenarios/libraries/ audit released packages, which are not installed
here: they are read, and an own mechanism there, on scikit-learn, is run; there are no facts of it,
for scikit-learn promises no privacy. Those in scenarios/synthesizers/ need no extra. Those in
scenarios/museum/ are read and audited in tests/museum.
"""

import importlib
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from dpaudit import mechanisms
from dpaudit.cli import main
from dpaudit.run import Scenario, StudyScenario, analyse, audits_in, load_scenario
from reports.make.libraries.facts import packages
from tests.sparse import one_in

FOLDER = Path(__file__).parents[2] / "scenarios"
NAMES = [
    f"{data}-{mechanism}{kind}"
    for data in ("flight", "cancer")
    for mechanism in ("als", "gaussian-ls", "rp-ls", "rp")
    for kind in ("", "-broken-claim")
]
EXACT = [
    f"exact/flight-{mechanism}"
    for mechanism in (
        "additive-wishart",
        "analyze-gauss",
        "gaussmix",
        "inverse-noise",
        "inverse-wishart",
        "jl",
        "ssp",
    )
]
STUDIES = FOLDER / "papers" / "studies"
PAPERS = sorted((FOLDER / "papers").glob("*.toml"))
PACKAGES = sorted((FOLDER / "libraries").glob("*/*.toml"))
LIBRARIES = [(package, file.path) for package in PACKAGES for file in audits_in(package)]
OWN = FOLDER / "libraries" / "scikit-learn" / "scikit-learn.toml"
SYNTHESIZERS = sorted((FOLDER / "synthesizers").glob("*.toml"))
SEEDED = {"diffprivlib": "diffprivlib", "scikit-learn": "sklearn"}


def available(name):
    if name.startswith("cancer") and not os.environ.get("DPAUDIT_DATA"):
        pytest.skip("DPAUDIT_DATA is not set to the folder of the CSV data sets")
    return FOLDER / f"{name}.toml"


def test_none_is_missing_or_unknown():
    found = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.toml")]
    elsewhere = ("papers/", "libraries/", "synthesizers/", "museum/")
    others = [name for name in found if not name.startswith(elsewhere)]
    assert sorted(others) == sorted([*NAMES, *EXACT])


def first_line(path):
    return path.read_text(encoding="utf-8").splitlines()[0]


def test_each_says_what_it_shows():
    for name in (*NAMES, *EXACT):
        first = first_line(FOLDER / f"{name}.toml")
        assert first.startswith("# "), name
        assert first.startswith("# A claim that fails: ") == name.endswith("broken-claim"), name


@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_each_can_be_audited(name):
    found = analyse(Scenario.load(available(name)))
    assert 0.02 <= found.spectrum.delta[0] <= 0.5
    assert found.spectrum.delta[-1] > 0
    assert bool(len(found.broken)) == name.endswith("broken-claim")


@pytest.mark.parametrize("name", one_in(2, EXACT))
def test_each_exact_spectrum_is_as_the_scenario_says(name):
    path = available(name)
    found = analyse(Scenario.load(path))
    spectrum = found.spectrum
    assert found.claim is None
    assert set(spectrum.index) == {7008}
    assert 0.02 <= spectrum.delta[0] <= 0.5
    assert spectrum.delta[-1] > 0
    assert np.all(np.diff(spectrum.delta) < 0)
    assert found.readings.total_variation == pytest.approx(spectrum.delta[0], rel=1e-9)
    figures = re.search(
        r"exact δ\((.*?)\).*? is (0\.\d+)|probability (0\.\d+)", path.read_text(encoding="utf-8")
    )
    at, value, floor = figures.groups()
    delta = float(spectrum.delta_at(float(at or 400.0)))
    assert round(delta, len(value or floor) - 2) == float(value or floor)


@pytest.fixture(scope="module")
def papers():
    """The scenarios and studies of the papers by their paths."""
    return {path: load_scenario(path) for path in PAPERS}


def test_each_of_the_papers_is_valid_and_says_what_it_shows(papers):
    for path, scenario in papers.items():
        assert re.match(rf"# Paper {path.stem.split('-')[1]}\b", first_line(path))
        if isinstance(scenario, StudyScenario):
            assert scenario.name == path.stem
        else:
            assert scenario.claim is not None
            assert scenario.claim == scenario.mechanism.claim


def test_every_algorithm_and_study_of_the_papers_has_a_scenario(papers):
    studies = {path: one for path, one in papers.items() if isinstance(one, StudyScenario)}
    modules = [
        importlib.import_module(f"studies.{one.relative_to(STUDIES).parent}.{one.stem}")
        for one in STUDIES.glob("paper_*/*.py")
    ]
    written = {
        cls.__name__
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type) and hasattr(cls, "make") and hasattr(cls, "title")
    }
    assert {type(one.study).__name__ for one in studies.values()} == written
    assert len(written) == 14
    audited = {type(papers[path].mechanism) for path in PAPERS if path not in studies}
    assert set(mechanisms.PAPERS.values()) <= audited


def leaks(package):
    """The scenarios of its folder that are violated."""
    return set() if package == OWN else set(packages([package.parent.name])[0].findings)


def test_each_of_the_libraries_is_valid_and_says_what_it_shows():
    for package in PACKAGES:
        assert package.stem in (package.parent.name, f"{package.parent.name}-embargo")
        for file in audits_in(package):
            scenario = Scenario.read(file)
            assert file.path == Path(f"{package}:{scenario.name}")
            assert scenario.claim is not None, file.path
            assert file.text.startswith("# "), file.path


def test_there_are_not_too_many_files():
    assert len([*FOLDER.rglob("*.toml")]) <= 180


@pytest.mark.usefixtures("no_figures")
def test_noise_on_ridge_keeps_its_claim(tmp_path):
    scenario = f"{OWN}:ridge"
    assert main(["run", scenario, "--out", str(tmp_path), "--samples", "4000"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "path"),
    [case for case in LIBRARIES if case[0].parent.name in SEEDED],
    ids=lambda path: path.name,
)
def test_verdicts_on_the_libraries(package, path, tmp_path):
    pytest.importorskip(SEEDED[package.parent.name])
    violated = path.name.rpartition(":")[2] in leaks(package)
    assert main(["run", str(path), "--out", str(tmp_path)]) == int(violated)


def test_each_of_the_synthesizers_says_what_it_shows():
    for path in SYNTHESIZERS:
        assert load_scenario(path).name == path.stem
        shown = first_line(path).startswith("# A claim that fails")
        assert shown == path.stem.endswith("broken-claim"), path


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    "path",
    [
        path if path.stem.startswith("observed") else pytest.param(path, marks=pytest.mark.slow)
        for path in SYNTHESIZERS
    ],
    ids=lambda path: path.stem,
)
def test_verdicts_on_the_synthesizers(path, tmp_path):
    """The others, at full size, take some 5 s each."""
    few = ["--samples", "300"] if path.stem.startswith("observed") else []
    assert main(["run", str(path), "--out", str(tmp_path), *few]) == int("broken" in path.stem)


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    "name", [pytest.param("flight-als", marks=pytest.mark.slow), "cancer-als-broken-claim"]
)
def test_verdicts_from_few_draws(name, tmp_path):
    assert main(["run", str(available(name)), "--out", str(tmp_path), "--samples", "20000"]) == int(
        "broken" in name
    )
    index = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["neighbour"]["index"]
    assert index == {"flight": 7008, "cancer": 186}[name.partition("-")[0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_at_full_size(name, tmp_path):
    assert main(["run", str(available(name)), "--out", str(tmp_path), "--jobs", "2"]) == int(
        "broken" in name
    )
