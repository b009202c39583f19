"""The faults of all files of a run, found before any module is imported and any draw is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpaudit import exact
from dpaudit._core import check
from dpaudit._core.shown.printable import one_line
from dpaudit._core.types import Array
from dpaudit.errors import DpauditError, InvalidInput, NoExactSpectrum, ScenarioError
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.one_run import ONE_RUN, Insertion, OneRunScenario
from dpaudit.run.scenario.audits import File, parsed
from dpaudit.run.scenario.file import NOTHING_TO_REFUTE, Scenario
from dpaudit.run.scenario.mechanism import Call
from dpaudit.run.scenario.neighbour import Own, Searched, Unstated
from dpaudit.run.scenario.study import STUDY, StudyFile, StudyScenario
from dpaudit.run.scenario.target import missing
from dpaudit.run.scenario.user_mechanism import Program
from dpaudit.run.scores import ScoreFile
from dpaudit.sampling import sampler_of

Checked = Scenario | StudyScenario | OneRunScenario


def checked(
    paths: Sequence[Path | File],
    *,
    samples: int | None = None,
    seed: int | None = None,
    stop: str | None = None,
    level: float | None = None,
) -> list[Checked]:
    """The scenarios of the files, given by path or read before, none of them at fault.

    samples, seed, stop, level : as given for the run; they are checked with each file.

    First all files are checked, with their data, and nothing of the user's is imported. Then the
    modules of studies are, since they say what the settings of a study are. Raises `ScenarioError`
    with a line for each fault, of all files or else of all studies.
    """
    faults: list[str] = []
    files: list[Scenario | StudyFile | OneRunScenario] = []
    for path in paths:
        with _noted(faults):
            files.append(one := _read(path))
            with _noted(faults, _name(path)):
                one = _overridden(one, samples, seed, stop, level)
            if isinstance(one, Scenario):
                _check_module(one, _name(path), faults)
                _check_on_data(one, _name(path), faults)
            if isinstance(one, OneRunScenario):
                _check_one_run(one, _name(path), faults)
    names = [one.name for one in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    _refuse([*faults, *(f"{name}: the name of several scenarios" for name in twice)])
    return _loaded(files)


def _loaded(files: Sequence[Scenario | StudyFile | OneRunScenario]) -> list[Checked]:
    """With studies in place of their files, whose modules are imported."""
    faults: list[str] = []
    scenarios: list[Checked] = []
    for one in files:
        with _noted(faults):
            scenarios.append(one.load() if isinstance(one, StudyFile) else one)
    _refuse(faults)
    return scenarios


@contextmanager
def _noted(faults: list[str], file: str = "", table: str = "") -> Iterator[None]:
    """What is raised inside becomes a line "file: table argument: what is wrong"."""
    try:
        yield
    except ScenarioError as error:  # has its lines, with their places
        faults += [": ".join(filter(None, (file, line))) for line in str(error).split("\n")]
    except DpauditError as error:
        argument = (error.argument if isinstance(error, InvalidInput) else None) or ""
        detail = error.detail if isinstance(error, InvalidInput) else str(error)
        where = " ".join(filter(None, (table, argument)))
        faults.append(": ".join(filter(None, (file, where, detail))))


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise ScenarioError("\n".join(faults))


def _read(given: Path | File) -> Scenario | StudyFile | OneRunScenario:
    file = given if isinstance(given, File) else parsed(given)
    if STUDY in file.content:
        return StudyFile.read(file)
    if ONE_RUN in file.content:
        return OneRunScenario.read(file)
    return Scenario.read(file)


def _name(given: Path | File) -> str:
    return one_line((given.path if isinstance(given, File) else given).name)


def _overridden(
    one: Scenario | StudyFile | OneRunScenario,
    samples: int | None,
    seed: int | None,
    stop: str | None,
    level: float | None,
) -> Scenario | StudyFile | OneRunScenario:
    """With what is given for the run; of a study and of one run the seed alone."""
    if isinstance(one, Scenario):
        return one.override(samples, seed, stop, level)
    if isinstance(one, OneRunScenario):
        return one.override(seed)
    if seed is not None:
        check.integer("seed", seed, 0)
    return one


def _check_module(scenario: Scenario, file: str, faults: list[str]) -> None:
    """Note a module of the user's that is nowhere, without importing it."""
    named = scenario.mechanism
    if isinstance(named, Call) and not isinstance(named, Program):
        line = missing(named.target, "[mechanism] call", scenario.folder)
        faults += [f"{file}: {line}"] if line else []


def _check_on_data(scenario: Scenario, file: str, faults: list[str]) -> None:
    """Note what is wrong with the data, and with row, mechanism and stop on these data."""
    if scenario.data is None:
        with _noted(faults, file, "[mechanism]"):
            _check_own(scenario, scenario.mechanism.pair().left)
        return
    with _noted(faults, file, "[data]"):
        dataset = scenario.data.load()
        with _noted(faults, file, "[neighbour]"):
            scenario.neighbour.check(dataset)
            with _noted(faults, file, "[mechanism]"):
                _check_own(scenario, dataset.database)


def _check_one_run(scenario: OneRunScenario, file: str, faults: list[str]) -> None:
    """Note what is wrong with the scores, or with data, canaries and mechanism."""
    source = scenario.source
    if not isinstance(source, Insertion):
        with _noted(faults, file, "[one_run] scores"):
            ScoreFile.read(source.path)
        return
    with _noted(faults, file, "[data]"):
        data = source.data.load().database
        with _noted(faults, file, "[one_run]"):
            source.canaries(data, scenario.seed)
        if not isinstance(source.mechanism, Call):
            with _noted(faults, file, "[mechanism]"):
                sampler_of(source.mechanism, data)


def _check_own(scenario: Scenario, data: Array) -> None:
    """Whether a mechanism of dpaudit's own can run on these data. Raises `DpauditError`."""
    if isinstance(scenario.mechanism, Call):
        return
    sampler_of(scenario.mechanism, data)
    pair, settings = _pair(scenario, data), scenario.settings
    if pair is None or settings.stop is None or settings.claims:
        return
    try:
        exact.spectrum(scenario.mechanism, pair, settings.epsilon[:1])
    except NoExactSpectrum:
        raise ScenarioError(f"[audit] stop: {NOTHING_TO_REFUTE}") from None


def _pair(scenario: Scenario, data: Array) -> NeighbourPair | None:
    """The databases that are audited; None where they are searched for."""
    rule = scenario.neighbour
    if isinstance(rule, Searched | Unstated):
        return None
    if isinstance(rule, Own):
        return scenario.mechanism.pair()
    return rule.pair(scenario.mechanism, data)
