"""Measurements on known tasks: what each computes is checked, and a page is made of little work."""

import math
import re

import numpy as np
import pytest

from dpaudit import mechanisms
from dpaudit.certify import lower, upper
from reports.make import page
from reports.make.audits import estimate, search, seconds, sniper
from reports.make.tasks import TASKS, structured_tasks

EPSILON = np.array([0.0, 0.5, 1.0])
SIZE, FEWER = 5000, 1000  # draws; of the synthetic table, whose draws take longest


# --- the tasks


@pytest.mark.parametrize("task", [*TASKS, *structured_tasks()], ids=lambda task: task.name)
def test_draws_and_loss_have_the_spectrum_that_is_called_the_truth(task):
    """E_P(1 − e^{ε−L})₊, E_Q(1 − e^{ε+L})₊ and P(L > ε) − e^ε Q(L > ε) are within 5 standard
    errors. 90 comparisons, false alarm below 6e-5.
    """
    sides = task.draw(np.random.default_rng(20), FEWER if task.name == "T13" else SIZE)
    p, q = task.loss(sides.P)[:, None], task.loss(sides.Q)[:, None]
    forward, backward = task.truth(EPSILON)
    _agree(np.maximum(-np.expm1(EPSILON - p), 0.0), forward)
    _agree(np.maximum(-np.expm1(EPSILON + q), 0.0), backward)
    hits = (p > EPSILON) - np.exp(EPSILON) * (q > EPSILON)
    _agree(hits, forward)


def _agree(values, truth):
    error = values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - truth) <= 5.0 * error + 1e-9)


# --- the estimate


def test_counts_in_the_true_set_are_right():
    """With 20,000 draws a side, within four standard errors, which are below 0.005 at ε = 0."""
    task = TASKS[3]
    sides = estimate.drawn(task, 20_000, 1)
    found = estimate.counted(task, sides, np.array([0.0, 2.0]))
    assert abs(found[0] - task.delta_at(np.zeros(1))[0]) < 4 * 0.005
    assert found[1] == 0.0


def test_the_larger_direction_comes_first():
    task = TASKS[1]
    first = estimate.drawn(task, 4, 1)
    given = task.draw(np.random.default_rng(0), 4)
    assert first.P.shape == given.P.shape
    assert estimate._forward(TASKS[2])
    assert not estimate._forward(task)


@pytest.mark.slow
def test_a_page_of_estimates_is_made(monkeypatch, tmp_path):
    """Four audits, two seconds."""
    monkeypatch.setattr(page, "REPORTS", tmp_path)
    monkeypatch.setattr(estimate, "every_task", lambda: [TASKS[0], TASKS[3]])
    estimate.report(seeds=2, size=1_000)
    text = (tmp_path / "estimate.md").read_text()
    assert text.count("| T1 ") == 2
    assert text.count("| T4 ") == 2
    assert "2 seeds" in text


# --- the search


@pytest.mark.slow
def test_the_report_on_the_search_says_what_was_found(tmp_path, monkeypatch, capsys):
    """9 audits of 2,000 draws suffice for the row that moves the solution most.

    It does so by twice as much δ as the next.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search, "cases", lambda name, made=search.cases: made(name)[1:2])
    search.report(("diabetes",), (1,), 2_000)
    text = (tmp_path / "reports" / "search.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| diabetes"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:4] == ["diabetes", "GaussianLS, σ = 423", "169", "0.0524"]
    assert cells[4:6] == ["169", "1.000"]
    assert float(cells[6]) <= 10.0
    assert float(cells[7]) <= 0.0524
    assert re.search(
        r"Within 5 % of the worst row's δ: 1 of 1 searches, the least share 1\.000", text
    )
    assert search.search.NOTE in " ".join(text.split())
    assert text.strip() in capsys.readouterr().out


# --- the largest ε that draws can certify


@pytest.mark.quick
def test_the_best_set_of_two_answers_is_one_of_them():
    """Randomised response: P(S)/Q(S) of an answer is known.

    Its limit lies between two Clopper–Pearson limits.
    """
    mechanism = mechanisms.ZOO["RandomisedResponse"]
    pair, n = mechanism.pair(), 10_000
    found, true = (
        of(mechanism, pair, n) for of in (sniper.attainable, lambda *each: sniper.truth(*each[:2]))
    )
    p = math.exp(true) / (1.0 + math.exp(true))
    wide = math.log(lower(round(n * p), n, 0.05) / upper(round(n * (1 - p)), n, 0.05))
    narrow = math.log(lower(round(n * p), n, 0.25) / upper(round(n * (1 - p)), n, 0.25))
    assert wide < found < narrow < true


@pytest.mark.quick
@pytest.mark.parametrize("name", ["Laplace", "SparseVector4", "OneTimeRappor"])
def test_more_draws_show_more_but_never_the_truth(name):
    mechanism = mechanisms.ZOO[name]
    pair = sniper.PAIRS.get(name, mechanism.pair())
    shown = [
        sniper.attainable(mechanism, pair, n) for n in (10_000, 100_000, 1_000_000, 100_000_000)
    ]
    assert np.all(np.diff(shown) > 0.0)
    assert shown[-1] < sniper.truth(mechanism, pair) < shown[-1] + 0.01


@pytest.mark.slow
def test_the_page_of_largest_epsilons_has_a_cell_for_each_heading(monkeypatch, capsys):
    monkeypatch.setattr(sniper, "MORE", sniper.SEEDS)
    row = sniper.row("NaturalLogGeometric", 20_000)
    table = sniper.render([row], 20_000).splitlines()
    assert {line.count("|") for line in table if line.startswith("|")} == {len(row) + 1}
    assert capsys.readouterr().out.split() == " ".join(row).split()


# --- the costs


@pytest.mark.quick
def test_the_cost_of_one_run_contains_the_sort_and_the_page_has_a_row_for_each_work():
    small = seconds.one_run(200)
    assert 0.0 < small.drawing <= small.least < small.whole
    costs = {name: seconds.Cost(10.0 + place) for place, name in enumerate(seconds.WORK)}
    shares = dict.fromkeys(seconds.SHARED, (4.0, 1.0))
    shown = seconds.page(costs, shares)
    assert all(f"| {name} | {10 + place} | – |" in shown for place, name in enumerate(seconds.WORK))
    assert all(f"| {name} | 4 | 1 | 0.25 | 2.5 | 1 | 4 |" in shown for name in shares)
    first, last, factor = seconds.GROWTH["canaries"]
    exponent = math.log(costs[last].whole / costs[first].whole) / math.log(factor)
    assert f"| canaries | × 1,000 | {exponent:.2f} |" in shown
