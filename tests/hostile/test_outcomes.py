"""Leaks in what a draw is: the sign of zero, large integers, lengths, and very long or wide draws.

A full leak is certified from 1,000 draws a side by bounds that fail with probability 0.05 at most
under any law; here the laws are constants or lengths, so the tests themselves never fail by chance.
"""

import tracemalloc

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import outcomes
from tests.sparse import one_in

SIZE = 1000
SLOTS = 1000  # values of a long list that its row has room for
BIG = 2**60


def audited(P, Q, **options):
    return dp.audit_samples(P, Q, **{"claim": (1.0, 0.1), "rng": 1, **options})


def many(value, size=SIZE):
    return [value] * size


# --- leaks that were missed, or said to be an infinite loss and no violation


LEAKS = {
    "sign of zero": (np.zeros(SIZE), -np.zeros(SIZE)),
    "sign of zero in a dict": (many({"a": 0.0}), many({"a": -0.0})),
    "integers": (many(BIG), many(BIG + 1)),
    "int64": (np.full(SIZE, BIG), np.full(SIZE, BIG + 1)),
    "uint64": (np.full((SIZE, 2), 2**64 - 1, np.uint64), np.full((SIZE, 2), 2**64 - 2, np.uint64)),
    "integers of two signs": (many([2**63 + 1, -1]), many([2**63 + 2, -1])),
    "integers beside reals": (many([BIG, 0.5]), many([BIG + 1, 0.5])),
    "integers in a dict": (many({"a": BIG}), many({"a": BIG + 1})),
    "integers beyond all floats": (many(10**400), many(10**400 + 1)),
    "lists of 3 and of 2": (many([1.0, 2.0, 3.0]), many([1.0, 2.0])),
    "tables of 3 and of 2 columns": (np.zeros((SIZE, 3)), np.zeros((SIZE, 2))),
    "columns and lists": (np.zeros((SIZE, 3)), many([]) + many([0.0])),
    "beyond 1e100": (np.full(SIZE, 1e200), np.full(SIZE, 2e200)),
    "infinity": (np.full(SIZE, np.inf), np.full(SIZE, 1e200)),
    "subnormal": (np.full(SIZE, 5e-324), np.full(SIZE, 1e-323)),
    "neighbouring floats": (np.ones(SIZE), np.full(SIZE, np.nextafter(1.0, 2.0))),
}
QUICK_AND_SLOW = pytest.mark.parametrize(
    "stop", [None, pytest.param("verdict", marks=pytest.mark.slow)]
)


@QUICK_AND_SLOW
@pytest.mark.parametrize("leak", one_in(3, LEAKS))
def test_a_full_leak_is_certified(leak, stop):
    P, Q = LEAKS[leak]
    result = audited(P, Q, stop=stop)
    assert result.verdict == "violated", result.reason


