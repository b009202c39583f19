"""What holds for every algorithm of the papers, on the pair that shows the algorithm's claim."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import PAPERS, REGISTRY
from tests.papers.paper_cases import CASES, SETTINGS
from tests.sparse import one_in

LEVEL, SAMPLES = 0.9999, 4_000
every_algorithm = pytest.mark.parametrize("algorithm", CASES, ids=repr)


def test_all_are_registered_by_name():
    assert all(REGISTRY[name] is cls and name == cls.__name__ for name, cls in PAPERS.items())


@every_algorithm
def test_what_it_says_and_draws(algorithm):
    """It says where it is printed, its pair are neighbours as it claims, and draws are rows that
    differ. That a seed fixes them is tested for every mechanism in tests/mechanisms.
    """
    assert algorithm.paper in (1, 2, 3, 4)
    assert all((algorithm.statement, algorithm.claimed, algorithm.summary))
    assert isinstance(algorithm.claim, dp.Claim)
    assert 0.0 < float(algorithm.claim.delta_at(0.1)) <= 1.0
    pair = algorithm.pair()
    assert pair.relation == algorithm.relation
    assert np.sum(np.any(pair.left != pair.right, axis=1)) == 1
    np.testing.assert_array_equal(pair.left, algorithm.pair().left)
    for data in (pair.left, pair.right):
        draws = algorithm(data, 7, rng=1)
        assert (draws.dtype, draws.ndim, len(draws)) == (np.float64, 2, 7)
        assert np.isfinite(draws).all()
        assert len(np.unique(draws, axis=0)) == 7
        assert not np.array_equal(draws, algorithm(data, 7, rng=2))
        assert algorithm(data, 1, rng=1).shape == (1, draws.shape[1])


@pytest.mark.parametrize("algorithm", one_in(4, CASES), ids=list(map(repr, CASES)))
def test_certified_is_below_exact(algorithm):
    """One audit of each algorithm at level 0.9999.

    One false alarm in 10,000 for each algorithm, and the seed is fixed.
    """
    pair, epsilon = algorithm.pair(), np.array([0.0, 0.2, 0.5, 1.0, 2.0])
    try:
        exact = dp.exact.spectrum(algorithm, pair, epsilon)
    except dp.NoExactSpectrum:
        assert algorithm.unknown
        return
    result = dp.audit(
        algorithm, pair, draws=SAMPLES, epsilon=epsilon, level=LEVEL, classifier="qda", rng=5
    )
    assert np.all((exact.delta >= 0.0) & (exact.delta <= 1.0))
    assert np.all(result.spectrum.low <= exact.delta + 1e-12)


@every_algorithm
def test_a_claim_that_nothing_corrects_holds_on_its_pair(algorithm):
    """Exact where the law is known: corrected variants, and printed ones with no correction."""
    if algorithm.correction and algorithm.variant == "printed":
        return
    epsilon = np.unique([0.0, 0.1, 0.5, SETTINGS["epsilon"], 1.0, 2.0, 4.0])
    try:
        exact = dp.exact.spectrum(algorithm, algorithm.pair(), epsilon)
    except dp.NoExactSpectrum:
        return
    assert np.all(exact.delta <= algorithm.claim.delta_at(epsilon) * (1.0 + 1e-9) + 1e-12)
