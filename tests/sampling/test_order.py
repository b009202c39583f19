"""The order of both sides' blocks, memory that mechanisms use again, and calls of one draw."""

import threading

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sampling import MechanismDraws
from dpaudit.sampling.block import Border, in_turn
from tests.cases import database, shifted

pytestmark = pytest.mark.quick
DATA = database()
OTHER = DATA + 1.0
SIZE = 5000  # 20 blocks of 256


def order(seed, blocks):
    return list(in_turn(((number, 256) for number in range(blocks)), np.random.SeedSequence(seed)))


def test_blocks_of_four_come_as_one_order_and_its_reverse():
    for seed in range(20):
        sides = "".join("PQ"[one.side] for one in order(seed, 8))
        assert {sides[k : k + 4] for k in range(0, 16, 4)} <= {"PQQP", "QPPQ"}


def test_a_linear_drift_is_the_same_on_both_sides():
    """The sum of the places in the order, which is what a drift linear in time adds."""
    for seed in range(10):
        places = {0: 0, 1: 0}
        for place, one in enumerate(order(seed, 16)):
            places[one.side] += place
        assert places[0] == places[1]


def test_the_mechanism_is_called_in_that_order():
    seen = []

    def watched(data, size, *, rng):
        seen.append(int(data is OTHER))
        return rng.standard_normal((size, 1))

    MechanismDraws(watched, (DATA, OTHER), SIZE, np.random.SeedSequence(4)).take(SIZE)
    calls = [13] * 19 + [7]  # of 20 draws or less, as blocks of 256 and 136 are spread
    assert seen == [one.side for one in order(4, 20) for _ in range(calls[one.number])]


# --- memory that is used again --------------------------------------------------------------------


class Buffered:
    """Fills one array again and again, and returns it."""

    def __init__(self, wait=None):
        self.held, self.wait = np.empty((1 << 14, 1)), wait

    def __call__(self, data, size, *, rng):
        out = self.held[:size]
        out[:, 0] = rng.standard_normal(size)
        if self.wait is not None:
            self.wait()
        return out


def test_outputs_are_copied():
    plain = MechanismDraws(shifted(0.0), (DATA, DATA), SIZE, np.random.SeedSequence(1)).take(SIZE)
    found = MechanismDraws(Buffered(), (DATA, DATA), SIZE, np.random.SeedSequence(1)).take(SIZE)
    np.testing.assert_array_equal(found, plain)


def test_one_buffer_in_several_threads_is_an_error():
    both = threading.Barrier(2, timeout=10)
    source = MechanismDraws(
        Buffered(both.wait), (DATA, DATA), 512, np.random.SeedSequence(1), n_jobs=2
    )
    with pytest.raises(dp.MechanismError, match="memory of its own from each call"):
        source.take(512)


def test_arrays_of_their_own_in_several_threads_are_none():
    both = threading.Barrier(2, timeout=10)

    def fresh(data, size, *, rng):
        both.wait()
        return rng.standard_normal((size, 1))

    P, Q = MechanismDraws(fresh, (DATA, DATA), 512, np.random.SeedSequence(1), n_jobs=2).take(512)
    assert not np.array_equal(P, Q)


# --- one draw a call ------------------------------------------------------------------------------


def test_each_draw_has_a_call_of_its_own():
    sizes = []

    def shared(data, size, *, rng):
        sizes.append(size)
        return np.full((size, 1), rng.standard_normal())

    P, Q = MechanismDraws(shared, (DATA, DATA), 300, np.random.SeedSequence(1), call=1).take(300)
    assert sizes == [1] * 600
    assert len(np.unique(np.concatenate([P, Q]))) == 600


def uncounted(P, Q, before):
    raise AssertionError("no other process draws")


@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_calls_of_one_draw_are_the_same_in_any_order(n_jobs):
    def lists(data, size, *, rng):
        return [list(rng.standard_normal(rng.integers(1, 4))) for _ in range(size)]

    whole = MechanismDraws(lists, (DATA, DATA), 600, np.random.SeedSequence(2), call=1).take(600)
    source = MechanismDraws(
        lists, (DATA, DATA), 600, np.random.SeedSequence(2), call=1, n_jobs=n_jobs
    )
    parts = [source.take(10), *source.rest(uncounted)]
    for side in (0, 1):
        found = dp.outcomes.joined([part[side] for part in parts])
        np.testing.assert_array_equal(found["list"], whole[side]["list"])


def test_memory_that_one_thread_fills_again_is_no_fault():
    """The calls that return it follow each other, while other threads are inside the mechanism."""
    border, scratch = Border(), np.empty(4)
    with border.call():
        for value in (1.0, 2.0):
            with border.call() as began:
                scratch[:] = value
                assert border.copied(began, scratch, scratch[:, None], "here")[0, 0] == value
