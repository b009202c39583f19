"""Threads and processes draw the same bytes; a worker that dies is reported."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.drawing import draw
from tests.run.records import text_without_clock

pytestmark = pytest.mark.usefixtures("no_figures")

OWN = """
import os
import time
import numpy as np
from helper_of_own import noise

def release(data, size, *, rng):
    return data.mean(axis=0) + noise(rng, (size, data.shape[1]))

def dies(data, size, *, rng):
    os._exit(1)

def dies_later(data, size, *, rng):
    if not data[4].any():
        time.sleep(2.0)
        os._exit(1)
    return rng.random((size, 1))
"""
HELPER = "def noise(rng, shape):\n    return 0.1 * rng.standard_normal(shape)\n"
ROW = 'rule = "row"\nindex = 4'
DATA = np.random.default_rng(0).normal(size=(30, 3))
SIZE = 8000


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own_release.py").write_text(OWN)
    (tmp_path / "helper_of_own.py").write_text(HELPER)
    return tmp_path


def local(data, size, *, rng):
    """A mechanism of this module, which the other processes import."""
    return data.sum(axis=0) * rng.standard_normal((size, 1))


MECHANISMS = (
    dp.mechanisms.ALS(12),
    dp.mechanisms.RandomProjection(6),
    local,
    lambda *args, rng: local(*args, rng=rng),
)


@pytest.mark.parametrize(
    "backend",
    [
        "threading",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("multiprocessing", "loky")),
    ],
)
def test_every_backend_draws_the_same(backend):
    for number, mechanism in enumerate(MECHANISMS):
        alone = draw(mechanism, DATA, SIZE, np.random.SeedSequence(number), 1, n_jobs=1)
        with parallel_config(backend=backend, n_jobs=2):
            np.testing.assert_array_equal(
                draw(mechanism, DATA, SIZE, np.random.SeedSequence(number), 1), alone
            )


@pytest.mark.slow
def test_a_scenario_in_processes(write_scenario, own):
    """Processes find the modules beside the scenario, in batches too.

    The bytes are those of threads and of one process.
    """
    made = {"mechanism": 'call = "own_release:release"', "neighbour": 'rule = "row"\nindex = 4'}
    for stop in (None, "verdict"):
        for backend, jobs in (("loky", 2), ("threading", 2), (None, 1)):
            key = "" if backend is None else f'\nbackend = "{backend}"'
            path = write_scenario(
                audit=f'draws = 1500\nclassifier = "qda"\nepsilon = [0.0]{key}', **made
            )
            run(Scenario.load(path), own / f"{backend}-{stop}", n_jobs=jobs, stop=stop)
        found = {
            text_without_clock(own / f"{backend}-{stop}") for backend in ("loky", "threading", None)
        }
        assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "neighbour", "task"),
    [
        ("dies", ROW, r"draw M\(D\) and M\(D'\)"),
        ("dies_later", ROW, r"draw M\(D'\)"),
        ("dies_later", 'rule = "search"\nbudget = 6', "try neighbours"),
    ],
)
def test_a_worker_that_dies_is_said_with_its_task(write_scenario, own, mechanism, neighbour, task):
    """All workers end with the one that dies, so its side is known where the other one was done."""
    audit = 'draws = 400\nclassifier = "qda"\nbackend = "loky"'
    call = f'call = "own_release:{mechanism}"'
    path = write_scenario(mechanism=call, neighbour=neighbour, audit=audit)
    message = f"the workers failed to {task}: TerminatedWorkerError"
    with pytest.raises(dp.MechanismError, match=message):
        run(Scenario.load(path), own / "out", n_jobs=2)


def test_dask_where_it_is_not_installed(write_scenario, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        dp.ScenarioError,
        match=r'"dask" needs the package distributed, pip install "dpaudit\[dask\]"',
    ):
        run(Scenario.load(write_scenario(audit='backend = "dask"')), tmp_path / "out")


TWICE = """
from shared_helper import WIDTH

