"""Unknown keywords are refused by the function that was called; see also test_arguments.py."""

import inspect

import pytest

from dpaudit._core.keywords import known_keywords

pytestmark = pytest.mark.quick


def inner(data, *, draws=10, level=0.95):
    """Takes what `outer` passes on."""
    return data, draws, level


@known_keywords(inner)
def outer(data, *, draws: int = 5, **options):
    """A function with **options."""
    return inner(data, draws=draws, **options)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"levle": 1}, "did you mean 'level'"),  # a keyword of the function that it is passed to
        ({"confidence": 0.9}, "'confidence'; did you mean 'level'"),
        ({"zzz": 1}, "'zzz'; it takes data, draws, level"),
    ],
)
def test_an_unknown_keyword_is_a_type_error_with_the_nearest(keywords, message):
    with pytest.raises(TypeError, match=message):
        outer([1], **keywords)


def test_known_keywords_arrive_and_the_signature_stays():
    assert outer([1], draws=3, level=0.5) == ([1], 3, 0.5)
    assert outer(data=[1], draws=4) == ([1], 4, 0.95)
    assert list(inspect.signature(outer).parameters) == ["data", "draws", "options"]
