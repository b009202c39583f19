"""Groups of blocks that workers draw and count, here and on a cluster that keeps its draws."""

import pickle
from contextlib import nullcontext
from threading import Lock

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit import outcomes
from dpaudit.certify import CellCount
from dpaudit.sampling import Counts, MechanismDraws, counting
from tests.cases import database, shifted

DATA = database()
SEED = np.random.SeedSequence(23)
STORED = 1 << 16  # first scores
SIZE = 5000  # 20 blocks of 256 a side, but for the last
EDGES = np.linspace(-3.0, 3.0, 9)


def first_number(rows):
    return rows[:, 0]


def rule(score=first_number, edges=EDGES, columns=1):
    rows = outcomes.described(*np.zeros((2, 2, columns))).columns
    return CellCount("own", score, rows, edges)


class Kept:
    """A store in memory that keeps counts."""

    def __init__(self, groups=None):
        self.blocks, self.groups, self.keys = {}, dict(groups or {}), []

    def counts(self, key):
        self.keys.append(key)
        return self

    def __bool__(self):
        return True

    def get(self, *where):
        return self.blocks.get(where) if len(where) == 2 else self.groups.get(*where)

    def put(self, *what):
        if len(what) == 3:
            self.blocks[what[:2]] = what[2]
        else:
            self.groups[what[0]] = what[1]


def counts(mechanism=None, count=None, first=1000, **more):
    """Counts of all draws but the first, from whoever counts them, and their first scores."""
    mechanism = shifted(1.0) if mechanism is None else mechanism
    source = MechanismDraws(mechanism, (DATA, DATA), SIZE, SEED, **more)
    source.take(first)
    count = rule() if count is None else count
    cells, scores, before, parts = 0, [], 0, 0
    for part in source.rest(count):
        found = part if isinstance(part, Counts) else count(*part, before)
        before, parts = before + found.draws, parts + isinstance(part, Counts)
        cells = cells + found.cells.astype(int)
        scores.append(found.first)
    assert (before, source.position) == (SIZE - first, SIZE)
    return cells, np.concatenate(scores, axis=1), parts


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("groups", [1 << 12, 5])
def test_groups_have_the_counts_of_their_draws(monkeypatch, n_jobs, groups):
    alone = counts()
    assert alone[2] == 0
    monkeypatch.setattr(counting, "GROUPS", groups)
    store = Kept()
    found = counts(store=store, n_jobs=n_jobs)
    assert found[2] == len(store.groups) == min(groups, 4 if groups == 5 else 16)
    for one, other in zip(alone[:2], found[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert {side for side, _ in store.blocks} == {0, 1}
    assert {number for _, number in store.blocks} == {0, 1, 2, 3}  # those that learn


def test_groups_that_are_kept_are_not_drawn():
    store, drawn = Kept(), []

    def noted(data, size, *, rng):
        drawn.append(size)
        return rng.standard_normal((size, 1))

    whole = counts(noted, store=store)
    del store.groups[7], drawn[:]
    again = counts(noted, store=store)
    assert sum(drawn) == 2 * 256
    np.testing.assert_array_equal(again[0], whole[0])


def test_draws_that_are_kept_are_counted_here():
    store = Kept()
    source = MechanismDraws(shifted(1.0), (DATA, DATA), SIZE, SEED, store=store)
    source.take(3000)
    blocks = len(store.blocks)
    found = counts(store=store)
    assert len(store.blocks) == blocks
    assert sorted(store.groups) == [8 + number for number in range(8)]  # of 16 groups, from 4 on
    np.testing.assert_array_equal(found[0], counts()[0])


def test_what_is_sent_of_a_million_draws_of_12_numbers():
    """A group of 1,000,000 draws a side has 2 · 15,625 draws; 64 of them are sent."""
    rng = np.random.default_rng(0)
    count = rule(edges=np.linspace(-3.0, 3.0, 1040), columns=12)
    blocks = [counting.Block(side, 3, 15_625) for side in (1, 0)]
    drawn = [rng.standard_normal((15_625, 12)) for _ in blocks]
    later = counting.count_group(counting.Group(3, tuple(blocks), STORED), drawn, count)
    assert 64 * len(pickle.dumps(later)) + 2 * 4 * STORED < 1e6
    early = counting.count_group(counting.Group(0, tuple(blocks), 0), drawn, count)
    assert len(pickle.dumps(early)) - len(pickle.dumps(later)) == pytest.approx(8 * 15_625, abs=99)
    np.testing.assert_array_equal(early.counts.cells, later.counts.cells)


class Draws:
    """A store that keeps draws alone."""

    def get(self, side, block):
        return None

    def put(self, side, block, values):
        pass


@pytest.mark.parametrize(
    ("score", "numbers", "store", "counts_there"),
    [
        (first_number, 8, None, True),
        (lambda rows: rows[:, 0], 8, None, True),
        (first_number, 7, None, False),
        (first_number, 0, None, False),
        (first_number, 8, Draws(), False),
        (Lock(), 8, None, False),
        (np.zeros(1 << 20).__getitem__, 8, None, False),
    ],
    ids=["a function", "a lambda", "few blocks", "none", "draws are kept", "no pickle", "large"],
)
def test_workers_of_other_processes_count_where_they_can(score, numbers, store, counts_there):
    with parallel_config(backend="loky", n_jobs=4):
        found = counting.group_counter((), rule(score), numbers, None, store)
    assert (found is not None) is counts_there


@pytest.mark.parametrize("config", [{"backend": "threading", "n_jobs": 4}, {"n_jobs": 4}, {}])
def test_workers_that_share_memory_only_draw(config):
    with parallel_config(**config):
        assert counting.group_counter((), rule(), 1000, None, None) is None
    with parallel_config(backend="loky", n_jobs=4):
        assert counting.group_counter((), rule(), 1000, 1, None) is None


def test_columns_that_change_in_a_group_are_an_error():
    def widens(data, size, *, rng):
        return rng.random((size, 2 if rng.bit_generator.seed_seq.spawn_key[2] == 19 else 1))

    with pytest.raises(
        dp.MechanismError, match=r"same number of columns .*, got 2 after 1 on M\(D'?\), block 19"
    ):
        counts(widens, store=Kept())


# Draws that learn stay with the workers of a Dask cluster that drew them, and little comes.

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
