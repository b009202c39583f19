"""The fixtures that tests of more than one folder use."""

import os
from collections.abc import Callable
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
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test works in tmp_path."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs leave an empty report.html: figures take most of a small run's time, and tests/report
    draws them.
    """
    monkeypatch.setattr(
        "dpaudit.report.write_report", lambda folder, record: (folder / "report.html").touch()
    )


@pytest.fixture
def write_scenario(tmp_path: Path) -> Callable[..., Path]:
    """write_scenario(name, table=text, ...): the path of a small valid scenario in tmp_path."""
    return scenario_writer(tmp_path)
