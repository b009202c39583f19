"""The order of both sides' blocks, memory that mechanisms use again, and calls of one draw."""

import threading

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sampling import MechanismDraws
from tests.cases import database, shifted

pytestmark = pytest.mark.quick
DATA = database()
OTHER = DATA + 1.0
SIZE = 5000  # 20 blocks of 256


def test_blocks_of_four_come_as_one_order_and_its_reverse():
    """PQQP or QPPQ: a drift that is linear in time adds the same to both sides."""
    seen = {}

    def watched(data, size, *, rng):
        seen.setdefault((int(data is OTHER), rng.bit_generator.seed_seq.spawn_key[2]))
        return rng.standard_normal((size, 1))

    MechanismDraws(watched, (DATA, OTHER), SIZE, np.random.SeedSequence(4)).take(SIZE)
    sides = "".join("PQ"[side] for side, _ in seen)
    assert {sides[k : k + 4] for k in range(0, 40, 4)} == {"PQQP", "QPPQ"}


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
