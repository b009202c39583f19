"""Draws of a mechanism: seeded by key, the same in parallel and resumed, and checked."""

import asyncio
import contextlib
import pickle
import re
import threading
from pickle import PicklingError

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit.sampling import MechanismDraws
from dpaudit.sampling.parallel import answer
from tests.cases import MECHANISMS, database, shifted
from tests.drawing import draw

pytestmark = pytest.mark.quick

DATA = database()
SIZE = 5000  # 20 blocks
SEED = np.random.SeedSequence(17)
PAIR = dp.neighbours.zero_row(DATA, 3)


@pytest.mark.parametrize(
    "mechanism", [*MECHANISMS[::3], shifted(1.0)], ids=lambda m: getattr(m, "name", "function")
)
def test_workers_change_nothing(mechanism):
    alone = draw(mechanism, DATA, SIZE, SEED, 0, n_jobs=1)
    np.testing.assert_array_equal(draw(mechanism, DATA, SIZE, SEED, 0, n_jobs=2), alone)
    np.testing.assert_array_equal(draw(mechanism, DATA, SIZE, SEED, 0), alone)
    assert len(np.unique(alone, axis=0)) == SIZE


def in_an_order(data, rng):
    """A dict whose keys are in another order in each process, as those of a set of texts are."""
    return dict.fromkeys(rng.permutation(["a", "b", "c"]).tolist(), rng.laplace())


def test_processes_leave_the_order_of_keys_out():
    """It would tell which process drew, and so the side if each process drew one."""
    mechanism = dp.adapters.one_draw(in_an_order)
    for backend, orders in (("threading", 6), ("loky", 1)):
        with parallel_config(backend=backend, n_jobs=2):
            blocks, _ = MechanismDraws(mechanism, (DATA, DATA), 200, SEED).blocks
        texts = pickle.loads(pickle.dumps(blocks))(0, 100)
        assert len({tuple(re.findall(rb"[abc]", text)) for text in texts}) == orders


class Store:
    """Keeps blocks in memory, and counts."""

    def __init__(self, blocks=None):
        self.blocks, self.hits, self.lock = dict(blocks or {}), 0, threading.Lock()

    def get(self, side, block):
        with self.lock:
            found = self.blocks.get((side, block))
            self.hits += found is not None
        return found

    def put(self, side, block, values):
        with self.lock:
            self.blocks[side, block] = values


def test_stored_blocks_are_used_and_change_nothing():
    whole, store = draw(shifted(1.0), DATA, SIZE, SEED, 0), Store()
    np.testing.assert_array_equal(draw(shifted(1.0), DATA, SIZE, SEED, 0, store=store), whole)
    kept = Store({key: block for key, block in store.blocks.items() if key[1] % 3})
    np.testing.assert_array_equal(draw(shifted(1.0), DATA, SIZE, SEED, 0, store=kept), whole)
    assert kept.hits == sum(1 for key in store.blocks if key[1] % 3)
    assert kept.blocks.keys() == store.blocks.keys()


def test_an_interrupted_run_keeps_the_blocks_it_drew():
    store, calls = Store(), []

    def stops(data, size, *, rng):
        calls.append(size)
        if sum(calls) > 5 * 256:
            raise KeyboardInterrupt
        return shifted(1.0)(data, size, rng=rng)

    with pytest.raises(KeyboardInterrupt):
        draw(stops, DATA, SIZE, SEED, 0, n_jobs=1, store=store)
    assert len(store.blocks) == 5
    whole = draw(shifted(1.0), DATA, SIZE, SEED, 0)
    np.testing.assert_array_equal(draw(shifted(1.0), DATA, SIZE, SEED, 0, store=store), whole)


@pytest.mark.parametrize("dtype", [np.float32, np.uint64, bool])
def test_numbers_of_any_kind_become_floats(dtype):
    draws = draw(
        lambda data, size, *, rng: rng.integers(0, 2, (size, 2)).astype(dtype), DATA, SIZE, SEED, 0
    )
    assert draws.shape == (SIZE, 2)
    assert draws.dtype == np.float64
    assert set(np.unique(draws)) == {0.0, 1.0}


