"""What a study is: an experiment of a paper, with its settings, that a scenario file names and
`dpaudit run` makes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from dpaudit.report.studies.content import Content

Progress = Callable[[str, int, int], None]  # step, done, wanted


class Study:
    """A frozen dataclass of settings, checked when it is made (`InvalidInput`), that knows how to
    make its content.

    title, source : what is redone, and where it is printed. Random numbers come from `seed` by key:
    the same settings and seed give the same content, whatever the number of jobs.
    """

    title: ClassVar[str]
    source: ClassVar[str]

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Run the experiment. Raises `DataNotFound` where a data set is not there."""
        raise NotImplementedError

    def parameters(self) -> dict[str, Any]:
        """Settings by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]
