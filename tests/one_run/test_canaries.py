"""Canaries: bounds, kinds, coins, insertion, and the record of who is in."""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import Canaries, canaries

KINDS = ("orthogonal", "leverage", "labels", "rare")
ROUNDING = 1.0 + 1e-12


def table(classes=False):
    """60 rows: a constant, three features of unequal spread, a label."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3)) * [5.0, 1.0, 0.01]
    y = x @ [1.0, 1.0, 30.0]
    return np.column_stack([np.ones(60), x, np.sign(y) if classes else y])


@pytest.mark.parametrize("kind", KINDS)
def test_canaries_keep_to_every_bound(kind):
    data = table()
    whole = canaries(data, 9, kind=kind, row_bound=2.0, rng=1).rows
    assert np.linalg.norm(whole, axis=1).max() <= 2.0 * ROUNDING
    apart = canaries(data, 9, kind=kind, row_bound=2.0, label_bound=0.5, rng=1).rows
    assert np.linalg.norm(apart[:, :-1], axis=1).max() <= 2.0 * ROUNDING
    assert np.abs(apart[:, -1]).max() <= 0.5
    box = np.array([[1.0, 1.0], [-2.0, 1.0], [0.0, 3.0], [-1.0, 1.0], [-4.0, 4.0]])
    inside = canaries(data, 9, kind=kind, bounds=box, rng=1).rows
    assert np.all((inside >= box[:, 0]) & (inside <= box[:, 1]))
    free = canaries(data, 9, kind=kind, rng=1).rows
    assert np.all((free >= data.min(axis=0)) & (free <= data.max(axis=0)))
    unlabelled = canaries(data, 9, kind=kind, label=False, row_bound=1.0, rng=1).rows
    assert unlabelled.shape == (9, 5)
    assert np.linalg.norm(unlabelled, axis=1).max() <= ROUNDING


def test_up_to_as_many_canaries_as_features_are_orthogonal():
    x = canaries(table(), 4, row_bound=3.0, label_bound=1.0, rng=1).rows[:, :-1]
    np.testing.assert_allclose(x @ x.T, 9.0 * np.eye(4), atol=1e-12)
    more = canaries(table(), 8, row_bound=3.0, label_bound=1.0, rng=1).rows[:, :-1]
    np.testing.assert_allclose(more[4:] @ more[4:].T, 9.0 * np.eye(4), atol=1e-12)


def test_leverage_canaries_have_more_leverage_than_random_directions():
    data = table()
    inverse = np.linalg.inv(data[:, :-1].T @ data[:, :-1])

    def leverage(kind):
        x = canaries(data, 50, kind=kind, row_bound=1.0, label_bound=1.0, rng=1).rows[:, :-1]
        return np.median(np.einsum("ij,jk,ik->i", x, inverse, x))

    assert leverage("leverage") > 2.0 * leverage("orthogonal")


def test_labels_are_classes_of_the_data_and_random():
    rows = canaries(table(classes=True), 40, kind="labels", rng=1).rows
    assert set(rows[:, -1]) == {-1.0, 1.0}
    assert 10 <= np.sum(rows[:, -1] > 0) <= 30
    with pytest.raises(dp.InvalidInput, match="label_bound must be wide enough"):
        canaries(table(classes=True), 4, row_bound=1.0, label_bound=0.5)


def test_rare_canaries_are_far_from_the_data_and_different():
    data = np.random.default_rng(0).integers(0, 4, size=(40, 6)).astype(float)
    rare = canaries(data, 10, kind="rare", label=False, rng=1).rows
    assert len(np.unique(rare, axis=0)) == 10
    assert set(np.unique(rare)) <= {0.0, 1.0, 2.0, 3.0}

    def different(row):
        return (data != row).sum(axis=1).min()

    plain = canaries(data, 10, kind="labels", label=False, rng=1).rows
    assert min(map(different, rare)) >= np.mean([different(row) for row in plain])
    with pytest.raises(dp.InvalidInput, match="at most 2, the different records"):
        canaries([[0.0], [1.0]], 3, kind="rare", label=False, rng=1)


def test_the_same_rng_gives_the_same_bytes():
    for kind in KINDS:
        one, two = (canaries(table(), 7, kind=kind, rng=5).rows.tobytes() for _ in range(2))
        assert one == two
        assert one != canaries(table(), 7, kind=kind, rng=6).rows.tobytes()


def test_coins_are_fair_and_of_their_own_chance():
    made = Canaries(np.ones((2000, 1)))
    assert 900 < made.flip(rng=1).sum() < 1100
    chance = np.where(np.arange(2000) < 1000, 0.9, 0.1)
    coins = made.flip(chance, rng=1)
    assert 870 < coins[:1000].sum() < 930
    assert 70 < coins[1000:].sum() < 130
    np.testing.assert_array_equal(coins, made.flip(chance, rng=1))
    for wrong in (0.0, 1.0, [0.5], np.full(2000, np.nan)):
        with pytest.raises(dp.InvalidInput, match="inclusion must be"):
            made.flip(wrong)


def test_insertion_adds_rows_or_zeros_below_the_data():
    made = Canaries([[1.0, 2.0], [3.0, 4.0]])
    included = np.array([False, True])
    data = [[9.0, 9.0]]
    assert made.inserted(data, included).tolist() == [[9.0, 9.0], [3.0, 4.0]]
    zeroed = made.inserted(data, included, relation="zero-out")
    assert zeroed.tolist() == [[9.0, 9.0], [0.0, 0.0], [3.0, 4.0]]
    for wrong in ([True], [0.5, 1.0]):
        with pytest.raises(dp.InvalidInput, match="included must be 2 booleans"):
            made.inserted(data, wrong)
    with pytest.raises(dp.InvalidInput, match="data must be of 2 columns"):
        made.inserted([[1.0]], included)
    with pytest.raises(dp.InvalidInput, match="relation must be one of 'add', 'zero-out'"):
        made.inserted(data, included, relation="replace")


def test_a_record_says_who_is_in_and_survives_json():
    made = Canaries(np.eye(3))
    included = np.array([True, False, True])
    record = json.loads(json.dumps(made.record(included)))
    assert record == {"kind": "own", "in": [0, 2], "out": [1]}
    np.testing.assert_array_equal(made.included(record), included)
    with pytest.raises(dp.InvalidInput, match="record must name each of the 3 canaries once"):
        made.included({"in": [0], "out": [1]})


def test_what_was_once_the_place_of_ids_is_no_kind():
    with pytest.raises(dp.InvalidInput, match="kind must be a name for the kind of canaries"):
        Canaries(np.eye(3), np.arange(3))


def test_a_repr_shows_no_row_and_rows_cannot_be_changed():
    made = Canaries([[73417.25, 2.0]])
    assert "73417" not in repr(made) + made._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        made.rows[0, 0] = 0.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "loud"}, "kind must be one of 'orthogonal', 'leverage', 'labels', 'rare'"),
        ({"count": 0}, "count must be an integer >= 1"),
        ({"row_bound": -1.0}, "row_bound must be a finite number"),
        ({"label_bound": 1.0}, "label_bound must be given with row_bound"),
        ({"row_bound": 1.0, "bounds": [[0, 1]] * 5}, "bounds must be None where row_bound"),
        ({"bounds": [[0, 1]]}, "bounds must be a .5, 2. array"),
    ],
)
def test_errors_name_the_argument(wrong, message):
    arguments = {"count": 3, **wrong}
    with pytest.raises(dp.InvalidInput, match=message):
        canaries(table(), **arguments)
