"""A run that is killed, fails or fills the disk is resumed to the bytes of one left alone."""

import errno
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.adapters.trial import MOST
from dpaudit.run import Scenario, run
from dpaudit.run.store import folder as store_folder
from dpaudit.sampling.replay import SIZE
from dpaudit.search.ranking import SPREAD
from tests.run.records import record_of, record_without_clock

pytestmark = pytest.mark.usefixtures("no_figures")

AUDIT = 'draws = 4000\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
BATCHES = 'draws = 900\nclassifier = "qda"\nepsilon = [0.0, 1.0]\nstop = "verdict"'
SEARCH = 'rule = "search"\nshortlist = 12\nbudget = 6'


def content(folder):
    """Everything that a run has left: the draws to the byte, the record but for its clock."""
    record = record_without_clock(folder)
    kept = [
        path
        for path in folder.rglob("*.[njc]*")
        if path.name not in (store_folder.PARTS, "result.json")
    ]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}
    for name in (name for name in files if name.endswith(store_folder.OUTCOMES)):
        files[name] = b"".join(sorted(files[name].splitlines(keepends=True)))  # whatever the order
    return record, files, store_folder.listed_parts(folder / "draws")


def killed(scenario, folder, seed, kills):
    """Kill runs by time and by step; how often each was killed."""
    command = [
        sys.executable,
        str(Path(__file__).with_name("killing.py")),
        str(scenario),
        str(folder),
        str(seed),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(kills)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("time", "step"):
        assert content(folder / name)[:2] == content(folder / "whole")[:2]
        assert content(folder / name)[2].keys() == content(folder / "whole")[2].keys()
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    "tables",
    [{"audit": AUDIT}, {"audit": BATCHES}, {"audit": AUDIT, "neighbour": SEARCH}],
    ids=["certificate", "batches", "search"],
)
def test_killed_at_random_points_many_times(write_scenario, tmp_path, tables):
    """Runs are killed by time within their first half, and by step.

    By step: after 1 to 12 of its more than 100 steps on the disk.
    """
    counts = killed(write_scenario(**tables), tmp_path, seed=1, kills=12)
    assert counts[0] >= 1
    assert counts[1] == 12


def test_what_a_killed_run_left_half_written_goes(write_scenario, tmp_path):
    left = [
        tmp_path / "out" / f".{name}.11425"
        for name in ("result.json", "report.html", "spectrum.png", "search.csv")
    ]
    (tmp_path / "out").mkdir()
    for path in left:
        path.write_bytes(b"half")
    run(Scenario.load(write_scenario(audit=AUDIT, neighbour=SEARCH)), tmp_path / "out", resume=True)
    assert not [path for path in left if path.exists()]


@pytest.mark.parametrize(("where", "full_at"), [("part", 0), ("part", 31), ("list", 5)])
def test_a_full_disk(write_scenario, tmp_path, monkeypatch, where, full_at):
    scenario = Scenario.load(write_scenario(audit=AUDIT))
    run(scenario, tmp_path / "whole", keep_draws=True)
    with monkeypatch.context() as patch:
        (full_part if where == "part" else full_list)(patch, full_at)
        with pytest.raises(OSError, match="No space left") as caught:
            run(scenario, tmp_path / "out")
        assert caught.value.errno == errno.ENOSPC
    assert not (tmp_path / "out" / "result.json").exists()
    assert len(list((tmp_path / "out" / "draws").glob("*.npy"))) >= full_at
    run(scenario, tmp_path / "out", resume=True, keep_draws=True)
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]


def full_part(patch, full_at):
    """Writing the part after `full_at` others fails and leaves half a draft.

    It is as if the process had died.
    """
    whole, count = store_folder.replace_file, iter(range(10_000))

    def replace_file(path, content, **options):
        if path.suffix == ".npy" and next(count) == full_at:
            path.with_name(f".{path.name}.{os.getpid()}").write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        whole(path, content, **options)

    patch.setattr(store_folder, "replace_file", replace_file)


