"""The bounds by which replacements are left out: none lies below the exact δ, and they grow."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.exact import ReplacedWishartCurve
from dpaudit.exact import replaced_wishart as wishart
from dpaudit.exact.replaced_student import Replaced
from dpaudit.mechanisms import ALS, AdditiveWishart
from tests.cases import database
from tests.sparse import one_in

EPSILON = np.array([0.0, 0.05, 0.3, 1.0, 4.0])


def replaced(rows, features, seed, spread):
    """All pairs of a database and of candidates that differ from its rows by about `spread`."""
    data = database(features + 6, features, seed)
    candidates = data[:5] + spread * np.random.default_rng(seed).standard_normal((5, features + 1))
    family = ALS(rows).replaced_rows(data, candidates)
    pairs = Replaced.of(family, np.arange(len(family.up)))
    return pairs, pairs.reversed()


@pytest.mark.parametrize(
    ("spread", "rows", "features"),
    one_in(
        2,
        [
            (spread, *size)
            for size in ((2, 1), (6, 1), (4, 3), (12, 3), (400, 2))
            for spread in (1e-3, 0.1, 3.0)
        ],
    ),
)
def test_no_bound_of_a_replaced_row_of_als_is_below_its_spectrum(rows, features, spread):
    for pairs in replaced(rows, features, 7, spread):
        count = len(pairs.up)
        for place, epsilon in enumerate(EPSILON):
            exact = pairs.delta(np.full(count, epsilon))
            assert np.all(exact <= pairs.bound(EPSILON)[:, place] * (1.0 + 1e-9) + 1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_beside_wishart_noise_is_not_below_the_spectrum(seed):
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(2, 9))
    dof = dim + [0, 1, 2, 3, 20, 500][seed % 6]
    up, down = 10.0 ** rng.uniform(-2.0, 1.2, 2)
    exact = ReplacedWishartCurve(up, down, dof, dim).delta(EPSILON)
    for own, (one, other) in zip(exact, ((up, down), (down, up)), strict=True):
        found = wishart.bound(np.array([one]), np.array([other]), dof - dim + 1, EPSILON)[0]
        assert np.all(own <= found * (1.0 + 1e-6) + 1e-30)


def test_the_closer_bound_beside_the_least_noise_is_not_below_the_spectrum():
    epsilon = np.append(EPSILON, [20.0, 60.0])
    up, down = 10.0 ** np.random.default_rng(0).uniform(-6.0, 2.5, (2, 60))
    found = wishart.least_noise_bound(up, down, epsilon)
    exact = [
        ReplacedWishartCurve(*pair, 2, 2).delta(epsilon)[0] for pair in zip(up, down, strict=True)
    ]
    assert np.all(np.array(exact) <= found * (1.0 + 1e-9))


def test_beside_the_least_noise_few_of_many_pairs_are_computed(monkeypatch):
    """Of these 1,200 pairs 495 were, by the bound that grows with both eigenvalues alone."""
    rng, computed = np.random.default_rng(1), []
    curve = wishart.replaced_curve
    monkeypatch.setattr(
        wishart, "replaced_curve", lambda *pair: computed.append(pair) or curve(*pair)
    )
    data, candidates = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    dp.exact.worst_case(
        AdditiveWishart(3, 3.0), data, EPSILON, relation="replace", candidates=candidates
    )
    assert 0 < len(computed) < 150


@pytest.mark.parametrize("freedom", [1, 3, 300])
def test_the_bound_beside_wishart_noise_grows_with_both_eigenvalues(freedom):
    size = np.concatenate([[0.0], np.geomspace(1e-4, 20.0, 12)])
    up, down = (part.ravel() for part in np.meshgrid(size, size, indexing="ij"))
    found = wishart.bound(up, down, freedom, EPSILON).reshape(13, 13, -1)
    for axis in (0, 1):
        less, more = np.delete(found, -1, axis=axis), np.delete(found, 0, axis=axis)
        assert np.all(less <= more * (1.0 + 1e-6) + 1e-8)
