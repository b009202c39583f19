"""Parameters of the mechanisms: the papers' calibrations, and what is refused."""

import dataclasses

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.mechanisms import (
    ALS,
    BROKEN_DPSGD,
    DPSGD,
    RPLS,
    ZOO,
    AdditiveWishart,
    AnalyzeGauss,
    ExampleMechanism,
    GaussianInverse,
    GaussianLS,
    InverseWishartDraw,
    RandomProjection,
)
from dpaudit.papers import AdditiveWishartNoise
from tests.mechanisms.mechanism_cases import DATA, MECHANISMS
from tests.papers.paper_cases import CASES

pytestmark = pytest.mark.quick

broken, textbook = dp.mechanisms.broken, dp.mechanisms.textbook

NORM = np.linalg.norm(DATA, axis=1).max()


EVERY = (*MECHANISMS, *ZOO.values(), DPSGD(), *(kind() for kind in BROKEN_DPSGD), *CASES)


def test_every_parameter_says_what_it_may_be():
    """Once for each parameter; what each kind refuses stands below."""
    for mechanism in {type(mechanism): mechanism for mechanism in EVERY}.values():
        for name in dataclasses.asdict(mechanism):
            if getattr(mechanism, name) is not None:
                with pytest.raises(dp.InvalidInput, match=f"^{name} must be"):
                    dataclasses.replace(mechanism, **{name: object()})


# by kind of parameter: how a value is given, the parameter that is named, and values at its ends
KINDS = {
    "Count": (
        lambda value: RandomProjection(value),
        "rows must be an integer >= 1",
        [0, 2.5, True],
    ),
    "at least 2": (lambda value: ALS(value), "rows must be an integer >= 2", [1]),
    "Positive": (
        lambda value: AnalyzeGauss(value),
        r"sigma must be a finite number > 0",
        [0.0, np.inf, np.nan, "7", None, True],
    ),
    "NonNegative": (
        lambda value: GaussianInverse(1.0, value),
        r"padding must be a finite number >= 0",
        [-1.0, np.inf, None],
    ),
    "BelowOne": (
        lambda value: GaussianLS(epsilon=1.0, delta=value, sensitivity=1.0),
        r"delta must be a finite number in \(0, 1\)",
        [0.0, 1.0],
    ),
    "UpToOne": (
        lambda value: broken.MissingPassed(rate=value),
        r"rate must be a .*number in [\(\[]0, 1\]",
        [0.0, 1.5],
    ),
    "Finite": (
        lambda value: textbook.SparseVector1(threshold=value),
        "threshold must be a finite number",
        [np.inf],
    ),
    "Flag": (
        lambda value: AdditiveWishartNoise(1.0, 0.1, shift=value),
        "shift must be True or False",
        [1, None],
    ),
    "Release": (
        lambda value: RandomProjection(7, value),
        "release must be one of 'sketch', 'gram'",
        ["both", None],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_of_parameter_refuses(kind):
    make, message, values = KINDS[kind]
    for value in values:
        with pytest.raises(dp.InvalidInput, match=f"^{message}"):
            make(value)


def test_a_class_of_a_user_keeps_the_checks_of_its_base():
    @dataclasses.dataclass(frozen=True)
    class Mine(ExampleMechanism):
        epsilon: float = 1.0
        other: "Unknown" = 0  # noqa: F821

    @dataclasses.dataclass(frozen=True)
    class InWords(ExampleMechanism):
        epsilon: "a number of nats" = 1.0  # noqa: F722

    with pytest.raises(dp.InvalidInput, match="epsilon must be a finite number"):
        Mine(epsilon=-1.0)
    with pytest.raises(dp.InvalidInput, match="epsilon must be a finite number"):
        InWords(epsilon=-1.0)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (GaussianLS, {}),
        (GaussianLS, {"epsilon": 1.0, "delta": 0.1}),
        (GaussianLS, {"sigma": 1.0, "sensitivity": 1.0}),
        (RPLS, {"rows": 7}),
        (RPLS, {"rows": 7, "epsilon": 1.0}),
        (RPLS, {"rows": 7, "padding": 1.0, "delta": 0.1}),
        (RPLS, {"rows": 7, "padding": 1.0, "row_bound": 1.0}),
    ],
)
def test_noise_and_padding_are_given_in_one_way(kind, arguments):
    ways = "(sigma must be given, or else all of|padding must be given alone, or else) epsilon"
    with pytest.raises(dp.InvalidInput, match=ways):
        kind(**arguments)


def test_too_few_rows_are_refused_by_law_family_and_draws():
    mechanism = ALS(3)
    for use in (mechanism.law, mechanism.zeroed_rows, lambda data: mechanism(data, 2, rng=1)):
        with pytest.raises(dp.InvalidInput, match="rows must be at least features"):
            use(DATA)


@pytest.mark.parametrize("mechanism", [InverseWishartDraw(3), AdditiveWishart(3, 1.0)], ids=repr)
def test_too_few_degrees_of_freedom_are_refused_by_law_family_and_draws(mechanism):
    for use in (
        mechanism.law,
        mechanism.zeroed_rows,
        lambda data: mechanism.added_row(data, 1.0),
        lambda data: mechanism(data, 2),
    ):
        with pytest.raises(dp.InvalidInput, match="dof must be at least 4, the number of columns"):
            use(DATA)


def test_calibrated_mechanisms_carry_their_claim():
    claim = dp.Claim(0.7, 1e-4)
    assert GaussianLS(epsilon=0.7, delta=1e-4, sensitivity=3.0).claim == claim
    assert RPLS(7, epsilon=0.7, delta=1e-4).claim == claim
    assert GaussianLS(sigma=1.0).claim is RPLS(7, padding=1.0).claim is ALS(7).claim is None


def test_the_bound_is_read_off_the_data_when_none_is_given():
    public, private = RPLS(7, 1.0, 1e-5, row_bound=NORM), RPLS(7, 1.0, 1e-5)
    assert private.pad(DATA) == pytest.approx(public.pad(DATA), rel=1e-14)
    assert private.pad(3.0 * DATA) == pytest.approx(3.0 * private.pad(DATA), rel=1e-14)


def test_a_bound_below_the_largest_row_is_refused():
    with pytest.raises(dp.InvalidInput, match="row_bound must be at least the largest row norm"):
        RPLS(7, 1.0, 1e-5, row_bound=0.999 * NORM)(DATA, 2, rng=1)


def test_a_bound_is_not_refused_for_rounding():
    """The largest norm may differ in its last bit between row by row and all rows at once."""
    for seed in range(40):
        data = np.random.default_rng(seed).standard_normal((40, 4))
        bound = max(float(np.linalg.norm(row)) for row in data)
        assert RPLS(7, 1.0, 1e-5, row_bound=bound).pad(data) == pytest.approx(
            RPLS(7, 1.0, 1e-5).pad(data), rel=1e-14
        )


def test_only_a_row_that_alone_sets_the_private_bound_is_exceptional():
    largest = int(np.argmax(np.linalg.norm(DATA, axis=1)))
    private = RPLS(7, 1.0, 1e-5)
    assert private.exceptional_rows(DATA) == (largest,)
    assert private.exceptional_rows(np.vstack([DATA, -DATA[largest]])) == ()
    for public in (RPLS(7, padding=2.0), RPLS(7, 1.0, 1e-5, row_bound=1e5), ALS(7)):
        assert public.exceptional_rows(DATA) == ()