@pytest.mark.slow
@QUICK_AND_SLOW
@pytest.mark.parametrize("leak", one_in(2, LEAKS))
def test_the_same_outcomes_on_both_sides_are_no_leak(leak, stop):
    """Honest use: both sides are the same even mixture, by independent draws. At the claim (1, 0.1)
    a violation needs P(S) > e·Q(S) + 0.1 of a set S whose probabilities are equal: with p = q = ½
    the excess p − e·q − 0.1 is −0.96, more than 10 standard deviations of its estimate from 250
    certifying draws or more, so an audit is refuted with probability below 1e-6.
    """
    rng = np.random.default_rng(3)
    both = [list(side)[:1] for side in LEAKS[leak]]
    P, Q = ([both[one][0] for one in rng.integers(0, 2, SIZE // 2)] for _ in range(2))
    assert audited(P, Q, stop=stop).verdict == "not violated"


def test_integers_that_are_floats_stay_a_table():
    for values in (np.arange(-5, 5), np.array([2**53, -(2**53)]), [2**53, 1], np.array([BIG])):
        assert outcomes.is_table(outcomes.rows(values))


@pytest.mark.parametrize("scale", [5e-324, pytest.param(1e-310, marks=pytest.mark.slow), 1e300])
def test_numbers_of_any_scale_are_audited(scale):
    """N(0, 1) against N(3, 1) in that unit: δ(1) = 0.83, of which 0.5 is certified. The shares of
    500 certifying draws or more have a standard deviation of 0.02, so that 0.5 is many of them
    below.
    """
    rng = np.random.default_rng(2)
    P, Q = (scale * (rng.normal(size=(SIZE, 2)) + mean) for mean in (0.0, 3.0))
    assert audited(P, Q, epsilon=[1.0]).spectrum.low[0] > 0.5


# --- what is said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "size"), one_in(4, [("qda", 100), ("auto", 100), ("auto", 150), ("qda", 150)])
)
def test_an_infinite_loss_is_never_said_of_a_claim_that_holds(size, classifier):
    for claim in ((8.0, 0.0), (1.0, 0.0), (0.0, 0.99)):
        for P, Q in ((np.zeros(size), np.ones(size)), (np.zeros(size), -np.zeros(size))):
            result = audited(P, Q, claim=claim, classifier=classifier)
            assert result.verdict in ("violated", "inconclusive"), result.reason
            assert ("infinite" in result.reason) == (result.verdict == "violated"), result.reason


@pytest.mark.parametrize(
    ("level", "text"),
    one_in(2, [(1.0 - 2.0**-53, "99.99999999999999 %"), (0.999999, "99.9999 %")]),
)
def test_a_level_below_one_is_not_printed_as_one(level, text):
    P, Q = np.zeros(2_000), np.ones(2_000)
    for options in (
        {"claim": (1.0, 0.0)},
        {"claim": None},
        {"claim": (1.0, 0.0), "stop": "verdict"},
    ):
        assert f"{text} confidence" in audited(P, Q, level=level, **options).reason


# --- memory and time


def test_a_row_of_a_long_list_is_its_own_whatever_is_beside_it(rng):
    """Lists, tables and texts give one row for one draw."""
    long = [float(one) for one in rng.normal(size=SLOTS + 500)]
    P, Q = outcomes.rows([long, [1.0], long[:SLOTS]]), outcomes.rows([long, long])
    columns = outcomes.described(outcomes.joined([P, P, P, P, P]), Q).columns
    rows = columns(P)
    assert rows[0, 0] == SLOTS + 500
    for beside in ([long, long], [long, [2.0]], [long, "text"], [long, None]):
        np.testing.assert_array_equal(columns(outcomes.joined([outcomes.rows(beside)]))[0], rows[0])
    np.testing.assert_array_equal(columns(np.array([long]))[0], rows[0])
    np.testing.assert_array_equal(rows[2, 1:], long[:SLOTS])


@pytest.mark.slow
def test_ten_thousand_columns():
    """200 draws a side of 10,000 columns, one of which tells the sides apart: done in seconds."""
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(2, 200, 10_000))
    Q[:, 7] += 20.0
    assert audited(P, Q, claim=(0.1, 0.0)).verdict == "violated"


def test_a_long_list_of_another_length_is_refused_by_its_reason():
    """Draws that all have as many numbers are not."""
    later = outcomes.rows([[0.0] * (SLOTS + 1), [0.0] * (SLOTS + 2)])
    to_rows = outcomes.described(*[np.zeros((5, SLOTS + 1))] * 2).columns
    with pytest.raises(dp.errors.InvalidInput, match="as many as the first draws, 1001 floats"):
        to_rows(later)
    assert to_rows(outcomes.rows([[0.0] * (SLOTS + 1)])).shape == (1, SLOTS + 1)


def test_one_long_list_among_many_short_ones():
    """As a mechanism that gives its data away once: 20,000 × 20,000 numbers would be 3.2 GB."""
    rng = np.random.default_rng(1)
    tracemalloc.start()
    draws = [list(one[: one.size // 2]) for one in rng.normal(size=(5000, 4))]
    draws[7] = list(rng.normal(size=20_000))
    blocks = outcomes.joined([outcomes.rows(draws[:2500]), outcomes.rows(draws[2500:])])
    P, Q = outcomes.aligned(blocks, outcomes.rows(draws[2500:]))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200e6
    assert P[7, 0] == 20_000
    assert P.shape[1] == Q.shape[1] <= 1 + SLOTS
