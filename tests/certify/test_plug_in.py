"""The estimate of δ(ε) from fitted laws of cells: its error, its shape, scores of any scale."""

import numpy as np
import pytest

from dpaudit.certify.candidates import CandidateSets
from dpaudit.certify.cells import ScoreCells
from dpaudit.certify.plug_in import fitted_laws
from dpaudit.certify.scores import SortedScores
from dpaudit.exact import gaussian_shift

GRID = np.linspace(0.0, 4.0, 41)


def fitted(scale: float = 1.0):
    """From 30,000 + 70,000 draws a side of N(±1/2, 1), whose log-odds is the draw itself."""
    rng = np.random.default_rng(0)
    choose, certify = (
        SortedScores.of(*(scale * (rng.standard_normal(n) + mean) for mean in (0.5, -0.5)))
        for n in (30_000, 70_000)
    )
    threshold = CandidateSets.of(choose, GRID, 70_000, 0.05).threshold
    return fitted_laws(choose, ScoreCells.of(certify, threshold))


@pytest.mark.parametrize("scale", [1.0, 1e100])
def test_small_deltas_are_estimated_within_the_stated_error(scale):
    """The bounds are the targets at true δ = 0.01, 0.001, 0.0001, as relative errors."""
    epsilon = np.array([2.32, 3.14, 3.8])
    truth = gaussian_shift(1.0, epsilon)
    for way in fitted(scale).delta_at(epsilon):
        assert np.all(np.abs(way / truth - 1.0) <= [0.12, 0.3, 0.7])


def test_the_curve_is_that_of_a_pair_of_laws():
    laws = fitted()
    assert laws.p.sum() == pytest.approx(1.0)
    assert laws.q.sum() == pytest.approx(1.0)
    for way in laws.delta_at(GRID):
        assert np.all((way >= 0.0) & (way <= 1.0))
        slope = np.diff(way) / np.diff(np.exp(GRID))
        assert np.all(slope <= 0.0)
        assert np.all(np.diff(slope) >= -1e-12)
