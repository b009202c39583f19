"""The studies of the papers' figures, at sizes that take a moment."""

import math

import numpy as np
import pytest
from studies.confidence import interval
from studies.paper_1.accuracy import accuracy, norm_variance
from studies.paper_1.outliers import OutlierStudy
from studies.paper_1.spectra import SpectrumStudy
from studies.paper_1.utility import NOISE, SKETCH, UtilityStudy, in_units
from studies.paper_2.logistic import RealLogistic, SimulatedLogistic
from studies.paper_2.ridge import (
    RealRidge,
    RealRidgePrivacy,
    SimulatedRidge,
    SimulatedRidgePrivacy,
)
from studies.paper_3.bounds import MixingBounds
from studies.paper_3.logistic import BASELINE, MIXING, OBJECTIVE, SIGN, MixingLogistic
from studies.paper_3.regression import MixingRegression
from studies.paper_4.regressions import SeveralRegressions, SingleRegression
from studies.populations import logistic_fit

import dpaudit as dp
from dpaudit.exact import gaussian_sketch
from dpaudit.laws import Gaussian, StudentT
from tests.scenarios.shipped import STUDIES

pytestmark = pytest.mark.quick

FEW = {"repeats": 4, "draws": 2}
REAL = {"data": ("line",), "public": (30,), "clips": (1.0,), "rates": (0.1,), "shares": (0.5, 1.0)}
SPLITS = {"epsilons": (1.0, 50.0), "splits": 2, "draws": 3}
MIXED = SPLITS | {"rows": 200, "dim": 6, "rank": 2, "tests": 50}
MADE = {
    "figure-2-paper-1": UtilityStudy(
        names=("diabetes",), rows=((20, 200),), paddings=(0.1, 1.0), draws=200, repeats=5
    ),
    "lemma-7-paper-1": OutlierStudy(others=50, sizes=(0.1, 10.0, 1e4)),
    "figure-1-paper-2": SimulatedRidge(sizes=(200, 400), dim=3, steps=5, descents=2, **FEW),
    "figure-2-paper-2": SimulatedRidgePrivacy(sizes=(200, 400), dim=3, mus=(1.0, 9.0), **FEW),
    "figure-4-paper-2": RealRidge(**REAL, mus=((5.0,),), steps=5, descents=2, **FEW),
    "figure-5-paper-2": RealRidgePrivacy(**REAL, mus=((5.0, 9.0),), **FEW),
    "figure-7-paper-2": SimulatedLogistic(rows=200, dim=3, mus=(9.0,), steps=2, **FEW),
    "figure-9-paper-2": RealLogistic(
        data=("coin",), mus=((9.0,),), ridges=(0.0,), constants=(True,), steps=2, **FEW
    ),
    "figure-1-paper-3": MixingBounds(mixtures=(30,), steps=3),
    "figure-2-paper-3": MixingRegression(designs=("gaussian", "neural", "uniform"), **MIXED),
    "figure-3-paper-3": MixingLogistic(data=("small",), **SPLITS),
    "figures-1-to-4-paper-4": SingleRegression(
        log_sizes=(6, 8), epsilons=(0.1, 0.5), repeats=3, features=3
    ),
    "figures-5-and-6-paper-4": SeveralRegressions(
        log_sizes=(6, 8), extras=(0, 2), repeats=3, features=3
    ),
}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Data sets: with a real label, with a label 0 or 1, and a small one of the latter kind."""
    rng = np.random.default_rng(2)
    z, x = rng.standard_normal((120, 3)), rng.standard_normal((300, 3)) * [1.0, 20.0, 0.1] + 5.0
    line = x @ [1.0, 0.1, 3.0] + rng.standard_normal(300)
    coin = line > np.median(line) + rng.standard_normal(300)
    small = z @ [2.0, -1.0, 0.5] + 0.2 * rng.standard_normal(120) > 0.0
    for name, features, label in (("line", x, line), ("coin", x, coin), ("small", z, small)):
        rows = np.column_stack([features, label])
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    monkeypatch.setenv("DPAUDIT_DATA", str(tmp_path))


@pytest.mark.parametrize("key", MADE)
def test_a_study_is_panels_and_tables_made_by_its_seed(key, tables):
    study = MADE[key]
    assert type(study).__qualname__ == STUDIES[key].__qualname__
    content = study.make(3, lambda step, done, wanted: None)
    assert content == study.make(3) != study.make(4)
    for line in (
        line for panels in content.figures.values() for one in panels for line in one.lines
    ):
        assert len(line.x) == len(line.y) > 0
        assert line.low is None or np.all(np.array(line.low) <= line.y)
        assert line.high is None or np.all(np.array(line.y) <= line.high)
    assert all(len(row) == len(table.heads) for table in content.tables for row in table.rows)
    assert content.sentences


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: UtilityStudy(rows=((1,),)), "rows"),
        (lambda: SpectrumStudy(rows=((1,),)), "rows"),
        (lambda: OutlierStudy(sizes=()), "sizes"),
        (lambda: SimulatedRidge(repeats=7, draws=2), "repeats"),
        (lambda: RealRidge(public=(3,)), "public"),
        (lambda: RealRidge(mus=((0.0,), (1.0,))), "mus"),
        (lambda: SimulatedLogistic(steps=0), "steps"),
        (lambda: RealLogistic(ridges=(0.0,)), "ridges"),
        (lambda: RealLogistic(share=1.0), "share"),
        (lambda: MixingRegression(splits=1), "splits"),
        (lambda: MixingRegression(designs=()), "designs"),
        (lambda: MixingLogistic(epsilons=()), "epsilons"),
        (lambda: MixingBounds(low=2.0, high=1.0), "high"),
        (lambda: MixingBounds(mixtures=(0,)), "mixtures"),
        (lambda: SingleRegression(figures=(5,)), "figures"),
        (lambda: SeveralRegressions(extras=(20,)), "extras"),
        (lambda: SeveralRegressions(epsilon=0.0), "epsilon"),
        (lambda: SeveralRegressions(repeats=1), "repeats"),
    ],
)
def test_a_wrong_setting_is_named(make, name):
    with pytest.raises(dp.InvalidInput, match=name):
        make()


@pytest.mark.parametrize(
    "study", [RealRidge(**FEW), MixingRegression(designs=("absent",), **SPLITS)], ids=repr
)
def test_a_data_set_that_is_not_there_is_said(study, monkeypatch):
    monkeypatch.delenv("DPAUDIT_DATA", raising=False)
    with pytest.raises(dp.DataNotFound):
        study.make(1)


def test_accuracy_is_that_of_draws():
    """4 standard errors of 200,000 draws of laws with finite fourth moments."""
    root, truth = np.array([[2.0, 0.5], [0.0, 1.0]]), np.array([0.5, -1.0])
    for law in (Gaussian(np.array([1.0, 2.0]), root), StudentT(np.array([1.0, 2.0]), root, 9)):
        square = np.sum((law.sample(200_000, np.random.default_rng(3)) - truth) ** 2, axis=1)
        error = 4.0 * square.std() / math.sqrt(len(square))
        found = accuracy(law, truth)
        assert found.mean_square == pytest.approx(square.mean(), abs=error)
        assert found.bias == pytest.approx(0.25 + 9.0)
        spread = norm_variance(law, truth, 2_000, 6, np.random.SeedSequence(4))
        assert np.var(np.sqrt(square)) == pytest.approx(spread.mean(), rel=0.15)


def test_gaussian_noise_is_shown_at_the_delta_of_als():
    (table, *_) = MADE["figure-2-paper-1"].make(1).tables
    rows = [dict(zip(table.heads, row, strict=True)) for row in table.rows]
    plain = [row for row in rows if row["data"].endswith("as they are")]
    als, noise = ([row for row in plain if row["method"] == one] for one in (SKETCH, NOISE))
    assert [row["δ"] for row in noise] == pytest.approx([row["δ"] for row in als], rel=1e-6)
    worst = dp.exact.worst_case(dp.mechanisms.ALS(20), in_units("diabetes", "as they are"), 1.0)
    assert als[0]["δ"] == pytest.approx(float(worst.delta), rel=1e-9)


def test_a_growing_row_ends_privacy_or_use():
    content = MADE["lemma-7-paper-1"].make(1)
    for private, error in zip(*content.figures.values(), strict=True):
        *fixed, following = [line.y for line in private.lines]
        assert all(delta[0] < 0.5 < 0.99 < delta[-1] for delta in fixed)
        # its own claim: c₁ follows the row, and the row is one that stays small beside it
        assert max(following) <= 1e-3
        assert all(np.all(np.isfinite(line.y)) for line in error.lines)
    growing = content.figures["error"][0].lines[-1].y
    assert growing[-1] > 10.0 * growing[0]


def test_bounds_stand_in_order_and_meet_their_target():
    content = MADE["figure-1-paper-3"].make(0)
    (needed,), (ratios,) = content.figures["figure-1a"], content.figures["figure-1b"]
    exact, lemma, sheffet = (np.array(line.y) for line in needed.lines)
    assert np.all((exact < lemma) & (lemma < sheffet))
    for epsilon, gamma in zip(needed.lines[0].x, exact, strict=True):
        assert max(gaussian_sketch(1.0 / gamma, 30, epsilon)) == pytest.approx(1e-6, rel=1e-6)
    np.testing.assert_allclose(ratios.lines[0].y, 1.0)


def test_logistic_accuracies(tables):
    (panel,) = MADE["figure-3-paper-3"].make(1).figures["figure-3"]
    last = {line.label: line.y[1] for line in panel.lines}
    assert last[BASELINE] > 0.85
    assert last[OBJECTIVE] > 0.8
    assert last[SIGN] < 0.5
    assert last[MIXING] > 0.5


def test_the_logistic_fit_is_where_the_slope_is_zero():
    rng = np.random.default_rng(6)
    x = 30.0 * rng.standard_normal((400, 2))  # full Newton steps from 0 would not do
    y = (rng.random(400) < 0.5 + 0.45 * np.tanh(x[:, 0])).astype(float)
    coef = logistic_fit(x, y, 0.01)
    slope = x.T @ (1 / (1 + np.exp(-x @ coef)) - y) / 400 + 0.01 * coef
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


def test_intervals():
    """Student's t with one degree of freedom: 12.706 half-widths of two means."""
    middle, low, high = interval(np.array([[1.0, 3.0], [4.0, 6.0]]))
    assert middle == 3.5
    assert high - middle == pytest.approx(12.7062 * 1.5, rel=1e-5)
    assert low == pytest.approx(7.0 - high)
