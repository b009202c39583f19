"""Programs that hang, flood, escape or write where they must not, and runs that are killed."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from dpaudit.adapters import processes

DATA = np.arange(6.0).reshape(3, 2)


def shell(script, *more, **options):
    """A mechanism that is a script of sh: $1 is the data, $2 the size, then come `more`."""
    return adapters.command(["sh", "-c", script, "sh", "{data}", "{size}", *more], **options)


def until(true, seconds=20.0):
    """Wait until true() holds; fails if it does not in time."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def alive(pid):
    """Whether a process runs; a zombie does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def numbers(path):
    """The process numbers in a file, once it has been written."""
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return [int(one) for one in path.read_text().split()]


@contextmanager
def escaped(path):
    """At the end, kill the process that a program left behind; its number is in the file."""
    try:
        yield
    finally:
        for pid in numbers(path):
            os.kill(pid, signal.SIGKILL)


# sh does not wait for what runs in the background; setsid takes it out of the process group
ESCAPES = {
    "silent": 'setsid sh -c \'echo $$ > "$1"; exec sleep 60\' sh "$3" &',
    "flooding stderr": 'setsid sh -c \'echo $$ > "$1"; exec yes >&2\' sh "$3" &',
}


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_grandchild_that_holds_the_output_is_not_waited_for(tmp_path, escape, timeout):
    pid = tmp_path / "pid"
    wait = 'while ! test -s "$3"; do sleep 0.01; done; '
    program = shell(f"{ESCAPES[escape]} {wait} echo 1; echo 2", str(pid), timeout=timeout)
    started = time.monotonic()
    with escaped(pid):
        assert program(DATA, 2, rng=1) == [1.0, 2.0]
    assert time.monotonic() - started < 20.0


def test_the_deadline_holds_where_a_grandchild_holds_the_output(tmp_path):
    pid = tmp_path / "pid"
    program = shell(f"{ESCAPES['silent']} sleep 60", str(pid), timeout=0.3)
    with escaped(pid), pytest.raises(dp.MechanismError, match=r"no output within 0\.3 s"):
        program(DATA, 2, rng=1)


def test_a_program_that_cannot_be_killed_is_left(monkeypatch):
    """A program of another user is an example. Python warns of the process that is given up."""

    def run_and_drop():
        """Run the program, which fails, and drop all that the error refers to."""
        with pytest.raises(dp.MechanismError, match=r"no output within 0\.1 s"):
            shell("sleep 10; sleep 10", timeout=0.1)(DATA, 2, rng=1)
        gc.collect()

    monkeypatch.setattr(processes, "kill_group", lambda group: None)
    monkeypatch.setattr(processes, "PATIENCE", 0.1)
    started = time.monotonic()
    with pytest.warns(ResourceWarning):
        run_and_drop()
    assert time.monotonic() - started < 8.0


def test_output_that_does_not_block_loses_nothing():
    """A program may make the pipe, which it shares with this process, one that does not block."""
    body = "import os; os.set_blocking(1, False); os.write(1, b'1\\n' * 32768)"
    program = adapters.command(["{python}", "-S", "-c", body, "{data}", "{size}"])
    assert program(DATA, 32768, rng=1) == [1.0] * 32768


CHANGES = {
    "overwrites": 'chmod u+w "$1"; echo 9,9 > "$1"',
    "same size": 'chmod u+w "$1"; tr 0 9 < "$1" > "$1.new"; cp -p "$1.new" "$1"',
    "removes": 'rm -f "$1"',
    "replaces by a pipe": 'rm -f "$1"; mkfifo "$1"',
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_program_that_changes_its_data_is_refused(change):
    program = shell(f'cat "$1" > /dev/null; {CHANGES[change]}; yes 1 | head -n "$2"')
    for _ in range(2):  # the second run has a sound file again, and is refused for itself
        with pytest.raises(dp.MechanismError, match=r"changed its data file \{data\}"):
            program(DATA, 3, rng=1)
    echo = adapters.command(["tail", "-n", "{size}", "{data}"])
    np.testing.assert_array_equal(echo(DATA, 3, rng=1), DATA)


def test_a_program_that_only_looks_at_its_data_is_not_refused():
    program = shell('touch "$1.mine"; chmod u+w "$1"; touch "$1"; cat "$1"; rm "$1.mine"')
    for _ in range(3):
        np.testing.assert_array_equal(program(DATA, 3, rng=1), DATA)


OUTPUTS = {
    "stdout": ("yes", r"printed more than 16 MiB"),
    "a grandchild": ("setsid yes & wait", r"printed more than 16 MiB"),
    "a large file": ('head -c 20000000 /dev/zero > "$3"', r"wrote more than 16 MiB to \{out\}"),
    "a pipe": ('mkfifo "$3"', r"wrote no regular file at \{out\}"),
    "a device": ('ln -s /dev/zero "$3"', r"wrote no regular file at \{out\}"),
    "nothing": ("true", r"wrote no file at \{out\}: No such file"),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_output_is_bounded(output):
    script, message = OUTPUTS[output]
    program = shell(script, *(["{out}"] if "$3" in script or output == "nothing" else []))
    with pytest.raises(dp.MechanismError, match=message):
        program(DATA, 4, rng=1)


def test_what_draws_need_is_within_the_bound():
    """256 draws of 2,600 numbers, each with all the digits that a float may have."""
    row = ",".join(["-2.2250738585072014e-308"] * 2600) + "\n"
    assert len(row) > 0.99 * processes.A_DRAW - 1000
    program = adapters.command(["{python}", "-S", "-c", f"print({row!r} * 256, end='')", "{data}"])
    draws = adapters.Command((*program.argv, "{size}"))(DATA, 256, rng=1)
    assert np.shape(draws) == (256, 2600)


@pytest.mark.slow
def test_memory_of_the_largest_output():
    """0.9 GB of numbers: the text, the numbers and little else, at most 2.2 times the text."""
    body = (
        "import resource, sys\n"
        "import numpy as np\n"
        "import dpaudit as dp\n"
        "line = ','.join(['0.12345678901234567'] * 2750) + chr(10)\n"
        "text = f'for _ in range({2**14}): print({line!r}, end={str()!r})'\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "run = dp.adapters.command([sys.executable, '-S', '-c', text, '{data}', '{size}'])\n"
        "draws = run(np.ones((2, 2)), 2**14, rng=1)\n"
        "print(len(draws), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    ended = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    count, kib = map(int, ended.stdout.split())
    assert count == 2**14
    assert kib * 1024 < 2.2 * 2**14 * 2750 * 20


# A process that draws with so many threads. Its programs write what `running` reads.
AUDITOR = """
import sys, threading, time
import numpy as np
import dpaudit as dp

