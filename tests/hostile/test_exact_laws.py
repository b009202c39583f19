"""No law is called exact that is not the law of what is audited."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import ZOO

LEAKY = ZOO["FloatLaplace"]


def test_laplace_noise_in_floats_has_no_exact_spectrum():
    """An exact δ(0) of .078 was stated, where δ is .65."""
    pair = LEAKY.pair()
    for state in (
        lambda: dp.exact.spectrum(LEAKY, pair, 0.0),
        lambda: dp.exact.privacy_loss(LEAKY, pair),
        lambda: dp.exact.worst_case(LEAKY, pair.left, 0.0),
    ):
        with pytest.raises(dp.NoExactSpectrum):
            state()
    result = dp.audit(LEAKY, pair, draws=200, claim=LEAKY.claim, rng=1)
    assert result.exact is None
    assert result.to_dict()["exact"] is None


@pytest.mark.parametrize("name", ["Laplace", pytest.param("Gaussian", marks=pytest.mark.slow)])
def test_bits_of_floats_are_not_in_the_law_over_the_real_numbers(name):
    """What an audit of the bits certifies was above the δ that it called exact."""
    mechanism = ZOO[name]
    exact = dp.exact.spectrum(mechanism, mechanism.pair(), 0.0).delta
    result = dp.audit(
        mechanism,
        mechanism.pair(),
        draws=30_000,
        claim=mechanism.claim,
        classifier="lightgbm",
        bits=True,
        rng=1,
    )
    assert result.spectrum.low.max() > exact
    assert result.exact is None
    plain = dp.audit(mechanism, mechanism.pair(), draws=200, claim=mechanism.claim, rng=1)
    assert plain.exact.delta.max() == pytest.approx(float(exact))


def test_a_composition_with_laws_that_share_no_value_gives_the_database_away():
    """Losses of +∞ and −∞ were added up as if they were the same one: an "exact" δ of 0."""
    mechanism = ZOO["CachedNoise"]
    for parts, times in (((mechanism,), (2,)), ((mechanism, ZOO["Laplace"]), (1, 1))):
        composed = dp.mechanisms.Composition(parts, times=times)
        found = dp.exact.spectrum(composed, mechanism.pair(), [0.1, 1.0, 3.0])
        assert np.array_equal(found.delta, np.ones(3))
    reused = dp.mechanisms.Composition((ZOO["ReusedNoise"],), times=(2,))
    assert float(dp.exact.spectrum(reused, ZOO["ReusedNoise"].pair(), 3.0).delta) == 1.0
