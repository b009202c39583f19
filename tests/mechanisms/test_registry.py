"""What holds for every registered mechanism."""

import dataclasses
import pickle

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import laws
from dpaudit._core.types import describe
from dpaudit.mechanisms import PAPERS, REGISTRY
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS

pytestmark = pytest.mark.quick

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def test_the_cases_are_the_registry_but_for_the_papers():
    assert {type(mechanism) for mechanism in MECHANISMS} == set(REGISTRY.values()) - set(
        PAPERS.values()
    )
    assert all(name == mechanism.__name__ for name, mechanism in REGISTRY.items())


@every_mechanism
@pytest.mark.parametrize("size", [1, 5, laws.CHUNK - 1, laws.CHUNK + 1])
def test_draws_are_finite_rows_of_the_law(mechanism, size):
    draws = mechanism(DATA, size, rng=1)
    assert draws.shape == (size, mechanism.law(DATA).dim)
    assert draws.dtype == np.float64
    assert np.isfinite(draws).all()
    assert len(np.unique(draws, axis=0)) == size


@every_mechanism
def test_a_seed_fixes_the_draws(mechanism):
    first = mechanism(DATA, 20, rng=3)
    np.testing.assert_array_equal(first, mechanism(DATA, 20, rng=3))
    np.testing.assert_array_equal(first, mechanism(DATA, 20, rng=np.random.default_rng(3)))
    assert not np.array_equal(first, mechanism(DATA, 20, rng=4))


@every_mechanism
def test_a_generator_moves_on(mechanism):
    rng = np.random.default_rng(3)
    assert not np.array_equal(mechanism(DATA, 20, rng=rng), mechanism(DATA, 20, rng=rng))


@every_mechanism
def test_the_data_are_left_alone(mechanism):
    data = DATA.copy()
    mechanism(data, 20, rng=3)
    mechanism.zeroed_rows(data)
    np.testing.assert_array_equal(data, DATA)


@every_mechanism
def test_lists_and_integers_are_data_too(mechanism):
    whole = np.round(10.0 * DATA).astype(int)
    np.testing.assert_array_equal(
        mechanism(whole.tolist(), 3, rng=3), mechanism(whole.astype(float), 3, rng=3)
    )


@every_mechanism
def test_parameters_rebuild_the_mechanism(mechanism):
    assert type(mechanism)(**mechanism.parameters()) == mechanism
    assert describe(mechanism) == (mechanism.name, mechanism.parameters())
    assert REGISTRY[mechanism.name] is type(mechanism)


@every_mechanism
def test_pickling_keeps_the_draws(mechanism):
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy == mechanism
    np.testing.assert_array_equal(copy(DATA, 5, rng=3), mechanism(DATA, 5, rng=3))


@every_mechanism
def test_mechanisms_are_frozen(mechanism):
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.rows = 1
    assert hash(mechanism) == hash(type(mechanism)(**mechanism.parameters()))


@every_mechanism
def test_a_summary_is_one_line(mechanism):
    assert mechanism.summary
    assert "\n" not in mechanism.summary


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "3", None])
def test_a_wrong_size_is_named(size):
    with pytest.raises(dp.InvalidInput, match="size must be an integer >= 1"):
        MECHANISMS[0](DATA, size, rng=1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_placed(value):
    data = DATA.copy()
    data[4, 1] = value
    with pytest.raises(
        dp.InvalidInput, match=r"data must be .* got -?(nan|inf) at row 4, column 1"
    ):
        MECHANISMS[0](data, 3, rng=1)


@pytest.mark.parametrize(
    "data",
    [DATA[0], DATA[None], [["a", "b"], ["c", "d"]], None, {}, [[1.0, 2.0], [3.0]]],
    ids=["1-D", "3-D", "text", "None", "dict", "ragged"],
)
def test_wrong_data_are_named(data):
    with pytest.raises(dp.InvalidInput, match="data must be a 2-D array of finite numbers"):
        MECHANISMS[0](data, 3, rng=1)


def needs_rank(mechanism):
    """Padding makes any columns independent, and noise on DᵀD needs no inverse."""
    padding = mechanism.parameters().get("padding", 0.0)
    return mechanism.name in RANK or (mechanism.name in RANK_UNLESS_PADDED and padding == 0.0)


RANK = ("ALS", "GaussianLS", "RandomLinearCombination")
RANK_UNLESS_PADDED = ("RandomProjection", "WishartDraw", "InverseWishartDraw", "GaussianInverse")
DEPENDENT = np.column_stack([DATA[:, :1], DATA])[:, :4]


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if needs_rank(m)], ids=repr)
def test_dependent_columns_are_refused(mechanism):
    with pytest.raises(dp.DegenerateData, match="linearly independent"):
        mechanism(DEPENDENT, 3, rng=1)


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if not needs_rank(m)], ids=repr)
def test_dependent_columns_serve_the_others(mechanism):
    assert np.isfinite(mechanism(DEPENDENT, 3, rng=1)).all()
    mechanism.zeroed_rows(DEPENDENT)
