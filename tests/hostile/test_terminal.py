"""Text of others on the terminal: it neither controls it, nor hides, nor turns the direction."""

import io
import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest

from dpaudit._core.text import Screen, encodable, one_line, printable
from dpaudit.cli import main
from dpaudit.cli.progress import show_progress

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

# clear the screen; a title; C1's CSI; go back and overwrite; turn the direction; hide; delete
EVIL = "\x1b[2J\x1b]0;x\x07\x9b31m\rNOT VIOLATED\u202eDETALOIV\u2066\u200f\u061c\u200b\x7f\x08"
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ROW = 'rule = "row"\nindex = 4'
AUDIT = 'draws = 300\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
OWN = '''
import logging, sys
import numpy as np
EVIL = {evil!r}

def release(data, size, *, rng):
    """A mean {text}."""
    logging.lastResort.handle(logging.makeLogRecord({{"msg": "a line " + EVIL, "levelno": 40}}))
    print("printed " + EVIL)
    print("said " + EVIL, file=sys.stderr)
    return data.mean() + rng.normal(size=size)

def fails(data, size, *, rng):
    raise ValueError("failed " + EVIL)
'''


def hidden(text):
    """Characters that must not reach a terminal, found without the tables of dpaudit."""
    return {
        one
        for one in text
        if (unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") and one not in "\n\t")
        or one in DIRECTIONS
    }


@pytest.fixture
def own(tmp_path):
    text = OWN.format(evil=EVIL, text=EVIL.replace("\r", "").replace("\x08", ""))
    (tmp_path / "hostile_own.py").write_text(text, encoding="utf-8")
    (tmp_path / "prints.py").write_text(
        f"import sys; sys.stderr.write({EVIL!r}); sys.exit(3)", encoding="utf-8"
    )


def run(*arguments):
    return main([*map(str, arguments)])


CALL = {"neighbour": ROW, "audit": AUDIT}


@pytest.mark.parametrize(
    ("changes", "status", "seen"),
    [
        ({"mechanism": 'call = "hostile_own:release"', **CALL}, 0, "A mean"),
        ({"mechanism": 'call = "hostile_own:fails"', **CALL}, 2, "failed"),
        ({"mechanism": 'call = "hostile_own:none"', **CALL}, 2, "has no attribute"),
        ({"mechanism": 'command = ["{python}", "prints.py", "{data}"]', **CALL}, 2, "status 3"),
        ({"data": f'path = "evil.csv"\ntarget = "{"a" * 9}"'}, 2, "must be the name of a column"),
        ({"data": 'path = "small.csv"\ntarget = "y"', "audit": AUDIT}, 0, "small"),
        ({"head": f"{json.dumps(EVIL)} = 1\n"}, 2, "unknown key"),
    ],
)
def test_a_run_prints_nothing_that_controls(
    write_scenario, own, tmp_path, capsys, changes, status, seen
):
    """Docstring, log line, error, stderr of a program, names of columns and of files."""
    (tmp_path / "evil.csv").write_text(f'"a{EVIL}",b\n1,2\n3,5\n', encoding="utf-8")
    path = write_scenario("name" + EVIL, **changes)
    assert run("run", path, "--jobs", 1) == status
    out, err = capsys.readouterr()
    assert seen in out + err
    assert hidden(out + err) == set()


def test_several_runs_and_the_folders_of_their_reports(write_scenario, own, tmp_path, capsys):
    paths = [
        write_scenario(EVIL + name, mechanism=f'call = "hostile_own:{name}"', **CALL)
        for name in ("release", "fails")
    ]
    assert run("run", *paths, "--out", "out" + EVIL, "--junit", "junit.xml") == 2
    out, err = capsys.readouterr()
    assert "2 scenarios: " in out
    assert hidden(out + err) == set()
    folder = tmp_path / ("out" + EVIL)
    assert run("report", folder / f"{EVIL}release") == 0
    assert run("status", folder) in (0, 3)
    assert run("run", *paths, "--out", folder, "--against", folder) == 2
    assert hidden("".join(capsys.readouterr())) == set()
    pages = [*folder.rglob("*.html"), *folder.rglob("result.json"), tmp_path / "junit.xml"]
    assert len(pages) >= 4
    for page in pages:
        assert hidden(page.read_text(encoding="utf-8")) == set(), page


def test_a_crash(write_scenario, monkeypatch, capsys):
    def crash(*given, **options):
        raise ArithmeticError(EVIL)

    monkeypatch.setattr("dpaudit.cli.running.execute", crash)
    assert run("run", write_scenario()) == 3
    err = capsys.readouterr().err
    assert "ArithmeticError" in err
    assert hidden(err) == set()


def test_json_keeps_its_content(write_scenario, tmp_path, capsys):
    """The escapes are those of JSON, so a program that reads stdout gets the names as they are."""
    path, name = write_scenario(), EVIL.strip()
    table = (tmp_path / "small.csv").read_text().replace("a,b,y", f'"{name}",b,y')
    (tmp_path / "small.csv").write_text(table, encoding="utf-8", newline="")
    assert run("spectrum", path, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dataset"]["feature_names"] == ["constant", name, "b"]
    assert hidden(out + err) == set()
    assert run("run", path) == 0
    written = (tmp_path / "dpaudit-out" / "small" / "result.json").read_text(encoding="utf-8")
    assert json.loads(written)["dataset"]["feature_names"] == ["constant", name, "b"]
    assert hidden(written) == set()


def test_text_that_hides_nothing_stays_as_it_is():
    """Names in any script, emoji joined by zero-width joiners, tabs and line ends among it."""
    text = "ε δ(0.5) ≤ 10⁻⁵ – שלום عربى 日本 \U0001f469\u200d\U0001f52c می\u200cخواهم\t|\n95\u00a0%"
    assert printable(text) == text
    assert encodable(text) == text
    assert one_line("a\tb\nc") == r"a\tb\nc"


def test_what_is_hidden_is_escaped_as_json_does():
    every = "".join(map(chr, [*range(0x110000)]))
    seen = printable(every)
    assert hidden(seen) == set()
    assert json.loads(f'"{printable(EVIL)}"') == EVIL
    assert re.fullmatch(r"(\\u[0-9a-f]{4}|\\[bfnrt])+", printable("\x1b\x9b\u202e\udc80\x7f\r"))


def test_a_bar_moves_on_its_line_and_its_name_does_not(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    with show_progress(Screen(stream)) as progress:
        progress("a\x1b[A\u202e\n\rb", 0, 10)
        progress("a\x1b[A\u202e\n\rb", 10, 10)
    assert hidden(stream.getvalue()) == {"\r"}
    assert r"a\u001b[A\u202e\n\rb: 100 %" in stream.getvalue()


@pytest.mark.parametrize(("command", "status"), [("list", 0), ("list nothing-of-this-name", 2)])
def test_a_reader_that_is_gone_changes_no_status(monkeypatch, command, status):
    """As after `| head`: Python would exit with 1, which means "violated"."""
    for name in ("stdout", "stderr"):
        read, write = os.pipe()
        os.close(read)
        monkeypatch.setattr(sys, name, open(write, "w", encoding="utf-8"))  # noqa: SIM115
    with sys.stdout, sys.stderr:
        assert main(command.split()) == status


def test_every_way_to_write_is_escaped():
    stream = io.StringIO()
    Screen(stream).writelines(["red\x1b[31m\n", "plain\n"])
    assert stream.getvalue() == "red\\u001b[31m\nplain\n"


def test_a_terminal_without_greek_letters_loses_none():
    ascii_alone = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "dpaudit", "plan", "--claim", "1,1e-5"]
    done = subprocess.run(command, env=ascii_alone, capture_output=True, check=True)
    assert r"claimed \u03b4" in done.stdout.decode("ascii")
