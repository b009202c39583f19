"""What dpaudit raises on purpose: one base, the kinds that Python's own handlers know, a name."""

import copy
import pickle

import pytest

import dpaudit as dp
from dpaudit import errors

pytestmark = pytest.mark.quick
KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_is_one_of_dpaudits_and_says_when_it_is_raised(kind):
    assert issubclass(kind, dp.DpauditError)
    assert kind.__doc__


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("InvalidInput", ValueError),
        ("ScenarioError", ValueError),
        ("DegenerateData", ValueError),
        ("DataNotFound", FileNotFoundError),
        ("NoExactSpectrum", NotImplementedError),
        ("MechanismError", RuntimeError),
    ],
)
def test_each_is_caught_as_pythons_own(kind, known):
    with pytest.raises(known, match="said"):
        raise getattr(errors, kind)("said")


def test_the_wrong_argument_has_a_name():
    with pytest.raises(dp.InvalidInput) as caught:
        dp.mechanisms.GaussianLS(sigma=-1.0)
    assert caught.value.argument == "sigma"
    assert str(caught.value) == f"sigma {caught.value.detail}"
    assert caught.value.detail.startswith("must be a finite number")


@pytest.mark.parametrize("remade", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_comes_back_from_another_process(remade):
    """Workers raise in processes of their own, so errors are pickled."""
    error = dp.InvalidInput("rows must be positive, got 0", argument="rows")
    found = remade(error)
    assert (type(found), str(found)) == (dp.InvalidInput, str(error))
    assert (found.argument, found.detail) == ("rows", "must be positive, got 0")
