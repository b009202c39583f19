"""Long lists of parameters, of which the default run takes a part."""

import pytest


def one_in(step, values):
    """Parameters for pytest: the first of each `step` values; the others are slow tests."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[pytest.mark.slow] * (place % step > 0),
        )
        for place, value in enumerate(values)
    ]
