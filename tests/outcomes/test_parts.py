"""Outputs as people release them: what becomes a column, and what the score makes of it."""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import outcomes
from reports.make.families import FAMILIES, as_tuples, states

LETTERS = "uvwxyz"
SHARES = {
    "a table as a list of records, one of 24 cells fuller": 0.9,
    "the same as columns": 0.9,
    "the same as CSV": 0.9,
    "the same as JSON": 0.9,
    "a table of 500 cells, a rare one fuller": 0.9,
    "baskets, one item more frequent": 0.75,
    "texts, one word more frequent": 0.75,
    "texts, one word replaced": 0.9,
    "lists of states, one step likelier": 0.75,
    "the same as words of letters": 0.75,
    "rankings": 0.9,
    "a table of reals, one record apart": 0.9,
    "cluster centres in any order": 0.8,
    "lists of reals": 0.85,
    "suppressed counts": 0.9,
    "running sums": 0.9,
    "trajectories": 0.9,
    "images with a faint patch": 0.35,
    "six Laplace numbers, rotated": 0.85,
    "shells in a subspace": 0.9,
}
QUICK = ("texts, one word replaced", "cluster centres in any order")


def marked(name):
    return pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)


@pytest.mark.parametrize("name", [marked(name) for name in SHARES])
def test_outputs_certify_nearly_what_the_known_loss_does(name):
    """δ(0) at 5,000 draws a side."""
    (P, loss_p), (Q, loss_q) = FAMILIES[name](np.random.default_rng(7), 5000)
    auto = dp.audit_samples(P, Q, epsilon=[0.0], rng=1)
    known = dp.scoring.KnownScore(lambda x: x[:, 0])
    best = dp.audit_samples(loss_p, loss_q, classifier=known, epsilon=[0.0], rng=1)
    low, limit = (result.to_dict()["empirical"]["low"][0] for result in (auto, best))
    assert limit > 0.05
    assert low > SHARES[name] * limit


def test_a_place_that_tells_keeps_its_column():
    """Letters of one alphabet at six places, of which one place differs between the sides."""
    rng = np.random.default_rng(3)
    sides = rng.integers(6, size=(2, 4000, 6))
    sides[1, :, 2] = np.where(rng.random(4000) < 0.3, 0, sides[1, :, 2])
    P, Q = ([[LETTERS[x] for x in row] for row in side] for side in sides)
    assert dp.audit_samples(P, Q, claim=(0.0, 0.12), rng=1).verdict == "violated"


def test_a_row_depends_on_its_draw_alone():
    rng = np.random.default_rng(5)
    (P, _), (Q, _) = states(rng, 600)
    left, right = outcomes.rows(P), outcomes.rows(Q)
    to_rows = outcomes.described(left, right).columns
    together = to_rows(left)
    assert together.shape[1] > 6  # pairs count
    for at in (0, 17, 599):
        np.testing.assert_array_equal(to_rows(left[at : at + 1])[0], together[at])


def test_lists_of_one_law_are_not_accused():
    rng = np.random.default_rng(6)
    P, Q = (as_tuples(rng.integers(24, size=(2000, 40))) for _ in range(2))
    assert dp.audit_samples(P, Q, claim=(0.0, 0.0), rng=1).verdict == "not violated"


@pytest.mark.slow
def test_a_table_of_groups_certifies_the_same_in_each_form():
    """As numbers, a series, a data frame, CSV and JSON."""
    pandas = pytest.importorskip("pandas")
    rng, regions = np.random.default_rng(1), pandas.Index([0, 1, 2], name="region")
    sides = [
        [pandas.Series(sums + noise, regions, name="x") for noise in rng.laplace(size=(1000, 3))]
        for sums in ([17.0, 17.0, 16.0], [16.0, 17.0, 16.0])
    ]
    forms = [
        lambda sums: sums.to_numpy(),
        lambda sums: sums,
        lambda sums: sums.to_frame(),
        lambda sums: sums.to_frame().to_csv(),
        lambda sums: sums.to_json(),
    ]
    shown = []
    for form in forms:
        P, Q = ([form(sums) for sums in side] for side in sides)
        shown.append(dp.audit_samples(P, Q, claim=(0.4, 0.0), rng=1).headline.certified)
    assert shown[0] > 0.4
    np.testing.assert_allclose(shown, shown[0], rtol=0.1)


def test_an_item_may_have_any_name():
    """Commas and words inside names make no pair of an item."""
    rng = np.random.default_rng(11)
    names = [f"{x}, then {x}" for x in LETTERS]
    P, Q = (
        [list(rng.choice(names, size=8, p=p)) for _ in range(2000)]
        for p in ([1 / 6] * 6, [1 / 4, 1 / 12, *[1 / 6] * 4])
    )
    part = outcomes.rows(P)
    assert outcomes.described(part, outcomes.rows(Q)).columns(part).shape[1] == 6


def with_rare(rng, rare):
    """Forty entries of which one in 25, on average, is rare."""
    return [
        rare(rng) if new else ["k", int(rng.integers(20))] for new in rng.random(size=40) < 0.04
    ]


def test_entries_that_have_neither_a_count_nor_a_position_are_unread():
    """Texts that hardly repeat are unread, and numbers beside them too."""
    rng = np.random.default_rng(13)
    rares = [lambda rng: ["id", int(rng.integers(10**6))], lambda rng: [rng.bytes(6).hex(), 1]]
    draws = [with_rare(rng, rares[k % 2]) for k in range(2000)]
    part = outcomes.rows(draws)
    unread = outcomes.described(part, part).unread
    assert unread["rare entries of lists"] == pytest.approx(0.8, abs=0.05)
    assert unread["texts"] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("form", [list, json.dumps])
def test_an_answer_that_repeats_the_answer_before_last_is_found(form):
    """In P the third of twelve answers is the first with probability 0.95; counts hardly tell."""
    rng = np.random.default_rng(14)
    sides = rng.integers(2, size=(2, 2000, 12))
    sides[0, :, 2] = np.where(rng.random(2000) < 0.9, sides[0, :, 0], sides[0, :, 2])
    P, Q = ([form([["no", "yes"][x] for x in row]) for row in side] for side in sides)
    assert dp.audit_samples(P, Q, epsilon=[0.0], rng=1).spectrum.low[0] > 0.35
