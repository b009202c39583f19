"""Scenario files that name a study: their [study] table, and the run that makes its figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict

from dpaudit._core import check
from dpaudit._core.user_code import importable_from
from dpaudit._core.value import value_class
from dpaudit.errors import ScenarioError
from dpaudit.report.study import Content, Study
from dpaudit.run.one_run import ONE_RUN, OneRunScenario
from dpaudit.run.scenario.file import Reported, Scenario, read_name
from dpaudit.run.scenario.files import File, parsed
from dpaudit.run.scenario.mechanism import instance
from dpaudit.run.scenario.section import Checked, Reader, Section, integer
from dpaudit.run.scenario.target import TARGET, imported, target_text
from dpaudit.run.training import TRAINING, TrainingScenario
from dpaudit.sampling import Progress

STUDY = "study"
NAMED = Checked(partial(target_text, expected='"module:Name", a study'), TARGET)


@value_class(show_numbers=True, eq=True)
class StudyScenario(Reported):
    """A study whose settings are checked. `load` reads it from a file with a table [study].

    Attributes
    ----------
    path : Path
        The file. Its folder is searched for modules.
    name : str
        The name of the study and of the folder of its figures.
    study : Study
        The study to make, with its settings.
    seed : int
        The seed of all that is random.
    """

    path: Path
    name: str
    study: Study
    seed: int

    @classmethod
    def load(cls, path: str | Path) -> StudyScenario:
        """Read and check a file, which imports the study's module.

        Raises `ScenarioError`, with a line for each fault.
        """
        return StudyFile.read(parsed(Path(path))).load()

    def run(
        self,
        out: str | Path | None = None,
        *,
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Content:
        """Make the study and write report.html, its figures and content.json.

        seed : replaces the seed of the file unless it is None. Raises `DataNotFound`,
        `InvalidInput`, OSError.
        """
        from dpaudit.report.study import write  # loads matplotlib

        chosen = self.seed if seed is None else check.integer("seed", seed, 0)
        with importable_from(self.path.parent):
            content = self.study.make(chosen, progress)
        again = f"dpaudit run {self.path.name}" + ("" if seed is None else f" --seed {seed}")
        write(content, self.report_folder(out), again)
        return content


class StudyTable(Section):
    """An experiment of a paper, made again; the settings of the study are further keys."""

    model_config = ConfigDict(extra="allow")

    call: Annotated[str, NAMED]
    """The study as "module:Name"; modules beside the file are found."""
    seed: Annotated[int, integer(0)] = 0
    """The seed of all that is random."""


@dataclass(frozen=True)
class StudyFile:
    """A file that names a study whose module is not yet imported, so its settings are unchecked.

    target : the key `call`, "module:Name" of a subclass of `Study`.
    """

    name: str
    target: str
    seed: int
    reader: Reader

    @classmethod
    def read(cls, file: File) -> StudyFile:
        """Check a parsed file, except the study's settings. Raises `ScenarioError`."""
        reader = Reader(file.path, file.content)
        name, table = read_name(reader), reader.read(StudyTable, STUDY)
        reader.close("name", STUDY)
        assert table is not None
        return cls(name, table.call, table.seed, reader)

    def load(self) -> StudyScenario:
        """Import the study's module and check the settings. Raises `ScenarioError`."""
        reader, study = self.reader, None
        with importable_from(reader.path.parent):  # annotations are looked up in the study's module
            try:
                cls = imported(self.target)
                if not (isinstance(cls, type) and issubclass(cls, Study)):
                    base = "dpaudit.report.study.Study"
                    raise ScenarioError(f"{self.target} must be a subclass of {base}")
                study = instance(cls, reader, STUDY, KnownStudy)
            except ScenarioError as error:
                reader.fault(STUDY, "call", str(error))
        reader.close(*reader.content)
        assert study is not None
        return StudyScenario(reader.path, self.name, study, self.seed)


class KnownStudy(StudyTable):
    """The [study] table when the module is imported: keys that are no settings are faults."""

    model_config = ConfigDict(extra="forbid")


AnyScenario = Scenario | StudyScenario | OneRunScenario | TrainingScenario


def load_scenario(path: str | Path) -> AnyScenario:
    """Read a file that describes an audit by draws, of one run or of a training, or a study. Raises
    `ScenarioError`, with a line for each fault.
    """
    scenario = read_file(parsed(Path(path)))
    return scenario.load() if isinstance(scenario, StudyFile) else scenario


def read_file(file: File) -> Scenario | StudyFile | OneRunScenario | TrainingScenario:
    """The audit or study that a parsed file describes; imports no module of the user. Raises
    `ScenarioError`.
    """
    if STUDY in file.content:
        return StudyFile.read(file)
    if TRAINING in file.content:
        return TrainingScenario.read(file)
    return OneRunScenario.read(file) if ONE_RUN in file.content else Scenario.read(file)
