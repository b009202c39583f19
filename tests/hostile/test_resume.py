"""Resumed runs: draws of two mechanisms are never mixed, sound draws are never removed unasked."""

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.records import text_without_clock
from tests.sparse import one_in

pytestmark = pytest.mark.usefixtures("no_figures")

ROW = 'rule = "row"\nindex = 4'
AUDIT = 'draws = 1024\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
BATCHES = f'{AUDIT}\nstop = "verdict"'
SEARCH = 'rule = "search"\nshortlist = 4\nbudget = 5'
CALL = 'call = "release:release"'
COMMAND = 'command = ["noisy", "{data}", "{size}", "{seed}"]'
SCRIPT = 'command = ["{python}", "-S", "script.py", "--with=settings.txt", "{data}", "{size}"]'
USES = """
def release(data, size, *, rng):
    {line}
    return data.mean(axis=0) + SCALE * rng.standard_normal((size, data.shape[1]))
"""
NOISY = """#!/bin/sh
awk -v n=$2 -v s=$3 'BEGIN {{srand(s); for (i = 0; i < n; i++) print {scale} * rand()}}'
"""
PRINTS = """
import random, sys
from noise.parts import SCALE
for _ in range(int(sys.argv[3])): print(SCALE * random.Random(1).random())
"""
ESTIMATOR = """
import numpy as np

class Noisy:
    seed = 0
    def fit(self, X, y):
        self.coef_ = np.random.default_rng(self.seed).standard_normal(X.shape[1]) + y.mean()
"""


