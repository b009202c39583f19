"""Programs in any language, as a scenario names them by a command."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import PrivateAttr

from dpaudit import adapters
from dpaudit.adapters.commands import arguments
from dpaudit.run.imports import Imports, imports_of_script
from dpaudit.run.scenario.section import Checked, Section
from dpaudit.run.scenario.user_mechanism.call import Source, Timeout

DATA = {"type": "string", "pattern": r"\{data\}"}  # an argument that names the file of the rows
ARGUMENTS = {"type": "array", "items": {"type": "string"}, "contains": DATA}


class Program(Section):
    """A command, which runs in the folder of the scenario."""

    command: Annotated[tuple[str, ...], Checked(arguments, ARGUMENTS)]
    """Program and arguments with {data}, {size}, {seed}; run in the file's folder."""
    timeout: Timeout = None
    """Seconds that a call or a program may take."""

    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """The folder comes from the file that is read."""
        self._folder = (context or {}).get("folder", Path())

    @property
    def target(self) -> str:
        """The arguments in one line."""
        return shlex.join(self.command)

    def load(self) -> Any:
        """Nothing runs before the first draw."""
        place = self._folder.resolve()
        return adapters.command(self.command, timeout=self.timeout, folder=place)

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The program, the arguments that are files, and what Python files among them import."""
        place = folder.resolve()
        files = [place / one for one in self._values() if os.path.isfile(place / one)]
        modules = Imports(place, apart=True)
        modules.follow(name for option, name in pairwise(self.command) if option == "-m")
        found = [modules, *(imports_of_script(path) for path in files if path.suffix == ".py")]
        return Source(
            set(files).union(*(one.files for one in found)),
            set().union(*(one.packages for one in found)),
            {self.command[0]: self._program(place)},
        )

    def _values(self) -> list[str]:
        """The arguments after the program, and what follows the "=" in "--config=settings.ini"."""
        return [one for text in self.command[1:] for one in (text, text.partition("=")[2]) if one]

    def _program(self, place: Path) -> Path | None:
        """The file that the system runs for the first argument; None where there is none."""
        name = self.command[0].replace("{python}", sys.executable)
        if os.path.dirname(name):
            return place / name if os.path.isfile(place / name) else None
        # the program starts in `place`, where relative folders on the PATH begin too
        folders = os.pathsep.join(str(place / one) for one in os.get_exec_path())
        found = shutil.which(name, path=folders)
        return None if found is None else Path(found)
