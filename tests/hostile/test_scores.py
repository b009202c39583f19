"""Scores of a user's own: whatever can be called."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dpaudit as dp


def scaled(rows, scale):
    return scale * rows[:, 0]


class Scorer:
    """An object that is a score, and has one as a method."""

    def __call__(self, rows):
        return rows[:, 0]

    def by_rows(self, rows):
        return rows[:, 0]


# --- callables ------------------------------------------------------------------------------------


CALLABLES = {
    "scaled": partial(scaled, scale=1.0),
    "tanh": np.tanh,  # gives a column, as outputs are one number
    "Scorer": Scorer(),
    "by_rows": Scorer().by_rows,
}


def draws(size, shift=2.0):
    rng = np.random.default_rng(1)
    return rng.normal(shift, 1.0, (size, 1)), rng.normal(size=(size, 1))


@pytest.mark.parametrize(("size", "stop"), [(300, None), (2000, None), (600, "verdict")])
@pytest.mark.parametrize(("name", "score"), CALLABLES.items(), ids=CALLABLES)
def test_every_callable_is_a_score(name, score, size, stop):
    options = {"claim": (0.5, 0.0), "stop": stop, "rng": 1}
    found, plain = (
        dp.audit_samples(*draws(size), classifier=one, **options)
        for one in (score, lambda rows: score(rows).reshape(-1))
    )
    assert np.array_equal(found.spectrum.low, plain.spectrum.low)
    assert found.verdict == plain.verdict == "violated"
    assert found.fitted.name == name
    record = found.to_dict()["classifier"]
    assert (record["requested"], record["chosen"]) == (name, name)


def test_a_search_takes_every_callable():
    def noisy(data, size, *, rng):
        return data.sum() + rng.laplace(size=(size, 1))

    found = dp.search_neighbours(
        noisy,
        np.ones((3, 1)),
        quick=partial(scaled, scale=-1.0),
        draws=300,
        claim=(0.1, 0.0),
        rng=1,
    )
    assert found.pair.relation == "zero-out"


def test_a_classifier_that_can_be_called_is_fitted():
    class Called(LogisticRegression):
        def __call__(self, rows):
            raise AssertionError("a classifier is no score")

    found = dp.audit_samples(*draws(2000), classifier=Called(), claim=(0.5, 0.0), rng=1)
    assert found.fitted.name == "Called"
    assert found.sizes.train > 0


@pytest.mark.parametrize("wrong", [Scorer, LogisticRegression])
def test_a_class_is_no_score(wrong):
    with pytest.raises(dp.InvalidInput, match=f"got the class {wrong.__name__}; make an object"):
        dp.audit_samples(*draws(300), classifier=wrong)
