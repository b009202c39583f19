"""Paper 4's figures at sizes that take a moment."""

import numpy as np
import pytest
from studies.paper_4.databases import SeveralLabels, SingleLabel
from studies.paper_4.regressions import SeveralRegressions, SingleRegression

import dpaudit as dp
from tests.scenarios.shipped import STUDIES

pytestmark = pytest.mark.quick

SINGLE = SingleRegression(log_sizes=(6, 8), epsilons=(0.1, 0.5), repeats=3, features=3)
SEVERAL = SeveralRegressions(log_sizes=(6, 8), extras=(0, 2), repeats=3, features=3)


@pytest.mark.parametrize("key", ["figures-1-to-4-paper-4", "figures-5-and-6-paper-4"])
def test_a_study_is_panels_made_by_its_seed(key):
    study = {"figures-1-to-4-paper-4": SINGLE, "figures-5-and-6-paper-4": SEVERAL}[key]
    assert type(study).__qualname__ == STUDIES[key].__qualname__
    steps = []
    content = study.make(3, lambda *step: steps.append(step))
    assert [done for _, done, _ in steps] == [0, 1, 2]
    assert content == study.make(3)
    assert content != study.make(4)
    assert (
        list(content.figures) == ["figure-1", "figure-2", "figure-3", "figure-4"]
        if study is SINGLE
        else True
    )
    for panels in content.figures.values():
        assert len(panels) == 2
        for line in (line for panel in panels for line in panel.lines):
            assert line.x == [64, 256]
            assert np.all(np.array(line.y) > 0.0)
            assert line.low is None or np.all(np.array(line.low) <= line.y)
    for table in content.tables:
        assert all(len(row) == len(table.heads) for row in table.rows)


def test_grams_are_of_the_first_rows_shrunk_to_the_bound():
    data, rng = SingleLabel(np.ones(4), 0.7, bound=1.0), np.random.default_rng(5)
    (few, small), (many, large) = data.grams([100, 300], rng)
    assert (few, many) == (100, 300)
    assert np.trace(small) <= 100 * data.row_bound**2
    assert np.linalg.eigvalsh(large - small)[0] > -1e-9
    assert 0.2 < data.shrunk_share < 1.0
    assert data.row_bound == pytest.approx(np.sqrt(5.0))


def test_several_labels_stand_behind_the_features():
    data = SeveralLabels(np.arange(6.0).reshape(3, 2), 0.0, bound=1e9)
    block = data.block(50, np.random.default_rng(1))
    np.testing.assert_allclose(block[:, 3:], block[:, :3] @ data.coefs)
    assert np.all(block[:, 2] == 1.0)
    np.testing.assert_array_equal(data.columns(1), [0, 1, 2, 4, 3])
    np.testing.assert_array_equal(data.truth(1), [0.0, 2.0, 4.0, 0.0])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SingleRegression(figures=(5,)), "figures"),
        (lambda: SeveralRegressions(extras=(20,)), "extras"),
        (lambda: SeveralRegressions(epsilon=0.0), "epsilon"),
        (lambda: SeveralRegressions(repeats=1), "repeats"),
    ],
)
def test_bad_settings_are_named(make, name):
    with pytest.raises(dp.InvalidInput, match=name):
        make()
