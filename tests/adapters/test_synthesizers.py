"""Synthesizers as mechanisms: what is certified, what is refused, what a pickle keeps."""

import pickle

import numpy as np
import pytest

import dpaudit as dp
from tests.drawing import draw

CELLS, RECORDS, CELL = 6, 30, 2
DATA = np.repeat(np.arange(float(CELLS)), 3)[:, None]
PAIR = dp.neighbours.add_row(DATA, [float(CELL)])


def counts(data):
    return np.bincount(data[:, 0].astype(int), minlength=CELLS)


def fit(data, rng):
    return rng.dirichlet(1.0 + counts(data))


def sample(model, rng):
    return rng.choice(CELLS, RECORDS, p=model)


MECHANISM = dp.adapters.synthesizer(fit, sample, PAIR)


def test_the_count_of_the_cell_has_the_dirichlet_multinomial_law():
    rows = draw(MECHANISM, DATA, 3000, np.random.SeedSequence(1), 0)
    expected = RECORDS * (1.0 + 3.0) / (CELLS + len(DATA))
    assert np.all(rows[:, 0] == RECORDS)
    assert abs(rows[:, 1].mean() - expected) < 5.0 * rows[:, 1].std() / np.sqrt(3000)


def test_a_synthesizer_can_be_pickled_and_its_repr_has_no_value():
    again = pickle.loads(pickle.dumps(MECHANISM))
    assert np.array_equal(MECHANISM(DATA, 3, rng=2), again(DATA, 3, rng=2))
    private = dp.neighbours.add_row(np.array([[73.125], [51.5]]), [99.875])
    shown = repr(dp.adapters.synthesizer(fit, sample, private))
    assert not any(value in shown for value in ("73.1", "51.5", "99.8"))


def test_the_data_stay_as_they_are():
    def writes(data, rng):
        data[:] = 0.0
        return np.ones(CELLS) / CELLS

    before = DATA.copy()
    dp.adapters.synthesizer(writes, sample, PAIR)(DATA, 2, rng=1)
    assert np.array_equal(DATA, before)


@pytest.mark.parametrize("table", [np.ones((2, 3)), "text", [object()]])
def test_a_table_of_another_form_is_an_error_of_the_mechanism(table):
    mechanism = dp.adapters.synthesizer(fit, lambda model, rng: table, PAIR)
    with pytest.raises(dp.MechanismError, match="got"):
        mechanism(DATA, 1, rng=1)


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("fit", {"fit": None}),
        ("sample", {"sample": int}),
        ("pair", {"pair": (DATA, DATA)}),
        ("columns", {"columns": ["x", "y"]}),
        ("categories", {"categories": {1: ["a"]}}),
        ("categories", {"categories": [0]}),
        ("timeout", {"timeout": 0.0}),
    ],
)
def test_wrong_arguments_are_refused_by_name(argument, given):
    with pytest.raises(dp.InvalidInput, match=argument):
        dp.adapters.synthesizer(**({"fit": fit, "sample": sample, "pair": PAIR} | given))


def test_an_unknown_keyword_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="did you mean 'columns'"):
        dp.adapters.synthesizer(fit, sample, PAIR, column=["x"])
