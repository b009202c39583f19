"""The bands to which the package's own is compared: valid, and less tight where theory says so."""

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.certify import SortedScores
from reports.make.band import bands, rival_bands
from reports.make.band.score_laws import T1


def drawn(size: int, seed: int) -> tuple[SortedScores, SortedScores]:
    rng = np.random.default_rng(seed)
    return SortedScores.of(*T1.sides(rng, size // 5)), SortedScores.of(*T1.sides(rng, size))


@pytest.mark.parametrize("kind", ["beta", "Berk–Jones"])
def test_order_statistic_bands_cover_a_uniform_cdf(kind):
    """200 samples of 300; false alarm 1e-6 at the nominal 2.5 %, and not needlessly wide."""
    rng, (low, high) = np.random.default_rng(1), rival_bands.limits(300, kind)
    samples = np.sort(rng.random((200, 300)), axis=1)[:, rival_bands.ranks(300) - 1]
    wrong = np.sum(np.any((samples < low) | (samples > high), axis=1))
    assert wrong <= binom.ppf(1.0 - 1e-6, 200, 0.025)
    assert np.all(low < high)
    assert (
        np.any(
            (samples < low + 0.2 * (high - low)) | (samples > high - 0.2 * (high - low)), axis=1
        ).mean()
        > 0.3
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", list(bands.BANDS))
def test_every_band_is_below_the_truth(name):
    """Three samples of T1: each is above the truth somewhere in at most 1 of 20. All three at once
    are in 1 of 8,000.
    """
    over = [
        np.any(bands.BANDS[name](*drawn(20_000, seed)) > T1.delta(bands.SHOWN))
        for seed in (1, 2, 3)
    ]
    assert not all(over)


def test_the_oracle_is_what_two_clopper_pearson_limits_give():
    """δ less 1.96 (σ_P + e^ε σ_Q) at n = 500,000 is 0.38036, 0.23537, 0.12378, 0.01861."""
    np.testing.assert_allclose(
        bands.oracle(T1, 1_000_000), [0.3804, 0.2354, 0.1238, 0.0186], atol=1e-4
    )
