"""The file of a mechanism."""

import functools
import hashlib

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.adapters.functions import source_of

pytestmark = pytest.mark.quick


PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 0)


def release(data, size, *, rng):
    return rng.normal(size=(size, 1))


def alone(data, rng):
    return data


@pytest.mark.parametrize(
    "wrapped",
    [
        dp.adapters.one_draw(alone),
        dp.adapters.limited(release, 1.0),
        dp.adapters.synthesizer(alone, alone, PAIR),
        dp.adapters.estimator(lambda: None, ["coef_"]),
        dp.adapters.global_seeds(dp.adapters.records(alone)),
    ],
    ids=lambda wrapped: wrapped.name,
)
def test_what_an_adapter_wraps_is_its_source(wrapped):
    with open(__file__, "rb") as file:
        here = hashlib.file_digest(file, "sha256").hexdigest()
    assert source_of(wrapped)["sha256"] == here


def test_the_file_of_a_function_is_its_source():
    with open(__file__, "rb") as file:
        here = hashlib.file_digest(file, "sha256").hexdigest()

    class Release:
        def __call__(self, data, size, *, rng):
            return release(data, size, rng=rng)

    for mechanism in (release, functools.partial(release), Release()):
        assert source_of(mechanism)["sha256"] == here
    typed = {}
    exec("def release(data, size, *, rng): return data", typed)
    for mechanism in (typed["release"], dp.mechanisms.ALS(9), np.mean, 3, None):
        assert source_of(mechanism) is None or mechanism is np.mean
    result = dp.audit(release, PAIR, draws=100, claim=(1.0, 0.5), classifier="qda", rng=0)
    assert result.to_dict()["source"]["sha256"] == here
