"""The command line of the laboratory: lists, runs what is named, and refuses the rest in a line."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from dpaudit.errors import DpauditError
from reports.make import command
from reports.make.command import BY_NAME, Measurement

ROOT = Path(__file__).parents[2]
CALLED = []


def made():
    CALLED.append("made")


def taking(arguments):
    CALLED.append(arguments)
    return 0


def missing():
    raise DpauditError("data are not there")


@pytest.fixture
def known(monkeypatch):
    """Three names in place of the real ones."""
    CALLED.clear()
    calls = {"a-name": "made", "takes": "taking", "misses": "missing"}
    for name, function in calls.items():
        one = Measurement(name, "", "", f"here:{function}", options=name == "takes")
        monkeypatch.setitem(BY_NAME, name, one)
    monkeypatch.setattr(command, "import_module", lambda module: sys.modules[__name__])


@pytest.mark.parametrize("name", BY_NAME)
def test_every_name_leads_to_a_function(name):
    module, function = BY_NAME[name].call.split(":")
    assert callable(getattr(import_module(f"reports.make.{module}"), function))


def test_without_a_name_each_is_listed_in_a_line(capsys):
    assert command.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(BY_NAME)
    (auditors,) = (line for line in lines if line.startswith("auditors "))
    assert auditors.endswith('(needs pip install "dpaudit[auditors]")')


def test_the_list_loads_no_measurement():
    code = "import sys; from reports.make.command import main; main([]); print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    loaded = shown.splitlines()[-1].split()
    assert not {"numpy", "scipy", "jinja2", "reports.make.page"} & set(loaded)


def test_names_are_made_in_order_and_options_go_to_the_one_that_takes_them(known):
    assert command.main(["a-name", "a_name", "takes", "1-lemma-10", "--list"]) == 0
    assert CALLED == ["made", "made", ["1-lemma-10", "--list"]]


def test_an_unknown_name_is_one_line_and_nothing_is_made(known, capsys):
    assert command.main(["a-name", "nothing"]) == 2
    assert CALLED == []
    (line,) = capsys.readouterr().err.splitlines()
    assert "there is no 'nothing'" in line


def test_what_is_missing_is_one_line(known, capsys):
    assert command.main(["misses"]) == 2
    assert capsys.readouterr().err == "reports.make: data are not there\n"


def test_an_extra_that_is_not_installed_is_named(monkeypatch, capsys):
    from reports.make import extras

    def absent(module):
        raise ImportError(module)

    monkeypatch.setattr(extras, "import_module", absent)
    assert command.main(["auditors"]) == 2
    assert 'pip install "dpaudit[auditors]"' in capsys.readouterr().err


def test_every_command_that_a_page_names_is_known():
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("reports/*.md")]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    parts = text.split(f"{command.PROGRAM} ")[1:]
    names = {part.split("`")[0].split()[0] for part in parts} - {"NAME"}
    assert names <= set(BY_NAME)
    assert "oracle" in names
