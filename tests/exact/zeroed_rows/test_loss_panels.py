"""Panels of a monotone loss: halved where Gauss's rule does not resolve them, else refused."""

import numpy as np
import pytest

from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import StudentCurve, als
from dpaudit.exact.numerics import monotone_loss

pytestmark = pytest.mark.quick


def fine(direction, epsilon):
    """δ on 60 panels of the part of the range where the loss exceeds ε."""
    edges = np.linspace(direction.thresholds(np.array([epsilon]))[0], 0.0, 61)
    half = 0.5 * np.diff(edges)[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    x = edges[:-1, None] + half + half * nodes
    density = np.exp(direction.log_density(x.ravel())).reshape(x.shape)
    return np.sum(half * weights * density * -np.expm1(np.minimum(epsilon - direction.loss(x), 0)))


@pytest.mark.parametrize(
    ("numbers", "share"),
    [
        ((0.11368245050647413, 0.45722373058722804, 40, 41), 0.99993),
        ((0.9322468490112525, 0.5407942821215393, 40, 42), 0.9999),
        ((0.6308812290904762, 0.08428604987447251, 40, 44), 0.9999),
    ],
)
def test_near_the_largest_loss_a_value_is_the_same_alone_and_on_a_grid(numbers, share):
    """At many features the density falls there as a high power: 2e-5 were lost."""
    backward = StudentCurve(*numbers)._directions[1]
    epsilon = share * backward.top
    reference = fine(backward, epsilon)
    assert 0.0 < reference < 1e-60
    for grid in ([epsilon], np.linspace(0.0, epsilon, 40), [0.3 * epsilon, epsilon]):
        assert als(*numbers, grid)[1][-1] == pytest.approx(reference, rel=1e-9)


def test_a_density_that_no_panel_resolves_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(NoExactSpectrum, match="too rough"):
        monotone_loss.hockey_stick(
            lambda x: rng.normal(size=x.shape),
            lambda x: x,
            np.array([0.1]),
            np.array([0.1]),
            width=0.1,
            end=1.0,
        )
