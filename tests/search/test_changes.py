"""Which neighbours there are to choose from, and rows inside a public bound."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.neighbours import RowSource, outliers
from dpaudit.search.changes import NO_ROW, RELATIONS, Incoming, incoming_rows, pool

pytestmark = pytest.mark.quick

DATA = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0], [1.0, 2.0]])
NEW = np.array([[1.0, 2.0], [5.0, 5.0]])
SEED = np.random.SeedSequence(0)
NONE = Incoming(np.zeros((0, 2)), ())
CANDIDATES = incoming_rows(DATA, ("add",), NEW, None, None, SEED)
EVERY = np.arange(4)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_change_becomes_a_pair(relation):
    found = pool(DATA, (relation,), CANDIDATES, EVERY)
    change = found[0]
    pair = change.pair(DATA)
    np.testing.assert_array_equal(pair.left, DATA)
    sizes = {"zero-out": 4, "remove": 3, "replace": 4, "add": 5}
    assert len(pair.right) == sizes[relation]
    assert (found.out[0] == NO_ROW) == (relation == "add")
    assert change.text.startswith("a row" if relation == "add" else "row 0 ")


def test_data_of_zeros_have_no_change():
    with pytest.raises(dp.InvalidInput, match="data must have a row that the relations can change"):
        pool(np.zeros((3, 2)), ("zero-out",), NONE, np.arange(3))


def test_rows_within_a_norm_are_on_its_rim():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(50, 3)) * [1.0, 100.0, 0.01]
    rows = outliers.within_norm(data, 2.5, rng)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 2.5)
    weakest = np.abs(
        rows @ np.linalg.pinv(data)
    ).max()  # the largest coordinate that any of them has
    exact = 2.5 / np.linalg.svd(data, compute_uv=False)[-1]
    leverage = np.sum((rows @ np.linalg.inv(np.linalg.cholesky(data.T @ data)).T) ** 2, axis=1)
    assert np.sqrt(leverage.max()) >= (1.0 - 1e-9) * exact
    assert weakest <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("width", [3, 14])
def test_rows_within_a_box_are_corners(width):
    rng = np.random.default_rng(1)
    data = rng.normal(size=(60, width))
    box = np.column_stack([-np.arange(width, dtype=float), np.ones(width)])
    box[1] = 1.0  # a constant column stays what it is
    *rows, nearest = outliers.within_box(data, outliers.box(box, width), rng)
    rows = np.array(rows)
    np.testing.assert_array_equal(nearest, [0.0, 1.0, *[0.0] * (width - 2)])
    assert np.all((rows == box[:, 0]) | (rows == box[:, 1]))
    if width == 3:
        assert len(np.unique(rows, axis=0)) == 4


@pytest.mark.parametrize("given", [{"row_bound": 2.0}, {"bounds": [[-1.0, 1.0], [0.5, 1.0]]}])
def test_the_row_nearest_to_zero_comes_in_too(given):
    options = {"candidates": None, "row_bound": None, "bounds": None, **given}
    rows = incoming_rows(DATA, ("replace", "add"), seed=SEED, **options)
    least = [0.0, 0.5 if "bounds" in given else 0.0]
    assert least in rows.rows.tolist()
    assert np.linalg.norm(rows.rows, axis=1).min() == np.linalg.norm(least)
    found = pool(DATA, ("replace", "add"), rows, np.arange(len(DATA)))
    coming = found.rows_in()[found.relation == RELATIONS.index("add")]
    assert least in coming.tolist()  # a row of zeros makes the database longer


@pytest.mark.parametrize(
    "bounds", [[[0.0, 1.0]], [[0.0, 1.0], [2.0, 1.0]], "wide", [[0.0, np.inf], [0.0, 1.0]]]
)
def test_bounds_are_checked(bounds):
    with pytest.raises(dp.InvalidInput, match="bounds must be"):
        outliers.box(bounds, 2)


@pytest.mark.parametrize(
    ("relations", "given", "message"),
    [
        (("add",), {}, "candidates must be given, or row_bound, or bounds"),
        (("zero-out",), {"row_bound": 1.0}, "relations must be with 'replace' or 'add'"),
        (("add",), {"row_bound": 0.0}, "row_bound must be"),
        (("add",), {"candidates": [[1.0]]}, "candidates must be rows of 2 columns"),
    ],
)
def test_incoming_rows_belong_to_a_relation(relations, given, message):
    options = {"candidates": None, "row_bound": None, "bounds": None, **given}
    with pytest.raises(dp.InvalidInput, match=message):
        incoming_rows(DATA, relations, seed=SEED, **options)


def test_incoming_rows_come_from_every_source_once():
    twice, box = np.vstack([NEW, NEW]), [[0.0, 1.0], [0.0, 2.0]]
    found = incoming_rows(DATA, ("add",), twice, None, box, SEED)
    assert found.rows[:2].tolist() == NEW.tolist()
    assert [one.text for one in found.sources[:2]] == ["candidate 0", "candidate 1"]
    assert set(found.sources[2:]) == {RowSource("bound")}
    assert {tuple(row) for row in found.rows.tolist()} == {
        (1.0, 2.0),
        (5.0, 5.0),
        (0.0, 0.0),
        (1.0, 0.0),
        (0.0, 2.0),
    }
