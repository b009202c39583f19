"""Searches for a claim by distance: each neighbour is compared at the ε of its own pair."""

import numpy as np
import pytest

import dpaudit as dp

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
