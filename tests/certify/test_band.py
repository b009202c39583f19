"""What is read off a band: every reading is implied by the regions, on the safe side, at any ε."""

import numpy as np
import pytest

from dpaudit.certify import Certificate, Region, SortedScores, certify
from dpaudit.errors import InvalidInput
from dpaudit.exact import gaussian_shift

pytestmark = pytest.mark.quick


def certificate(*corners: tuple[list[float], list[float]]) -> Certificate:
    """From (q, p) polygons, alternating directions."""
    regions = [Region(np.array(q), np.array(p)) for q, p in corners]
    return Certificate.of(regions, [i % 2 == 0 for i in range(len(regions))], 0.95)


BAND = certificate(
    ([0.1, 0.2], [0.4, 0.55]), ([0.01, 0.02, 0.03], [0.2, 0.21, 0.23]), ([0.0], [0.001])
)


def brute(epsilon: np.ndarray) -> np.ndarray:
    edges = [([0.1, 0.2], [0.4, 0.55]), ([0.01, 0.02, 0.03], [0.2, 0.21, 0.23]), ([0.0], [0.001])]
    gamma = np.exp(epsilon)[:, None]
    return np.maximum(
        0.0, np.max([np.min(np.array(p) - gamma * np.array(q), axis=1) for q, p in edges], axis=0)
    )


def test_delta_is_the_largest_of_the_regions_least():
    epsilon = np.linspace(0.0, 9.0, 200)
    np.testing.assert_allclose(BAND.delta_at(epsilon), brute(epsilon), atol=1e-15)
    assert float(BAND.delta_at(1.0)) == pytest.approx(float(brute(np.array([1.0]))[0]))
    assert np.all(np.diff(BAND.delta_at(epsilon)) <= 0.0)


@pytest.mark.parametrize("delta", [0.0, 1e-4, 0.05, 0.25])
def test_epsilon_is_where_the_band_crosses_delta(delta):
    band = certificate(([0.1, 0.2], [0.4, 0.55]), ([0.01, 0.02, 0.03], [0.2, 0.21, 0.23]))
    epsilon = float(band.epsilon_at(delta))
    assert float(band.delta_at(epsilon - 1e-9)) > delta
    assert float(band.delta_at(epsilon + 1e-9)) <= delta
    assert float(band.epsilon_at(0.9)) == 0.0


def test_a_set_that_q_never_takes_refutes_every_epsilon():
    assert float(BAND.epsilon_at(0.0)) == np.inf
    assert np.isfinite(BAND.epsilon_at(0.001))
    assert float(BAND.delta_at(1e6)) == pytest.approx(0.001)


def test_tradeoff_is_the_supremum_over_epsilon_and_above_that_of_a_finer_search():
    """0 at α = 1, at most 1 − α, and never below what any ε of a dense grid gives."""
    alpha, epsilon = np.linspace(0.0, 1.0, 41), np.linspace(0.0, 8.0, 20_001)
    kept = 1.0 - brute(epsilon)
    dense = np.maximum(
        kept - np.exp(epsilon) * alpha[:, None], np.exp(-epsilon) * (kept - alpha[:, None])
    ).max(axis=1)
    found = BAND.tradeoff(alpha)
    assert np.all(found >= np.clip(dense, 0.0, 1.0 - alpha) - 1e-12)
    np.testing.assert_allclose(found, np.clip(dense, 0.0, 1.0 - alpha), atol=1e-3)
    assert np.all(np.diff(found) <= 1e-12)
    assert float(BAND.tradeoff(0.1)) == pytest.approx(found[4])


def test_mu_is_touched_and_not_passed():
    epsilon = np.linspace(0.0, 4.0, 400)
    band = certificate(([0.1, 0.2], [0.4, 0.55]), ([0.01, 0.02, 0.03], [0.2, 0.21, 0.23]))
    assert np.all(band.delta_at(epsilon) <= gaussian_shift(band.gdp_mu, epsilon) * 1.01)
    assert np.any(band.delta_at(epsilon) >= gaussian_shift(band.gdp_mu, epsilon) * 0.99)


def test_nothing_certified():
    empty = Certificate.of([], [], 0.95)
    for band in (empty, certificate(([0.3, 0.4], [0.1, 0.1]))):
        assert float(band.delta_at(0.0)) == 0.0
        assert float(band.epsilon_at(0.0)) == 0.0
        assert band.gdp_mu == 0.0
        np.testing.assert_allclose(band.tradeoff(np.array([0.0, 0.4, 1.0])), [1.0, 0.6, 0.0])


def test_directions_apart_and_what_the_record_holds():
    assert np.all(BAND.direction(True).delta_at([0.0, 3.0]) <= BAND.delta_at([0.0, 3.0]))
    assert float(BAND.direction(False).delta_at(0.0)) == pytest.approx(0.19)
    assert set(BAND.to_dict()) == {"epsilon_at", "gdp_mu", "zcdp_rho", "renyi"}
    assert list(BAND.to_dict()["epsilon_at"]) == ["0", "1e-06", "1e-05", "1e-03"]


def test_delta_must_be_a_probability():
    with pytest.raises(InvalidInput, match="delta must be a number in"):
        BAND.epsilon_at(1.5)


@pytest.mark.filterwarnings("error")
def test_an_epsilon_whose_exponential_overflows_has_a_bound_too():
    rng = np.random.default_rng(21)
    choose, test = (
        SortedScores.of(rng.normal(1.0, size=n), rng.normal(size=n)) for n in (300, 900)
    )
    low = certify(choose, test, np.array([0.0, 1.0, 710.0, 800.0]), 0.05).low
    assert np.all(low[:2] > 0.0)
    np.testing.assert_array_equal(low[2:], 0.0)
    np.testing.assert_array_equal(BAND.delta_at([710.0, 1e6]), 0.001)
