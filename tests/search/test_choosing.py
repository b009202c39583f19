"""How neighbours are chosen: which there are, how they are ranked, what quick audits estimate."""

import re

import numpy as np
import pytest
from scipy.special import ndtr

import dpaudit as dp
from dpaudit.neighbours import RowSource, outliers
from dpaudit.search.changes import NO_ROW, RELATIONS, Incoming, incoming_rows, pool
from dpaudit.search.halving import FEWEST, schedule
from dpaudit.search.quick_audit import DEFAULT, has_common_noise, quick_audit
from dpaudit.search.ranking import MEASURES, NoiseUnits, in_turn, measures

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


# What a changed row does to least squares, against fitting again; how draws are spent.


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(40), rng.normal(size=(40, 2)) * [1.0, 50.0]])
    return np.column_stack([x, x @ [1.0, -2.0, 0.1] + rng.normal(size=40)])


def named(data, out, into):
    return dict(zip(MEASURES, measures(data, out, into), strict=True))


def test_an_added_row_against_fitting_again(data):
    row = np.array([[1.0, 3.0, -100.0, 9.0]])
    found = named(data, np.zeros_like(row), row)

    def fit(table):
        return np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0]

    step = fit(np.vstack([data, row])) - fit(data)
    np.testing.assert_allclose(found["displacement"], np.linalg.norm(step), rtol=1e-9)
    total = np.sum((data[:, -1] - data[:, :-1] @ fit(data)) ** 2)
    np.testing.assert_allclose(found["cook"], np.sum((data[:, :-1] @ step) ** 2) / total, rtol=1e-9)
    np.testing.assert_allclose(found["size"], np.linalg.norm(row))


def test_the_first_change_of_a_small_group_is_named_by_its_size():
    data = np.column_stack([[0.0, 0.0, 0.0, 1.0, 1.0, 2.0], np.linspace(0.1, 0.7, 6)])
    gone = named(data, data, np.zeros_like(data))["group"]
    np.testing.assert_allclose(gone, [1 / 4, 0, 0, 1 / 3, 0, 1 / 2])
    rows = np.array([[3.0, 0.1], [2.0, 0.1], [3.0, 0.5]])
    come = named(data, np.zeros_like(rows), rows)["group"]
    np.testing.assert_allclose(come, [1.0, 1 / 2, 0.0])


def test_measures_take_turns():
    scores = np.array([[9.0, 1.0, 2.0, 3.0], [1.0, 9.0, 8.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_allclose(in_turn(scores), [1.0, 1.0, 1 / 2, 1 / 2])
    np.testing.assert_allclose(in_turn(scores[2:]), 1.0)  # nothing said of any


def test_rungs_cost_alike_and_stay_within_the_draws():
    screened, rungs = schedule(10.0, 20_000, 2809, 48, "auto")
    assert [size for size, _ in rungs] == [48, 12, 3]
    costs = [(size + 1) * each for size, each in rungs]
    assert max(costs[:2]) < 1.01 * min(costs[:2])
    assert sum(costs) + 16 * (screened + 1) + 1000 <= 360_000
    _, few = schedule(1.125, 20_000, 100, 48, "linear")
    assert few[0][1] >= FEWEST
    assert schedule(1.125, 20_000, 1, 48, "auto") == (0, ((1, 2_500),))
    for budget, draws in ((1.0125, 20_000), (10.0, 50)):
        with pytest.raises(dp.InvalidInput, match="to compare two neighbours") as raised:
            schedule(budget, draws, 100, 48, "linear")
        enough = int(re.search(r"at least ([\d,]+) a side", str(raised.value))[1].replace(",", ""))
        assert len(schedule(budget, enough, 100, 48, "linear")[1]) >= 1


# Quick audits: what they estimate, what common random numbers save, and what an influence is.

START = np.random.SeedSequence(0)
SHIFT, EPSILON = 0.6, 0.5
TRUTH = float(
    ndtr(SHIFT / 2 - EPSILON / SHIFT) - np.exp(EPSILON) * ndtr(-SHIFT / 2 - EPSILON / SHIFT)
)


def normals(n, k, seed):
    return np.random.default_rng(seed).standard_normal((n, k))


@pytest.mark.parametrize("classifier", [DEFAULT, "logistic"])
def test_a_gaussian_shift_is_estimated(classifier):
    """Four standard errors: fails for one seed in 10,000, and this one is fixed."""
    P = normals(8000, 3, 1)
    found = quick_audit(P, P + np.array([SHIFT, 0.0, 0.0]), EPSILON, classifier, START)
    assert abs(found.counted - TRUTH) < 4.0 * found.error + 0.003
    assert abs(found.delta - TRUTH) < 0.01


def test_common_random_numbers_save_draws():
    P = normals(4000, 8, 2)
    partners = quick_audit(P, P + 0.05, 0.0, DEFAULT, START)
    strangers = quick_audit(P, normals(4000, 8, 3) + 0.05, 0.0, DEFAULT, START)
    assert partners.error < 0.5 * strangers.error
    truth = 2.0 * float(ndtr(0.05 * np.sqrt(8.0) / 2.0)) - 1.0
    # an eighth of what 4,000 strangers' counts are worth
    assert abs(partners.delta - truth) < 0.003
    assert has_common_noise(P, P + 0.05)
    assert not has_common_noise(P, normals(4000, 8, 3))


def test_nothing_is_found_where_there_is_nothing():
    """The mean of 20 estimates, each held out: no more than noise, four standard errors of one."""
    found = [
        quick_audit(normals(2000, 4, 10 + i), normals(2000, 4, 50 + i), 0.0, DEFAULT, START)
        for i in range(20)
    ]
    assert (
        np.mean([one.counted for one in found])
        < 4.0 * np.mean([one.error for one in found]) / np.sqrt(20) + 0.01
    )
    assert np.mean([one.delta for one in found]) < 0.03


def test_atoms_and_what_is_no_number_are_seen():
    P = normals(2000, 2, 4)
    Q = P.copy()
    Q[::3, 1] = np.nan
    assert abs(quick_audit(P, Q, 0.0, DEFAULT, START).delta - 1 / 3) < 0.03
    constant = np.zeros((400, 1))
    assert quick_audit(constant, constant + 1.0, 1.0, DEFAULT, START).delta == 1.0
    assert quick_audit(constant, constant, 1.0, DEFAULT, START).delta == 0.0


def test_a_constant_that_changes_is_infinitely_far():
    spread = np.column_stack([normals(500, 1, 6), np.ones(500)])
    units = NoiseUnits.of(spread)
    other = spread[:16] + np.array([0.0, 1.0])
    assert units.distance(spread[:16], other) == float("inf")
