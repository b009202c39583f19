"""Mechanisms, scores and arrays as careless people write them, all of them private.

Each was certified to break a claim that it keeps.
"""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import dpaudit as dp
from tests.cases import shifted
from tests.sparse import one_in

DATA = np.full((3, 1), 1.0)
PAIR = dp.neighbours.zero_row(DATA, 2)  # the mean falls by 1/3
CLAIM = (1.0, 0.0)
SAMPLES = 20_000
MODES = pytest.mark.parametrize("stop", [None, "verdict"])
SEEDS = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
)


def center(data):
    return data.mean()


def audit(mechanism, pair=PAIR, **changes):
    settings = {"claim": CLAIM, "level": 1.0 - 1e-6, "draws": SAMPLES, "classifier": "qda"}
    return dp.audit(mechanism, pair, **{**settings, "rng": 1, **changes})


# --- draws that depend on each other within a call ------------------------------------------------


def size_forgotten(data, size, *, rng):
    return np.full(size, center(data) + rng.laplace(scale=1 / 3))


def one_noise_a_call(data, size, *, rng):
    noise = rng.laplace(scale=2 / 3, size=(size, 2))
    noise[:, 1] = noise[0, 1]
    return center(data) + noise


DEPENDENT = {
    size_forgotten: "size= forgotten",
    one_noise_a_call: "column 2 of 2",
}


@pytest.mark.parametrize("mechanism", DEPENDENT, ids=lambda one: one.__name__)
@SEEDS
def test_draws_that_depend_within_a_call_are_refused(mechanism, seed):
    with pytest.raises(dp.MechanismError, match=DEPENDENT[mechanism]):
        audit(mechanism, rng=seed)


def test_a_call_for_each_draw_still_finds_a_leak():
    """(1, 0)-DP is what the scale 1/3 gives; (0.25, 0) is false."""
    assert audit(size_forgotten, unit="call", draws=3000, claim=(0.25, 0.0)).verdict == "violated"


# --- calls that are the same ----------------------------------------------------------------------


def nearly_the_same_calls(data, size, *, rng):
    """Each database has a seed of its own; fresh noise hides that calls are nearly the same."""
    own = np.random.default_rng(int(7 * data.sum())).laplace(scale=1 / 3, size=size)
    return data.mean() + own + 1e-3 * rng.normal(size=size)


def few_noises_a_call(data, size, *, rng):
    """Five noises are drawn in each call, and each draw takes one of them."""
    few = rng.laplace(scale=1 / 3, size=5)
    return data.mean() + rng.choice(few, size) + 1e-3 * rng.normal(size=size)


@pytest.mark.parametrize(
    ("mechanism", "level", "seed"),
    [(nearly_the_same_calls, 1.0 - 1e-6, 1), (few_noises_a_call, 0.95, 5)],
    ids=["nearly the same", "few noises"],
)
def test_an_audit_that_stops_early_does_not_accuse(mechanism, level, seed):
    with pytest.raises(dp.MechanismError, match="not independent"):
        audit(mechanism, draws=3000, stop="verdict", level=level, rng=seed)


# --- scores that see other rows -------------------------------------------------------------------


def mean_of_the_batch(x):
    return np.full(len(x), x[:, 0].mean())


def against_the_batch(x):
    return x[:, 0] - 0.5 * x[:, 0].mean()


class CountingScore:
    """Rises from row to row."""

    def __init__(self):
        self.rows = 0

    def __call__(self, x):
        self.rows += len(x)
        return np.arange(self.rows - len(x), self.rows, dtype=float)


