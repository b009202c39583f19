"""What holds for every registered mechanism."""

import dataclasses
import pickle

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import laws
from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD, PAPERS, REGISTRY, ZOO
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS
from tests.papers.paper_cases import CASES

pytestmark = pytest.mark.quick

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def test_the_cases_are_the_registry_but_for_the_papers():
    own = set(REGISTRY.values()) - set(PAPERS.values())
    assert {type(mechanism) for mechanism in MECHANISMS} == own
    assert all(name == mechanism.__name__ for name, mechanism in REGISTRY.items())


@every_mechanism
def test_draws_are_finite_rows_of_the_law(mechanism):
    for size in (1, laws.CHUNK + 1):
        draws = mechanism(DATA, size, rng=1)
        assert draws.shape == (size, mechanism.law(DATA).dim)
        assert draws.dtype == np.float64
        assert np.isfinite(draws).all()
        assert len(np.unique(draws, axis=0)) == size


def test_a_generator_moves_on():
    mechanism = MECHANISMS[0]
    first, rng = mechanism(DATA, 20, rng=3), np.random.default_rng(3)
    np.testing.assert_array_equal(first, mechanism(DATA, 20, rng=rng))
    for other in (rng, 4):
        assert not np.array_equal(first, mechanism(DATA, 20, rng=other))


@every_mechanism
def test_data_are_left_alone(mechanism):
    data = DATA.copy()
    mechanism(data, 20, rng=3)
    mechanism.zeroed_rows(data)
    np.testing.assert_array_equal(data, DATA)


EVERY = (*MECHANISMS, *ZOO.values(), *(kind(steps=5) for kind in (DPSGD, *BROKEN_DPSGD)), *CASES)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_a_mechanism_is_the_value_of_its_parameters(mechanism):
    labelled = np.column_stack([DATA[:, :-1], DATA[:, -1] > 0.0])  # DP-SGD takes labels 0 and 1
    data = mechanism.pair().left if hasattr(mechanism, "pair") else labelled
    draws = mechanism(data, 5, rng=3)
    np.testing.assert_array_equal(mechanism(data.tolist(), 5, rng=3), draws)
    for copy in (type(mechanism)(**mechanism.parameters()), pickle.loads(pickle.dumps(mechanism))):
        assert copy == mechanism
        assert hash(copy) == hash(mechanism)
        np.testing.assert_array_equal(copy(data, 5, rng=3), draws)
    assert mechanism.summary
    for name in (next(iter(mechanism.parameters()), "rows"), "an_attribute_that_it_does_not_have"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, name, 1)


def test_a_wrong_call_is_named():
    """One mechanism stands for all, since their base class checks the call."""
    mechanism, infinite = MECHANISMS[0], DATA.copy()
    infinite[4, 1] = -np.inf
    for size in (0, 2.0, True, None):
        with pytest.raises(dp.InvalidInput, match="size must be an integer >= 1"):
            mechanism(DATA, size, rng=1)
    for data in (DATA[0], [["a", "b"], ["c", "d"]], None, [[1.0, 2.0], [3.0]]):
        with pytest.raises(dp.InvalidInput, match="data must be a 2-D array of finite numbers"):
            mechanism(data, 3, rng=1)
    with pytest.raises(dp.InvalidInput, match=r"data must be .* got -inf at row 4, column 1"):
        mechanism(infinite, 3, rng=1)


RANK = ("ALS", "GaussianLS", "RandomLinearCombination")
RANK_UNLESS_PADDED = ("RandomProjection", "WishartDraw", "InverseWishartDraw", "GaussianInverse")
DEPENDENT = np.column_stack([DATA[:, :1], DATA])[:, :4]


@every_mechanism
def test_dependent_columns_are_refused_unless_the_law_needs_no_inverse(mechanism):
    """Padding makes any columns independent, and noise on DᵀD needs no inverse."""
    padding = mechanism.parameters().get("padding", 0.0)
    if mechanism.name in RANK or (mechanism.name in RANK_UNLESS_PADDED and padding == 0.0):
        with pytest.raises(dp.DegenerateData, match="linearly independent"):
            mechanism(DEPENDENT, 3, rng=1)
    else:
        assert np.isfinite(mechanism(DEPENDENT, 3, rng=1)).all()
        mechanism.zeroed_rows(DEPENDENT)


def test_a_mechanism_without_a_docstring_has_the_summary_of_its_base():
    class Described(dp.mechanisms.LawMechanism):
        """Release a sum.

        More is said here.
        """

    class Plain(Described):
        pass

    assert (Described.summary, Plain.summary) == ("Release a sum.", "Release a sum.")
