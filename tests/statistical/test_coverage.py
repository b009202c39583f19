"""The band exceeds the truth at ANY ε in at most 5 % of audits: a claim of coverage, simulated."""

import pytest
from scipy.stats import binom

from dpaudit.bench.coverage import PAIRS, exceedances

ALARM = 1e-6  # chance of a false alarm of one check below, if the true rate is 5 % exactly


def allowed(audits: int) -> int:
    return int(binom.ppf(1.0 - ALARM, audits, 0.05))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_band_covers_in_100_audits(pair):
    """False alarm 1e-6 at a true rate of 5 %; power against a rate of 25 % is 0.98."""
    assert exceedances(pair, 500, 100, seed=5, n_jobs=1) <= allowed(100)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_band_covers_in_2000_small_audits(pair):
    """200 draws a side certify; false alarm 1e-6 at a true rate of 5 %; power against a rate of 8 % is 0.95."""
    assert exceedances(pair, 200, 2000, seed=2026) <= allowed(2000)


LARGER = [
    ("Gaussian shift, true score", 5_000),
    ("sketch r = 3, q = 0.5", 5_000),
    ("null (P = Q)", 5_000),
    ("Gaussian shift, true score", 100_000),
    ("null (P = Q)", 100_000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), LARGER)
def test_band_covers_in_2000_larger_audits(name, size):
    """False alarm 1e-6 at a true rate of 5 %; power against a rate of 8 % is 0.95."""
    (pair,) = (pair for pair in PAIRS if pair.name == name)
    assert exceedances(pair, size, 2000, seed=2026) <= allowed(2000)
