"""The files of a user's mechanism, and the installed packages that they import.

The files are parsed and not run, so an import inside a function counts before it is called.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import files, packages_distributions
from pathlib import Path

INSTALLED = {"site-packages", "dist-packages"}  # the folders of installed packages
STANDARD = Path(os.__file__).parent  # the folder of Python's own modules
# distributions by top-level module, for which the slow look-up (half a second) is not needed
KNOWN = {"dpaudit": "dpaudit", "numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}


@dataclass(frozen=True)
class Source:
    """The code of a user's mechanism, as far as it can be found without running it.

    files : the user's own files. packages : the installed distributions that these import.
    installed : SHA-256 by name of the distributions that contain the mechanism itself. programs :
    the file of each program by the name in the command, None if no file is found.
    """

    files: set[Path] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    installed: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, Path | None] = field(default_factory=dict)


def code_of(
    names: Iterable[str], folder: Path, folder_first: bool = False
) -> tuple[set[Path], set[str]]:
    """The user's own files and the distributions that the modules `names` import, directly or not.

    folder : a folder with the user's modules, beside `sys.path`. folder_first : whether its modules
    precede others of the same name, as for a script.
    """
    own: set[Path] = set()
    packages: set[str] = set()
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        parent = name.rpartition(".")[0]
        waiting += [parent] if parent else []
        spec = _spec(name, folder, folder_first)
        path = _file(spec)
        if spec is None or path is None or (STANDARD in path.parents and not _installed(path)):
            continue
        if distributions := _distributions(name, path):
            packages.update(distributions)
        else:
            own.add(path)
            waiting += imported_names(path, name if spec.submodule_search_locations else parent)
    return own, packages


def imported_names(path: Path, package: str) -> list[str]:
    """Absolute names of all that a Python file imports, anywhere in it; some may be no modules.
    package : the file's own package, for relative imports.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "." if node.module else ""
            names += [base, *(f"{base}{dot}{alias.name}" for alias in node.names)]
    absolute: list[str] = []
    for name in names:
        with suppress(ImportError):
            absolute.append(importlib.util.resolve_name(name, package))
    return absolute


def installed_digests(names: Iterable[str], folder: Path) -> dict[str, str]:
    """The SHA-256 of all Python files of each distribution that has one of the modules `names`: a
    user's installed package may change while its version stays. Without the packages in `KNOWN`.
    """
    digests: dict[str, str] = {}
    for top in sorted({name.partition(".")[0] for name in names} - set(KNOWN)):
        path = _file(_spec(top, folder))
        for distribution in [] if path is None else _distributions(top, path):
            whole = hashlib.sha256()
            for file in sorted(files(distribution) or (), key=str):
                if file.suffix == ".py" and (place := Path(str(file.locate()))).is_file():
                    whole.update(f"{file.as_posix()}\n".encode("utf-8", "surrogatepass"))
                    whole.update(hashlib.sha256(place.read_bytes()).digest())
            digests[distribution] = whole.hexdigest()
    return digests


def loaded_from(folder: Path) -> set[str]:
    """Names of the modules, except __main__, that this process has loaded from a folder."""
    place = os.path.join(folder.resolve(), "")
    return {
        name
        for name, module in list(sys.modules.items())
        if name != "__main__" and str(getattr(module, "__file__", None)).startswith(place)
    }


def _spec(name: str, folder: Path, folder_first: bool = False) -> ModuleSpec | None:
    top, *parts = name.split(".")
    spec = PathFinder.find_spec(top, [str(folder)])
    if spec is None or not folder_first:
        with suppress(ImportError, ValueError, AttributeError):
            spec = importlib.util.find_spec(top) or spec
    for part in parts:
        inside = None if spec is None else spec.submodule_search_locations
        spec = None if inside is None else PathFinder.find_spec(part, list(inside))
    return spec


def _file(spec: ModuleSpec | None) -> Path | None:
    """The file of the module with this spec, or the archive that contains it; None without one."""
    if spec is None or not spec.has_location:
        return None
    path = Path(spec.origin or "").absolute()
    return next((place for place in (path, *path.parents) if place.is_file()), None)


def _distributions(name: str, path: Path) -> Sequence[str]:
    """The distributions that install the module `name`; empty for a user's own file."""
    top = name.partition(".")[0]
    if not _installed(path) and top != "dpaudit":
        return []
    return [KNOWN[top]] if top in KNOWN else _installed_as(tuple(sys.path)).get(top, [])


@cache
def _installed_as(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Distributions by the top-level modules that they install, cached by the value of sys.path."""
    return packages_distributions()


def _installed(path: Path) -> bool:
    return not INSTALLED.isdisjoint(path.parts)
