"""Measurements on known tasks: what each computes is checked, and a page is made of little work."""

import dataclasses
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm

from dpaudit import mechanisms
from dpaudit.certify import lower, upper
from dpaudit.mechanisms import ZOO
from reports.make import page
from reports.make.audits import estimate, seconds, sniper, zoo
from reports.make.band import interval
from reports.make.band.interval import FineLaw
from reports.make.exact import references
from reports.make.exact.accuracy import Setting, _errors
from reports.make.tasks import TASKS, structured_tasks

EPSILON = np.array([0.0, 0.5, 1.0])
SIZE, FEWER = 5000, 1000  # draws; of the synthetic table, whose draws take longest


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


@pytest.mark.quick
def test_the_cost_of_one_run_contains_the_sort_and_the_page_has_a_row_for_each_work():
    small = seconds.one_run(200)
    assert 0.0 < small.drawing <= small.least < small.whole
    costs = {name: seconds.Cost(10.0 + place) for place, name in enumerate(seconds.WORK)}
    shares = dict.fromkeys(seconds.SHARED, (4.0, 1.0))
    shown = seconds.page(costs, shares, "Other tools.")
    assert shown.endswith("Other tools.")
    assert all(f"| {name} | {10 + place} | – |" in shown for place, name in enumerate(seconds.WORK))
    assert all(f"| {name} | 4 | 1 | 0.25 | 2.5 | 1 | 4 |" in shown for name in shares)
    first, last, factor = seconds.GROWTH["canaries"]
    exponent = math.log(costs[last].whole / costs[first].whole) / math.log(factor)
    assert f"| canaries | × 1,000 | {exponent:.2f} |" in shown


# The accuracy page: errors are seen, and its references agree with closed forms.

TWO = np.array([0.0, 0.3])


def off_by(share):
    """A setting with the truth e^{−ε} and a forward curve that is off by `share` of it."""
    return Setting(
        "one",
        lambda e: (np.exp(-e) * (1.0 + share), np.exp(-e)),
        lambda e, forward: mp.exp(-mpf(e)),
        TWO,
    )


@pytest.mark.parametrize("share", [1e-6, -1e-9])
def test_an_error_is_seen(share):
    found = {(epsilon, side): error for error, epsilon, side in _errors(off_by(share))}
    for epsilon in TWO:
        assert found[epsilon, "forward"] == pytest.approx(abs(share), rel=1e-5)
        assert found[epsilon, "backward"] < 1e-15


@pytest.mark.parametrize("share", [np.nan, -2.0])
def test_a_value_that_is_no_delta_counts_as_wrong(share):
    assert [error for error, _, side in _errors(off_by(share)) if side == "forward"] == [np.inf] * 2


def test_the_laplace_reference_of_one_coordinate_is_its_closed_form():
    with mp.workdps(40):
        expected = -mp.expm1((mpf(0.2) - mpf(1.5)) / 2)
        assert mp.almosteq(references.laplace(1.5, 1, 0.2), expected, rel_eps=mpf(10) ** -35)


@pytest.mark.slow  # 2 s
def test_the_sketch_reference_is_the_oracles():
    truth = references.reference.by_parts("gaussian-sketch", {"leverage": 0.3, "rows": 5}, 0.4)
    for forward, expected in zip((True, False), truth, strict=True):
        found = references.sketch(0.3, 5, 0.4, forward)
        assert mp.almosteq(found, expected, rel_eps=mpf(10) ** -12)


# The simulated audits behind reports/interval.md.


def normal_law(certify=2_000):
    """±½ against each other, in 200 cells."""
    edges = np.linspace(-4.0, 4.0, 200)
    p, q = (np.diff(np.r_[0.0, norm.cdf(edges[:-1], shift), 1.0]) for shift in (0.5, -0.5))
    return FineLaw(edges, p, q, choose=400, certify=(certify, certify))


def test_what_a_score_shows_is_the_exact_spectrum_where_it_is_the_loss():
    law = normal_law()
    found = interval.shown(law.tail(law.score, True), law.tail(law.score, False))
    epsilon = interval.EPSILON
    exact = norm.cdf(0.5 - epsilon) - np.exp(epsilon) * norm.cdf(-0.5 - epsilon)
    np.testing.assert_allclose(found, exact, atol=1e-4)


def test_the_interval_misses_another_truth_and_rarely_its_own(monkeypatch):
    found = interval.simulate([normal_law()], (0,), 20)
    assert found.audits == 20
    assert found.missed <= 6
    assert max(found.low, found.high) <= found.missed <= found.low + found.high
    monkeypatch.setattr(interval, "shown", lambda p, q: np.full(len(interval.EPSILON), 0.3))
    assert interval.simulate([normal_law()], (0,), 20).missed == 20


def test_the_law_of_a_fitted_score_has_the_tails_of_the_draws(monkeypatch):
    monkeypatch.setattr(interval, "FIRST", 20_000)
    (law,) = interval.fine_laws(TASKS[0], 400, [0], 1)
    assert law.certify == (280, 280)
    assert law.choose in (40, 120)
    assert law.p.sum() == pytest.approx(1.0) == law.q.sum()
    best = max(np.abs(law.tail(law.score, True) - law.tail(law.score, False)))
    assert best == pytest.approx(norm.cdf(0.5) - norm.cdf(-0.5), abs=0.02)


def test_a_rare_value_shows_what_its_probabilities_do():
    text, draws, found = interval.rare(0.01, 0.001, (450, 10_000), 20)
    assert (text, draws) == ("0.01 against 0.001", "450 against 10,000")
    assert found.shown[0] == pytest.approx(0.009)
    assert found.missed <= 6


def test_the_page_has_a_row_for_each_task_and_size():
    one = interval.Coverage(200, 6, 2, 8, np.full(3, 0.1), np.full(3, 0.2))
    row = ("T1", "1,000", one)
    text = interval.render(even=[row, row], uneven=[row], rare=[row])
    assert text.count("| 1,000 | 96.0% | 3.0% | 1.0% |") == 4
    assert text.count("between 96.0% and 96.0%") == 3


# The zoo's report, on a few of its mechanisms and few seeds.


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "REPORTS", tmp_path_factory.mktemp("zoo"))
        names = ["Laplace", "NoisyHistogram2", "FloatLaplace", "NaturalLogGeometric"]
        return zoo.report(names, budgets=(6_000, 1_000), sound_budget=1_000, seeds=2)


@pytest.mark.quick
@pytest.mark.slow
def test_a_gross_breach_is_caught_and_a_faint_one_is_not(found):
    """δ = 0.99, and 0.03 that a right mechanism never shows, against 0.009.

    Far from the thresholds either way.
    """
    sound, gross, leak, faint = found
    assert (gross.needed, leak.needed) == (1_000, 6_000)
    assert faint.needed is None
    assert list(faint.tried) == [6_000]  # the first seed showed that 1,000 are too few
    assert [row.rightly_judged for row in (gross, leak, faint)] == [True, True, False]
    assert sound.tried == {1_000: (0, 2)}
    assert sound.rightly_judged


@pytest.mark.quick
def test_no_seed_may_be_wrong_of_a_sound_one():
    row = zoo.Row("Laplace", ZOO["Laplace"], ZOO["Laplace"].pair(), {1_000: (0, 20)})
    assert row.rightly_judged
    assert not dataclasses.replace(row, tried={1_000: (1, 20)}).rightly_judged
