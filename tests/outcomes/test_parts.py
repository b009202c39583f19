"""Lists whose entries come again: counted where places mean nothing, with pairs where they tell."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import outcomes

LETTERS = "uvwxyz"


def cells(rng, size, odds, columns=4, records=40):
    """Tables as lists of tuples (row, column name) in any order, and the cells, (size, records)."""
    cell = rng.choice(len(odds), size=(size, records), p=odds)
    return [[(int(x) // columns, LETTERS[int(x) % columns]) for x in row] for row in cell], cell


def histogram(rng, size):
    """One of 24 cells has a third more records; the known score is the log likelihood ratio."""
    odds = np.full((2, 24), 1 / 24)
    odds[1, 3] += 0.35 / 24
    odds[1, 7] -= 0.35 / 24
    return [
        (t, np.log(odds[0] / odds[1])[c].sum(1)) for t, c in (cells(rng, size, p) for p in odds)
    ]


def rare_cell(rng, size):
    odds = np.full((2, 500), 1 / 500)
    odds[1, 0] *= 10.0
    odds[1] /= odds[1].sum()
    return [
        (t, np.log(odds[0] / odds[1])[c].sum(1)) for t, c in (cells(rng, size, p, 6) for p in odds)
    ]


def items(rng, size):
    """10 to 30 items of 30 kinds, of which one is bought half again as often."""
    odds = np.tile(1 / np.arange(1.0, 31.0), (2, 1))
    odds[1, 5] *= 1.5
    odds /= odds.sum(axis=1, keepdims=True)
    gain = np.log(odds[0] / odds[1])
    sides = []
    for p in odds:
        baskets = [rng.choice(30, size=length, p=p) for length in rng.integers(10, 31, size=size)]
        named = [[f"item {chr(97 + x)}" for x in basket] for basket in baskets]
        sides.append((named, np.array([gain[basket].sum() for basket in baskets])))
    return sides


def markov(rng, size):
    """Lists of 30 letters; on one side w comes after v more often, and x less often."""
    moves = np.full((2, 6, 6), 1 / 6)
    moves[1, 1, 2] += 0.08
    moves[1, 1, 3] -= 0.08
    gain, sides = np.log(moves[0] / moves[1]), []
    for move in moves.cumsum(axis=2):
        state = rng.integers(6, size=(size, 30))
        for t in range(1, 30):
            state[:, t] = (move[state[:, t - 1]] < rng.random((size, 1))).sum(axis=1)
        score = gain[state[:, :-1], state[:, 1:]].sum(axis=1)
        sides.append(([[LETTERS[x] for x in row] for row in state], score))
    return sides


@pytest.mark.parametrize(
    ("family", "share"),
    [
        pytest.param(histogram, 0.9, marks=pytest.mark.slow),
        pytest.param(rare_cell, 0.9, marks=pytest.mark.slow),
        (items, 0.75),
        (markov, 0.75),
    ],
)
def test_counts_certify_nearly_what_the_known_score_does(family, share):
    """δ(0) at 5,000 draws a side."""
    (P, loss_p), (Q, loss_q) = family(np.random.default_rng(7), 5000)
    auto = dp.audit_samples(P, Q, epsilon=[0.0], rng=1)
    known = dp.scoring.KnownScore(lambda x: x[:, 0])
    best = dp.audit_samples(loss_p, loss_q, classifier=known, epsilon=[0.0], rng=1)
    low, limit = (result.to_dict()["empirical"]["low"][0] for result in (auto, best))
    assert limit > 0.05
    assert low > share * limit


@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_place_that_tells_keeps_its_column(place):
    """Letters of one alphabet at six places, of which one place differs between the sides."""
    rng = np.random.default_rng(3)
    sides = rng.integers(6, size=(2, 4000, 6))
    sides[1, :, place] = np.where(rng.random(4000) < 0.3, 0, sides[1, :, place])
    P, Q = ([[LETTERS[x] for x in row] for row in side] for side in sides)
    assert dp.audit_samples(P, Q, claim=(0.0, 0.12), rng=1).verdict == "violated"


def test_records_of_fields_keep_the_fields():
    rng = np.random.default_rng(4)
    rows = [["f", int(rng.integers(90)), "north"[: rng.integers(1, 5)]] for _ in range(3000)]
    part = outcomes.rows(rows)
    assert outcomes.columns(part, part)(part).shape[1] >= 2


def test_a_row_depends_on_its_draw_alone():
    rng = np.random.default_rng(5)
    (P, _), (Q, _) = markov(rng, 600)
    left, right = outcomes.rows(P), outcomes.rows(Q)
    to_rows = outcomes.columns(left, right)
    together = to_rows(left)
    assert together.shape[1] > 6  # pairs count
    for at in (0, 17, 599):
        np.testing.assert_array_equal(to_rows(left[at : at + 1])[0], together[at])


def test_lists_of_one_law_are_not_accused():
    rng = np.random.default_rng(6)
    even = np.full(24, 1 / 24)
    (P, _), (Q, _) = (cells(rng, 2000, even) for _ in range(2))
    assert dp.audit_samples(P, Q, claim=(0.0, 0.0), rng=1).verdict == "not violated"


def test_a_table_of_groups_certifies_the_same_in_each_form():
    """As numbers, a series, a data frame, CSV and JSON."""
    pandas = pytest.importorskip("pandas")
    data = np.column_stack([np.arange(50) % 3, np.ones(50)])
    pair = dp.neighbours.zero_row(data, 3)

    def groups(data, rng):
        sums = pandas.DataFrame(data, columns=["region", "x"]).groupby("region").x.sum()
        return sums + rng.laplace(size=len(sums))

    forms = [
        lambda sums: sums.to_numpy(),
        lambda sums: sums,
        lambda sums: sums.to_frame(),
        lambda sums: sums.to_frame().to_csv(),
        lambda sums: sums.to_json(),
    ]
    shown = []
    for form in forms:
        release = dp.adapters.one_draw(lambda data, *, rng, form=form: form(groups(data, rng)))
        shown.append(
            dp.audit(release, pair, draws=1000, claim=(0.4, 0.0), rng=1).headline.certified
        )
    assert shown[0] > 0.4
    np.testing.assert_allclose(shown, shown[0], rtol=0.1)


def test_places_that_differ_in_opposite_ways_keep_their_columns():
    """Twenty answers: yes is likelier in the first half on one side, in the second on the other.

    Pooled, no place has a mean of its own.
    """
    rng = np.random.default_rng(9)
    odds = np.repeat([0.62, 0.38], 10)
    P, Q = (
        [["ny"[int(x)] for x in row] for row in rng.random((2000, 20)) < p]
        for p in (odds, odds[::-1])
    )
    low = dp.audit_samples(P, Q, epsilon=[0.0], rng=1).to_dict()["empirical"]["low"][0]
    assert low > 0.6


def test_lists_of_one_entry_are_counted_too():
    """A fifth of the baskets have one item, and only these differ."""
    rng = np.random.default_rng(10)

    def baskets(first):
        sizes = np.where(rng.random(3000) < 0.2, 1, rng.integers(2, 9, size=3000))
        return [[first] if k == 1 else list(rng.choice(list(LETTERS), size=k)) for k in sizes]

    low = dp.audit_samples(baskets("u"), baskets("v"), epsilon=[0.0], rng=1).to_dict()
    assert low["empirical"]["low"][0] > 0.12


def test_an_item_may_have_any_name():
    """Commas and words inside names make no pair of an item."""
    rng = np.random.default_rng(11)
    names = [f"{x}, then {x}" for x in LETTERS]
    P, Q = (
        [list(rng.choice(names, size=8, p=p)) for _ in range(2000)]
        for p in ([1 / 6] * 6, [1 / 4, 1 / 12, *[1 / 6] * 4])
    )
    part = outcomes.rows(P)
    assert outcomes.columns(part, outcomes.rows(Q))(part).shape[1] == 6
