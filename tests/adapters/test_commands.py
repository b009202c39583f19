"""Programs: what they read, what they print, and all the ways in which they fail."""

import os
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from tests.drawing import draw
from tests.sparse import one_in

DATA = np.array([[1.0, 0.1], [1.0, 1e-300], [1.0, 12345678901234567.0]])
HEAD = "import csv, random, sys, os, time\n"


def program(body, *more, **options):
    """A Python program of which data, size and seed are argv[1:4]."""
    return adapters.command(
        ["{python}", "-c", HEAD + body, "{data}", "{size}", "{seed}", *more], **options
    )


NOISY = program(
    "rows = [list(map(float, row)) for row in csv.reader(open(sys.argv[1]))]\n"
    "random.seed(int(sys.argv[3]))\n"
    "for _ in range(int(sys.argv[2])): "
    "print(sum(row[0] for row in rows), random.gauss(0, 1), sep=',')"
)


def test_data_size_and_seed_arrive():
    draws = draw(NOISY, DATA, 6, np.random.SeedSequence(1), 0)
    assert draws.shape == (6, 2)
    np.testing.assert_array_equal(draws[:, 0], 3.0)
    assert len(np.unique(draws[:, 1])) == 6
    with joblib.parallel_config(backend="threading"):
        again = draw(NOISY, DATA, 6, np.random.SeedSequence(1), 0, n_jobs=2)
    np.testing.assert_array_equal(again, draws)


def test_numbers_are_written_with_all_their_digits():
    last = adapters.command(["tail", "-n", "{size}", "{data}"])
    np.testing.assert_array_equal(last(DATA, 3, rng=1), DATA)


def test_a_header_is_written_where_names_are_given():
    first = adapters.command(["head", "-n", "{size}", "{data}"], header=["one", "two"])
    np.testing.assert_array_equal(first(DATA, 1, rng=1), [["one", "two"]])
    with pytest.raises(dp.InvalidInput, match="header must be 2 names, one a column"):
        adapters.command(["cat", "{data}"], header=["one"])(DATA, 3, rng=1)


def test_without_a_size_it_runs_once_a_draw():
    one = adapters.command(["{python}", "-c", "import sys; print(sys.argv[2])", "{data}", "{seed}"])
    assert len(set(one(DATA, 4, rng=1))) == 4


def test_a_program_may_write_a_file():
    body = "open(sys.argv[4], 'w').write('x,y\\n' + '1,2\\n' * int(sys.argv[2])); print('chatter')"
    np.testing.assert_array_equal(program(body, "{out}")(DATA, 3, rng=1), [[1, 2]] * 3)
    with pytest.raises(dp.MechanismError, match=r"wrote no file at \{out\}"):
        program("pass", "{out}")(DATA, 3, rng=1)


def test_lines_may_be_of_any_length_and_hold_words():
    mixed = program("print('1,a'); print(); print('nan,,inf')")
    assert str(mixed(DATA, 3, rng=1)) == "[[1.0, 'a'], [], [nan, None, inf]]"


def test_no_shell_reads_the_arguments(tmp_path):
    hostile = f"$(touch {tmp_path}/made); touch {tmp_path}/made #"
    adapters.command(["echo", hostile, "{data}"])(DATA, 1, rng=1)
    assert not list(tmp_path.iterdir())
    braces = adapters.command(["awk", "-F,", "{print $1 + 1}", "{data}", "--", "{size}"][:4])
    with pytest.raises(dp.MechanismError, match="gave 3 draws, 1 were asked for"):
        braces(DATA, 1, rng=1)


FAILS = {
    "status": (
        "sys.stderr.write('no\\nmemory\\n'); sys.exit(7)",
        "exit status 7; it said: no memory",
    ),
    "silent": ("sys.exit(1)", "exit status 1; it said nothing on stderr"),
    "signal": ("os.kill(os.getpid(), 11)", "ended by signal 11"),
    "raises": ("1 / 0", "exit status 1; it said: Traceback.*ZeroDivisionError"),
    "hangs": (
        "sys.stderr.write('thinking'); sys.stderr.flush(); time.sleep(30)",
        "no output within 1 s; .*thinking",
    ),
    "too few": (
        "sys.stderr.write('short of data'); print(1)",
        "gave 1 draws, 4 were asked for; it said: short of",
    ),
    "too many": ("print('1\\n' * 9)", "gave 9 draws, 4 were asked for"),
    "nothing": ("pass", "gave 0 draws, 4 were asked for"),
    "no text": ("sys.stdout.buffer.write(b'\\xff\\xfe1\\n')", "invalid start byte"),
}


@pytest.mark.parametrize("case", one_in(2, FAILS))
def test_failures_are_said_with_the_command_that_repeats_them(case):
    body, message = FAILS[case]
    with pytest.raises(dp.MechanismError, match=f"(?s){message}") as caught:
        program(body, timeout=1.0)(DATA, 4, rng=1)
    assert str(caught.value).startswith("an error of the command '{python}' -c ")
    seed = int(np.random.default_rng(1).integers(2**31 - 1))
    assert f" '{{data}}' 4 {seed}: " in str(caught.value)


def test_long_stderr_is_cut():
    with pytest.raises(dp.MechanismError) as caught:
        program("sys.stderr.write('x' * 10**6 + 'the end'); sys.exit(1)")(DATA, 1, rng=1)
    assert str(caught.value).endswith("xthe end")
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize(
    "argv",
    [
        "cat {data}",
        [],
        ["cat"],
        ["cat", 3, "{data}"],
        ["", "{data}"],
        ["cat", "\0", "{data}"],
    ],
)
def test_arguments_are_a_list_of_text_with_the_data(argv):
    with pytest.raises(dp.InvalidInput, match="argv must be a list of arguments"):
        adapters.command(argv)


def test_a_program_that_is_not_there_is_said(tmp_path):
    with pytest.raises(dp.MechanismError, match="cannot be started: No such file or directory"):
        adapters.command(["no-such-program", "{data}"])(DATA, 1, rng=1)
    (tmp_path / "script").write_text("no program")
    with pytest.raises(dp.MechanismError, match="cannot be started: Permission denied"):
        adapters.command(["./script", "{data}"], folder=tmp_path)(DATA, 1, rng=1)


def test_the_data_are_for_this_user_alone_and_few_stay():
    own = DATA + 10.0  # of which no other test has a file
    where = adapters.command(["echo", "{data}"])
    paths = [Path(where(own + shift, 1, rng=1)[0]) for shift in range(6)]
    assert [path.exists() for path in paths] == [False] * 2 + [True] * 4
    assert where(own + 5.0, 1, rng=1) == [str(paths[5])]
    assert os.stat(paths[5]).st_mode & 0o777 == 0o400
    assert os.stat(paths[5].parent).st_mode & 0o777 == 0o700


def test_it_describes_itself():
    assert NOISY.name.startswith("'{python}' -c ")
    assert sys.executable not in NOISY.name
    assert NOISY.summary == "a program that reads the data as a CSV file"
    assert NOISY.parameters() == {}
