"""How often more than the true ε or μ is certified of one run, a tenth of the page's runs.

200 runs of a rate of at most 5 %: more than 24 hits have probability 6e-5 in one case.
"""

import pytest
from scipy.stats import binom

from reports.make.one_run import false

RUNS, MOST = 200, 24


@pytest.mark.slow
@pytest.mark.parametrize("case", false.CASES, ids=lambda case: case.name)
def test_the_true_parameter_is_seldom_refuted(case):
    """About 2 CPU seconds a case."""
    assert binom.sf(MOST, RUNS, 0.05) < 1e-4
    method = "auto" if case.mu is None else "f-dp"
    assert false.refutations(case, 100, method, RUNS) <= MOST
