"""Scenario files that name a study: their [study] table, and the run that makes its figures."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict

from dpaudit._core import check
from dpaudit._core.user_code import importable_from
from dpaudit._core.value import value_class
from dpaudit.errors import ScenarioError
from dpaudit.report.study import Content, Study, write
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


class StudyTable(Section):
    """An experiment of a paper, made again; the settings of the study are further keys."""

    model_config = ConfigDict(extra="allow")

    call: Annotated[str, NAMED]
    """The study as "module:Name"; modules beside the file are found."""
    seed: Annotated[int, integer(0)] = 0
    """The seed of all that is random."""


class KnownStudy(StudyTable):
    """The [study] table when the module is imported: keys that are no settings are faults."""

    model_config = ConfigDict(extra="forbid")


@value_class(show_numbers=True)
class StudyScenario(Reported):
    """A study, whose settings are checked when its module is imported (`study`).

    name, folder : the name of the study, and the folder of the file. table : its [study] table.
    reader : the reader of the file.
    """

    name: str
    folder: Path
    table: StudyTable
    reader: Reader

    @classmethod
    def load(cls, path: str | Path) -> StudyScenario:
        scenario = cls.read(parsed(Path(path)))
        _ = scenario.study  # imports its module and checks the settings
        return scenario

    @classmethod
    def read(cls, file: File) -> StudyScenario:
        """The scenario of a parsed file, whose settings are not checked yet."""
        reader = Reader(file.path, file.content)
        name, table = read_name(reader), reader.read(StudyTable, STUDY)
        reader.close("name", STUDY)
        assert table is not None
        return cls(name, file.path.parent, table, reader)

    @cached_property
    def study(self) -> Study:
        """The study with its settings. Imports its module, and raises `ScenarioError`."""
        reader, target, study = self.reader, self.table.call, None
        with importable_from(self.folder):  # annotations are looked up in the study's module
            try:
                cls = imported(target)
                if not (isinstance(cls, type) and issubclass(cls, Study)):
                    base = "dpaudit.report.study.Study"
                    raise ScenarioError(f"{target} must be a subclass of {base}")
                study = instance(cls, reader, STUDY, KnownStudy)
            except ScenarioError as error:
                reader.fault(STUDY, "call", str(error))
        reader.close(*reader.content)
        assert study is not None
        return study

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
        chosen = self.table.seed if seed is None else check.integer("seed", seed, 0)
        with importable_from(self.folder):
            content = self.study.make(chosen, progress)
        again = f"dpaudit run {self.reader.path.name}" + ("" if seed is None else f" --seed {seed}")
        write(content, self.report_folder(out), again)
        return content


AnyScenario = Scenario | StudyScenario | OneRunScenario | TrainingScenario


def load_scenario(path: str | Path) -> AnyScenario:
    """Read a file that describes an audit by draws, of one run or of a training, or a study. Raises
    `ScenarioError`, with a line for each fault.
    """
    return kind_of(parsed(Path(path))).load(path)


def kind_of(file: File) -> type[AnyScenario]:
    kinds = {STUDY: StudyScenario, TRAINING: TrainingScenario, ONE_RUN: OneRunScenario}
    return next((kinds[table] for table in kinds if table in file.content), Scenario)
