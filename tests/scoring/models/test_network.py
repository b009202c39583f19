"""Networks learn smooth interactions, reproducibly, and take part only where trees found some."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import scoring
from dpaudit.scoring import KnownScore, Sides, log_loss
from dpaudit.scoring.models import network
from tests.scoring.gaussian_task import draws


def zero(x):
    return np.zeros(len(x))


def correlated(rng, size, columns=2):
    """Normals; the first two have correlation 0.8 in P and −0.8 in Q: log dP/dQ is 1.6·xy/0.36."""
    P, Q = rng.standard_normal((2, size, columns))
    for side, correlation in ((P, 0.8), (Q, -0.8)):
        side[:, 1] = correlation * side[:, 0] + 0.6 * side[:, 1]
    return Sides(P, Q)


def product(x):
    """The privacy loss of normals of correlation 0.8 in P and −0.8 in Q, columns 0 and 1 alone."""
    return 1.6 / 0.36 * x[:, 0] * x[:, 1]


def modes(rng, size, count):
    """Normal modes on a circle in two of ten rotated columns."""
    turn = 2.0 * np.pi * rng.integers(count, size=size) / count
    x = rng.standard_normal((size, 10))
    x[:, :2] = 0.4 * x[:, :2] + 2.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    return x @ ROTATION.T


def density(x, count):
    """Of `modes` in their plane, but for a factor that does not depend on `count`."""
    turn = 2.0 * np.pi * np.arange(count) / count
    centre = 2.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    plane = (x @ ROTATION)[:, None, :2]
    return np.exp(-0.5 * np.sum((plane - centre) ** 2, axis=2) / 0.16).mean(axis=1)


ROTATION = np.linalg.qr(np.random.default_rng(9).standard_normal((10, 10)))[0]


@pytest.mark.quick
def test_a_network_learns_a_product_of_columns_the_same_way_twice(rng, monkeypatch):
    monkeypatch.setattr("dpaudit.scoring.constants.PASSES", 8)
    monkeypatch.setattr("dpaudit.scoring.constants.NETWORKS", 2)
    train, choose = correlated(rng, 2_000), correlated(rng, 1_000)
    one, two = (
        network.fit_network(train, choose, np.random.SeedSequence(1), zero, zero) for _ in range(2)
    )
    least = log_loss(product, choose)
    assert least < 0.45
    assert log_loss(one, choose) < least + 0.05
    np.testing.assert_array_equal(one(choose.P), two(choose.P))
    np.testing.assert_allclose(one(choose.P[:1]), one(choose.P)[:1], rtol=1e-9)


@pytest.mark.quick
def test_far_outliers_have_finite_scores(rng, monkeypatch):
    monkeypatch.setattr("dpaudit.scoring.constants.PASSES", 1)
    train = correlated(rng, 500)
    score = network.fit_network(train, train, np.random.SeedSequence(1), zero, zero)
    assert np.isfinite(score(np.array([[1e300, 0.0], [0.0, -1e300]]))).all()


@pytest.mark.quick
def test_no_network_and_no_distance_takes_part_where_a_closed_form_is_enough():
    P, Q = draws(3_000)
    train, choose = Sides(P[:2_000], Q[:2_000]), Sides(P[2_000:], Q[2_000:])
    names = scoring.fit("auto", train, choose, np.random.SeedSequence(1)).portfolio
    assert not any("network" in name or "distance" in name for name in names)


@pytest.mark.slow
def test_auto_certifies_modes_on_a_circle_nearly_as_the_true_loss_does():
    """About 20 s CPU. Shares, medians of 5 other seeds, .98 .98 .96; trees alone .77 .63 .48."""
    rng = np.random.default_rng(1)
    P, Q = modes(rng, 100_000, 6), modes(rng, 100_000, 7)
    epsilon = [0.0, 0.5, 1.0]
    auto = dp.audit_samples(P, Q, epsilon=epsilon, rng=1)
    assert auto.fitted.name.startswith("network from ")
    truth = KnownScore(lambda x: np.log(density(x, 6)) - np.log(density(x, 7)))
    same = dp.audit_samples(P, Q, epsilon=epsilon, classifier=truth, train_share=0.4, rng=1)
    assert np.all(
        auto.spectrum.low > [0.93 * same.spectrum.low[0], *(0.88 * same.spectrum.low[1:])]
    )


def test_the_plane_of_a_score_improves_it_and_a_perfect_score_is_left_alone(rng):
    train, choose = correlated(rng, 1_000, 5), correlated(rng, 500, 5)
    found = network.fit_in_plane(lambda x: x[:, :2], zero, train, choose, np.random.SeedSequence(1))
    assert log_loss(found, choose) < np.log(2.0) - 0.1
    assert (
        network.fit_in_plane(lambda x: x[:, :2], product, train, choose, np.random.SeedSequence(1))
        is None
    )
