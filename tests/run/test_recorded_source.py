"""What is recorded of a scenario: its text without values of data, and the code that it imports."""

import re
from pathlib import Path

import pytest

from dpaudit.run import Scenario
from dpaudit.run.scenario.files import recorded_text
from dpaudit.run.scenario.source import code_of, imported_names, installed_digests

pytestmark = pytest.mark.quick

FILES = {
    "release.py": "import json, sklearn.linear_model\nfrom noise import parts\nimport circle",
    "noise/__init__.py": "VALUE = 1\nfrom . import base\nfrom .deep.er import scale",
    "noise/base.py": "from noise import VALUE",
    "noise/parts.py": "def draw():\n    from ..noise import lazy\n    import noise.later as later",
    "noise/later.py": "import named",
    "noise/deep/er.py": "scale = 1\ndef own():\n    from .. import own",
    "noise/own.py": "import absent, absent.too, os.path",
    "noise/unused.py": "",
    "circle.py": "import release",
    "named.py": "def broken(:",
    "apart.py": "",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def names(files, folder):
    return {path.relative_to(folder).as_posix() for path in files}


def test_files_and_packages(folder):
    files, packages = code_of(["release"], folder)
    assert names(files, folder) == set(FILES) - {"noise/unused.py", "apart.py"}
    assert packages == {"scikit-learn"}


def test_a_script_has_its_own_folder_first(folder):
    for name in ("click.py", "scipy.py"):
        (folder / name).write_text("")
    (folder / "run.py").write_text("import click, apart, numpy, scipy, joblib")
    imported = imported_names(folder / "run.py", "")
    files, packages = code_of(imported, folder, folder_first=True)
    assert names(files, folder) == {"click.py", "apart.py", "scipy.py"}
    assert packages == {"numpy", "joblib"}


def test_a_module_elsewhere_and_one_in_an_archive(folder, tmp_path_factory, monkeypatch):
    import zipfile

    other = tmp_path_factory.mktemp("other")
    (other / "elsewhere.py").write_text("import zipped")
    with zipfile.ZipFile(other / "some.zip", "w") as archive:
        archive.writestr("zipped.py", "")
    for place in (other, other / "some.zip"):
        monkeypatch.syspath_prepend(str(place))
    files, _ = code_of(["elsewhere"], folder)
    assert files == {other / "elsewhere.py", other / "some.zip"}


def test_an_installed_module_without_a_distribution_is_a_file(tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "dropped_there.py").write_text("")
    monkeypatch.syspath_prepend(place)
    files, _ = code_of(["dropped_there"], Path("nowhere"))
    assert files == {place / "dropped_there.py"}


@pytest.mark.parametrize("text", [b"\0", b"\xff\xfe", b"(" * 100_000, b"from ..... import a", b""])
def test_what_is_no_python_imports_nothing(tmp_path, text):
    (tmp_path / "odd.py").write_bytes(text)
    assert list(imported_names(tmp_path / "odd.py", "odd")) == []


def test_an_installed_mechanism_that_changes_at_the_same_version(tmp_path, monkeypatch):
    """Its package's files are digested; what it imports is known by its version."""
    place = tmp_path / "site-packages"
    about = place / "noisy_things-1.0.dist-info"
    about.mkdir(parents=True)
    (place / "noisy_things").mkdir()
    (place / "noisy_things" / "__init__.py").write_text("SCALE = 1.0\n")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy-things\nVersion: 1.0\n")
    (about / "top_level.txt").write_text("noisy_things\n")
    (about / "RECORD").write_text("noisy_things/__init__.py,,\n")
    monkeypatch.syspath_prepend(place)
    before = installed_digests(["noisy_things.sub", "numpy"], Path("nowhere"))
    (place / "noisy_things" / "__init__.py").write_text("SCALE = 3.0\n")
    after = installed_digests(["noisy_things.sub", "numpy"], Path("nowhere"))
    assert set(before) == set(after) == {"noisy-things"}
    assert before != after


@pytest.mark.parametrize(
    "row",
    [
        "row = [73.125, 0.5, -41]",
        "row=[73.125,\n  0.5, # the ] of a comment\n  -41,\n]",
        '"row" = [ 73.125, 0.5, -41 ]',
        "'row' =\t[73.125, 0.5, -41]",
    ],
)
def test_a_row_that_is_spelled_out_is_left_out_of_the_text(write_scenario, row):
    data = 'path = "small.csv"\ntarget = "y"\nconstant = false'
    path = write_scenario(data=data, neighbour=f'rule = "replace"\nindex = 2\n{row}')
    text = Scenario.load(path).text
    shown = recorded_text(text, 0)
    assert "73.125" in text
    assert re.search(r"row['\"]?\s*=\s*\[…\]\n", shown)
    assert not re.search("73|41", shown)
    assert shown.count("\n[") == text.count("\n[")


def test_a_text_whose_row_cannot_be_told_apart_is_not_kept():
    assert recorded_text('[neighbour]\n"\\u0072ow" = [73.125]\n', 0) is None
    written = 'neighbour = { rule = "replace", row = [73.125], index = 3 }\n'
    shown = 'neighbour = { rule = "replace", row = […], index = 3 }\n'
    assert recorded_text(written, 0) == shown


def test_a_text_with_another_seed_than_the_run_says_so():
    text = "[audit]\nseed = 3\n"
    assert recorded_text(text, 3) == text
    other = "# This run had the seed 5 in place of the file's.\n"
    assert recorded_text(text, 5) == other + text
    assert recorded_text("[audit]\n", 5) == f"{other}[audit]\n"
    assert recorded_text("[audit]\nepsilon = [0, 1]\nthrow = [2]\n", 0).count("…") == 0


def test_workers_are_left_out_of_the_text_since_they_change_no_result():
    alone = "[audit]\ndraws = 400\nseed = 1\n"
    workers = '[audit]\ndraws = 400\nbackend = "dask"\n  address = "tcp://x:1"\nseed = 1'
    assert recorded_text(workers, 1) == recorded_text(alone, 1) == alone
    assert recorded_text('audit = { draws = 400, backend = "dask" }\n', 0) is None
