"""Values: frozen, equal to themselves alone, and without a number of the data in their repr."""

import dataclasses

import numpy as np
import pytest

from dpaudit._core.value import value_class

pytestmark = pytest.mark.quick


@value_class
class Fit:
    rows: int
    norm: float
    basis: np.ndarray = dataclasses.field(default_factory=lambda: np.ones((2, 3)))


@value_class(show_numbers=True, eq=True)
class Noise:
    sigma: float
    name: str = dataclasses.field(default="x", repr=False)


def test_a_value_shows_shapes_and_whole_numbers_but_no_number_of_the_data():
    assert repr(Fit(4, 0.125)) == "Fit(rows=4, norm=..., basis=(2, 3) float64 array)"
    assert Fit(4, 0.125)._repr_html_().startswith("<pre>Fit(rows=4")
    assert repr(Noise(0.5)) == "Noise(sigma=0.5)"


def test_values_are_frozen_and_compared_as_they_say():
    assert Fit(4, 0.125) != Fit(4, 0.125)
    assert Noise(0.5) == Noise(0.5) != dataclasses.replace(Noise(0.5), sigma=1.0)
    with pytest.raises(AttributeError):
        Noise(0.5).sigma = 1.0
