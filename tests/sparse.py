"""Long lists of parameters, of which the default run takes a part."""

import pytest

PARAM = type(pytest.param())


def one_in(step, values):
    """Parameters for pytest: the first of each `step` values; the others are slow tests."""
    return [
        _param(value, [pytest.mark.slow] * (place % step > 0)) for place, value in enumerate(values)
    ]


def _param(value, marks):
    """`value` may be one, a tuple of several, or what `pytest.param` gives."""
    if isinstance(value, PARAM):
        return pytest.param(*value.values, marks=[*value.marks, *marks], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks)
