"""A scenario file that names a study: its [study] table, and the folder of figures that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dpaudit._check import choice, integer
from dpaudit.errors import ScenarioError
from dpaudit.run.execute import REPORTS
from dpaudit.run.given import instance
from dpaudit.run.scenario import given_name, parsed
from dpaudit.run.table import Table
from dpaudit.sampling import Progress
from dpaudit.studies import STUDIES, Content, Study


@dataclass(frozen=True)
class StudyScenario:
    """A study with its settings, checked. [study] holds `name`, the study's settings and `seed` (0)."""

    path: Path
    name: str
    study: Study
    seed: int

    @classmethod
    def load(cls, path: str | Path) -> StudyScenario:
        """Read and check a file. Raises `ScenarioError`, a line for each fault."""
        path, faults = Path(path), list[str]()
        top = Table("", parsed(path), faults)
        name = top.get("name", given_name, path.stem)
        table = top.table("study")
        chosen = table.get("name", partial(choice, allowed=tuple(STUDIES)))
        seed = table.get("seed", partial(integer, minimum=0), 0)
        study = None if chosen is None else instance(STUDIES[chosen], table)
        top.close()
        if faults:
            raise ScenarioError("\n".join(f"{path.name}: {fault}" for fault in faults))
        assert study is not None
        return cls(path, name, study, seed)

    def folder(self, out: str | Path | None = None) -> Path:
        """Where its figures go."""
        return REPORTS / self.name if out is None else Path(out)

    def run(
        self, out: str | Path | None = None, *, seed: int | None = None, progress: Progress | None = None
    ) -> Content:
        """Make the study, with `seed` instead of the file's if given; write report.html, figures and content.json.

        Raises `DataNotFound`, `InvalidInput`, OSError.
        """
        from dpaudit.studies.write import write

        chosen = self.seed if seed is None else integer("seed", seed, 0)
        content = self.study.make(chosen, progress)
        write(content, self.folder(out), f"dpaudit run {self.path.name}" + ("" if seed is None else f" --seed {seed}"))
        return content


def is_study(path: str | Path) -> bool:
    """Whether the file has a [study] table. Raises `ScenarioError` where it cannot be read."""
    return "study" in parsed(Path(path))
