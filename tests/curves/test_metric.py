"""Claims by the distance of two records."""

import pickle
from itertools import permutations

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.curves import as_claim, chained
from dpaudit.errors import InvalidInput

pytestmark = pytest.mark.quick

DATA = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.25]])
PAIR = dp.neighbours.replace_row(DATA, 1, [4.0, 5.0])


@pytest.mark.parametrize(
    ("name", "distance"),
    [("euclidean", 5.0), ("manhattan", 7.0), ("chebyshev", 4.0), ("hamming", 2.0)],
)
def test_epsilon_is_that_of_the_distance(name, distance):
    claim = dp.Claim.metric(0.2, name, 1e-6).on(PAIR)
    assert (claim.epsilon, claim.delta) == (pytest.approx(0.2 * distance), 1e-6)
    assert claim.origin == f"0.2·d at d(x, x′) = {distance:g}, {name}"


def test_a_distance_may_be_a_function():
    def lower(x, y):
        return abs(x[0] - y[0])

    claim = dp.Claim.metric(2.0, lower)
    assert claim.text == "2·d-DP (lower)"
    assert claim.on(PAIR) == dp.Claim.metric(2.0, lower).at(4.0 - 1.0)


def test_epsilons_of_several_records_add_up():
    pair = dp.neighbours.replace_group(DATA, [0, 2], DATA[[0, 2]] + 1.0)
    claim = dp.Claim.metric(1.0, "manhattan", 1e-3).on(pair)
    assert (claim.epsilon, claim.group_size) == (4.0, 2)
    assert claim.delta == pytest.approx(1e-3 * (1.0 + np.exp(2.0)))


def test_no_claim_is_judged_before_its_pair_is_known():
    claim = dp.Claim.metric(1.0)
    draws = np.arange(40.0)
    with pytest.raises(InvalidInput, match=r"claim\.at\(distance\)"):
        dp.audit_samples(draws, draws + 1.0, claim=claim)
    with pytest.raises(InvalidInput, match=r"claim\.on\(pair\)"):
        as_claim(claim)
    assert not hasattr(claim, "delta_at")


def test_records_that_come_or_go_have_no_distance():
    with pytest.raises(InvalidInput, match="3 records against 2"):
        dp.Claim.metric(1.0).on(dp.neighbours.remove_row(DATA, 0))
    with pytest.raises(InvalidInput, match="relations"):
        dp.search_neighbours(near, DATA, claim=dp.Claim.metric(1.0), relations="remove")


@pytest.mark.parametrize("answer", [-1.0, np.nan, np.inf, "far", None])
def test_a_distance_must_be_a_number(answer):
    with pytest.raises(InvalidInput, match="distance"):
        dp.Claim.metric(1.0, lambda x, y: answer).on(PAIR)


def test_what_a_distance_raises_is_not_told():
    def broken(x, y):
        raise ValueError(f"cannot tell {x}")

    with pytest.raises(InvalidInput, match="a ValueError from broken") as error:
        dp.Claim.metric(1.0, broken).on(PAIR)
    assert "cannot" not in str(error.value)


def test_unknown_names_and_parameters_are_refused():
    for wrong in ({"distance": "miles"}, {"distance": 3}, {"delta": 2.0}, {"epsilon": -1.0}):
        with pytest.raises(InvalidInput):
            dp.Claim.metric(**{"epsilon": 1.0, **wrong})


def test_a_claim_by_a_named_distance_can_be_pickled():
    claim = dp.Claim.metric(1.0, "hamming")
    assert pickle.loads(pickle.dumps(claim)).on(PAIR) == claim.on(PAIR)


def near(data, size, *, rng):
    return data.sum(axis=0) + rng.laplace(size=(size, 2))


def test_an_audit_resolves_the_claim_by_its_pair():
    pair = dp.neighbours.replace_row(DATA, 1, [2.0, 1.5])
    known = dp.scoring.KnownScore(lambda outcome: -outcome.sum(axis=1), "sum")
    options = {"draws": 4_000, "classifier": known, "rng": 1}
    result = dp.audit(near, pair, claim=dp.Claim.metric(0.2, "manhattan"), **options)
    assert result.verdict == "violated"
    first = "Claimed ε = 0.3 at δ = 0 (0.2·d at d(x, x′) = 1.5, manhattan)."
    assert result.headline.text.startswith(first)
    assert 0.3 in result.spectrum.epsilon.round(12)
    held = dp.audit(near, pair, claim=dp.Claim.metric(1.0, "manhattan"), **options)
    assert held.verdict == "not violated"


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.02])
def test_no_order_of_the_changes_gives_less_where_delta_is_at_most_a_half(delta):
    """Up to six changes against all their orders."""
    rng = np.random.default_rng(int(1e6 * delta))
    for _ in range(30):
        steps = 10.0 ** rng.uniform(-2.0, 0.7, rng.integers(1, 7))
        left = np.zeros((len(steps), 2))
        pair = dp.NeighbourPair(left, np.column_stack([steps, left[:, 1]]))
        claim = dp.Claim.metric(1.0, "manhattan", delta).on(pair)
        least = min(chained((one, delta) for one in order)[1] for order in permutations(steps))
        assert claim.epsilon == pytest.approx(steps.sum(), rel=1e-12)
        assert claim.delta == pytest.approx(least, rel=1e-9, abs=1e-12) or least > 0.5
