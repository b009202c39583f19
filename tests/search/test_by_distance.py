"""Searches for a claim by distance: each neighbour is compared at the ε of its own pair."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import RowSource
from dpaudit.search.changes import Change
from dpaudit.search.runner import Level

pytestmark = pytest.mark.quick

DATA = np.random.default_rng(0).uniform(size=(30, 2))
CLAIM = dp.Claim.metric(1.5, "manhattan")


def coarse(data, size, *, rng):
    """Each first value is rounded down to quarters: near records may be a quarter apart."""
    return np.floor(4.0 * data[:, :1]).sum() / 4.0 + rng.laplace(size=(size, 1))


def test_a_near_neighbour_that_breaks_its_claim_is_found_among_far_ones():
    near = DATA.copy()
    near[:, 0] = (np.floor(4.0 * DATA[:, 0]) + 1.001) / 4.0
    near = near[near[:, 0] - DATA[:, 0] < 0.06][:4]
    far = np.array([[9.0, 9.0], [-9.0, 9.0]])
    candidates = np.concatenate([far, near])
    options = {"candidates": candidates, "shortlist": 12, "draws": 2_000, "classifier": KNOWN}
    found = dp.search_neighbours(coarse, DATA, claim=CLAIM, relations="replace", rng=1, **options)
    claimed = CLAIM.on(found.pair).epsilon
    true = abs(float(np.diff([np.floor(4.0 * x[:, 0]).sum() for x in sides(found.pair)])[0])) / 4.0
    assert claimed < true < 1.0
    assert found.selection.epsilon == claimed
    assert "at ε = 1.5·d (manhattan), out of" in found.selection.rule


KNOWN = dp.scoring.KnownScore(lambda outcome: outcome[:, 0], "value")


def sides(pair):
    return pair.left, pair.right


def test_the_level_is_that_of_the_pair():
    level, change = Level(DATA, 0.0, CLAIM), Change("replace", 3, DATA[3] + [0.2, 0.0], RowSource())
    right = change.pair(DATA).right
    assert level.of(right) == pytest.approx(0.3)
    assert Level(DATA, 0.7).of(right) == 0.7
    assert Level(DATA, 0.7).beyond(0.1, change) == 0.1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_gain_of_randomised_response_is_what_its_claim_allows(epsilon):
    p = 1.0 / (1.0 + np.exp(-epsilon))
    gain = np.log(2.0) + p * np.log(p) + (1.0 - p) * np.log1p(-p)
    change = Change("replace", 3, DATA[3] + [epsilon / 1.5, 0.0], RowSource())
    assert Level(DATA, 0.0, CLAIM).beyond(gain, change) == pytest.approx(0.0, abs=1e-3)
