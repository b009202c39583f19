"""How often an audit accuses a mechanism whose draws depend on each other a little, or that drifts.

The claim is true in all of them: the two sides have one law.
"""

import itertools

import numpy as np
import pytest

import dpaudit as dp

PAIR = dp.neighbours.zero_row([[1.0], [0.0]], 0)
KNOWN = dp.scoring.KnownScore(lambda x: x[:, 0], "the output")
SAMPLES, CALL, RUNS = 20_000, 79, 150


def accusations(mechanism, runs, **options):
    """How many of so many audits accuse, and how many are refused."""
    accused = refused = 0
    for seed in range(runs):
        try:
            found = dp.audit(
                mechanism() if isinstance(mechanism, type) else mechanism,
                PAIR,
                claim=(0.0, 0.0),
                draws=SAMPLES,
                classifier=KNOWN,
                epsilon=[0.0],
                rng=seed,
                **options,
            )
        except dp.MechanismError:
            refused += 1
        else:
            accused += found.verdict == "violated"
    return accused, refused


def sharing(inflation):
    """A standard Gaussian, of whose variance a share is drawn once a call.

    The mean of a call has `inflation` times the variance that independent draws would give it.
    """
    share = (inflation - 1.0) / CALL

    def mechanism(data, size, *, rng):
        own = rng.standard_normal(size)
        return np.sqrt(1.0 - share) * own + np.sqrt(share) * rng.standard_normal()

    return mechanism


@pytest.mark.slow
@pytest.mark.parametrize("inflation", [2.0, 3.0, 5.0])
def test_what_is_too_weak_to_be_refused_seldom_accuses(inflation):
    """With a probability of 0.1 each, 30 or more of 150 have one of 2e-4."""
    accused, _ = accusations(sharing(inflation), RUNS)
    assert accused <= 29


@pytest.mark.slow
def test_noise_that_is_shared_more_is_refused():
    assert accusations(sharing(20.0), 30) == (0, 30)


class Drifting:
    """Laplace noise whose centre moves by 0.001 from call to call, about 0.13 in the run."""

    def __init__(self):
        self.calls = itertools.count()

    def __call__(self, data, size, *, rng):
        return rng.laplace(size=size) + 0.001 * next(self.calls)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [None, "verdict"])
def test_drift_on_both_sides_accuses_no_more_than_chance(stop):
    """At 95 % confidence more than 18 of 150 have a probability of 2e-4."""
    accused, refused = accusations(Drifting, RUNS, stop=stop)
    assert accused <= 18
    assert refused == 0
