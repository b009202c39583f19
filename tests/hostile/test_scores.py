"""Scores of a user's own: whatever can be called."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dpaudit as dp
from tests.sparse import one_in


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


@pytest.mark.parametrize(("size", "stop"), one_in(2, [(300, None), (2000, None), (600, "verdict")]))
@pytest.mark.parametrize("name", one_in(2, CALLABLES))
def test_every_callable_is_a_score(name, size, stop):
    score = CALLABLES[name]
    options = {"claim": (0.5, 0.0), "stop": stop, "rng": 1}
    result, plain = (
        dp.audit_samples(*draws(size), classifier=each, **options)
        for each in (score, lambda rows: score(rows).reshape(-1))
    )
    assert np.array_equal(result.spectrum.low, plain.spectrum.low)
    assert result.verdict == plain.verdict == "violated"
    assert result.fitted.name == name
    record = result.to_dict()["classifier"]
    assert (record["requested"], record["chosen"]) == (name, name)


def test_a_search_takes_every_callable():
    def noisy(data, size, *, rng):
        return data.sum() + rng.laplace(size=(size, 1))

    result = dp.search_neighbours(
        noisy,
        np.ones((3, 1)),
        quick=partial(scaled, scale=-1.0),
        draws=300,
        claim=(0.1, 0.0),
        rng=1,
    )
    assert result.pair.relation == "zero-out"


@pytest.mark.parametrize("wrong", [Scorer, LogisticRegression])
def test_a_class_is_no_score(wrong):
    with pytest.raises(dp.InvalidInput, match=f"got the class {wrong.__name__}; make an object"):
        dp.audit_samples(*draws(300), classifier=wrong)


# --- NaN ------------------------------------------------------------------------------------------


BAD = -77.0  # for which `partly` is NaN


def partly(rows):
    return np.where(rows[:, 0] == BAD, np.nan, rows[:, 0])


def filled(rows):
    return np.where(rows[:, 0] == BAD, 0.0, rows[:, 0])


WAYS = pytest.mark.parametrize(
    ("size", "stop"),
    one_in(2, [(300, None), (1000, None), (1000, "verdict")]),
    ids=["few", "many", "stops"],
)


@WAYS
def test_nan_among_certifying_scores_counts_as_0_and_is_said(size, stop):
    """The band is that of the score with 0 in place of NaN, to the last bit."""
    P, Q = draws(size, 0.1)
    P[-1], Q[-3:-1] = BAD, BAD
    options = {"claim": (0.05, 0.0), "stop": stop, "rng": 1}
    result, plain = (
        dp.audit_samples(P, Q, classifier=each, **options) for each in (partly, filled)
    )
    assert np.array_equal(result.spectrum.low, plain.spectrum.low)
    assert result.verdict == plain.verdict
    note = "The score partly is NaN for 3 certifying draws and counts as 0 there, for neither side."
    assert note in result.reason
    assert "NaN" not in plain.reason


@WAYS
def test_nan_while_draws_choose_is_an_early_error_that_names_the_draw(size, stop):
    P, Q = draws(size)
    Q[[5, 7]] = BAD
    certified = []

    def score(rows):
        certified.append(np.any(rows[:, 0] == 55.0))
        return partly(rows)

    P[-1] = 55.0
    with pytest.raises(dp.InvalidInput, match=r"for 2 of \d+ draws of M\(D'\), .* number 5; give"):
        dp.audit_samples(P, Q, classifier=score, claim=(0.5, 0.0), stop=stop, rng=1)
    assert not any(certified)


# --- sides that differ in size and width ----------------------------------------------------------


def test_draws_that_are_left_out_are_said():
    P, Q = draws(10_000)
    result = dp.audit_samples(P, Q[:600], claim=(0.5, 0.0), rng=1)
    assert result.sizes.total == 600
    assert result.reason.startswith(
        "There are 10,000 draws of M(D) and 600 of M(D'): the first 600 of each are audited, and "
        "9,400 are left out. "
    )
    assert result.to_dict()["reason"] == result.reason
    assert "left out" not in dp.audit_samples(P[:600], Q[:600], claim=(0.5, 0.0), rng=1).reason


@WAYS
def test_sides_of_different_width_are_said(size, stop):
    rng = np.random.default_rng(1)
    P, Q = rng.normal(size=(size, 2)), rng.normal(size=(size, 3))
    note = "An output of M(D) has 2 numbers and one of M(D') has 3: they are audited as lists"
    assert note in dp.audit_samples(P, Q, claim=(0.5, 0.0), stop=stop, rng=1).reason
    lists = [row[: rng.integers(1, 3)].tolist() for row in P]
    result = dp.audit_samples(lists, Q.tolist(), claim=(0.5, 0.0), stop=stop, rng=1)
    assert "audited as lists" not in result.reason  # which they are
