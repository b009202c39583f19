"""The estimate of δ(ε) from counts in cells: its error, its shape, its two directions."""

from dataclasses import replace

import numpy as np
import pytest

from dpaudit.certify import (
    CandidateSets,
    CellCounts,
    ScoreCells,
    SortedScores,
    estimated,
    mean_scores,
)
from dpaudit.exact import gaussian_shift

GRID = np.linspace(0.0, 4.0, 41)
FLAT = np.array([0.8, 0.2])  # P's probabilities of two values; Q's are the reverse


def counted(*draws: tuple[np.ndarray, np.ndarray]) -> CellCounts:
    """From (P, Q) scores of the choosing and of the certifying draws."""
    choose, certify = (SortedScores.of(*one) for one in draws)
    threshold = CandidateSets.of(choose, GRID, min(certify.sizes), 0.05).threshold
    fresh, cells = ScoreCells.of(choose, threshold), ScoreCells.of(certify, threshold)
    return CellCounts.of(mean_scores(choose, threshold), fresh, cells)


def normal(seed: int, scale: float = 1.0, mu: float = 1.0, spread: float = 1.0) -> CellCounts:
    """10,000 + 70,000 draws a side of N(μ/2, 1) and N(−μ/2, spread²)."""
    rng = np.random.default_rng(seed)
    return counted(
        *(
            (
                scale * (rng.standard_normal(n) + mu / 2),
                scale * (spread * rng.standard_normal(n) - mu / 2),
            )
            for n in (10_000, 70_000)
        )
    )


def two_values(seed: int, noise: float) -> CellCounts:
    """5,000 + 15,000 draws a side of a loss of ±ln 4, of which the score is a noisy version."""
    rng = np.random.default_rng(seed)

    def side(size: int, share: float) -> np.ndarray:
        loss = np.where(rng.random(size) < share, 1.0, -1.0) * np.log(4.0)
        return loss + noise * rng.standard_normal(size)

    return counted(*((side(n, FLAT[0]), side(n, FLAT[1])) for n in (5_000, 15_000)))


@pytest.mark.parametrize("scale", [1.0, 1e100])
def test_small_deltas_are_estimated_within_the_stated_error(scale):
    """Medians over five samples. The bounds are the targets at true δ = 0.01, 0.001, 0.0001, as
    relative errors.
    """
    epsilon = np.array([2.32, 3.14, 3.8])
    truth = gaussian_shift(1.0, epsilon)
    found = np.array([estimated(normal(seed, scale), epsilon) for seed in range(5)])
    assert np.all(np.median(np.abs(found / truth - 1.0), axis=0) <= [0.12, 0.3, 0.7])


@pytest.mark.parametrize("cells", [normal(1), normal(2, spread=1.2), two_values(3, 0.1)])
def test_the_curves_are_non_increasing_and_convex(cells):
    for way in estimated(cells, GRID):
        assert np.all((way >= 0.0) & (way <= 1.0))
        slope = np.diff(way) / np.diff(np.exp(GRID))
        assert np.all(slope <= 0.0)
        assert np.all(np.diff(slope) >= -1e-12)


def test_the_directions_swap_with_the_sides():
    cells = normal(4, spread=1.2)
    mirrored = CellCounts(cells.q[::-1], cells.p[::-1], -cells.score[::-1], -cells.offset)
    there, back = estimated(cells, GRID), estimated(mirrored, GRID)
    np.testing.assert_allclose(there, back[::-1], atol=1e-4)


def test_directions_that_counts_cannot_tell_apart_have_one_estimate_and_others_two():
    same, other = estimated(normal(1), GRID), estimated(normal(2, spread=1.2), GRID)
    np.testing.assert_allclose(*same, atol=1e-3)
    assert np.max(np.abs(other[0] - other[1])) > 0.01


@pytest.mark.parametrize("size", [1, 3, 20])
def test_a_few_draws_and_huge_epsilon_give_shares(size):
    ones = np.ones(size)
    for draws in ((ones, -ones), (ones, ones), (np.inf * ones, 0.0 * ones)):
        for way in estimated(counted(draws, draws), np.array([0.0, 1.0, 500.0])):
            assert np.all((way >= 0.0) & (way <= 1.0))


@pytest.mark.parametrize("bent", [False, True])
def test_a_closed_form_keeps_its_far_end_where_it_is_right_and_loses_it_where_it_bends(bent):
    """Flattened scores say less at ε = 3.8, where δ = 1e-4. A bend: the law is another."""
    cells = normal(6)
    score = cells.score + np.sign(cells.score) * 0.1 * cells.score**2 if bent else cells.score
    closed, other = (
        estimated(replace(cells, score=score, closed=one), np.array([3.8]))[0][0]
        for one in (True, False)
    )
    assert (closed > 1.1 * other) != bent
