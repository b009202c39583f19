"""Runs that are killed: python killing.py SCENARIO FOLDER SEED KILLS.

They run in processes that are forked off one that has imported everything.

A run is killed at a random moment, or at its n-th step on the disk: before a file is made, between
the file and its name, after, or in the middle of a line of the list. Then it is resumed, killed
again, and so on until it is done.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import dpaudit._core.files
import dpaudit.report
from dpaudit.run import Scenario, run
from dpaudit.run.store import folder as store_folder


class Steps:
    """Counts steps on the disk, and kills the process at one of them."""

    def __init__(self, last):
        self.left = last
        self.replace, self.append = os.replace, dpaudit._core.files.append_line

    def __enter__(self):
        os.replace = self.replaced
        store_folder.append_line = self.appended

    def __exit__(self, *error):
        os.replace = self.replace
        store_folder.append_line = self.append

    def step(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def replaced(self, draft, path):
        self.step()
        self.replace(draft, path)
        self.step()

    def appended(self, path, line):
        if self.left == 1:
            with path.open("ab") as file:
                file.write(line[: len(line) // 2])
        self.step()
        self.append(path, line)
        self.step()


def attempt(scenario, folder, steps, seconds):
    """Go on with the run in a process of its own; True when it was done."""
    child = os.fork()
    if child == 0:
        with Steps(steps):
            run(scenario, folder, resume=True, keep_draws=True)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a run failed by itself"
    return not os.WIFSIGNALED(status)


def killed_until_done(scenario, folder, rng, by_time, whole_s, kills):
    """How often the run was killed; from `kills` on it is left alone."""
    for count in range(kills):
        steps = None if by_time else rng.randint(1, 12)
        if attempt(
            scenario, folder, steps or -1, rng.uniform(0.0, 0.5 * whole_s) if by_time else None
        ):
            return count
    assert attempt(scenario, folder, -1, None)
    return kills


def main(path, folder, seed, kills):
    dpaudit.report.write_report = lambda folder, record: (folder / "report.html").touch()
    scenario, folder, rng = Scenario.load(path), Path(folder), random.Random(int(seed))
    begin = time.monotonic()
    assert attempt(scenario, folder / "whole", -1, None)
    whole_s = time.monotonic() - begin
    counts = [
        killed_until_done(scenario, folder / name, rng, name == "time", whole_s, int(kills))
        for name in ("time", "step")
    ]
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
