"""Checks of all files of a run before it draws, and before it imports the user's modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.text import one_line
from dpaudit._core.types import Array
from dpaudit.errors import DpauditError, InvalidInput, NoExactSpectrum, ScenarioError
from dpaudit.run.files import read_scores, read_steps
from dpaudit.run.one_run import OneRunScenario, ScoresOfRun
from dpaudit.run.scenario.file import NOTHING_TO_REFUTE, Scenario
from dpaudit.run.scenario.files import File, parsed
from dpaudit.run.scenario.mechanism import Call, Program
from dpaudit.run.scenario.neighbour import Own, Searched, Unstated
from dpaudit.run.scenario.study import AnyScenario, StudyScenario, kind_of
from dpaudit.run.scenario.target import missing
from dpaudit.run.training import FUNCTION, RecordedSteps, TrainingScenario
from dpaudit.sampling import sampler_of


def checked(
    paths: Sequence[Path | File],
    *,
    draws: int | None = None,
    seed: int | None = None,
    stop: str | None = None,
    level: float | None = None,
) -> list[AnyScenario]:
    """Read and check the scenarios of files, with the settings of the run. The first pass checks
    all files with their data, and imports no code of the user; the second imports the modules of
    studies, which define their settings. Raises `ScenarioError` after the pass that finds faults, a
    line for each.
    """
    faults: list[str] = []
    scenarios: list[AnyScenario] = []
    for path in paths:
        file = one_line((path.path if isinstance(path, File) else path).name)
        with _noted(faults):
            parts = path if isinstance(path, File) else parsed(path)
            scenario = kind_of(parts).read(parts)
            scenarios.append(scenario)
            with _noted(faults, file):
                if isinstance(scenario, Scenario):
                    scenario = scenario.override(draws, seed, stop, level)
                elif isinstance(scenario, OneRunScenario | TrainingScenario):
                    scenario = scenario.override(seed)
                elif seed is not None:
                    check.integer("seed", seed, 0)
            if isinstance(scenario, Scenario):
                _check_audit(scenario, file, faults)
            if isinstance(scenario, OneRunScenario):
                _check_one_run(scenario, file, faults)
            if isinstance(scenario, TrainingScenario):
                _check_training(scenario, file, faults)
    names = [scenario.name for scenario in scenarios]
    twice = sorted({name for name in names if names.count(name) > 1})
    _refuse([*faults, *(f"{name}: the name of several scenarios" for name in twice)])
    for scenario in scenarios:
        with _noted(faults):
            if isinstance(scenario, StudyScenario):
                _ = scenario.study  # imports its module
    _refuse(faults)
    return scenarios


@contextmanager
def _noted(faults: list[str], file: str = "", table: str = "") -> Iterator[None]:
    """Append each error that is raised inside to `faults`, as "file: table argument: message"."""
    try:
        yield
    except ScenarioError as error:  # its lines name tables and keys already
        faults += [": ".join(filter(None, (file, line))) for line in str(error).split("\n")]
    except DpauditError as error:
        argument = (error.argument if isinstance(error, InvalidInput) else None) or ""
        detail = error.detail if isinstance(error, InvalidInput) else str(error)
        where = " ".join(filter(None, (table, argument)))
        faults.append(": ".join(filter(None, (file, where, detail))))


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise ScenarioError("\n".join(faults))


def _check_audit(scenario: Scenario, file: str, faults: list[str]) -> None:
    mechanism = scenario.mechanism
    if isinstance(mechanism, Call):
        folder = scenario.folder
        if isinstance(mechanism, Program):
            line = mechanism.missing(folder)
        else:
            line = missing(mechanism.target, "[mechanism] call", folder)
        faults += [f"{file}: {line}"] if line else []
    if scenario.data is None:
        with _noted(faults, file, "[mechanism]"):
            _check_own_mechanism(scenario, mechanism.pair().left)
        return
    with _noted(faults, file, "[data]"):
        dataset = scenario.data.load()
        with _noted(faults, file, "[neighbour]"):
            scenario.neighbour.check(dataset)
            with _noted(faults, file, "[mechanism]"):
                _check_own_mechanism(scenario, dataset.database)


def _check_own_mechanism(scenario: Scenario, data: Array) -> None:
    """Raise `DpauditError` where a mechanism of dpaudit cannot run on these data, or `stop` waits
    for a verdict that the audit cannot reach.
    """
    mechanism, rule, settings = scenario.mechanism, scenario.neighbour, scenario.settings
    if isinstance(mechanism, Call):
        return
    sampler_of(mechanism, data)
    if isinstance(rule, Searched | Unstated):  # the pair is not known yet
        return
    pair = mechanism.pair() if isinstance(rule, Own) else rule.pair(mechanism, data)
    if settings.stop is not None and not settings.claims:
        try:
            exact.spectrum(mechanism, pair, settings.epsilon[:1])
        except NoExactSpectrum:
            raise ScenarioError(f"[audit] stop: {NOTHING_TO_REFUTE}") from None


def _check_one_run(scenario: OneRunScenario, file: str, faults: list[str]) -> None:
    if isinstance(scenario.table, ScoresOfRun):
        with _noted(faults, file, "[one_run] scores"):
            read_scores(scenario.table.scores)
        return
    assert scenario.data is not None
    with _noted(faults, file, "[data]"):
        data = scenario.data.load().database
        with _noted(faults, file, "[one_run]"):
            scenario.canaries(data)
        if not isinstance(scenario.mechanism, Call):
            with _noted(faults, file, "[mechanism]"):
                sampler_of(scenario.mechanism, data)


def _check_training(scenario: TrainingScenario, file: str, faults: list[str]) -> None:
    table = scenario.table
    if isinstance(table, RecordedSteps):
        with _noted(faults, file, "[training] steps"):
            read_steps(table.steps)
    elif line := missing(table.function, FUNCTION, scenario.folder):
        faults.append(f"{file}: {line}")
