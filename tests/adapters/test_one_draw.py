"""Functions that give one output a call: seeds by key, in parallel, failures with their seed."""

import re
import time

import joblib
import numpy as np
import pytest

import dpaudit as dp
from dpaudit import adapters
from tests.drawing import draw

DATA = np.column_stack([np.ones(12), np.arange(12.0)])
PAIR = dp.neighbours.zero_row(DATA, 11)
SEED = np.random.SeedSequence(5)
SIZE = 600  # three blocks


def noisy_sum(data, *, rng):
    """The sum with noise."""
    return float(data[:, 1].sum() + rng.laplace(scale=11.0))


def test_each_draw_has_the_generator_of_its_own_key():
    draws = draw(adapters.one_draw(noisy_sum), DATA, SIZE, SEED, 1)
    for number in (0, 255, 256, 599):
        own = np.random.default_rng(
            np.random.SeedSequence(5, spawn_key=(0, 1, number // 256, number % 256))
        )
        assert draws[number, 0] == noisy_sum(DATA, rng=own)
    assert len(np.unique(draws)) == SIZE


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_workers_of_any_kind_change_no_byte(backend):
    def many(data, *, rng):
        kind = rng.integers(6)
        return [
            None,
            "wörd",
            {"b": rng.random(), "a": {"x", "y"}},
            {3, 1, 2},
            [1, "a", None],
            np.nan,
        ][kind]

    mechanism = adapters.one_draw(many)
    alone = draw(mechanism, DATA, SIZE, SEED, 0)
    with joblib.parallel_config(backend=backend):
        assert draw(mechanism, DATA, SIZE, SEED, 0, n_jobs=2).tobytes() == alone.tobytes()
    assert len(np.unique(alone)) > 6


@pytest.mark.parametrize("shape", [lambda theta: theta, lambda theta: {"theta": [theta]}])
def test_a_function_may_reuse_its_arrays(shape):
    """As a model whose parameters are updated in place."""
    theta = np.zeros(1)

    def in_place(data, *, rng):
        theta[:] = noisy_sum(data, rng=rng)
        return shape(theta)

    draws = draw(adapters.one_draw(in_place), DATA, SIZE, SEED, 0)
    assert len(np.unique(draws)) == SIZE


def sometimes(wrong):
    def f(data, *, rng):
        return wrong() if rng.random() < 0.01 else rng.random()

    return f


def raises():
    raise ArithmeticError("singular")


def test_what_it_raises_is_said_with_the_seed_that_repeats_it():
    with pytest.raises(dp.MechanismError, match="ArithmeticError: singular") as caught:
        dp.audit(adapters.one_draw(sometimes(raises)), PAIR, draws=2000, rng=9)
    assert re.search(r"block 0 \(256 draws, seed 9, key \(0, [01], 0\)\)", str(caught.value))
    written = re.search(
        r"rng = (numpy\.random\.default_rng\(.*\))\) \(on M", str(caught.value)
    ).group(1)
    with pytest.raises(ArithmeticError):
        sometimes(raises)(DATA, rng=eval(written, {"numpy": np}))


def test_what_hangs_is_ended_and_said():
    started = time.monotonic()
    with pytest.raises(
        dp.MechanismError, match=r"no output within 0\.2 s \(draw \d+ of the block, rng = .*9, "
    ):
        dp.audit(
            adapters.one_draw(sometimes(lambda: time.sleep(20)), timeout=0.2),
            PAIR,
            draws=2000,
            rng=9,
        )
    assert time.monotonic() - started < 10


def test_a_batch_that_hangs_is_ended_and_said():
    def hangs(data, size, *, rng):
        time.sleep(20)

    with pytest.raises(
        dp.MechanismError, match=r"TimeoutError: no output within 0\.1 s .*block 0 \("
    ):
        dp.audit(adapters.limited(hangs, 0.1), PAIR, draws=2000, rng=9)


@pytest.mark.parametrize("wrong", [5, "name", None, int, dp.mechanisms.ALS])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(dp.InvalidInput, match="function must be a callable"):
        adapters.one_draw(wrong)
    with pytest.raises(dp.InvalidInput, match="mechanism must be a callable"):
        adapters.limited(wrong, 1)
    with pytest.raises(dp.InvalidInput, match="timeout must be a finite number"):
        adapters.one_draw(noisy_sum, timeout=0)
