"""Further mechanisms and classifiers as careless people write them, and honest ones like them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import dpaudit as dp

PAIR = dp.neighbours.zero_row(np.full((3, 1), 1.0), 2)  # the mean falls by 1/3
CLAIM = (1.0, 0.0)


# --- careless -------------------------------------------------------------------------------------


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
    settings = {"draws": 3000, "stop": "verdict", "classifier": "qda", "level": level}
    with pytest.raises(dp.MechanismError, match="not independent"):
        dp.audit(mechanism, PAIR, claim=CLAIM, rng=seed, **settings)


# --- honest ---------------------------------------------------------------------------------------


def vector(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 20))


@pytest.mark.slow
def test_trees_whose_thresholds_are_training_values_are_not_refused():
    trees = HistGradientBoostingClassifier(max_iter=10)
    settings = {"draws": 600, "stop": "verdict", "classifier": trees}
    assert dp.audit(vector, PAIR, claim=(4.0, 0.0), rng=1, **settings).verdict == "not violated"
