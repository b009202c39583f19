"""Unknown keywords are answered by the function that was called, with the nearest name."""

import inspect

import pytest

from dpaudit import InvalidInput
from dpaudit._core.keywords import known_keywords, refuse_unknown

pytestmark = pytest.mark.quick


def inner(data, *, samples=10, level=0.95):
    """Takes what `outer` passes on."""
    return data, samples, level


@known_keywords(inner)
def outer(data, *, samples: int = 5, draws: int | None = None, **options):
    """A function with **options."""
    return inner(data, samples=samples if draws is None else draws, **options)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"smaples": 1}, r"outer\(\) got an unknown keyword 'smaples'; did you mean 'samples'\?"),
        ({"levle": 1}, "did you mean 'level'"),  # of the function that it is passed to
        ({"confidence": 0.9}, "'confidence'; did you mean 'level'"),
        ({"zzz": 1}, "'zzz'; it takes data, samples, draws, level"),
        ({"level": 0.5, "levels": 1}, "unknown keyword 'levels'"),
    ],
)
def test_an_unknown_keyword_is_a_type_error_with_the_nearest(given, message):
    with pytest.raises(TypeError, match=message):
        outer([1], **given)


def test_known_keywords_arrive():
    assert outer([1], samples=3, level=0.5) == ([1], 3, 0.5)
    assert outer(data=[1], draws=4) == ([1], 4, 0.95)


def test_positions_of_the_inner_function_are_no_keywords():
    @known_keywords(inner)
    def without(**options):
        return options

    with pytest.raises(TypeError, match="unknown keyword 'data'; it takes samples, level"):
        without(data=1)


def test_both_names_of_a_number_are_refused():
    with pytest.raises(InvalidInput, match="draws and samples are two names of one number") as said:
        outer([1], samples=1, draws=1)
    assert said.value.argument == "draws"


def test_the_signature_stays():
    assert list(inspect.signature(outer).parameters) == ["data", "samples", "draws", "options"]
    assert outer.__name__ == "outer"
    assert outer.__doc__ == "A function with **options."


def test_nothing_is_nearest_to_a_name_like_no_other():
    with pytest.raises(TypeError, match=r"f\(\) got an unknown keyword 'x'; it takes samples"):
        refuse_unknown("f", ["x"], ["samples"])
