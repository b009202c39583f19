"""Programs in any language, as a scenario names them by a command."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from dpaudit import adapters
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.adapters.commands import arguments
from dpaudit.adapters.functions import seconds
from dpaudit.run.imports import Imports, imports_of_script
from dpaudit.run.scenario.table import Table
from dpaudit.run.scenario.user_mechanism.call import Call, Source
from dpaudit.run.scenario.user_mechanism.form import Form


@dataclass(frozen=True)
class Program(Call):
    """A command, run in the scenario's folder; `target` is its arguments in one line."""

    argv: tuple[str, ...] = ()
    folder: Path = Path()

    __repr__ = short_repr

    @classmethod
    def of(cls, argv: tuple[str, ...], timeout: float | None, folder: Path) -> Program:
        """From the arguments of a command."""
        return cls(shlex.join(argv), None, Form(timeout=timeout), argv, folder)

    def load(self) -> Any:
        """Nothing runs before the first draw."""
        return adapters.command(self.argv, timeout=self.form.timeout, folder=self.folder.resolve())

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The program, the arguments that are files, and what Python files among them import."""
        place = folder.resolve()
        files = [place / one for one in self._values() if os.path.isfile(place / one)]
        modules = Imports(place, apart=True)
        modules.follow(name for option, name in pairwise(self.argv) if option == "-m")
        found = [modules, *(imports_of_script(path) for path in files if path.suffix == ".py")]
        return Source(
            set(files).union(*(one.files for one in found)),
            set().union(*(one.packages for one in found)),
            {self.argv[0]: self._program(place)},
        )

    def _values(self) -> list[str]:
        """The arguments after the program, and what follows the "=" in "--config=settings.ini"."""
        return [one for text in self.argv[1:] for one in (text, text.partition("=")[2]) if one]

    def _program(self, place: Path) -> Path | None:
        """The file that the system runs for the first argument; None where there is none."""
        name = self.argv[0].replace("{python}", sys.executable)
        if os.path.dirname(name):
            return place / name if os.path.isfile(place / name) else None
        # the program starts in `place`, where relative folders on the PATH begin too
        folders = os.pathsep.join(str(place / one) for one in os.get_exec_path())
        found = shutil.which(name, path=folders)
        return None if found is None else Path(found)


def read_command(table: Table, folder: Path) -> Program | None:
    """`command` and `timeout`; None after a fault."""
    argv, timeout = table.get("command", arguments), table.get("timeout", seconds, None)
    table.close()
    return None if argv is None else Program.of(argv, timeout, folder)
