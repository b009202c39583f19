"""The example results as fixtures, fresh for each test."""

from typing import Any

import pytest

from .examples import make_result, make_samples_result


@pytest.fixture
def result() -> dict[str, Any]:
    return make_result()


@pytest.fixture
def samples_result() -> dict[str, Any]:
    return make_samples_result()
