"""A user's modules: found last, forgotten afterwards, and looked for in one order everywhere."""

import importlib
import os
import pickle
import sys

import pytest

from dpaudit._core import user_code
from dpaudit._core.user_code import (
    SAFE_PATH,
    Carried,
    importable_from,
    other_place_of,
    without_current_folder,
)

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def path(monkeypatch):
    """The path of this process, and the folders in use, which a test may change."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(user_code, "_IN_USE", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    return sys.path


def folder(tmp_path, name, **modules):
    place = tmp_path / name
    place.mkdir()
    for module, text in modules.items():
        (place / f"{module}.py").write_text(text)
    return place


def test_a_module_is_compiled_anew_when_it_changed_within_the_same_second(tmp_path):
    place = folder(tmp_path, "one", edited="X = 1")
    with importable_from(place):
        assert importlib.import_module("edited").X == 1
    (second := place / "edited.py").write_text("X = 2")
    os.utime(second, (1e9, 1e9))
    with importable_from(place):
        assert importlib.import_module("edited").X == 2
    second.write_text("X = 3")
    os.utime(second, (1e9, 1e9))
    with importable_from(place):
        assert importlib.import_module("edited").X == 3


def test_a_folder_is_last_while_it_is_in_use(tmp_path, path):
    place, before = folder(tmp_path, "one", own_of_one="X = 1"), list(path)
    with importable_from(place), importable_from(place):
        assert path == [*before, str(place)]
        assert importlib.import_module("own_of_one").X == 1
    assert path == before
    assert "own_of_one" not in sys.modules
    with importable_from(None):
        assert path == before


def test_a_worker_looks_in_the_places_of_the_auditing_process_in_their_order(tmp_path, path):
    """The first task of a worker, and one of the next run, in another folder."""
    one, other = (folder(tmp_path, name, whose=f"X = {name!r}") for name in ("one", "other"))
    own = list(path)
    with importable_from(one):
        sent = pickle.dumps(Carried(len))
        started_with = list(path)
    with importable_from(other):
        path.append("/somewhere")
        next_run = pickle.dumps(Carried(len))
    user_code._IN_USE.clear()
    path[:] = started_with  # of a process that was started in the first run
    assert pickle.loads(sent)([1, 2]) == 2
    assert path == [*own, str(one)]
    assert importlib.import_module("whose").X == "one"
    for _ in range(2):
        pickle.loads(next_run)
        assert path == [*own, "/somewhere", str(other)]
        assert importlib.import_module("whose").X == "other"


def test_workers_start_apart_from_the_current_folder(monkeypatch):
    """And what they start themselves does not: the first task puts the environment back."""
    monkeypatch.delenv(SAFE_PATH, raising=False)
    sent = pickle.dumps(Carried(len))
    with without_current_folder():
        assert os.environ[SAFE_PATH]
        pickle.loads(sent)
        assert SAFE_PATH not in os.environ
    monkeypatch.setenv(SAFE_PATH, "1")
    with without_current_folder():
        pickle.loads(sent)
    assert os.environ[SAFE_PATH] == "1"


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("wave", True),  # Python's, in a file
        ("time", True),  # Python's, built in
        ("numpy", True),  # installed, loaded
        ("own_of_one", False),
        ("spaces.own", False),  # a folder without __init__.py
        ("json.decoder", False),  # not beside
        ("no_such_module", False),
    ],
)
def test_what_another_module_hides(tmp_path, name, hidden):
    place = folder(tmp_path, "one", wave="", time="", numpy="", own_of_one="")
    (place / "spaces").mkdir()
    (place / "spaces" / "own.py").touch()
    with importable_from(place):
        assert (other_place_of(name) is not None) == hidden
    assert other_place_of(name) is None
