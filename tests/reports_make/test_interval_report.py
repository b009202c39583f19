"""The simulated audits behind reports/interval.md."""

import numpy as np
import pytest
from scipy.stats import norm

from reports.make.band import interval
from reports.make.band.interval import FineLaw
from reports.make.tasks import TASKS


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
