"""Draws that learn stay with the workers of a Dask cluster that drew them, and little comes."""

import pickle
from contextlib import nullcontext
from threading import Lock

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sampling import MechanismDraws, counting
from tests.cases import shifted
from tests.sampling.test_counting import DATA, SEED, SIZE, Kept, rule

PARTLY = 1000  # draws a side: 3 blocks of 256, and most of a fourth


class Done:
    """The future of a task that is done."""

    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


class Near:
    """A Dask client whose tasks are done at once; it notes what came from them to this process."""

    def __init__(self):
        self.came = []

    def submit(self, function, *arguments, key):
        function, arguments = pickle.loads(pickle.dumps((function, self._values(arguments))))
        done = Done(function(*arguments))
        done.result = lambda: self.came.append(key.partition("-")[0]) or done.value
        return done

    def gather(self, futures):
        return [future.result() for future in futures]

    def scatter(self, values, **options):
        return [Done(value) for value in values]

    def _values(self, futures):
        if isinstance(futures, (list, tuple)):
            return [*map(self._values, futures)]
        return getattr(futures, "value", futures)


class Backend:
    """joblib's, of two workers."""

    retrieval_context = nullcontext

    def __init__(self):
        self.client = Near()


@pytest.fixture
def backend(monkeypatch):
    """The two workers keep draws, and count where 8 blocks a side or more are left."""
    backend = Backend()
    monkeypatch.setattr("dpaudit.sampling.draws.dask_backend", lambda n_jobs: backend)
    monkeypatch.setattr(counting, "elsewhere", lambda n_jobs: 2)
    return backend


def sums(drawn):
    return [part.sum() for part in drawn]


def shapes(drawn):
    return [part.shape for part in drawn]


def source(mechanism=None, **more):
    return MechanismDraws(mechanism or shifted(1.0), (DATA, DATA), SIZE, SEED, **more)


def test_what_learns_sees_the_same_draws_wherever_they_are(backend):
    away = source()
    assert shapes(away.peek(20)) == [(256, 1)] * 2
    assert away.hold(PARTLY)(sums) == sums(source().take(PARTLY))
    assert {*backend.client.came} == {"width", "learned"}  # no block of draws


@pytest.mark.parametrize("learned", [100, PARTLY, 1024, 4999])
@pytest.mark.parametrize("there", [True, False], ids=["there", "here"])
def test_draws_that_are_left_are_counted_as_if_they_had_come(backend, learned, there):
    away, here, count = source(), source(store=Kept()), rule()
    away.peek(20)
    away.hold(learned)
    here.take(learned)
    ours = [count(*part, 0).cells for part in here._parts(SIZE - learned, here._fresh(SIZE))]
    theirs = [
        part.cells if hasattr(part, "cells") else count(*part, 0).cells
        for part in away.rest(count if there else Lock())  # a lock cannot be sent
    ]
    np.testing.assert_array_equal(np.sum(ours, axis=0), np.sum(theirs, axis=0))
    assert (away.position, away.drawn) == (SIZE, SIZE)


@pytest.mark.parametrize("value", [Lock, lambda: lambda: 3], ids=["a lock", "a function"])
def test_what_cannot_be_sent_is_made_here(backend, value):
    assert type(source().hold(PARTLY)(lambda drawn: value())) is type(value())
    lock = Lock()
    assert source().hold(20)(lambda drawn: (lock, shapes(drawn))[1]) == [(20, 1)] * 2


def test_what_learning_raises_is_raised_here(backend):
    def refuses(drawn):
        raise dp.InvalidInput("these draws teach nothing")

    with pytest.raises(dp.InvalidInput, match="these draws teach nothing"):
        source().hold(PARTLY)(refuses)


def test_columns_that_change_are_an_error_there_too(backend):
    def widens(data, size, *, rng):
        return rng.random((size, 2 if rng.bit_generator.seed_seq.spawn_key[2] == 19 else 1))

    with pytest.raises(dp.MechanismError, match=r"same number of columns .*, got 2 after 1 .* 19"):
        source(widens).hold(SIZE)
