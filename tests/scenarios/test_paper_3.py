"""Studies of paper 3 with tiny settings: the numbers behind the lines, fixed by a seed."""

import numpy as np
import pytest
from studies.confidence import interval, with_band
from studies.paper_3.bounds import MixingBounds
from studies.paper_3.designs import Design
from studies.paper_3.logistic import (
    BASELINE,
    MIXING,
    OBJECTIVE,
    SIGN,
    LabelledSplit,
    MixingLogistic,
)
from studies.paper_3.regression import BASELINE as RIDGE
from studies.paper_3.regression import MixingRegression

import dpaudit as dp
from dpaudit.exact import gaussian_sketch
from tests.scenarios.shipped import STUDIES

pytestmark = pytest.mark.quick

SMALL = {"epsilons": (1.0, 50.0), "splits": 2, "draws": 3}
TINY = SMALL | {"rows": 200, "dim": 6, "rank": 2, "tests": 50}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A classification table of 120 rows, as a data set of the folder."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((120, 3))
    y = (x @ [2.0, -1.0, 0.5] + 0.2 * rng.standard_normal(120) > 0.0).astype(float)
    rows = np.column_stack([x, y])
    np.savetxt(tmp_path / "small.csv", rows, delimiter=",", header="a,b,c,class", comments="")
    monkeypatch.setenv("DPAUDIT_DATA", str(tmp_path))
    return "small"


def test_bounds_stand_in_order_and_meet_their_target():
    content = MixingBounds(mixtures=(30,), steps=3).make(0)
    (needed,), (ratios,) = content.figures["figure-1a"], content.figures["figure-1b"]
    exact, lemma, sheffet = (np.array(line.y) for line in needed.lines)
    assert np.all((exact < lemma) & (lemma < sheffet))
    for epsilon, gamma in zip(needed.lines[0].x, exact, strict=True):
        assert max(gaussian_sketch(1.0 / gamma, 30, epsilon)) == pytest.approx(1e-6, rel=1e-6)
    np.testing.assert_allclose(ratios.lines[0].y, 1.0)
    assert all(np.all(np.array(line.y) > 1.0) for line in ratios.lines[1:])
    assert "k = 30" in content.sentences[0]


@pytest.mark.parametrize("name", ["gaussian", "neural", "uniform"])
def test_designs(name):
    train, test = Design(name, 300, 8, 2, 40).sample(np.random.default_rng(1))
    assert train.shape == (300, 9)
    assert test.shape == (40, 9)
    assert np.linalg.norm(train[:, :-1], axis=1).max() == pytest.approx(1.0)
    assert np.abs(train[:, -1]).max() == pytest.approx(1.0)
    rank = np.linalg.matrix_rank(train[:, :-1])
    assert rank == (2 if name == "gaussian" else 8)


def test_regression_by_the_seed_with_less_error_at_larger_epsilon():
    content = MixingRegression(designs=("uniform",), **TINY).make(3)
    (panel,) = content.figures["test-error"]
    assert [len(line.x) for line in panel.lines] == [2] * 5
    best = next(line for line in panel.lines if line.label == RIDGE).y[0]
    for line in panel.lines:
        assert best <= line.y[1] <= line.y[0]
        assert np.all((np.array(line.low) <= line.y) & (np.array(line.y) <= line.high))
    assert len(content.tables[0].rows) == 2 * 8
    again = MixingRegression(designs=("uniform",), **TINY).make(3)
    assert again.sentences == content.sentences
    assert MixingRegression(designs=("uniform",), **TINY).make(4).sentences != content.sentences


def test_real_data_are_split(table):
    content = MixingRegression(designs=(table,), **SMALL).make(1)
    assert content.figures["test-error"][0].title == "small"
    with pytest.raises(dp.DataNotFound):
        MixingRegression(designs=("absent",), **SMALL).make(1)


def test_logistic_accuracies(table):
    content = MixingLogistic(data=(table,), **SMALL).make(1)
    (panel,) = content.figures["figure-3"]
    last = {line.label: line.y[1] for line in panel.lines}
    assert last[BASELINE] > 0.85
    assert last[OBJECTIVE] > 0.8
    assert last[SIGN] < 0.5
    assert last[MIXING] > 0.5
    part = LabelledSplit.of(table, np.random.default_rng(1))
    assert np.linalg.norm(part.train[:, :-1], axis=1).max() == pytest.approx(1.0)
    assert set(part.train[:, -1]) == {-1.0, 1.0}
    assert len(part.test) == 24


def test_intervals():
    """Student's t with one degree of freedom: 12.706 half-widths of two means."""
    values = np.array([[1.0, 3.0], [4.0, 6.0]])
    middle, low, high = interval(values)
    assert middle == 3.5
    assert high - middle == pytest.approx(12.7062 * 1.5, rel=1e-5)
    assert low == pytest.approx(7.0 - high)
    assert with_band("a", [1.0], [values], positive=True).low == [2.0]


def test_settings_are_checked_and_named():
    assert {"figure-1-paper-3", "figure-2-paper-3", "figure-3-paper-3"} <= set(STUDIES)
    for call, name in (
        (lambda: MixingRegression(splits=1), "splits"),
        (lambda: MixingRegression(designs=()), "designs"),
        (lambda: MixingLogistic(epsilons=()), "epsilons"),
        (lambda: MixingBounds(low=2.0, high=1.0), "high"),
        (lambda: MixingBounds(mixtures=(0,)), "mixtures"),
    ):
        with pytest.raises(dp.InvalidInput, match=name):
            call()