def release(data, size, *, rng):
    return WIDTH * rng.random((size, 1))
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_two_folders_may_have_modules_of_one_name(write_scenario, tmp_path, backend):
    """The second scenario gets its own modules, in the workers too, and none stays loaded."""
    made = {"mechanism": 'call = "twice_release:release"', "neighbour": 'rule = "row"\nindex = 4'}
    audit = f'draws = 200\nclassifier = "qda"\nepsilon = [0.0]\nbackend = "{backend}"'
    path = write_scenario(audit=audit, **made)
    for width in (1.0, 1000.0):
        folder = tmp_path / f"with-{width:g}"
        folder.mkdir()
        for name in ("small.toml", "small.csv"):
            shutil.copy(path.with_name(name), folder)
        (folder / "twice_release.py").write_text(TWICE)
        (folder / "shared_helper.py").write_text(f"WIDTH = {width}\n")
        run(Scenario.load(folder / "small.toml"), folder / "out", n_jobs=2, keep_draws=True)
        largest = max(np.load(part).max() for part in (folder / "out" / "draws").rglob("*.npy"))
        assert 0.9 * width < largest < width
        assert not {"twice_release", "shared_helper"} & set(sys.modules)


@pytest.fixture
def counted(write_scenario, own):
    """counted(backend): a scenario of 36 blocks a side; the result of a run alone is in `alone`."""
    made = {"mechanism": 'call = "own_release:release"', "neighbour": 'rule = "row"\nindex = 4'}

    def scenario(backend=None):
        key = "" if backend is None else f'\nbackend = "{backend}"'
        audit = f'draws = 9000\nclassifier = "auto"\nepsilon = [0.0, 1.0]{key}'
        return Scenario.load(write_scenario(audit=audit, **made))

    run(scenario(), own / "alone")
    return scenario


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keep", "backend"), [(False, "loky"), (True, "loky"), (False, "threading")]
)
def test_workers_that_count_change_no_byte(counted, tmp_path, keep, backend):
    run(counted(backend), tmp_path / "out", n_jobs=2, keep_draws=keep)
    assert text_without_clock(tmp_path / "out") == text_without_clock(tmp_path / "alone")
    assert len(list((tmp_path / "out").glob("draws/*.npy"))) == (72 if keep else 0)


def interrupt(step, done, wanted):
    """Draws learn up to 4,500 a side, and then they are counted."""
    if step.startswith("drawing") and done > 7500:
        raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "then"), [("loky", "threading"), ("loky", None), ("threading", "loky")]
)
def test_an_interrupted_run_goes_on_with_any_workers(counted, tmp_path, first, then):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(counted(first), out, n_jobs=2, progress=interrupt)
    assert bool(list(out.glob("draws/counts-*.npz"))) is (first == "loky")
    run(counted(then), out, resume=True, n_jobs=None if then is None else 2)
    assert text_without_clock(out) == text_without_clock(tmp_path / "alone")


IN_POOL = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import dpaudit as dp
from joblib import parallel_config
from own_release import release

def search(seed):
    rows = np.random.default_rng(0).random((30, 2))
    with parallel_config(backend="loky", n_jobs=2):
        return dp.search_neighbours(release, rows, draws=1000, claim=(1.0, 0.1), rng=seed).index

if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context(sys.argv[1])) as pool:
        print(*pool.map(search, range(2)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_a_process_of_a_pool_ends_its_workers(own, start):
    """A process of multiprocessing waits for its children; loky's would wait 5 minutes for work."""
    (own / "in_pool.py").write_text(IN_POOL)
    command = [sys.executable, "in_pool.py", start]
    done = subprocess.run(command, cwd=own, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2


IN_THREADS = """
import multiprocessing
from own_release import release
import dpaudit as dp
import numpy as np
from joblib.externals.loky import reusable_executor
from multiprocessing import util

def audit(pipe):
    # after the ends of lower priority, and so after that of the workers
    util.Finalize(None, lambda: pipe.send(reusable_executor._executor is None), exitpriority=1)
    pair = dp.neighbours.zero_row(np.ones((9, 2)), 1)
    dp.audit(release, pair, draws=1000, claim=(1.0, 0.1), rng=0)

if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=audit, args=[theirs])
    process.start()
    print(ours.recv())
    process.join()
"""


def test_a_process_that_drew_in_threads_starts_no_workers_to_end_them(own):
    (own / "in_threads.py").write_text(IN_THREADS)
    command = [sys.executable, "in_threads.py"]
    done = subprocess.run(command, cwd=own, capture_output=True, text=True, timeout=60)
    assert done.stdout == "True\n", done.stderr
