"""A run in a process of its own that keeps a few draws and then waits."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT, LOOK = 4, 17  # blocks, and draws of the first look
RELEASE = f"""
import time
from pathlib import Path

HOLD = Path(__file__).with_name("hold")
made = 0

def release(data, size, *, rng):
    global made
    made += size
    while made > {KEPT * 256 + LOOK} and HOLD.exists():
        time.sleep(0.01)
    return data.mean(axis=0) + 0.1 * rng.standard_normal((size, data.shape[1]))
"""
# A shell that starts pytest in the background has its children ignore SIGINT, and Python leaves an
# ignored SIGINT ignored. This process is to be interrupted, however the tests were started.
COMMAND = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("dpaudit", run_name="__main__", alter_sys=True)
"""


def held_scenario(write: Callable[..., Path], **changes: str) -> Path:
    """A scenario "held" whose mechanism waits while there is a file "hold" beside it.

    It waits after a few blocks.

    write : the fixture `write_scenario`.
    """
    path = write(
        "held",
        mechanism='call = "held_release:release"',
        neighbour='rule = "row"\nindex = 4',
        **changes,
    )
    path.with_name("held_release.py").write_text(RELEASE)
    return path


@contextmanager
def held_run(scenario: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """The process of a run that has kept its first draws and waits.

    At the end it is killed, and the scenario is held no more."""
    hold = scenario.with_name("hold")
    hold.touch()
    command = [sys.executable, "-c", COMMAND, "run", str(scenario), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 60
            while len(list(out.glob("draws/*.npy"))) < KEPT:
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < end
                time.sleep(0.01)
            yield process
        finally:
            process.kill()
            hold.unlink()
