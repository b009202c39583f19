"""A study: an experiment of a paper with its settings, which a scenario file names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from dpaudit.report.studies.content import Content

Progress = Callable[[str, int, int], None]  # step, done, wanted


class Study:
    """An experiment. Subclasses are frozen dataclasses of settings that give `make`.

    Settings are checked when the study is made (`InvalidInput`). A scenario file's [study] table
    names the class as `call = "module:Name"` and gives the settings; `dpaudit run` makes the study.

    title, source : what is redone, and where it is printed.
    """

    title: ClassVar[str]
    source: ClassVar[str]

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """Run the experiment: the same settings and seed give the same content.

        progress : called with a step's name, how many are done and how many there are.
        Raises `DataNotFound`.
        """
        raise NotImplementedError

    def parameters(self) -> dict[str, Any]:
        """Settings by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]
