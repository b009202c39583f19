"""The band itself: shape, monotonicity, agreement with the truth."""

import numpy as np
import pytest

from dpaudit.certify import FOCUS, CandidateSets, SortedScores, certify, choose_sets
from dpaudit.exact import gaussian_shift
from reports.make.band.score_laws import SCORE_LAWS, SimulatedCounts
from tests.sparse import one_in


def estimate(choose, test, *settings, **options):
    """Estimate and band from scores of the (P, Q) draws that choose and that certify."""
    chosen, certifying = SortedScores.of(*choose), SortedScores.of(*test)
    return certify(chosen, certifying, *settings, fresh=chosen, **options)


GRID = np.linspace(0.0, 3.0, 61)


def scores(size: int, seed: int, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(size) + mu / 2, rng.standard_normal(size) - mu / 2


def test_low_is_below_the_truth_and_near_it():
    """One audit at level 1 − 1e-6, so it exceeds the truth by chance once in a million.

    Its statements share 1e-6, the least of them 1e-9, hence 6 standard errors of at most 0.00183
    where δ > 0.1; 2.6 more for the draws' own chance, 0.002 for the tangents.
    """
    found = estimate(scores(50_000, 1), scores(200_000, 2), GRID, 1e-6)
    truth = gaussian_shift(1.0, GRID)
    assert np.all(found.low <= truth)
    large = truth > 0.1
    assert np.all(truth[large] - found.low[large] < 8.6 * 0.00183 + 0.002)


@pytest.mark.parametrize("mu", [0.5, 8.0])
def test_no_point_estimate_is_below_what_is_certified(mu):
    """Where nearly all of one law is impossible under the other, sets for other ε may show more."""
    found = estimate(scores(300, 3, mu), scores(3_000, 4, mu), np.linspace(0.0, 60.0, 31), 0.05)
    assert np.all(found.delta >= found.low)
    assert np.all(found.forward.delta >= found.forward.low)


def test_point_estimate_is_close():
    """Counts of 1e6 draws have standard errors below 8e-4 here; the bound is five of them."""
    found = estimate(scores(100_000, 5), scores(1_000_000, 6), GRID, 0.05)
    assert found.delta == pytest.approx(gaussian_shift(1.0, GRID), abs=4e-3)


def test_no_bound_depends_on_the_estimate():
    choose, test = (SortedScores.of(*scores(2_000, seed)) for seed in (3, 4))
    plain, more = certify(choose, test, GRID, 0.05), certify(choose, test, GRID, 0.05, fresh=choose)
    np.testing.assert_array_equal(plain.low, more.low)
    np.testing.assert_array_equal(plain.delta, plain.low)  # without fresh draws
    assert np.all(np.diff(more.low) <= 0.0)


def test_directions_swap_with_the_sides():
    choose, test = scores(2_000, 9), scores(10_000, 10)
    there = estimate(choose, test, GRID, 0.05)
    back = estimate((-choose[1], -choose[0]), (-test[1], -test[0]), GRID, 0.05)
    for one, other in (
        (there.forward, back.backward),
        (there.backward, back.forward),
        (there, back),
    ):
        # sets that tie are ranked by their order
        np.testing.assert_allclose(one.low, other.low, atol=0.004)


def atoms(rng: np.random.Generator, size: int, share: float) -> np.ndarray:
    """Draws of a law that is 1 with probability `share`, and else 0."""
    return np.where(rng.random(size) < share, 1.0, 0.0)


def test_atoms_with_infinite_loss_are_certified_at_every_epsilon():
    """P takes a value with probability 0.3 and Q never: δ(ε) ≥ 0.3 for all ε; level 1 − 1e-6."""
    rng = np.random.default_rng(12)

    found = estimate(
        (atoms(rng, 2_000, 0.3), atoms(rng, 2_000, 0.0)),
        (atoms(rng, 20_000, 0.3), atoms(rng, 20_000, 0.0)),
        GRID,
        1e-6,
    )
    assert np.all(found.low <= 0.3)
    assert found.low[0] > 0.27
    assert found.low[-1] > 0.25


@pytest.mark.parametrize("keep", [(), (0.7,), (0.7, 6.0)])
@pytest.mark.parametrize("size", [10, 2_000])
@pytest.mark.parametrize("focus", FOCUS)
def test_shares_sum_to_the_error_and_none_is_nothing(keep, size, focus):
    sets = CandidateSets.of(SortedScores.of(*scores(size, 15)), GRID, 5 * size, 0.05)
    shares = [one.share for one in choose_sets(sets, keep, focus)]
    assert sum(shares) == pytest.approx(0.05)
    assert min(shares) > 0.05 / (1000 if focus == "spectrum" else 2000)


def test_a_claims_own_epsilon_gets_a_larger_share():
    choose, test = scores(10_000, 16), scores(50_000, 17)
    plain, kept = (
        estimate(choose, test, np.append(GRID, 3.1), 0.05, keep) for keep in ((), (1.5,))
    )
    assert kept.share[30] == pytest.approx(0.2 * 0.05)
    assert plain.share[30] < 0.2 * 0.05
    assert kept.low[30] >= plain.low[30]


ORACLE = {
    "T1": (0.3801, 0.2356, 0.1241, 0.0183),
    "T2": (0.1917, 0.0664, 0.0174),
    "T3": (0.3300, 0.1961, 0.1034, 0.0202),
}


@pytest.mark.parametrize("name", one_in(2, ORACLE))
@pytest.mark.parametrize(
    "grid", [np.linspace(0.0, 4.0, 41), np.array([0.0, 0.5, 1.0, 2.0])], ids=["41", "4"]
)
def test_simultaneity_costs_next_to_nothing_against_a_pointwise_oracle(name, grid):
    """Counts are at their means, so chance enters only in the choice of sets.

    The band keeps 0.98 of the oracle from 0.1 on, and 0.92 from 0.01.
    """
    (task,) = (task for task in SCORE_LAWS if task.name == name)

    class Means(SimulatedCounts):
        def _counts(self, tail):
            return np.round(self.size * tail).astype(int)

    rng = np.random.default_rng(20)
    found = certify(
        SortedScores.of(*task.sides(rng, 100_000)), Means(task, 500_000, rng), grid, 0.05
    )
    oracle = np.array(ORACLE[name])
    share = found.certified.delta_at(np.array([0.0, 0.5, 1.0, 2.0]))[: len(oracle)] / oracle
    assert np.all(share >= np.where(oracle >= 0.1, 0.98, 0.92))


def test_infinite_and_constant_scores_and_a_handful_of_draws():
    few = np.array([np.inf] * 5 + [0.0] * 5)
    for choose, test in (((few, -few), (few, -few)), ((np.zeros(10),) * 2, (np.zeros(50),) * 2)):
        found = estimate(choose, test, np.array([0.0, 1.0, 100.0, 500.0]), 0.05, (500.0,))
        assert np.all((found.low >= 0.0) & (found.low <= 1.0))
        assert found.low[-1] == 0.0
