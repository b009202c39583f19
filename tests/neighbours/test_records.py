"""A pair made again from its record: every relation, every source of a row, no private value."""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import RowSource, from_record
from tests.neighbours.test_relations import DATA, NEW, PAIRS

pytestmark = pytest.mark.quick

SEED = np.random.SeedSequence(3, spawn_key=(4, 1 << 20))
BY_HAND = {"replace": NEW[0], "add": NEW[0], "replace-group": NEW[::-1]}  # rows 5 and 9


def written(pair):
    """The record as result.json has it."""
    return json.loads(json.dumps({"schema_version": 1, "neighbour": pair.to_dict()}))


def same(one, other):
    assert (one.relation, one.index, one.group) == (other.relation, other.index, other.group)
    np.testing.assert_array_equal(one.left, other.left)
    np.testing.assert_array_equal(one.right, other.right)


@pytest.mark.parametrize("relation", PAIRS)
def test_every_relation_is_made_again(relation, tmp_path):
    record = written(PAIRS[relation])
    same(from_record(DATA, record, row=BY_HAND.get(relation)), PAIRS[relation])
    (tmp_path / "result.json").write_text(json.dumps(record), encoding="utf-8")
    for folder in (tmp_path, str(tmp_path)):
        same(from_record(DATA, folder, row=BY_HAND.get(relation)), PAIRS[relation])


@pytest.mark.parametrize("relation", BY_HAND)
def test_a_row_given_by_hand_is_given_again(relation):
    record = written(PAIRS[relation])
    for value in NEW.ravel():
        assert f"{value}" not in json.dumps(record)
    with pytest.raises(dp.InvalidInput, match="row must be given again: it was put in by hand"):
        from_record(DATA, record)


def test_a_candidate_is_named_by_its_number():
    pair = dp.neighbours.add_row(DATA, NEW[1], source=RowSource("candidates", 1))
    record = written(pair)
    assert record["neighbour"]["row_put_in"] == {"from": "candidates", "number": 1}
    again = from_record(DATA, record, candidates=NEW)
    same(again, pair)
    assert written(again) == record
    with pytest.raises(dp.InvalidInput, match="candidates must be those of the search"):
        from_record(DATA, record)
    with pytest.raises(dp.InvalidInput, match="with a candidate 1, got 1 rows"):
        from_record(DATA, record, candidates=NEW[:1])


def test_a_corner_of_a_public_bound_is_in_the_record():
    pair = dp.neighbours.replace_row(DATA, 2, NEW[0], source=RowSource("bound"))
    assert written(pair)["neighbour"]["row_put_in"] == {"from": "bound", "values": NEW[0].tolist()}
    same(from_record(DATA, written(pair)), pair)


def test_a_row_along_the_axes_of_the_data_is_computed_again():
    """Its direction is that of a row, if one row outweighs all others: so it is not written."""
    source = RowSource("row_bound", 0, 6.0, SEED)
    row = source.remade(DATA)
    pair = dp.neighbours.add_row(DATA, row, source=source)
    record = written(pair)
    assert set(record["neighbour"]["row_put_in"]) == {"from", "number", "row_bound", "seed"}
    same(from_record(DATA, record), pair)
    heavy = DATA.copy()
    heavy[7] *= 1e6
    axis = source.remade(heavy)
    assert abs(axis @ heavy[7]) / (6.0 * np.linalg.norm(heavy[7])) > 1.0 - 1e-6


def test_values_are_there_when_they_are_asked_for():
    record = PAIRS["replace"].to_dict(show_data=True)
    assert record["row_put_in"] == {"from": "user", "values": NEW[0].tolist()}
    for relation, pair in PAIRS.items():
        shown = json.loads(json.dumps({"neighbour": pair.to_dict(show_data=True)}))
        again = from_record(DATA, shown)
        same(again, pair)
        assert again.relation == relation


def with_neighbour(**changes):
    return {"neighbour": {"relation": "add", "index": 40, **changes}}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "record must be of a pair of the relation 'zero-out'"),
        (with_neighbour(relation="pair"), "got the relation 'pair'"),
        (with_neighbour(relation="remove", index=40), "index must be a row number below 40"),
        (with_neighbour(row_put_in={"from": "moon"}), "from must be one of"),
        (with_neighbour(row_put_in={"from": "bound"}), "row must be given again"),
        (
            with_neighbour(row_put_in={"from": "row_bound", "number": 1, "row_bound": 2.0}),
            "seed must be that of the search",
        ),
        (
            with_neighbour(
                row_put_in={"from": "row_bound", "number": 1, "row_bound": 2.0, "seed": {"a": 1}}
            ),
            "seed must be entropy",
        ),
        (
            {**with_neighbour(relation="remove", index=1), "dataset": {"shape": [39, 4]}},
            r"data must be those of the audit, of shape \(39, 4\), got",
        ),
    ],
)
def test_a_record_that_makes_no_pair_is_refused(record, message):
    with pytest.raises(dp.InvalidInput, match=message):
        from_record(DATA, record)


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(
        dp.InvalidInput, match=r"result\.json must be .*, but there is no such file"
    ):
        from_record(DATA, tmp_path)
    (tmp_path / "result.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(dp.InvalidInput, match=r"result\.json must have schema_version 1"):
        from_record(DATA, tmp_path)
