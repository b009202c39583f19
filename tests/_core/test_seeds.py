"""Seeds by key, and the split of the draws."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core.seeds import Purpose, describe, generator, root
from dpaudit.certify.split import SMALLEST, Split, samples_for, split

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


def test_a_spawned_seed_keeps_its_place():
    child, other = np.random.SeedSequence(7).spawn(2)
    assert numbers(root(child), 1) != numbers(root(other), 1)
    assert numbers(root(child), 1) == numbers(np.random.SeedSequence(7, spawn_key=(0,)), 1)


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


@pytest.mark.parametrize("entropy", [0, 5, 2**53 - 1])
def test_a_small_seed_is_shown_as_it_is(entropy):
    assert describe(root(entropy)) == entropy


def test_a_seed_that_json_would_round_is_shown_as_text():
    assert describe(root(2**53 + 1)) == "9007199254740993"
    child = np.random.SeedSequence(5).spawn(3)[2]
    assert "5" in describe(child)
    assert "2" in describe(child)


@pytest.mark.parametrize("samples", [100, 101, 999, 12_345])
@pytest.mark.parametrize("shares", [(0.4, 0.1), (0.2, 0.2), (0.1, 0.7)])
def test_parts_are_disjoint_and_use_every_draw(samples, shares):
    sizes = split(samples, *shares)
    draws = np.arange(samples)[:, None]
    parts = sizes.parts(draws)
    assert [len(part) for part in parts] == [sizes.train, sizes.choose, sizes.certify]
    np.testing.assert_array_equal(np.concatenate(parts), draws)
    assert all(np.shares_memory(part, draws) for part in parts)


def test_parts_of_more_draws_than_the_split_leave_the_rest():
    assert [len(part) for part in split(100).parts(np.zeros((150, 1)))] == [40, 10, 50]


@pytest.mark.parametrize(
    ("samples", "shares"),
    [(99, (0.4, 0.1)), (1000, (0.005, 0.1)), (1000, (0.4, 0.0)), (1000, (0.5, 0.495))],
)
def test_too_few_draws_are_refused(samples, shares):
    with pytest.raises(
        dp.InvalidInput,
        match=f"samples must leave at least {SMALLEST} draws a side .* got {samples}",
    ):
        split(samples, *shares)


@pytest.mark.parametrize("samples", [0, -5, 1e6, "1000", None, True])
def test_samples_is_an_integer(samples):
    with pytest.raises(dp.InvalidInput, match="samples must be an integer >= 1"):
        split(samples)


def test_many_draws_mostly_certify():
    """By default 200√n train and 50√n choose once that is less than 0.4 and 0.1 of them."""
    assert split(250_000) == split(250_000, 0.4, 0.1)
    assert split(1_000_000) == Split(200_000, 50_000, 750_000)


@pytest.mark.parametrize(("columns", "train"), [(1, 200), (2, 300), (3, 400), (30, 400)])
def test_outputs_of_one_or_two_numbers_train_on_less(columns, train):
    assert split(1000, columns=columns) == Split(train, 100, 900 - train)
    assert split(1000, 0.4, 0.1, columns) == split(1000, 0.4, 0.1)


@pytest.mark.parametrize("columns", [None, 1, 2, 30])
def test_a_known_score_trains_on_nothing(columns):
    assert split(1000, columns=columns, trained=False) == Split(0, 100, 900)
    assert split(1000, 0.2, columns=columns, trained=False) == Split(200, 100, 700)


def test_a_score_that_is_to_be_trained_needs_draws():
    with pytest.raises(
        dp.InvalidInput, match=r"to train, choose and certify, got 1000 \(0, 100, 900\)"
    ):
        split(1000, 0.0)


@pytest.mark.parametrize("samples", [100, 999, 1000, 12_345])
def test_a_share_that_is_a_whole_number_of_draws_is_that_number(samples):
    assert all(split(samples, train / samples).train == train for train in range(10, samples // 2))


@pytest.mark.parametrize("certify", [10, 500, 125_000, 125_001, 750_000, 10**9])
def test_samples_for_is_the_fewest(certify):
    samples = samples_for(certify)
    assert split(max(samples, 100)).certify >= certify
    assert samples - 1 < 100 or split(samples - 1).certify < certify


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "0.4"])
def test_shares_are_shares(share):
    with pytest.raises(dp.InvalidInput, match="train share must be"):
        split(1000, train=share)
    with pytest.raises(dp.InvalidInput, match="choose share must be"):
        split(1000, choose=share)
