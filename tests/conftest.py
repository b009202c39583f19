"""The fixtures that tests of more than one folder use, and how a run of all tests is made."""

import gc
import os

# Before numpy and LightGBM are loaded, and for the processes that tests start. The matrices here
# are small: threads that wait for each other on busy cores cost many times the work itself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from tests.run.small_scenarios import scenario_writer

# The same examples in each run: a test that fails by chance says nothing of the change it meets.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

QUICK = "quick and not slow"  # what `-m quick` stands for


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share a run of the whole suite among the cores, where pytest-xdist is installed.

    Runs of chosen files or folders, with --pdb, -s or -x, or with a -n of their own are left as
    they are: one process starts faster, shows what is printed and can be debugged. `pytest -n 0`
    is the whole suite in one process.
    """
    option = config.option
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    alone = option.usepdb or option.capture == "no" or option.maxfail or option.collectonly
    worker = hasattr(config, "workerinput")
    if whole and not alone and not worker and getattr(option, "numprocesses", 0) is None:
        option.numprocesses = "auto"


def pytest_configure(config: pytest.Config) -> None:
    """`-m quick` leaves out the slow tests of a file that is marked quick.

    Audits of these tests are no news in the summary: many of them are to find a violation.
    """
    config.pluginmanager.set_blocked("dpaudit-summary")
    if config.option.markexpr == "quick":
        config.option.markexpr = QUICK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m quick` skips files that have only slow tests, which saves several seconds."""
    if config.option.markexpr != QUICK or not collection_path.name.startswith("test_"):
        return None
    return "mark.quick" not in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: looking for garbage in it again and again takes seconds in all."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# Variables of CI servers, terminals and users by which pytest changes what it prints.
SURROUNDINGS = (
    *("CI", "BUILD_NUMBER", "GITHUB_ACTIONS"),
    *("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PY_COLORS"),
    *("PYTEST_ADDOPTS", "PYTEST_PLUGINS"),
)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An inner pytest that prints the same on a CI server as in a terminal."""
    for name in SURROUNDINGS:
        monkeypatch.delenv(name, raising=False)
    return pytester


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers of the test's own: the same whichever tests ran before it."""
    return np.random.default_rng(1)


@pytest.fixture
def result() -> dict[str, Any]:
    """The record of a full least-squares audit, fresh for each test."""
    from tests.report.examples import make_result

    return make_result()


@pytest.fixture
def samples_result() -> dict[str, Any]:
    """The record of an audit of draws made elsewhere, fresh for each test."""
    from tests.report.examples import make_samples_result

    return make_samples_result()


@pytest.fixture
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test works in tmp_path."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs leave an empty report.html.

    Figures take most of a small run's time, and tests/report draws them.
    """
    monkeypatch.setattr(
        "dpaudit.report.write_report", lambda folder, record: (folder / "report.html").touch()
    )


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages have empty figures: drawing takes most of the time where only the words are read."""
    from dpaudit.report.audit import FIGURES

    none = dict.fromkeys(FIGURES, lambda curves: None)
    monkeypatch.setattr("dpaudit.report.audit.FIGURES", none)
    monkeypatch.setattr("dpaudit.report.audit.svg_address", lambda figure: "data:,")
    monkeypatch.setattr("dpaudit.report.audit.as_png", lambda figure: b"")


@pytest.fixture
def write_scenario(tmp_path: Path) -> Callable[..., Path]:
    """write_scenario(name, table=text, ...): the path of a small valid scenario in tmp_path."""
    return scenario_writer(tmp_path)
