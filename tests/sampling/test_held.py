"""Draws that stay with the workers that drew them: what learns goes to them, and little comes."""

import pickle
from contextlib import nullcontext
from functools import partial
from threading import Lock

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sampling import GivenDraws, MechanismDraws, counting, draws, held
from tests.cases import shifted
from tests.sampling.test_counting import DATA, SEED, SIZE, Kept, rule

PARTLY = 1000  # draws a side: 3 blocks of 256, and most of a fourth


class Done:
    """The future of a task that is done."""

    status = "finished"

    def __init__(self, found):
        self.found = found

    def result(self):
        return self.found


class Near:
    """A Dask client whose tasks are done at once, and what came from them to this process."""

    def __init__(self):
        self.came = []

    def submit(self, function, *given, key):
        function, given = pickle.loads(pickle.dumps((function, [*map(self._known, given)])))
        done = Done(function(*given))
        done.result = lambda: self.came.append(key.partition("-")[0]) or done.found
        return done

    def gather(self, futures):
        return [future.result() for future in futures]

    def scatter(self, values, **options):
        self.scattered = [Done(one) for one in values]
        return self.scattered

    def _known(self, given):
        if isinstance(given, list):
            return [*map(self._known, given)]
        return getattr(given, "found", given)


class Backend:
    """joblib's, of two workers."""

    retrieval_context = nullcontext

    def __init__(self):
        self.client = Near()


@pytest.fixture
def backend(monkeypatch):
    """The two workers keep draws, and count where 8 blocks a side or more are left."""
    found = Backend()
    monkeypatch.setattr(held, "dask", lambda n_jobs: found)
    monkeypatch.setattr("dpaudit.sampling.draws.dask", lambda n_jobs: found)
    monkeypatch.setattr(held, "_as_they_come", lambda client, fresh: [one for one, _ in fresh])
    monkeypatch.setattr(counting, "elsewhere", lambda n_jobs: 2)
    return found


def sums(drawn):
    return [part.sum() for part in drawn]


def shapes(drawn):
    return [part.shape for part in drawn]


def source(mechanism=None, **more):
    return MechanismDraws(mechanism or shifted(1.0), (DATA, DATA), SIZE, SEED, **more)


def test_what_learns_sees_the_same_draws_wherever_they_are(backend):
    away = source()
    assert away.look(20, shapes) == [(256, 1)] * 2
    assert away.hold(PARTLY)(sums) == sums(source().take(PARTLY))
    assert backend.client.came == ["worked", "worked"]  # no block of draws


@pytest.mark.parametrize("learned", [PARTLY, 1024, 4999])
def test_draws_that_are_left_are_counted_as_if_they_had_come(backend, learned):
    """Those of a block that has learned in part stay with the workers, too."""
    away, here, count = source(), source(), rule()
    away.look(20, shapes)
    away.hold(learned)
    here.take(learned)
    ours = [count(*part, 0).cells for part in here.rest(Lock())]
    theirs = [
        part.cells if hasattr(part, "cells") else count(*part, 0).cells for part in away.rest(count)
    ]
    np.testing.assert_array_equal(np.sum(ours, axis=0), np.sum(theirs, axis=0))
    assert (away.given, away.drawn) == (SIZE, SIZE)


def test_draws_that_cannot_be_counted_there_come(backend):
    away = source()
    away.look(20, shapes)
    away.hold(PARTLY)
    drawn = np.concatenate([P for P, _ in away.rest(Lock())])
    np.testing.assert_array_equal(drawn, source().take(SIZE)[0][PARTLY:])


def test_large_databases_are_sent_once(backend, monkeypatch):
    monkeypatch.setattr(held, "ONCE", 100)
    assert source().hold(PARTLY)(sums) == sums(source().take(PARTLY))
    assert [one.found.side for one in backend.client.scattered] == [0, 1]


@pytest.mark.parametrize("ask", ["peek", "take"])
def test_draws_that_are_asked_for_come(backend, ask):
    away = source()
    away.look(20, shapes)
    P, _ = getattr(away, ask)(600)
    np.testing.assert_array_equal(P, source().take(len(P))[0])


@pytest.mark.parametrize("found", [Lock, lambda: lambda: 3], ids=["a lock", "a function"])
def test_what_cannot_be_sent_is_made_here(backend, found):
    away = source()
    assert type(away.hold(PARTLY)(lambda drawn: found())) is type(found())
    lock = Lock()
    assert away.look(20, lambda drawn: (lock, shapes(drawn))[1]) == [(24, 1)] * 2


def test_what_learning_raises_is_raised_here(backend):
    def refuses(drawn):
        raise dp.InvalidInput("these draws teach nothing")

    with pytest.raises(dp.InvalidInput, match="these draws teach nothing"):
        source().hold(PARTLY)(refuses)


def test_columns_that_change_are_an_error_there_too(backend):
    def widens(data, size, *, rng):
        return rng.random((size, 2 if rng.bit_generator.seed_seq.spawn_key[2] == 19 else 1))

    with pytest.raises(dp.MechanismError, match=r"same number of columns .*, got 2 after 1 .* 19"):
        source(widens).hold(SIZE)(shapes)


def test_progress_tells_what_workers_have_drawn(backend):
    seen = []
    away = source(progress=lambda step, done, wanted: seen.append((step, done, wanted)))
    away.hold(PARTLY)
    assert [done for _, done, _ in seen] == [128, 256, 384, 512, 640, 768, 896, 1024]
    assert {(step, wanted) for step, _, wanted in seen} == {("drawing M(D) and M(D')", SIZE)}


def test_draws_that_are_kept_come(backend):
    kept = source(store=Kept())
    kept.hold(PARTLY)
    assert kept.away is None
    assert not backend.client.came


class Noted(Kept):
    """A store that does with checksums of draws that learn."""

    def __init__(self):
        super().__init__()
        self.sums = {}

    @staticmethod
    def checksum(values):
        return str(values.sum())

    def note(self, side, block, checksum, draws):
        assert self.sums.setdefault((side, block), (checksum, draws)) == (checksum, draws)


def test_a_store_may_do_with_checksums(backend):
    store = Noted()
    kept = source(store=store)
    kept.look(20, shapes)
    assert kept.hold(PARTLY)(sums) == sums(source().take(PARTLY))
    assert not store.blocks
    assert store.sums == {
        (side, block): (str(part[256 * block : 256 * (block + 1)].sum()), 256)
        for side, part in enumerate(source().take(1024))
        for block in range(4)
    }


def test_draws_that_took_long_come_and_are_kept(backend, monkeypatch):
    """Judged by the first block of each side."""
    monkeypatch.setattr(draws, "MINUTE", 0.0)
    store = Noted()
    kept = source(store=store)
    kept.look(20, shapes)
    assert len(store.sums) == 2
    assert kept.hold(PARTLY)(sums) == sums(source().take(PARTLY))
    assert len(store.blocks) == 8
    assert kept.away is None


def test_given_draws_are_here():
    values = np.arange(10.0)[:, None]
    given = GivenDraws(values, -values)
    assert given.look(3, sums) == [3.0, -3.0]
    assert given.hold(4)(partial(sums)) == [6.0, -6.0]
