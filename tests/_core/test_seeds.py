"""Seeds by key."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core.seeds import Purpose, describe, generator, root

pytestmark = pytest.mark.quick


def numbers(seed, *key):
    return generator(seed, *key).integers(2**63, size=4).tolist()


def test_a_key_fixes_the_stream_whatever_was_drawn_before():
    seed = root(7)
    first = numbers(seed, Purpose.DRAW, 0, 3)
    numbers(seed, Purpose.DRAW, 1, 3)
    assert numbers(seed, Purpose.DRAW, 0, 3) == first
    assert numbers(root(7), 0, 0, 3) == first


def test_different_keys_and_seeds_give_different_streams():
    keys = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (2**40, 1)]
    streams = [numbers(root(seed), *key) for key in keys for seed in (7, 8)]
    assert len({tuple(stream) for stream in streams}) == len(streams)


def test_a_generator_is_advanced():
    rng = np.random.default_rng(1)
    assert numbers(root(rng)) != numbers(root(rng))
    assert numbers(root(np.random.default_rng(1))) == numbers(root(np.random.default_rng(1)))
    assert numbers(root(np.random.PCG64(1))) == numbers(root(np.random.default_rng(1)))


def test_no_seed_is_a_fresh_one_that_can_be_given_again():
    seed = root(None)
    assert numbers(seed) != numbers(root(None))
    assert numbers(root(int(describe(seed)))) == numbers(seed)


@pytest.mark.parametrize("rng", ["seed", -1, 1.5, {}, [1, -2]])
def test_what_is_no_seed_is_refused(rng):
    with pytest.raises(
        dp.InvalidInput,
        match="rng must be None, a non-negative integer, a SeedSequence or a Generator",
    ):
        root(rng)


def test_a_seed_that_json_would_round_is_shown_as_text():
    assert describe(root(2**53 + 1)) == "9007199254740993"
    child = np.random.SeedSequence(5).spawn(3)[2]
    assert "5" in describe(child)
    assert "2" in describe(child)
