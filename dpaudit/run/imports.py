"""What a user's code imports: the files of its own, and the installed packages.

They are found by reading the files, without running them. So an import inside a function counts
before the function is called, and what else the process has imported makes no difference.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import files, packages_distributions
from itertools import accumulate
from pathlib import Path

INSTALLED = {"site-packages", "dist-packages"}  # the folders of installed packages
STANDARD = Path(os.__file__).parent  # the folder of Python's own modules
# distributions that need not be looked up, which takes half a second
KNOWN = {"dpaudit": "dpaudit", "numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
BY_NAME = {"import_module", "__import__"}  # functions that import a module named by a text


@dataclass
class Imports:
    """The modules that the code uses, found by `follow`.

    folder : where the user's modules are, beside those on `sys.path`.
    apart : whether the code runs in a process of its own, in which the folder comes first.
    files : the files of modules that are neither Python's own nor installed. packages : names of
    the distributions of installed modules. seen : names of all modules that were looked for.
    """

    folder: Path
    apart: bool = False
    files: set[Path] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def follow(self, names: Iterable[str]) -> None:
        """Add modules by name, the packages above them, and all that they import."""
        left = [part for name in names for part in _with_parents(name)]
        while left:
            name = left.pop()
            if name not in self.seen:
                self.seen.add(name)
                left += self._imported_by(name)

    def _imported_by(self, name: str) -> Iterator[str]:
        spec = self._spec(name)
        path = _file(spec)
        if spec is None or path is None or (STANDARD in path.parents and not _installed(path)):
            return
        if distributions := self._distributions(path, name):
            self.packages.update(distributions)
            return
        self.files.add(path)
        package = name if spec.submodule_search_locations else name.rpartition(".")[0]
        yield from imported_names(path, package)

    def _distributions(self, path: Path, name: str) -> Sequence[str]:
        """The distributions that a module is installed with; none for a user's own file."""
        top = name.partition(".")[0]
        if not _installed(path) and top != "dpaudit":
            return []
        return [KNOWN[top]] if top in KNOWN else self._installed_as.get(top, [])

    @cached_property
    def _installed_as(self) -> Mapping[str, list[str]]:
        return packages_distributions()

    def own(self, names: Iterable[str]) -> dict[str, str]:
        """Digests of the distributions in which modules are installed, those in `KNOWN` apart.

        The version of such a distribution may stay while its Python files change.
        """
        tops = {name.partition(".")[0] for name in names} - set(KNOWN)
        paths = {top: path for top in sorted(tops) if (path := _file(self._spec(top))) is not None}
        return {
            distribution: _digest(distribution)
            for top, path in paths.items()
            for distribution in self._distributions(path, top)
        }

    def _spec(self, name: str) -> ModuleSpec | None:
        """Where a module is; None where it is not found. Nothing is imported."""
        loaded = getattr(sys.modules.get(name), "__spec__", None)
        if isinstance(loaded, ModuleSpec) and not self.apart:
            return loaded
        parent, _, last = name.rpartition(".")
        if not parent:
            beside = PathFinder.find_spec(name, [str(self.folder)])
            return (self.apart and beside) or _importable(name) or beside
        above = self._spec(parent)
        inside = None if above is None else above.submodule_search_locations
        return None if inside is None else PathFinder.find_spec(last, list(inside))


def _digest(distribution: str) -> str:
    """SHA-256 of the names and contents of a distribution's Python files."""
    whole = hashlib.sha256()
    for path in sorted(files(distribution) or (), key=str):
        if path.suffix == ".py" and (place := Path(str(path.locate()))).is_file():
            whole.update(f"{path.as_posix()}\n".encode("utf-8", "surrogatepass"))
            whole.update(hashlib.sha256(place.read_bytes()).digest())
    return whole.hexdigest()


def _importable(name: str) -> ModuleSpec | None:
    """Where an import of a module without a package would find it."""
    with suppress(ImportError, ValueError, AttributeError):
        return importlib.util.find_spec(name)
    return None


def imports_of_script(path: Path) -> Imports:
    """What a file that Python runs in a process of its own imports."""
    imports = Imports(path.parent, apart=True)
    imports.follow(imported_names(path, ""))
    return imports


def imported_names(path: Path, package: str) -> Iterator[str]:
    """Names of the modules that a file imports, anywhere in it.

    Some may be names of other things in a module. package : the file's own package, from which
    relative imports start.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for name in _named(node):
            with suppress(ImportError):
                yield from _with_parents(importlib.util.resolve_name(name, package))


def _named(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement, or a call that imports by name, may mean."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        dot = "." if node.module else ""
        yield from (base, *(f"{base}{dot}{alias.name}" for alias in node.names))
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        function = getattr(node.func, "attr", getattr(node.func, "id", None))
        if function in BY_NAME and isinstance(node.args[0].value, str):
            yield node.args[0].value


def _with_parents(name: str) -> Iterator[str]:
    """For "a.b.c": "a", "a.b" and itself."""
    return accumulate(name.split("."), "{}.{}".format)


def loaded_from(folder: Path) -> set[str]:
    """Names of the modules that this process has loaded from a folder, its main module apart."""
    place = os.path.join(folder.resolve(), "")
    return {
        name
        for name, module in list(sys.modules.items())
        if name != "__main__" and str(getattr(module, "__file__", None)).startswith(place)
    }


def _file(spec: ModuleSpec | None) -> Path | None:
    """The module's file, or the archive that holds it."""
    if spec is None or not spec.has_location:
        return None
    path = Path(spec.origin or "").absolute()
    return next((place for place in (path, *path.parents) if place.is_file()), None)


def _installed(path: Path) -> bool:
    return not INSTALLED.isdisjoint(path.parts)
