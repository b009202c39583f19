"""Unusual records to try first: outside, at the corner, rare in combination, rarest of all."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import record_templates

RNG = np.random.default_rng(5)
KIND = RNG.integers(0, 3, 80)
DATA = np.column_stack([KIND, np.where(KIND == 0, 0, RNG.integers(0, 2, 80)), RNG.normal(size=80)])
ADDED = record_templates(DATA)


def test_each_record_is_what_its_name_says():
    outside, extreme, combination = (
        ADDED[name].right[-1] for name in ("outside", "extreme", "combination")
    )
    assert np.all(outside > DATA.max(axis=0))
    assert outside[:2].tolist() == [3.0, 2.0]
    assert np.all((extreme == DATA.min(axis=0)) | (extreme == DATA.max(axis=0)))
    assert combination[:2].tolist() == [0.0, 1.0]  # the one that never occurs
    assert all(combination[j] in DATA[:, j] for j in range(3))


def test_of_two_gaps_of_one_size_the_rarer_combination_counts():
    rows = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    # of (0, 0) and of (1, 1) there are 10/3 fewer than the counts of their values let expect
    assert record_templates(rows)["combination"].right[-1].tolist() == [1.0, 1.0]


def test_a_record_is_added_or_replaces_a_row():
    assert [pair.relation for pair in ADDED.values()] == ["add", "add", "add", "remove"]
    replaced = record_templates(DATA, index=4)
    assert {pair.relation for pair in replaced.values()} == {"replace"}
    assert {pair.index for pair in replaced.values()} == {4}


def test_a_row_is_no_neighbour_of_itself():
    rarest = ADDED["rarest"].index
    assert "rarest" not in record_templates(DATA, index=rarest)


def test_identical_rows_and_many_columns_give_templates_too():
    assert "outside" in record_templates(np.ones((3, 2)))
    assert len(record_templates(RNG.normal(size=(20, 40)))) == 4


@pytest.mark.parametrize("arguments", [([[1.0]],), ("text",), (DATA, {"index": 80})])
def test_wrong_arguments_are_refused(arguments):
    data, *more = arguments
    with pytest.raises(dp.InvalidInput):
        record_templates(data, **(more[0] if more else {}))
