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
    """Three samples of T1: each is above the truth somewhere in at most 1 of 20.

    All three at once are in 1 of 8,000.
    """
    over = [
        np.any(bands.BANDS[name](*drawn(20_000, seed)) > T1.delta(bands.SHOWN))
        for seed in (1, 2, 3)
    ]
    assert not all(over)


@pytest.mark.slow
def test_joint_inversion_certifies_most():
    """Means over four samples of 20,000, at ε = 0.5 and 1, against three other bands."""
    runs = [drawn(20_000, seed) for seed in range(4, 8)]
    mean = {
        name: np.mean([band(*run) for run in runs], axis=0)[1:3]
        for name, band in bands.BANDS.items()
    }
    ours = mean["(b) weighted joint inversion, 41 ε (the default)"]
    for name in (
        "(c) Clopper–Pearson boxes, the sets of (b)",
        "(d) beta bands of equal local level",
        "(e) DKW",
    ):
        assert np.all(ours > mean[name]), name


def test_the_oracle_is_what_two_clopper_pearson_limits_give():
    """δ less 1.96 (σ_P + e^ε σ_Q) at n = 500,000 is 0.38036, 0.23537, 0.12378, 0.01861."""
    np.testing.assert_allclose(
        bands.oracle(T1, 1_000_000), [0.3804, 0.2354, 0.1238, 0.0186], atol=1e-4
    )


@pytest.mark.slow
def test_cross_fitting_stays_below_the_truth_and_the_page_is_complete():
    """The replication's chance of exceeding the truth is 5 % a band; the seed is fixed."""
    rows = bands.compare(T1, 5_000, 1, seed=4)
    assert len(rows) == len(bands.BANDS) + len(bands.CROSS_FITTED) + 1
    assert all(np.all(row.share < 1.05) for row in rows)
    text = bands.small_table(bands.small_delta((100_000,), 1))
    assert text.count("\n") == 1 + len(bands.SMALL)
    assert text.splitlines()[-1].startswith("| 1e-06 | 4.887 | ")