WRONG = {
    "None": (lambda size, rng: None, "must return numbers, got None"),
    "objects": (
        lambda size, rng: np.full((size, 2), object()),
        "must return numbers, text, .*, got a draw with an object",
    ),
    "generators": (
        lambda size, rng: [iter([1.0])] * size,
        r"got a list_iterator on M\(D.*; return list\(value\)$",
    ),
    "one generator": (
        lambda size, rng: (float(number) for number in range(size)),
        r"got a generator on M\(D.*; return all draws of a call together, as list\(values\)$",
    ),
    "one dict": (lambda size, rng: {"a": np.zeros(size)}, "must return numbers, got a dict"),
    "functions": (lambda size, rng: [len] * size, "got a builtin_function_or_method"),
    "too few texts": (
        lambda size, rng: ["a"] * (size - 1),
        r"must return shape \(\d+, k\), got \d+ draws",
    ),
    "one draw": (lambda size, rng: 1.0, r"must return shape \(\d+, k\), got \(\)"),
    "too many": (
        lambda size, rng: np.zeros((size + 1, 2)),
        r"must return shape \(\d+, k\), got \(\d+, 2\)",
    ),
    "too few": (
        lambda size, rng: np.zeros((size - 1, 2)),
        r"must return shape \(\d+, k\), got \(\d+, 2\)",
    ),
    "turned": (
        lambda size, rng: np.zeros((2, size)),
        r"must return shape \(\d+, k\), got \(2, \d+\)",
    ),
    "no columns": (
        lambda size, rng: np.zeros((size, 0)),
        r"must return shape \(\d+, k\), got \(\d+, 0\)",
    ),
    "nothing": (lambda size, rng: [], r"must return shape \(\d+, k\), got 0 draws"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_return_says_what_came_and_where(case):
    returns, message = WRONG[case]
    with pytest.raises(dp.MechanismError, match=message) as caught:
        draw(lambda data, size, *, rng: returns(size, rng), DATA, SIZE, SEED, 1, n_jobs=2)
    assert re.search(
        r"M\(D'\), block \d+ \(\d+ draws?, seed 17, key \(0, 1, \d+, \d+\)\)", str(caught.value)
    )


def fails_now_and_then(data, size, *, rng):
    if rng.random() > 0.99:
        raise ArithmeticError("singular sketch")
    return rng.standard_normal((size, 1))


@pytest.mark.parametrize("kind", [GeneratorExit, asyncio.CancelledError])
def test_what_is_no_exception_is_a_failure_of_the_mechanism(kind):
    """Let through, it would end the process with status 1, which means "violated"."""

    def gives_up(data, size, *, rng):
        raise kind(f"at {data[0, 0]}")

    with pytest.raises(dp.MechanismError, match=f"{kind.__name__}: at …"):
        draw(gives_up, DATA, SIZE, SEED, 0)


def test_a_mechanism_that_raises_midway_can_be_raised_again_from_the_message():
    with pytest.raises(
        dp.MechanismError, match=r"the mechanism raised ArithmeticError: singular sketch"
    ) as caught:
        draw(fails_now_and_then, DATA, SIZE, SEED, 0)
    assert isinstance(caught.value.__cause__, ArithmeticError)
    found = re.search(
        r"block (\d+) \((\d+) draws, seed (\d+), key \((\d+), (\d+), (\d+), (\d+)\)\)",
        str(caught.value),
    )
    block, size, seed, *key = (int(part) for part in found.groups())
    assert (block, key[-1]) > (0, 0)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    with pytest.raises(ArithmeticError, match="singular sketch"):
        fails_now_and_then(DATA, size, rng=rng)


@pytest.mark.parametrize("mechanism", [5, None, "ALS", dp.mechanisms.ALS])
def test_what_cannot_be_called_as_a_mechanism_is_refused(mechanism):
    with pytest.raises(dp.DpauditError, match="mechanism"):
        dp.audit(mechanism, PAIR, draws=SIZE, rng=1)


def test_data_that_a_mechanism_cannot_take_are_no_fault_of_a_draw():
    with pytest.raises(dp.DegenerateData, match="linearly independent"):
        draw(dp.mechanisms.ALS(9), np.ones((30, 3)) * np.arange(30)[:, None], SIZE, SEED, 0)


def test_a_mechanism_that_writes_into_its_data_cannot_change_the_databases():
    def centres(data, size, *, rng):
        data -= data.mean(axis=0)
        return data[0, 0] + rng.standard_normal((size, 1))

    pair = dp.neighbours.zero_row(DATA.copy(), 3)
    with contextlib.suppress(dp.MechanismError):  # a read-only view would make it raise
        dp.audit(centres, pair, draws=1000, classifier="qda", rng=1)
    np.testing.assert_array_equal(pair.left, DATA)
    np.testing.assert_array_equal(np.delete(pair.right, 3, axis=0), np.delete(DATA, 3, axis=0))


def test_columns_may_not_change_between_calls():
    def grows(data, size, *, rng):
        return np.zeros((size, 1 + (rng.random() < 0.2)))

    message = (
        r"same number of columns each time, got \d and \d on M\(D\), block \d+ .*seed .*key \("
    )
    with pytest.raises(dp.MechanismError, match=message):
        draw(grows, DATA, SIZE, SEED, 0)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("cannot pickle '_thread.lock' object", True),
        ("cannot pickle 'Ada, aged 73.1' object", False),
    ],
)
def test_of_what_cannot_be_sent_to_workers_only_the_type_is_said(message, shown):
    def ask():
        raise PicklingError("the task could not be sent") from TypeError(message)

    with pytest.raises(dp.MechanismError, match=r"failed to draw M\(D\)") as caught:
        answer(ask, lambda: "draw M(D)")
    assert (message in str(caught.value)) is shown
