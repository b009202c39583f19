"""What a changed row does to least squares, against fitting again; how draws are spent."""

import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.search.halving import FEWEST, schedule
from dpaudit.search.ranking import MEASURES, in_turn, measures

pytestmark = pytest.mark.quick


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(40), rng.normal(size=(40, 2)) * [1.0, 50.0]])
    return np.column_stack([x, x @ [1.0, -2.0, 0.1] + rng.normal(size=40)])


def named(data, out, into):
    return dict(zip(MEASURES, measures(data, out, into), strict=True))


def test_an_added_row_against_fitting_again(data):
    row = np.array([[1.0, 3.0, -100.0, 9.0]])
    found = named(data, np.zeros_like(row), row)

    def fit(table):
        return np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0]

    step = fit(np.vstack([data, row])) - fit(data)
    np.testing.assert_allclose(found["displacement"], np.linalg.norm(step), rtol=1e-9)
    total = np.sum((data[:, -1] - data[:, :-1] @ fit(data)) ** 2)
    np.testing.assert_allclose(found["cook"], np.sum((data[:, :-1] @ step) ** 2) / total, rtol=1e-9)
    np.testing.assert_allclose(found["size"], np.linalg.norm(row))


def test_the_first_change_of_a_small_group_is_named_by_its_size():
    data = np.column_stack([[0.0, 0.0, 0.0, 1.0, 1.0, 2.0], np.linspace(0.1, 0.7, 6)])
    gone = named(data, data, np.zeros_like(data))["group"]
    np.testing.assert_allclose(gone, [1 / 4, 0, 0, 1 / 3, 0, 1 / 2])
    rows = np.array([[3.0, 0.1], [2.0, 0.1], [3.0, 0.5]])
    come = named(data, np.zeros_like(rows), rows)["group"]
    np.testing.assert_allclose(come, [1.0, 1 / 2, 0.0])


def test_measures_take_turns():
    scores = np.array([[9.0, 1.0, 2.0, 3.0], [1.0, 9.0, 8.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_allclose(in_turn(scores), [1.0, 1.0, 1 / 2, 1 / 2])
    np.testing.assert_allclose(in_turn(scores[2:]), 1.0)  # nothing said of any


def test_rungs_cost_alike_and_stay_within_the_draws():
    screened, rungs = schedule(10.0, 20_000, 2809, 48, "auto")
    assert [size for size, _ in rungs] == [48, 12, 3]
    costs = [(size + 1) * each for size, each in rungs]
    assert max(costs[:2]) < 1.01 * min(costs[:2])
    assert sum(costs) + 16 * (screened + 1) + 1000 <= 360_000
    _, few = schedule(1.125, 20_000, 100, 48, "linear")
    assert few[0][1] >= FEWEST
    assert schedule(1.125, 20_000, 1, 48, "auto") == (0, ((1, 2_500),))
    for budget, draws in ((1.0125, 20_000), (10.0, 50)):
        with pytest.raises(dp.InvalidInput, match="to compare two neighbours") as raised:
            schedule(budget, draws, 100, 48, "linear")
        enough = int(re.search(r"at least ([\d,]+) a side", str(raised.value))[1].replace(",", ""))
        assert len(schedule(budget, enough, 100, 48, "linear")[1]) >= 1
