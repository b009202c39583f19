"""The sets of few draws and their band."""

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.few import SmoothTails, _aims, certify_few, few_split
from dpaudit.certify.scores import HIGHEST, SortedScores
from dpaudit.curves.gaussian_shift import shift_delta
from dpaudit.errors import InvalidInput
from dpaudit.scoring import Sides, scores
from dpaudit.scoring.few.cross_validated import fit_few

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
    tails = SmoothTails.of(normals(12, 12, 2.0, 0), (40, 60))
    aims = _aims(tails, first, ALPHA, asked.get("claim"), asked.get("focus", "spectrum"))
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


def test_more_draws_of_one_side_certify_more():
    medians = [np.median([found(30, m, seed=seed).low[0] for seed in range(6)]) for m in (30, 600)]
    assert medians[1] > medians[0] + 0.02


@pytest.mark.slow  # 0.3 CPU seconds
def test_a_claim_is_refuted_more_often_by_a_set_of_its_own():
    """δ(1) = 0.32 where 0.1 is claimed; 64 draws a side certify."""
    refuted = [
        sum(found(64, 64, 1.5, seed, **asked).low[2] > 0.1 for seed in range(12))
        for asked in ({}, {"claim": (1.0, 0.1)})
    ]
    assert refuted[1] > refuted[0] > 0


@pytest.mark.slow  # 0.2 CPU seconds
def test_the_focus_pure_certifies_a_larger_epsilon():
    plain, pure = (
        np.median(
            [found(80, 80, seed=seed, focus=one).certified.epsilon_at(0.0) for seed in range(6)]
        )
        for one in ("spectrum", "pure")
    )
    assert pure > plain + 0.05


def test_infinite_and_equal_scores_are_certified_as_they_are():
    choose = SortedScores.of(np.array([np.inf, *np.zeros(9)]), np.zeros(10))
    certifying = SortedScores.of(np.r_[np.full(40, np.inf), np.zeros(60)], np.zeros(100))
    one = certify_few(choose, certifying, EPSILON, ALPHA)
    assert SmoothTails.of(choose, (100, 100)).threshold == pytest.approx(0.5 * HIGHEST)
    assert 0.2 < one.low[0] < 0.4
    same = SortedScores.of(np.zeros(10), np.zeros(10))
    assert np.all(certify_few(same, same, EPSILON, ALPHA).low == 0.0)


def test_the_cells_hold_every_certifying_draw():
    one = found(33, 57)
    assert isinstance(one.cells, ScoreCells)
    assert one.cells.sizes == (33, 57)
    assert one.draws == 33


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


GRID = np.append(np.linspace(0.0, 6.0, 31), np.log(3.0))


def normal_pair(mu):
    """Draws of N(μ, 1) against N(0, 1), and δ on GRID."""

    def draw(rng, n, m):
        return rng.normal(mu, 1.0, (n, 1)), rng.normal(0.0, 1.0, (m, 1))

    return draw, shift_delta(mu, GRID)


def randomised_response():
    """An answer kept with probability ¾: one set attains δ = ¾ − ¼e^ε at every ε up to ln 3."""

    def draw(rng, n, m):
        return tuple(
            (rng.random((size, 1)) < p).astype(float) for size, p in ((n, 0.75), (m, 0.25))
        )

    return draw, np.maximum(0.75 - 0.25 * np.exp(GRID), 0.0)


def violations(audits, pair, n, m, fitted):
    """How many of so many audits certify more than the truth at any ε."""
    rng = np.random.default_rng([n, m, fitted])
    (draw, truth), above = pair, 0
    for _ in range(audits):
        P, Q = draw(rng, n, m)
        first = few_split(min(n, m), 1, trained=fitted)
        past = first.train + first.choose
        score = fit_few(Sides(P[:past], Q[:past])).score if fitted else (lambda x: x[:, 0])
        choose, certifying = (
            SortedScores.of(*scores(score, Sides(P[part], Q[part])))
            for part in (slice(past), slice(past, None))
        )
        certified = certify_few(choose, certifying, EPSILON, ALPHA).certified
        above += bool(np.any(certified.delta_at(GRID) > truth + 1e-12))
    return above


@pytest.mark.slow  # 80 CPU seconds
@pytest.mark.parametrize(
    "pair", [normal_pair(0.0), normal_pair(1.0), normal_pair(3.0), randomised_response()]
)
@pytest.mark.parametrize(("n", "m"), [(20, 20), (50, 50), (40, 300), (300, 300)])
def test_with_a_known_score_at_most_five_percent_of_audits_exceed_the_truth(n, m, pair):
    assert violations(500, pair, n, m, False) <= binom.isf(1e-3, 500, ALPHA)


@pytest.mark.slow  # half a minute
@pytest.mark.parametrize(
    ("n", "pair"),
    [(20, normal_pair(0.0)), (50, randomised_response()), (50, normal_pair(2.0)),
     (300, normal_pair(1.0))],
)  # fmt: skip
def test_with_a_learned_score_at_most_five_percent_of_audits_exceed_the_truth(n, pair):
    assert violations(200, pair, n, n, True) <= binom.isf(1e-3, 200, ALPHA)
