"""Progress: few lines in a log file, a bar on a terminal."""

import io

import pytest

from dpaudit.cli import progress

pytestmark = pytest.mark.quick


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_in_a_file(clock):
    stream = io.StringIO()
    with progress.show_progress(stream) as show:
        for done in range(100, 10_001, 100):
            clock[0] += 0.25
            show("drawing", done, 10_000)
        show("fitting", 0, 1)
        clock[0] += 65
        show("fitting", 1, 1)
    lines = stream.getvalue().splitlines()
    assert lines[:3] == [
        "drawing: 100 of 10,000",
        "drawing: 1,000 of 10,000, 00:22 left",
        "drawing: 2,000 of 10,000, 00:20 left",
    ]
    assert lines[-3:] == ["drawing: done in 00:24", "fitting ...", "fitting: done in 01:05"]
    assert len(lines) == 13


def test_a_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with progress.show_progress(stream) as show:
        show("drawing", 5000, 10_000)
        show("drawing", 10_000, 10_000)
        show("choosing", 0, 1)
        show.begins["choosing"] -= 240.0
        show("searching", 8, 8)
        show("choosing", 1, 1)
        show("fitting", 0, 1)
    output = stream.getvalue()
    assert "drawing: 100 % |" in output
    assert "10,000 of 10,000" in output
    assert "choosing: 04:00" in output
    assert "fitting: 00:00" in output
    assert output.endswith("\n")
