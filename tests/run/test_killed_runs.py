"""A run that is killed, fails or finds the disk full goes on to the bytes of one that was left alone."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, parts, run

AUDIT = 'samples = 4000\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
WAVES = 'samples = 900\nclassifier = "qda"\nepsilon = [0.0, 1.0]\nstop = "verdict"'
FRAGILE = '''
from pathlib import Path

def release(data, size, *, rng):
    """Raises in some blocks while there is a file "fault" beside it."""
    values = data.mean(axis=0) + 0.1 * rng.standard_normal((size, data.shape[1]))
    if values[0, 0] > 1.05 and (Path(__file__).parent / "fault").exists():
        raise RuntimeError("midway")
    return values
'''


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    monkeypatch.setattr("dpaudit.report.write_report", lambda folder, record: (folder / "report.html").touch())


def content(folder):
    """Everything that a run has left: the draws to the byte, the record but for its clock."""
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    del record["timings"], record["peak_memory_mb"]
    files = {path.name: path.read_bytes() for path in (folder / "draws").iterdir() if path.name != parts.PARTS}
    return record, files, parts.listed(folder / "draws")


def killed(scenario, folder, seed, kills):
    """Kill runs by time and by step; how often each was killed."""
    command = [sys.executable, str(Path(__file__).with_name("killing.py")), str(scenario), str(folder), str(seed)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([*command, str(kills)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("time", "step"):
        assert content(folder / name)[:2] == content(folder / "whole")[:2]
        assert content(folder / name)[2].keys() == content(folder / "whole")[2].keys()
    return json.loads(done.stdout)


@pytest.mark.parametrize("audit", [AUDIT, WAVES], ids=["certificate", "waves"])
def test_killed_at_random_points_many_times(write, tmp_path, audit):
    """By time at any moment of half a run's; by step after 1 to 12 of more than 100 on the disk, a run's steps."""
    counts = killed(write(audit=audit), tmp_path, seed=1, kills=12)
    assert counts[0] >= 1
    assert counts[1] == 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
@pytest.mark.parametrize("audit", [AUDIT, WAVES], ids=["certificate", "waves"])
def test_killed_up_to_eighty_times(write, tmp_path, audit, seed):
    assert sum(killed(write(audit=audit), tmp_path, seed, kills=80)) > 30


@pytest.mark.parametrize("full_at", [0, 5, 16, 31])
@pytest.mark.parametrize("where", ["part", "list"])
def test_a_full_disk(write, tmp_path, monkeypatch, full_at, where):
    scenario = Scenario.load(write(audit=AUDIT))
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
    """The part after so many leaves half a draft behind, as if the process had no time to take it back."""
    whole, count = parts.replace_file, iter(range(10_000))

    def replace_file(path, content):
        if path.suffix == ".npy" and next(count) == full_at:
            path.with_name(f".{path.name}.{os.getpid()}").write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        whole(path, content)

    patch.setattr(parts, "replace_file", replace_file)


def full_list(patch, full_at):
    """The disk takes half a line."""
    append, count = parts.Parts._append, iter(range(10_000))

    def half(self, line):
        if next(count) < full_at:
            return append(self, line)
        with (self.folder / parts.PARTS).open("ab") as file:
            file.write(line[: len(line) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), parts.PARTS)

    patch.setattr(parts.Parts, "_append", half)


def test_half_a_line_is_taken_back(tmp_path, monkeypatch):
    """A write that takes fewer bytes than it was given, as the last one on a disk does."""
    mine = parts.Parts(tmp_path)
    mine.write("0-000000.npy", b"a", 1)
    before = (tmp_path / parts.PARTS).read_bytes()

    class Short:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, line):
            return self.file.write(line[:10])

    whole = Path.open
    monkeypatch.setattr(Path, "open", lambda *args, **more: Short(whole(*args, **more)))
    with pytest.raises(OSError, match="No space left"):
        mine.write("0-000001.npy", b"b", 1)
    assert (tmp_path / parts.PARTS).read_bytes() == before


def test_a_mechanism_that_raises_midway(write, tmp_path):
    (tmp_path / "fragile.py").write_text(FRAGILE)
    made = {"mechanism": 'call = "fragile:release"', "neighbour": 'rule = "row"\nindex = 4', "audit": AUDIT}
    scenario = Scenario.load(write(**made))
    run(scenario, tmp_path / "whole", keep_draws=True)
    (tmp_path / "fault").touch()
    with pytest.raises(dp.MechanismError, match="RuntimeError: midway"):
        run(scenario, tmp_path / "out")
    assert list((tmp_path / "out" / "draws").glob("*.npy"))
    (tmp_path / "fault").unlink()
    run(scenario, tmp_path / "out", resume=True, keep_draws=True)
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]


def test_parts_of_another_run_or_another_place_are_drawn_again(write, tmp_path):
    scenario = Scenario.load(write(audit=AUDIT))
    for name, seed in (("whole", 0), ("foreign", 1)):
        run(scenario, tmp_path / name, seed=seed, keep_draws=True)
    run(scenario, tmp_path / "out", keep_draws=True)
    draws = tmp_path / "out" / "draws"
    (draws / "0-000003.npy").write_bytes((tmp_path / "foreign" / "draws" / "0-000003.npy").read_bytes())
    (draws / "1-000004.npy").write_bytes((draws / "1-000005.npy").read_bytes())
    np.save(draws / "1-000009.npy", np.zeros((256, 4)))
    (draws / "0-000002.npy").unlink()
    run(scenario, tmp_path / "out", resume=True, keep_draws=True)
    assert content(tmp_path / "out")[:2] == content(tmp_path / "whole")[:2]
