"""Audits of few draws certify more than is true in at most 5 % of cases, simulated."""

import pytest
from scipy.stats import binom

from dpaudit.certify import ChosenSet
from reports.make.band.few_coverage import SIZES, WAYS, exceeding

ALARM = 1e-3  # chance of a false alarm of one check below, if the true rate is 5 % exactly


def allowed(audits):
    return binom.isf(ALARM, audits, 0.05)


# every other size of each way
CELLS = [(way, *SIZES[place]) for at, way in enumerate(WAYS) for place in range(at % 2, 5, 2)]


@pytest.mark.slow  # 1.5 to 10 CPU seconds each
@pytest.mark.parametrize(("way", "n", "m"), CELLS)
def test_few_draws_certify_more_than_is_true_in_at_most_five_percent_of_audits(way, n, m):
    """Half of the cells of reports/few.md with a tenth of their audits. A rate of 12 % would be
    seen with probability 0.7.
    """
    assert exceeding(way, n, m, 200) <= allowed(200)


@pytest.mark.slow  # a second
def test_sets_at_thirty_times_their_shares_would_be_seen(monkeypatch):
    region = ChosenSet.region

    def careless(self, *counts):
        share = min(30.0 * self.share, 0.9)
        return region(ChosenSet(self.forward, self.threshold, self.epsilon, share), *counts)

    monkeypatch.setattr(ChosenSet, "region", careless)
    assert exceeding(WAYS[1], 50, 50, 60) > allowed(60)