def full_list(patch, full_at):
    """The disk is full in the middle of a line."""
    append, count = store_folder.append_line, iter(range(10_000))

    def half(path, line):
        if next(count) < full_at:
            return append(path, line)
        with path.open("ab") as file:
            file.write(line[: len(line) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path.name)

    patch.setattr(store_folder, "append_line", half)


def test_parts_of_another_run_or_another_place_are_drawn_again(write_scenario, tmp_path):
    scenario = Scenario.load(write_scenario(audit=AUDIT))
    for name, seed in (("whole", 0), ("foreign", 1)):
        run(scenario, tmp_path / name, seed=seed, keep_draws=True)
    run(scenario, tmp_path / "out", keep_draws=True)
    draws = tmp_path / "out" / "draws"
    (draws / "0-000003.npy").write_bytes(
        (tmp_path / "foreign" / "draws" / "0-000003.npy").read_bytes()
    )
    (draws / "1-000004.npy").write_bytes((draws / "1-000005.npy").read_bytes())
    np.save(draws / "1-000009.npy", np.zeros((256, 4)))
    (draws / "0-000002.npy").unlink()
    run(scenario, tmp_path / "out", resume=True, keep_draws=True)
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]


COUNTED = """
from pathlib import Path

HERE = Path(__file__).parent

def release(data, size, *, rng):
    if (HERE / "calls").stat().st_size > int((HERE / "limit").read_text()):
        raise KeyboardInterrupt
    with (HERE / "calls").open("a") as file:
        file.write(f"{size:9}\\n")
    return data.mean(axis=0) + 0.1 * rng.standard_normal((size, data.shape[1]))
"""


@pytest.fixture
def counted(write_scenario, tmp_path):
    """counted(folder, most, **options) → sizes of the calls that a run makes.

    Those of its trial and replay are left out. The run is interrupted after `most`.
    """
    (tmp_path / "counted_calls.py").write_text(COUNTED)
    scenario = Scenario.load(
        write_scenario(mechanism='call = "counted_calls:release"', neighbour=SEARCH, audit=AUDIT)
    )

    def counted(folder, most, **options):
        (tmp_path / "limit").write_text(str(10 * (most - 1)))
        (tmp_path / "calls").write_text("")
        with suppress(KeyboardInterrupt):
            run(scenario, tmp_path / folder, keep_draws=True, n_jobs=1, **options)
        made = [int(line) for line in (tmp_path / "calls").read_text().split()]
        return [size for size in made if size > max(MOST, SIZE)]

    return counted


@pytest.mark.parametrize("most", [1, pytest.param(65, marks=pytest.mark.slow)])
def test_of_an_interrupted_search_only_the_first_draws_are_made_twice(counted, tmp_path, most):
    """The calls of both runs together are those of a run without interruption, audit included.

    The first draws of M(D) are made again, and the first block of each side that is kept. The last
    run is interrupted after the first block of the audit, of 16 calls.
    """
    whole = counted("whole", 10**6)
    first = counted("out", most)
    sides = {path.name[0] for path in (tmp_path / "out" / "draws").glob("?-*.npy")}
    rest = counted("out", 10**6, resume=True)
    assert len(first) == most < len(whole)
    assert sorted(first + rest) == sorted([*whole, SPREAD, *[16] * 16 * len(sides)])
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]


@pytest.mark.parametrize("most", [2, 60])
def test_a_run_that_goes_on_keeps_its_seed(counted, tmp_path, most):
    """The interrupted run had a seed of its own; it ended in the search, or in its later rounds."""
    counted("whole", 10**6, seed=5)
    counted("out", most, seed=5)
    notices = []
    counted("out", 10**6, resume=True, notice=notices.append)
    assert notices == ["the run goes on with the seed that it was begun with, 5"]
    record = record_of(tmp_path / "out")
    assert record["seed"] == 5
    assert record["scenario_text"].startswith("# This run had the seed 5 in place of the file's.\n")
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]
    with pytest.raises(dp.InvalidInput, match=r"other settings \(seed 5, now 1\)"):
        counted("out", 10**6, resume=True, seed=1)


def test_damaged_outcomes_of_a_search_are_found_anew(counted, tmp_path):
    counted("whole", 10**6)
    counted("out", 10**6)
    file = tmp_path / "out" / "draws" / "search" / store_folder.OUTCOMES
    lines = file.read_text().splitlines(keepends=True)
    draws = [json.loads(line.partition(" ")[2])[1][0] for line in lines]
    lines[3] = lines[3].replace("[16, ", "[16, 1")
    half = lines[-1][:-9]
    file.write_text("".join([*lines[:5], *lines[6:-1], half]))
    again = counted("out", 10**6, resume=True)
    assert (again[0], again[-32:]) == (SPREAD, [16] * 32)
    assert sorted(again[1:-32]) == sorted([draws[3], draws[5], draws[-1]])
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]
