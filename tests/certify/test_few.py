"""The sets of few draws and their band."""

import numpy as np
import pytest

from dpaudit.certify import SortedScores, certify_few, few, few_split, scores
from dpaudit.errors import InvalidInput

ALPHA = 0.05
EPSILON = np.linspace(0.0, 4.0, 9)


def normals(n, m, mu, seed):
    rng = np.random.default_rng(seed)
    return SortedScores.of(rng.normal(mu, 1.0, n), rng.normal(0.0, 1.0, m))


def found(n, m, mu=2.0, seed=0, **asked):
    return certify_few(
        normals(12, 12, mu, [seed, 1]), normals(n, m, mu, seed), EPSILON, ALPHA, **asked
    )


@pytest.mark.parametrize(
    "asked", [{}, {"claim": (1.0, 1e-5)}, {"claim": (0.0, 0.1)}, {"focus": "pure"}]
)
@pytest.mark.parametrize("first", [0.0, 0.5, 2.0])
def test_the_shares_of_all_sets_sum_to_one_minus_the_level(asked, first):
    tails = few.SmoothTails.of(normals(12, 12, 2.0, 0), (40, 60))
    aims = few._aims(tails, first, ALPHA, asked.get("claim"), asked.get("focus", "spectrum"))
    sets = [tails.chosen(aim, ALPHA) for aim in aims]
    assert sum(one.share for one in sets) == pytest.approx(ALPHA, rel=1e-12)


def test_laws_that_change_places_change_only_the_direction():
    choose, certifying = normals(12, 12, 2.0, 1), normals(40, 70, 2.0, 2)
    one = certify_few(choose, certifying, EPSILON, ALPHA)
    turned = [SortedScores.of(-part.q, -part.p) for part in (choose, certifying)]
    other = certify_few(*turned, EPSILON, ALPHA)
    assert one.low[0] > 0.3
    np.testing.assert_allclose(other.low[1:], one.low[1:], atol=1e-6)
    assert other.low[0] == pytest.approx(one.low[0], abs=0.02)  # either direction may be taken


def test_a_set_certifies_the_direction_of_its_complement_too():
    one = found(60, 60)
    assert one.forward.low[0] == pytest.approx(one.backward.low[0], abs=1e-9)
    assert one.forward.low[0] > 0.4


def test_the_estimate_falls_is_convex_and_is_above_what_is_certified():
    one = found(60, 40, fresh=normals(12, 12, 2.0, [0, 1]))
    chord = np.interp(np.exp(EPSILON[1:-1]), np.exp(EPSILON[::2]), one.forward.delta[::2])
    assert np.all(np.diff(one.delta) <= 0.0)
    assert np.all(one.forward.delta[1:-1] <= chord + 1e-12)
    assert np.all(one.delta >= one.low)


def test_infinite_and_equal_scores_are_certified_as_they_are():
    choose = SortedScores.of(np.array([np.inf, *np.zeros(9)]), np.zeros(10))
    certifying = SortedScores.of(np.r_[np.full(40, np.inf), np.zeros(60)], np.zeros(100))
    one = certify_few(choose, certifying, EPSILON, ALPHA)
    assert few.SmoothTails.of(choose, (100, 100)).threshold == pytest.approx(0.5 * scores.HIGHEST)
    assert 0.2 < one.low[0] < 0.4
    same = SortedScores.of(np.zeros(10), np.zeros(10))
    assert np.all(certify_few(same, same, EPSILON, ALPHA).low == 0.0)


@pytest.mark.parametrize(
    ("samples", "columns", "trained", "expected"),
    [(20, 1, True, (6, 0, 14)), (300, 1, True, (60, 0, 240)), (300, None, True, (105, 0, 195)),
     (20, 1, False, (0, 6, 14)), (300, 7, False, (0, 60, 240))],
)  # fmt: skip
def test_few_draws_are_split_in_two(samples, columns, trained, expected):
    sizes = few_split(samples, columns, trained=trained)
    assert (sizes.train, sizes.choose, sizes.certify) == expected
    with pytest.raises(InvalidInput, match="at least 20 a side, got 19"):
        few_split(19, columns, trained=trained)


@pytest.mark.filterwarnings("error")
def test_no_epsilon_overflows():
    choose, certifying = normals(12, 12, 2.0, 3), normals(40, 40, 2.0, 4)
    for claim in (None, (800.0, 1e-5)):
        one = certify_few(choose, certifying, np.array([0.0, 800.0]), ALPHA, claim, fresh=choose)
        assert one.low[1] == one.delta[1] == 0.0
        assert one.low[0] > 0.2
