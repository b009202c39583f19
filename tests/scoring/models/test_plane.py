"""The directions that a network's gradients span, and what is learned of draws seen in them."""

from itertools import pairwise

import numpy as np
import pytest

from dpaudit._core.seeds import root
from dpaudit.scoring import Sides, log_loss
from dpaudit.scoring.base import zero
from dpaudit.scoring.models.network import Network, active_directions, fit_in_plane


def product(x):
    """The privacy loss of normals of correlation 0.8 in P and −0.8 in Q, columns 0 and 1 alone."""
    return 1.6 / 0.36 * x[:, 0] * x[:, 1]


def correlated(rng, size):
    P, Q = rng.standard_normal((2, size, 5))
    for side, correlation in ((P, 0.8), (Q, -0.8)):
        side[:, 1] = correlation * side[:, 0] + 0.6 * side[:, 1]
    return Sides(P, Q)


def test_gradients_are_those_of_small_steps(rng):
    sizes = (4, 7, 6, 1)
    shapes = pairwise(sizes)
    layers = tuple((rng.standard_normal(shape), rng.standard_normal(shape[1])) for shape in shapes)
    network, x, step = Network(layers), rng.standard_normal((20, 4)), 1e-7
    by_steps = [
        (network(x + step * axis) - network(x - step * axis)) / (2 * step) for axis in np.eye(4)
    ]
    np.testing.assert_allclose(network.gradients(x), np.transpose(by_steps), atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_directions_are_found(rng, count):
    span = np.linalg.qr(rng.standard_normal((8, 8)))[0][:, :count]
    gradients = rng.standard_normal((500, count)) @ span.T + 0.01 * rng.standard_normal((500, 8))
    axes = active_directions(gradients)
    assert axes.shape == (8, count)
    assert np.all(np.linalg.svd(span.T @ axes, compute_uv=False) > 0.999)


def test_many_directions_and_all_of_them_are_not_few(rng):
    assert active_directions(rng.standard_normal((500, 8))) is None
    assert active_directions(rng.standard_normal((500, 2))) is None


def test_the_plane_of_a_score_improves_it_and_a_perfect_score_is_left_alone(rng):
    train, choose = correlated(rng, 1_000), correlated(rng, 500)
    found = fit_in_plane(lambda x: x[:, :2], zero, train, choose, root(1))
    assert log_loss(found, choose) < np.log(2.0) - 0.1
    assert fit_in_plane(lambda x: x[:, :2], product, train, choose, root(1)) is None
