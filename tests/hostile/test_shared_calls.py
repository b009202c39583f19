"""Mechanisms whose draws share randomness within a call are never accused because of that."""

import sys
from functools import partial

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import sampling
from dpaudit.sampling import MechanismDraws
from reports.make.band.dependence import WAYS
from tests.sparse import one_in

PAIR = dp.neighbours.zero_row(np.array([[1.0], [1.0]]), 0)
SIZES = (20, 100, 257, 1000)


def jitter(data, size, *, rng):
    """One Laplace noise a call, whatever the data; the draws differ by little."""
    return rng.laplace() + 1e-3 * rng.normal(size=(size, 1))


def one_noise(data, size, *, rng):
    """A sum that is 1-DP, if a call makes one draw."""
    return np.full((size, 1), data.sum() + rng.laplace())


def accused(mechanism, draws, claim, rng, **options):
    """Whether an audit calls the mechanism violated; one that is refused does not."""
    try:
        result = dp.audit(mechanism, PAIR, draws=draws, claim=claim, rng=rng, **options)
    except dp.MechanismError:
        return False
    return result.verdict == "violated"


@pytest.mark.parametrize("draws", one_in(2, SIZES))
@pytest.mark.parametrize("mechanism", [jitter, one_noise])
def test_a_noise_drawn_once_a_call_accuses_at_no_size(mechanism, draws):
    assert not any(accused(mechanism, draws, (1.0, 0.0), seed) for seed in (2, 3))


# 2 and 20 draws a call, of a program 8 and 79; 2 and 4 with "auto"
OFTEN = [(way, n) for way in WAYS for n in way.sizes if n in (300, 500, 5000)]
OFTEN += [(WAYS[2], 1000)]


@pytest.mark.slow  # 4 to 40 CPU seconds each
@pytest.mark.parametrize(("way", "draws"), OFTEN)
def test_the_worst_share_accuses_in_at_most_a_tenth_of_audits(way, draws):
    """Cells of reports/few.md with other shares. At a rate of 0.1, 15 of 60 have a probability of
    1e-3; when 256 draws came from one call, 16 of 60 were usual.
    """
    others = way.draws_a_call(draws) - 1
    for share in [1.0] if others == 0 else [min(1.0, 0.8 / others), min(1.0, 1.5 / others)]:
        accused, _ = way.outcomes(draws, share, 60)
        assert accused <= 14


# --- how many calls -------------------------------------------------------------------------------


def calls_of(mechanism, draws, **options):
    """The sizes of the calls that make so many draws of one side."""
    sizes = []

    def watched(data, size, *, rng):
        sizes.append(size)
        return rng.standard_normal((size, 1))

    if mechanism is not None:
        watched.most_calls = mechanism.most_calls
    MechanismDraws(watched, (PAIR.left, PAIR.right), draws, np.random.SeedSequence(1)).take(draws)
    assert sum(sizes) == 2 * draws
    return sizes[: len(sizes) // 2]


@pytest.mark.parametrize("draws", [20, 256, 257, 500, 5000, 20_000, 100_000])
def test_any_number_of_draws_comes_from_many_calls(draws):
    sizes = calls_of(None, draws)
    assert max(sizes) == -(-draws // 256)
    assert min(draws, 128) <= len(sizes) <= 2 * 256


@pytest.mark.parametrize("draws", [20, 100, 500, 20_000])
def test_a_program_runs_at_most_64_times_a_side(draws):
    program = dp.adapters.command([sys.executable, "-c", "print(1)", "{data}", "{size}"])
    sizes = calls_of(program, draws)
    assert min(draws, 32) <= len(sizes) <= 64


def test_keywords_change_no_number_of_calls():
    program = dp.adapters.command([sys.executable, "-c", "print(1)", "{data}", "{size}"])
    assert sampling.call_size(partial(program, rng=1), 6400) == 100


def test_where_each_draw_is_made_by_itself_no_call_is_added():
    once = dp.adapters.command([sys.executable, "-c", "print(1)", "{data}"])
    single = dp.adapters.one_draw(lambda data, *, rng: rng.normal())
    laws = dp.mechanisms.GaussMix(50, 9.0)
    for mechanism in (once, single, dp.adapters.limited(single, 9.0), laws):
        assert sampling.call_size(mechanism, 500) is None


def tail_of_a_call(data, size, *, rng):
    """The upper tail of a tenth of the calls is moved: the median and the quartiles stay."""
    draws = rng.normal(size=(size, 1))
    if rng.random() < 0.1:
        draws[draws > 0.8] += 100.0
    return draws


def first_column(draws):
    return draws[:, 0]


@pytest.mark.parametrize("draws", [20_000, 200_000])
def test_a_tail_that_calls_share_is_seen(draws):
    settings = {"draws": draws, "claim": (0.1, 0.0), "classifier": first_column}
    for seed in range(2):
        with pytest.raises(dp.MechanismError, match="not independent"):
            dp.audit(tail_of_a_call, PAIR, rng=seed, **settings)


@pytest.mark.parametrize("stop", [None, "verdict"])
def test_a_seed_of_its_own_is_named_before_it_is_called_a_leak(stop):
    """In calls of one draw it makes every output the same, as if nothing were random."""

    def own_seed(data, size, *, rng):
        return data.sum() + np.random.default_rng(0).laplace(size=(size, 1))

    with pytest.raises(dp.MechanismError, match="as from a seed of its own"):
        dp.audit(own_seed, PAIR, draws=200, claim=(1.0, 0.0), stop=stop, rng=1)