class BatchCentred(ClassifierMixin, BaseEstimator):
    """A classifier that centres each batch that it predicts on, and adds the batch's mean."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.inner_ = LogisticRegression().fit(X, y)
        return self

    def decision_function(self, X):
        return self.inner_.decision_function(X) + 100.0 * X.mean()


@MODES
@pytest.mark.parametrize(
    "score",
    [
        dp.scoring.KnownScore(mean_of_the_batch, "mean of the batch"),
        dp.scoring.KnownScore(against_the_batch, "against the batch"),
        dp.scoring.KnownScore(CountingScore(), "counter"),
        BatchCentred(),
    ],
    ids=["mean", "against", "counter", "estimator"],
)
def test_a_score_that_sees_other_rows_is_refused_by_name(score, stop):
    name = getattr(score, "name", "BatchCentred")
    with pytest.raises(dp.InvalidInput, match=f"row by itself.*from {name}"):
        audit(shifted(0.1), dp.neighbours.zero_row([[1.0], [0.0]], 0), classifier=score, stop=stop)


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        pytest.param("knn", marks=pytest.mark.slow),
        pytest.param("auto", marks=pytest.mark.slow),
    ],
)
def test_scores_of_single_rows_are_not_refused(classifier):
    pair = dp.neighbours.zero_row([[1.0], [0.0]], 0)
    result = audit(shifted(2.0), pair, classifier=classifier, draws=4000)
    dp.scoring.refuse_batch_scores(
        result.fitted, dp.scoring.Sides(*np.random.default_rng(0).normal(size=(2, 400, 1)))
    )


# --- a mechanism that changes with time -----------------------------------------------------------


class Wearing:
    """Releases a sum whose noise drifts by `step` from call to call, on any database."""

    def __init__(self, step):
        self.step, self.calls = step, itertools.count()

    def __call__(self, data, size, *, rng):
        return rng.laplace(scale=1.0, size=size) + self.step * next(self.calls)


@MODES
@pytest.mark.parametrize("step", one_in(3, [0.002, 0.0005, 0.0001]))
@SEEDS
def test_drift_common_to_both_sides_is_no_leak(step, seed, stop):
    """The two laws are the same at all times."""
    assert audit(Wearing(step), claim=(0.0, 0.0), rng=seed, stop=stop).verdict != "violated"


def test_slow_drift_is_said_first():
    result = audit(Wearing(0.01), draws=100_000)
    assert result.verdict == "not violated"
    assert result.reason.startswith("Drift: the law changes during the run")


# --- arrays from elsewhere ------------------------------------------------------------------------


def noise(seed, size=SAMPLES):
    return np.random.default_rng(seed).laplace(scale=1.0, size=size)


DEPENDENT_ARRAYS = {
    "tiled": lambda: (np.tile(noise(1, 100), 200), np.tile(noise(2, 100), 200)),
    "sorted": lambda: (np.sort(noise(1)), np.sort(noise(2))),
    "equal": lambda: (noise(1), noise(1)),
    "row by row": lambda: (noise(1), noise(1) + 0.1 * noise(2)),
}


@pytest.mark.parametrize(
    ("stop", "name"),
    [
        *((None, one) for one in DEPENDENT_ARRAYS),
        *one_in(3, [("verdict", one) for one in DEPENDENT_ARRAYS]),
    ],
)
def test_arrays_that_are_not_independent_are_refused(name, stop):
    P, Q = DEPENDENT_ARRAYS[name]()
    with pytest.raises(dp.InvalidInput, match=r"not independent.*(random order|own\.$)"):
        dp.audit_samples(P, Q, claim=CLAIM, rng=1, classifier="qda", stop=stop)


# --- and honest ones are not refused --------------------------------------------------------------


def rounded(data, size, *, rng):
    return np.round(data.sum() + rng.laplace(scale=3.0, size=size))


def coin(data, size, *, rng):
    return (rng.random(size) < 0.01 + 0.01 * data.mean()).astype(float)


def mixed(data, size, *, rng):
    return np.maximum(data.sum() + rng.normal(scale=3.0, size=(size, 3)), 0.0)


def texts(data, size, *, rng):
    return [("yes", "no", None)[k] for k in rng.integers(0, 3, size)]


def lists(data, size, *, rng):
    return [list(rng.normal(size=rng.integers(0, 3))) for _ in range(size)]


HONEST = [rounded, coin, mixed, texts, lists]


@pytest.mark.parametrize("unit", ["draw", pytest.param("call", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("stop", "mechanism"),
    [
        *one_in(3, [(None, one) for one in HONEST]),
        *one_in(5, [("verdict", one) for one in reversed(HONEST)]),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_honest_mechanisms_are_not_refused(mechanism, unit, stop):
    """With a probability of 1e-6 in each case."""
    result = audit(mechanism, draws=600, stop=stop, unit=unit, claim=(2.0, 0.1))
    assert result.verdict != "violated"
