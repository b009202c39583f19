"""Progress: bars where they are asked for, in notebooks by default; a callback as it was given."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import clock, progress
from dpaudit.auditing.clock import Rate, cost
from dpaudit.auditing.progress import in_notebook, shown
from dpaudit.auditing.settings import Settings
from dpaudit.search.search import SearchSettings, search_plan
from tests.cases import database, shifted

pytestmark = pytest.mark.quick

PAIR = dp.neighbours.zero_row(database(), 0)
FEW = {"draws": 600, "classifier": "qda", "rng": 1}


class Handle:
    """What `IPython.display.display` returns: one output of a cell, whose content is replaced."""

    def __init__(self):
        self.shown = []

    def __call__(self, content, *, raw, display_id):
        assert raw
        assert display_id
        self.update(content, raw=True)
        return self

    def update(self, content, *, raw):
        self.shown.append(content["text/plain"])


def run(shell, monkeypatch):
    """Let IPython run a shell of that class; returns what it displays."""
    ipython, handle = SimpleNamespace(get_ipython=type(shell, (), {})), Handle()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=handle))
    return handle


@pytest.mark.parametrize(
    ("shell", "notebook"), [("ZMQInteractiveShell", True), ("TerminalInteractiveShell", False)]
)
def test_a_kernel_is_a_notebook_and_a_terminal_is_not(shell, notebook, monkeypatch, capsys):
    handle = run(shell, monkeypatch)
    assert in_notebook() is notebook
    dp.audit(shifted(1.0), PAIR, **FEW)
    assert any("drawing M(D)" in text for text in handle.shown) is notebook
    assert capsys.readouterr() == ("", "")


def test_the_line_of_a_notebook_says_what_is_left(monkeypatch):
    handle, now = run("ZMQInteractiveShell", monkeypatch), [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with shown(None) as show:
        for done in (0, 1, 25, 100):
            show("drawing", done, 100)
            now[0] += 0.1 if done == 0 else 24.9
    assert handle.shown[1:-1] == [
        "drawing: 0 of 100",
        "drawing: 25 of 100, about 75 s left",
        "drawing: 100 of 100",
    ]


def test_true_shows_an_audit_of_draws_and_a_search(capsys):
    P, Q = np.random.default_rng(0).normal(size=(2, 200))
    dp.audit_samples(P, Q, progress=True, classifier="qda", rng=1)
    assert "certifying" in capsys.readouterr().err
    dp.search_neighbours(shifted(1.0), database()[:6], draws=600, rng=1, progress=True)
    output = capsys.readouterr().err
    assert "searching" in output
    assert "certifying" in output


@pytest.mark.parametrize("progress", ["yes", 1, 0])
def test_other_values_are_refused(progress):
    with pytest.raises(dp.InvalidInput, match="progress must be True, False, None or a function"):
        dp.audit(shifted(1.0), PAIR, progress=progress, **FEW)


def test_the_cost_is_told_before_the_bars(capsys):
    pair = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)
    calls = []

    def total(data, size, *, rng):
        calls.append(size)
        return data.sum() + rng.laplace(size=(size, 1))

    options = {"claim": (1.0, 0.0), "draws": 2000, "rng": 1}
    reported = dp.audit(total, pair, **options, progress=True)
    first = capsys.readouterr().err.splitlines()[0]
    output = r"A few seconds for 4,576 draws\. They show an excess of 0\.12 over the"
    assert re.match(output, first)
    assert calls[:2] == [1, 16]
    silent = dp.audit(total, pair, **options, progress=False)
    assert capsys.readouterr().err == ""
    assert np.array_equal(reported.spectrum.low, silent.spectrum.low)
    dp.search_neighbours(total, [[1.0], [2.0], [3.0]], **options, progress=True)
    output = capsys.readouterr().err
    assert output.count("A few seconds ") == 1
    assert "for at most 40,576 draws, search included." in output


def test_seconds_decide_the_draws_of_an_audit_and_of_its_search(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])

    def slow(data, rng):
        now[0] += 0.01
        return data.sum() + rng.laplace()

    data = [[1.0], [1.0], [2.0]]
    pair = dp.neighbours.zero_row(data, 2)
    options = {"claim": (1.0, 0.0), "rng": 1, "seconds": 9.0, "progress": True}
    size = dp.audit(slow, pair, **options).sizes.total
    assert 50 <= size < 400
    selection = dp.search_neighbours(slow, data, **options)
    assert capsys.readouterr().err.count(" draws, search included. ") == 1
    assert 50 <= selection.audit.sizes.total <= size
    assert selection.draws < 800
    assert dp.audit(slow, pair, **{**options, "draws": 60}).sizes.total == 60
    with pytest.raises(dp.InvalidInput, match=r"seconds \(--time\) must be at least .* s, got 2 s"):
        dp.audit(slow, pair, **{**options, "seconds": 2.0})


class Program:
    """A mechanism whose calls take `start` seconds and `each` a draw, by a clock of its own."""

    most_calls = 64

    def __init__(self, start, each):
        self.start, self.each, self.now, self.calls = start, each, 0.0, 0

    def __call__(self, data, size, *, rng):
        self.calls += 1
        self.now += self.start + self.each * size
        return data.sum() + rng.laplace(size=(size, 1))


def test_the_start_of_a_program_is_told_from_its_draws(monkeypatch):
    settings = Settings.of(100_000, claim=(1.0, 0.0))
    for start, each in ((0.2, 1e-5), (2.0, 0.0), (0.0, 0.5), (1.0, 0.1)):
        program = Program(start, each)
        monkeypatch.setattr(clock.time, "perf_counter", lambda program=program: program.now)
        rate = Rate.of(program, np.ones((3, 1)), settings)
        assert (rate.call, rate.mechanism, rate.most) == pytest.approx((start, each, 64), abs=1e-9)
        assert program.now < 20.0
        assert program.calls <= 5


def test_a_program_gets_what_fits_into_a_time():
    plan = search_plan(2000, SearchSettings())
    rate = Rate(0.2, 1e-6, 0.1, 1e-6, 1e-6, 64)
    size, changes = rate.fitting(600.0, 100_000, plan)
    assert (size, changes) == (100_000, {"budget": 10.0})
    size, changes = rate.fitting(120.0, 100_000, plan)
    assert (size, changes) == (100_000, {"budget": 10.0, "rank": "linear"})
    for seconds in (50.0, 60.0, 90.0):
        size, changes = rate.fitting(seconds, 100_000, plan)
        assert size >= 500
        spent, _, by_mechanism = rate.seconds(size, replace(plan, **changes))
        assert 0.5 * by_mechanism < 0.2 * rate.calls(size, replace(plan, **changes))
        assert 0.6 * (seconds - 5.1) < spent < 0.81 * (seconds - 5.0)
    with pytest.raises(dp.InvalidInput, match=r"must be at least .* s, got 20 s"):
        rate.fitting(20.0, 100_000, None)


def test_a_long_audit_says_what_takes_the_time():
    settings = Settings.of(10_000, claim=(1.0, 1e-5))
    slow, quick = (Rate(0.0, seconds, 0.1, 1e-6, 3e-6) for seconds in (0.016, 1e-6))
    plan = search_plan(50, SearchSettings())
    assert cost(slow, settings, plan).startswith(
        "About 53 min for at most 200,576 draws, search included; 100 % of it in the mechanism, "
        "16 ms a draw. They show"
    )
    assert "mechanism" not in cost(quick, settings, plan)
    program = Rate(0.2, 1e-6, 0.1, 1e-6, 1e-6, 64)
    assert "100 % of it in the mechanism, 0.2 s a call. They" in cost(program, settings, None)
    few = Settings.of(100, claim=(8.0, 0.0))
    assert "can refute no claim. Take 330,000 draws a side" in cost(quick, few, None)
