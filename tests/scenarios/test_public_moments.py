"""Studies of paper 2's figures, at sizes that take a moment."""

import numpy as np
import pytest
from studies.paper_2.logistic import RealLogistic, SimulatedLogistic
from studies.paper_2.ridge import (
    RealRidge,
    RealRidgePrivacy,
    SimulatedRidge,
    SimulatedRidgePrivacy,
)
from studies.populations import Rows, SimulatedModel, logistic_fit

import dpaudit as dp
from tests.scenarios.shipped import STUDIES

pytestmark = pytest.mark.quick

SMALL = {"repeats": 4, "draws": 2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two data sets: a real label, and a label 0 or 1."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 3)) * [1.0, 20.0, 0.1] + 5.0
    label = x @ [1.0, 0.1, 3.0] + rng.standard_normal(300)
    for name, y in (
        ("line", label),
        ("coin", (label > np.median(label) + rng.standard_normal(300)).astype(float)),
    ):
        np.savetxt(
            tmp_path / f"{name}.csv",
            np.column_stack([x, y]),
            delimiter=",",
            header="a,b,c,y",
            comments="",
        )
    monkeypatch.setenv("DPAUDIT_DATA", str(tmp_path))
    return tmp_path


REAL = {"data": ("line",), "public": (30,), "clips": (1.0,), "rates": (0.1,), "shares": (0.5, 1.0)}
STUDY = {
    "figure-1-paper-2": SimulatedRidge(sizes=(200, 400), dim=3, steps=5, descents=2, **SMALL),
    "figure-2-paper-2": SimulatedRidgePrivacy(sizes=(200, 400), dim=3, mus=(1.0, 9.0), **SMALL),
    "figure-4-paper-2": RealRidge(**REAL, mus=((5.0,),), steps=5, descents=2, **SMALL),
    "figure-5-paper-2": RealRidgePrivacy(**REAL, mus=((5.0, 9.0),), **SMALL),
    "figure-7-paper-2": SimulatedLogistic(rows=200, dim=3, mus=(9.0,), steps=2, **SMALL),
    "figure-9-paper-2": RealLogistic(
        data=("coin",), mus=((9.0,),), ridges=(0.0,), constants=(True,), steps=2, **SMALL
    ),
}


@pytest.mark.parametrize("key", STUDY)
def test_a_study_is_lines_with_bands_made_by_its_seed(key, folder):
    study, steps = STUDY[key], []
    assert type(study).__qualname__ == STUDIES[key].__qualname__
    content = study.make(3, lambda *step: steps.append(step))
    assert content == study.make(3)
    assert content != study.make(4)
    panels = content.figures[f"figure-{study.figure}"]
    assert len(panels) == len(steps)
    for line in (line for panel in panels for line in panel.lines):
        assert len(line.x) == len(line.y) == len(line.low) == len(line.high) == 2
        assert np.all(np.array(line.low) <= np.array(line.y))
        assert np.all(np.array(line.low) > 0.0)
    assert content.settings["repeats"] == 4
    assert any("4 repeats" in sentence for sentence in content.sentences)
    assert all(len(row) == len(content.tables[0].heads) for row in content.tables[0].rows)


def test_the_model_has_the_moment_it_says():
    """Every entry of 40,000 rows' moment within 0.06: six deviations and more."""
    model = SimulatedModel(np.ones(3), 0.5, 0.6, 0.1)
    data = model.sample(0, 40_000, np.random.default_rng(1))
    np.testing.assert_allclose(data[:, :-1].T @ data[:, :-1] / 40_000, model.moment, atol=0.06)
    np.testing.assert_allclose((data[:, -1] - data[:, :-1].sum(axis=1)).std(), 0.1, rtol=0.03)


def test_real_rows_are_standardised_and_fitted(folder):
    rows = Rows.load("line", logistic=False, constant=False)
    np.testing.assert_allclose(rows.data.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.data.std(axis=0), 1.0)
    residual = rows.data[:, -1] - rows.data[:, :-1] @ rows.truth(rows.data, 0.0)
    np.testing.assert_allclose(rows.data[:, :-1].T @ residual, 0.0, atol=1e-9)
    coin = Rows.load("coin", logistic=True, constant=True)
    assert coin.dim == 4
    assert set(coin.data[:, -1]) == {0.0, 1.0}
    with pytest.raises(dp.InvalidInput, match="at most 290 private rows of line"):
        rows.sample(10, 291, np.random.default_rng(1))


def test_the_logistic_fit_is_where_the_slope_is_zero():
    rng = np.random.default_rng(6)
    x = 30.0 * rng.standard_normal((400, 2))  # full Newton steps from 0 would not do
    y = (rng.random(400) < 0.5 + 0.45 * np.tanh(x[:, 0])).astype(float)
    coef = logistic_fit(x, y, 0.01)
    np.testing.assert_allclose(
        x.T @ (1 / (1 + np.exp(-x @ coef)) - y) / 400 + 0.01 * coef, 0.0, atol=1e-9
    )


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SimulatedRidge(repeats=7, draws=2), "repeats"),
        (lambda: RealRidge(public=(3,)), "public"),
        (lambda: RealRidge(mus=((0.0,), (1.0,))), "mus"),
        (lambda: SimulatedLogistic(steps=0), "steps"),
        (lambda: RealLogistic(ridges=(0.0,)), "ridges"),
        (lambda: RealLogistic(share=1.0), "share"),
    ],
)
def test_a_wrong_setting_is_named(make, name):
    with pytest.raises(dp.InvalidInput, match=f"^{name} must be"):
        make()


def test_a_data_set_that_is_not_there_is_said(monkeypatch):
    monkeypatch.delenv("DPAUDIT_DATA", raising=False)
    with pytest.raises(dp.DataNotFound):
        RealRidge(**SMALL).make(1)
