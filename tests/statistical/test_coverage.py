"""The band exceeds the truth at ANY ε in at most 5 % of audits: a claim of coverage, simulated."""

import pytest
from scipy.stats import binom

from dpaudit.certify import ChosenSet
from reports.make.band import coverage
from reports.make.band.coverage import PAIRS, READINGS, exceedances

EVERY = -1e9  # standard errors: no region is left out
ALARM = 1e-6  # chance of a false alarm of one check below, if the true rate is 5 % exactly


def allowed(audits: int) -> int:
    return int(binom.ppf(1.0 - ALARM, audits, 0.05))


def pair(name: str):
    return next(pair for pair in PAIRS if pair.name.startswith(name))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "size"),
    [("null (P = Q), three", 100_000), ("randomised response", 200), ("Laplace", 1_000_000)],
)
def test_band_covers_in_40_audits(name, size):
    """False alarm 1e-6 at a true rate of 5 %; power against a rate of 40 % is 0.96."""
    assert max(exceedances(pair(name), size, 40, seed=5, n_jobs=1)) <= allowed(40)


def test_a_band_at_a_tenth_of_its_confidence_would_be_seen(monkeypatch):
    """Statements at 30 times their shares exceed the truth far too often. They do so in far more
    than the 20 % allowed of 40 audits.
    """

    region = ChosenSet.region

    def careless(self, *counts):
        return region(
            ChosenSet(self.forward, self.threshold, self.epsilon, min(30.0 * self.share, 0.9)),
            *counts,
        )

    monkeypatch.setattr(ChosenSet, "region", careless)
    monkeypatch.setattr(coverage._band, "__defaults__", (EVERY,))
    assert exceedances(pair("null (P = Q), three"), 5_000, 40, seed=5, n_jobs=1)[0] > allowed(40)


@pytest.mark.parametrize("audits", [10, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "size"), [("Gaussian shift, rounded", 100_000), ("null (P = Q), three", 200)]
)
def test_regions_left_out_change_nothing(name, size, audits, monkeypatch):
    """Regions that cannot miss the truth are not computed; with them the same audits exceed it."""
    quick = exceedances(pair(name), size, audits, seed=7, n_jobs=1)
    monkeypatch.setattr(coverage._band, "__defaults__", (EVERY,))
    assert quick.tolist() == exceedances(pair(name), size, audits, seed=7, n_jobs=1).tolist()


CELLS = [  # the rest of the table is `python -m reports.make coverage`
    ("Gaussian shift, true", 200),
    ("Gaussian shift, folded", 200),
    ("randomised", 200),
    ("rare in Q", 200),
    ("null (P = Q)", 200),
    ("null (P = Q), three", 200),
    ("sketch", 5_000),
    ("Laplace", 100_000),
    ("Gaussian shift, true", 1_000_000),
    ("rare in Q", 1_000_000),
    ("null (P = Q), three", 1_000_000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), CELLS)
def test_band_covers_in_2000_audits(name, size):
    """Every reading; false alarm 1e-6 at a true rate of 5 %; power 0.95 at a rate of 8 %."""
    found = dict(zip(READINGS, exceedances(pair(name), size, 2000, seed=2026), strict=True))
    assert max(found.values()) <= allowed(2000), found