class Folder:
    """The scenario's folder, in which runs are kept and go on. Modules with SCALE are its parts."""

    def __init__(self, path, write):
        self.path, self.write = path, write

    def put(self, name, text="SCALE = 0.1", folder=None):
        """Write a file, in the scenario's folder or in another one."""
        path = (folder or self.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def release(self, line, top=""):
        """The mechanism's own file. line, top : inside the function, and above it."""
        self.put("release.py", top + USES.format(line=line))

    def run(self, mechanism=CALL, neighbour=ROW, audit=AUDIT, out="out", **options):
        """A run, whose draws are kept."""
        path = self.write(mechanism=mechanism, neighbour=neighbour, audit=audit)
        return run(Scenario.load(path), self.path / out, keep_draws=True, **options)

    def refused(self, reason, mechanism=CALL, **options):
        """The run that went through cannot be resumed, and all its draws are still there."""
        before = self.kept()
        with pytest.raises(dp.InvalidInput, match=reason):
            self.run(mechanism, resume=True, **options)
        assert self.kept() == before

    def kept(self, out="out"):
        """Everything in the folder of the draws, by name."""
        draws = self.path / out / "draws"
        paths = [one for one in draws.rglob("*") if one.is_file() and one.name != "progress.json"]
        return {one.relative_to(draws).as_posix(): one.read_bytes() for one in paths}


@pytest.fixture
def folder(tmp_path, write_scenario):
    return Folder(tmp_path, write_scenario)


# --- what is listed


@pytest.mark.parametrize(
    ("name", "top", "line"),
    [
        ("helper.py", "from helper import SCALE", ""),
        ("noise/parts.py", "from noise import SCALE", ""),
        ("helper.py", "", "from helper import SCALE"),
        ("helper.py", "SCALE = __import__('hel' + 'per').SCALE", ""),
    ],
    ids=["helper", "submodule", "in the function", "by a made-up name"],
)
def test_a_changed_module(folder, name, top, line):
    folder.release(line or "pass", top)
    folder.put("noise/__init__.py", "from .parts import SCALE")
    folder.put(name)
    folder.run()
    folder.put(name, "SCALE = 0.25")
    folder.refused(rf"\({name} has changed\); run without --resume to start afresh")


def test_a_module_that_comes_before_another(folder, tmp_path_factory, monkeypatch):
    """No file changes, but a new one is imported."""
    other = tmp_path_factory.mktemp("other")
    folder.put("helper.py")
    folder.release("from helper import SCALE")
    folder.run()
    folder.put("helper.py", folder=other)
    monkeypatch.syspath_prepend(other)
    folder.refused("/helper.py was not used; helper.py is no longer used")
    monkeypatch.delitem(sys.modules, "helper", raising=False)


def test_changed_outputs_of_an_estimator(folder):
    mechanism = 'call = "est:Noisy"\nkind = "estimator"\noutputs = "first:first"'
    folder.put("est.py", ESTIMATOR)
    folder.put("first.py", "def first(model): return model.coef_[0]")
    folder.run(mechanism)
    folder.put("first.py", "def first(model): return model.coef_[1]")
    folder.refused(r"\(first.py has changed\)", mechanism)


@pytest.mark.slow
def test_a_changed_program_on_the_path(folder, tmp_path_factory, monkeypatch):
    programs = tmp_path_factory.mktemp("programs")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    folder.put("noisy", NOISY.format(scale=1), folder=programs)
    folder.run(COMMAND)
    folder.run(COMMAND, resume=True)
    folder.put("noisy", NOISY.format(scale=2), folder=programs)
    folder.refused(r"\(program noisy has changed\)", COMMAND)


def test_a_changed_file_of_a_program(folder):
    texts = {"script.py": PRINTS, "settings.txt": "", "noise/parts.py": "SCALE = 1"}
    for name, text in texts.items():
        folder.put(name, text)
    folder.run(SCRIPT, audit="draws = 20")
    for name, text in texts.items():
        folder.put(name, text + "\n")
        folder.refused(rf"\({name} has changed\)", SCRIPT, audit="draws = 20")
        folder.put(name, text)


def test_another_version_of_a_library_or_of_python(folder, monkeypatch):
    folder.release("import joblib; SCALE = 0.1")
    folder.run()
    whole = metadata.version
    for name in ("joblib", "scipy"):
        changed = {name: "0.0.1"}
        monkeypatch.setattr(
            metadata, "version", lambda one, new=changed: new.get(one) or whole(one)
        )
        folder.refused(rf"\(package {name} .*, now 0.0.1\)")
    monkeypatch.setattr(metadata, "version", whole)
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    folder.refused(r"\(python CPython 3.*, now CPython 3.99.0\)")


# --- what is not listed shows in draws


READS = "from pathlib import Path; SCALE = float(Path(__file__).with_name('config').read_text())"
LOOKS = "import os; SCALE = float(os.environ['NOISE_SCALE'])"
DIFFERENT = "is drawn differently now than when it was kept in .*an environment variable, a file"


@pytest.mark.parametrize(
    ("line", "options", "what"),
    [
        (READS, {}, r"block 0 of M\(D('\)|\)) "),
        (LOOKS, {"audit": BATCHES}, r"block 0 of M\(D('\)|\)) "),
        (LOOKS, {"neighbour": SEARCH}, r"M\(D\), 1,000 times, "),
    ],
    ids=["file", "variable, in batches", "variable, in a search"],
)
def test_a_changed_file_or_variable(folder, monkeypatch, line, options, what):
    monkeypatch.setenv("NOISE_SCALE", "0.1")
    folder.put("config", "0.1")
    folder.release(line)
    folder.run(**options)
    monkeypatch.setenv("NOISE_SCALE", "0.25")
    folder.put("config", "0.25")
    folder.refused(what + DIFFERENT, **options)


def test_a_refused_run_leaves_no_draws_that_pass_next_time(folder, monkeypatch):
    """Blocks are lost, too: those that are drawn anew are not kept before the others are tried."""
    monkeypatch.setenv("NOISE_SCALE", "0.1")
    folder.release(LOOKS)
    folder.run()
    for side in (0, 1):
        (folder.path / "out" / "draws" / f"{side}-000000.npy").unlink()
    monkeypatch.setenv("NOISE_SCALE", "0.25")
    for _ in range(2):
        folder.refused(r"block 0 of M\(D('\)|\)) " + DIFFERENT)
    monkeypatch.setenv("NOISE_SCALE", "0.1")
    folder.run(resume=True)
    folder.run(out="whole")
    assert _unordered(folder.kept()) == _unordered(folder.kept("whole"))


def test_a_mechanism_with_random_numbers_of_its_own(folder):
    folder.release("import numpy as np; rng, SCALE = np.random.default_rng(), 0.1")
    folder.run()
    folder.refused("or the mechanism draws from something else than rng; run without --resume")


def test_a_mechanism_that_fails_when_it_is_tried_again(folder):
    folder.put("config", "0.1")
    folder.release(READS)
    folder.run()
    (folder.path / "config").unlink()
    with pytest.raises(dp.MechanismError, match=r"raised FileNotFoundError.*\(on M\(D"):
        folder.run(resume=True)


# --- damaged manifests


DAMAGE = [None, b"", b'{"seed": ', b"\0\xff\xfe", b"[1]", b"[" * 100_000]


@pytest.mark.parametrize("neighbour", one_in(2, [ROW, SEARCH]), ids=["audit", "search"])
def test_a_damaged_manifest(folder, neighbour):
    """Without a sound one nothing is used and nothing removed, until a run that starts afresh."""
    options = {"mechanism": 'name = "ALS"\nrows = 20', "neighbour": neighbour}
    folder.run(**options)
    whole = folder.kept()
    draws = folder.path / "out" / "draws" / ("search" if neighbour == SEARCH else "")
    for content in DAMAGE:
        damage(draws, content)
        folder.refused(r"files: \d+., but manifest.json cannot be read", **options)
    folder.run(**options, notice=lambda message: None)
    assert folder.kept() == whole


def damage(draws, content):
    (draws / "manifest.json").unlink(missing_ok=True)
    if content is not None:
        (draws / "manifest.json").write_bytes(content)


# --- honest runs go on


HONEST = {
    "call": (CALL, ROW, AUDIT),
    "batches": (CALL, ROW, BATCHES),
    "search": (CALL, SEARCH, AUDIT),
    "command": ('command = ["sh", "./noisy", "{data}", "{size}", "{seed}"]', ROW, AUDIT),
    "estimator": ('call = "est:Noisy"\nkind = "estimator"', ROW, AUDIT),
    "own name": ('name = "ALS"\nrows = 20', 'rule = "worst"', AUDIT),
}


class Stop:
    """A progress that interrupts the run at a call, as Ctrl-C does. count : calls so far."""

    def __init__(self, at):
        self.at, self.count = at, 0

    def __call__(self, step, done, wanted):
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    "form",
    one_in(len(HONEST), HONEST),
)
def test_interrupted_runs_go_on_to_the_same_bytes(folder, form):
    """Interrupted after a third and after two thirds of their steps, resumed with other jobs."""
    folder.put("noisy", NOISY.format(scale=1))
    folder.put("helper.py")
    folder.put("est.py", ESTIMATOR)
    folder.release("import helper; SCALE = helper.SCALE")
    mechanism, neighbour, audit = HONEST[form]
    calls = Stop(0)
    folder.run(mechanism, neighbour, audit, "whole", progress=calls)
    for third in (1, 2):
        stop = Stop(third * calls.count // 3)
        with pytest.raises(KeyboardInterrupt):
            folder.run(mechanism, neighbour, audit, resume=True, progress=stop)
    folder.run(mechanism, neighbour, audit, resume=True, n_jobs=2)
    assert _unordered(folder.kept()) == _unordered(folder.kept("whole"))
    left, right = (text_without_clock(folder.path / one) for one in ("out", "whole"))
    assert left == right


def _unordered(kept):
    """Lists without their order: workers may finish in any, and what was lost is listed last."""
    return {
        name: set(content.splitlines()) if name.endswith(".jsonl") else content
        for name, content in kept.items()
    }


def test_a_folder_that_was_moved_goes_on(folder, tmp_path_factory):
    folder.put("helper.py")
    folder.release("from helper import SCALE")
    folder.run()
    place = tmp_path_factory.mktemp("other") / "moved"
    folder.path.rename(place)
    run(Scenario.load(place / "small.toml"), place / "out", resume=True)
    assert not Path(place / "out" / "draws").exists()


def test_other_modules_of_the_process_make_no_difference(folder, monkeypatch):
    """A module beside the scenario that the caller imports, and the mechanism does not."""
    folder.release("SCALE = 0.1")
    folder.put("caller.py", "")
    folder.run()
    monkeypatch.syspath_prepend(folder.path)
    __import__("caller")
    try:
        folder.run(resume=True)
    finally:
        del sys.modules["caller"]
