"""Text in columns: whole in a file, broken on a terminal."""

import pytest

from dpaudit.cli import table

pytestmark = pytest.mark.quick

PAIRS = [("one", "a short line"), ("three", "a long line of words " * 3)]
LONG = ("a long line of words " * 3).strip()


@pytest.fixture
def terminal(monkeypatch):
    """terminal(columns) makes stdout a terminal of that width."""

    def terminal(columns):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))

    return terminal


def test_a_file_and_a_wide_terminal_get_whole_lines(terminal):
    whole = f"one    a short line\nthree  {LONG}"
    assert table.named(PAIRS) == whole
    terminal(100)
    assert table.named(PAIRS) == whole


def test_a_terminal_gets_lines_of_a_column(terminal):
    terminal(60)
    assert table.named(PAIRS).splitlines() == [
        "one    a short line",
        "three  a long line of words a long line of words a long line",
        "       of words",
    ]


def test_a_narrow_terminal_gets_them_below_the_names(terminal):
    terminal(30)
    assert table.named(PAIRS, indent=" ").splitlines() == [
        " one",
        "   a short line",
        " three",
        "   a long line of words a long",
        "   line of words a long line",
        "   of words",
    ]
