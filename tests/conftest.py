"""The fixtures that tests of more than one folder use."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.report.examples import make_result, make_samples_result
from tests.run.small_scenarios import scenario_writer

# Boosting a few thousand draws: threads that wait for each other on busy cores cost 100 times the
# work itself.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def result() -> dict[str, Any]:
    """The record of a full least-squares audit, fresh for each test."""
    return make_result()


@pytest.fixture
def samples_result() -> dict[str, Any]:
    """The record of an audit of draws made elsewhere, fresh for each test."""
    return make_samples_result()


@pytest.fixture
def write(tmp_path: Path):
    """write(name, table=text, ...): the path of a small valid scenario with some tables replaced,
    or left out (None).
    """
    return scenario_writer(tmp_path)