script = 'echo "$$" > "$3/$$.part"; echo "$1" > "$3/$$.data"; mv "$3/$$.part" "$3/$$.pid"; sleep 60'
run = dp.adapters.command(["sh", "-c", script, "sh", "{data}", "{size}", sys.argv[1]])
jobs = int(sys.argv[2])
def draw():
    try:
        run(np.ones((2, 2)), 3, rng=1)
    except dp.MechanismError:  # a daemon thread that prints at the end would abort Python
        pass
if jobs == 1:
    draw()
threads = [threading.Thread(target=draw, daemon=True) for _ in range(jobs)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
ENDS = {
    "SIGTERM": -signal.SIGTERM,
    "SIGHUP": -signal.SIGHUP,
    "SIGINT": -signal.SIGINT,  # a traceback, and then the end that a shell sees as Ctrl-C
}
# not as inherited: nohup ignores the one, a shell's background jobs the other
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""


def end(started, number):
    """Send a signal until the process ends, as a user does who presses Ctrl-C again. Python acts on
    a signal between two of its instructions, so one that arrives while the main thread enters a
    wait has its effect only after that wait.
    """
    for _ in range(10):
        started.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            return started.wait(3.0)
    raise AssertionError(f"the process does not end by signal {number}")


def running(folder, count):
    """The programs that run, by number, and their data files, once there are `count` of them."""
    until(lambda: len(list(folder.glob("*.pid"))) >= count, 60.0)
    pids = [int(path.stem) for path in folder.glob("*.pid")]
    return pids, [Path(path.read_text().strip()) for path in folder.glob("*.data")]


@pytest.mark.parametrize(
    "ends",
    [
        [("SIGTERM", 1), ("SIGTERM", 2), ("SIGINT", 2)],
        pytest.param([("SIGINT", 1), ("SIGHUP", 1), ("SIGHUP", 2)], marks=pytest.mark.slow),
    ],
    ids=["few", "others"],
)
def test_a_signal_ends_programs_and_removes_data(tmp_path, ends):
    """Processes with one job and with two run at once; the exit status is that of the signal."""
    runs = {}
    for name, jobs in ends:
        folder = tmp_path / f"{name}-{jobs}"
        folder.mkdir()
        argv = [sys.executable, "-c", INTERRUPTED + AUDITOR, str(folder), str(jobs)]
        started = subprocess.Popen(argv, stderr=subprocess.DEVNULL, start_new_session=True)
        runs[name, jobs] = folder, started
    programs = {key: running(folder, key[1]) for key, (folder, _) in runs.items()}
    for pids, files in programs.values():
        assert all(map(alive, pids))
        assert all(path.is_file() for path in files)
    for key, (_, started) in runs.items():
        assert end(started, getattr(signal, key[0])) == ENDS[key[0]]
        pids, files = programs[key]
        until(lambda pids=pids: not any(map(alive, pids)))
        until(lambda files=files: not any(path.parent.exists() for path in files))


def test_the_data_of_a_killed_process_are_removed_by_the_next_one(tmp_path):
    argv = [sys.executable, "-c", AUDITOR, str(tmp_path), "1"]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as started:
        pids, files = running(tmp_path, 1)
        started.kill()
    for pid in pids:
        os.killpg(pid, signal.SIGKILL)
    processes.remove_stale_folders()
    assert not any(path.parent.exists() for path in files)


def test_handlers_of_signals_stay_those_of_the_caller():
    """Only SIGTERM and SIGHUP, and only where nobody handles them, get a handler."""
    mine, before = lambda number, frame: None, signal.getsignal(signal.SIGTERM)
    others = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1)}
    try:
        signal.signal(signal.SIGTERM, mine)
        shell("echo 1")(DATA, 1, rng=1)
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    assert {one: signal.getsignal(one) for one in others} == others


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_ends_by_the_default_action():
    """A pool that ends its forked workers by SIGTERM would otherwise wait for them for ever."""
    code = (
        "import os, signal; from dpaudit.adapters import processes; processes.end_in_order();"
        "assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL; child = os.fork();"
        "child or os._exit(signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL);"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_any_thread_and_a_fork_may_draw():
    draws = []
    worker = threading.Thread(target=lambda: draws.append(shell("echo 1")(DATA, 1, rng=1)))
    worker.start()
    worker.join()
    assert draws == [[1.0]]
    folder = processes.this_process().folder
    body = (
        "import os, sys\n"
        "import numpy as np\n"
        "from dpaudit import adapters\n"
        "from dpaudit.adapters.processes import this_process\n"
        "run = adapters.command(['cat', '{data}', '{size}'][:2])\n"
        "run(np.ones((1, 1)), 1, rng=1)\n"
        "mine = this_process().folder\n"
        "child = os.fork()\n"
        "run(np.ones((1, 1)) + bool(child), 1, rng=1)\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0 and mine.exists()\n"
        "else:\n"
        "    run(np.ones((1, 1)) + 5, 1, rng=1)\n"
        "    assert this_process().folder != mine and mine.exists()\n"
    )
    subprocess.run([sys.executable, "-c", body], check=True)
    assert folder.exists()


def test_a_folder_of_a_dead_process_is_removed_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(processes.tempfile, "tempdir", str(tmp_path))
    ours, held_file = processes._private_folder()
    dead, file = processes._private_folder()
    os.close(file)
    new = tmp_path / f"{processes.PREFIX}new"  # another process makes it and has not locked it yet
    new.mkdir(mode=0o700)
    open_to_all = tmp_path / f"{processes.PREFIX}open"
    shutil.copytree(dead, open_to_all)
    open_to_all.chmod(0o755)
    (tmp_path / f"{processes.PREFIX}link").symlink_to(dead)
    processes.remove_stale_folders()
    assert not dead.exists()
    assert ours.exists()
    assert new.exists()
    assert open_to_all.exists()
    os.close(held_file)
