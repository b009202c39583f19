"""What a user's code imports: the files of its own, and the installed packages.

They are found by reading the files, without running them. So an import inside a function counts
before the function is called, and what else the process has imported makes no difference.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import pkgutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from importlib.metadata import files, packages_distributions
from pathlib import Path

INSTALLED = {"site-packages", "dist-packages"}  # the folders of installed packages
# distributions that need not be looked up, which takes half a second
KNOWN = {"dpaudit": "dpaudit", "numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
BY_NAME = {"import_module", "__import__"}  # functions that import a module named by a text


@dataclass
class Imports:
    """The modules that the code uses, found by `follow`.

    folder : where the user's modules are, beside those on `sys.path`.
    apart : whether the code runs in a process of its own, in which the folder comes first.
    files : of modules that are neither Python's own nor installed. packages : names of the
    installed distributions of the others.
    """

    folder: Path
    apart: bool = False
    files: set[Path] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def follow(self, names: Iterable[str]) -> None:
        """Add modules by name, and all that they import."""
        left = [part for name in names for part in _with_parents(name)]
        while left:
            name = left.pop()
            if name not in self.seen:
                self.seen.add(name)
                left += self._imported_by(name)

    def _imported_by(self, name: str) -> Iterator[str]:
        spec, top = self._spec(name), name.partition(".")[0]
        path = None if spec is None or not spec.has_location else _file(spec)
        if spec is None or path is None or _standard(path):
            return
        if installed := self._distributions(path, top):
            self.packages.update(installed)
            return
        self.files.add(path)
        package = name if spec.submodule_search_locations else name.rpartition(".")[0]
        yield from imported_names(path, package)

    def _distributions(self, path: Path, top: str) -> Sequence[str]:
        """Those that a module is installed with; none for a file of the user's own."""
        if not _installed(path) and top != "dpaudit":
            return []
        return [KNOWN[top]] if top in KNOWN else self.installed.get(top, [])

    @cached_property
    def installed(self) -> Mapping[str, list[str]]:
        """The distributions of each installed package, by its top-level name."""
        return packages_distributions()

    def own(self, names: Iterable[str]) -> dict[str, str]:
        """A digest of all Python files of the distributions in which modules are installed, by
        distribution: their version may stay while they change.

        Nothing of those in `KNOWN`.
        """
        found: dict[str, str] = {}
        for top in sorted({name.partition(".")[0] for name in names} - set(KNOWN)):
            path = _file(spec) if (spec := self._spec(top)) and spec.has_location else None
            if path is not None:
                for one in self._distributions(path, top):
                    found[one] = _digest_of(one)
        return found

    def _spec(self, name: str) -> ModuleSpec | None:
        """Where a module is; None where it is not found."""
        loaded = getattr(sys.modules.get(name), "__spec__", None)
        if isinstance(loaded, ModuleSpec) and not self.apart:
            return loaded
        parent = name.rpartition(".")[0]
        if not parent:
            beside = _found(name, [str(self.folder)])
            return (self.apart and beside) or _importable(name) or beside
        above = self._spec(parent)
        return None if above is None else _found(name, above.submodule_search_locations or [])


def _digest_of(distribution: str) -> str:
    """SHA-256 of the names and contents of its Python files."""
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


def _found(name: str, places: Iterable[str]) -> ModuleSpec | None:
    """A module in one of these folders or archives; nothing is imported, not even its package.

    Folders without __init__.py are one package.
    """
    finders = [one for place in places if (one := pkgutil.get_importer(place)) is not None]
    specs = [spec for one in finders if (spec := one.find_spec(name)) is not None]
    found = next((spec for spec in specs if spec.loader is not None), None)
    if found is None and specs:
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = [
            place for spec in specs for place in spec.submodule_search_locations or []
        ]
    return found


def imports_of_script(path: Path) -> Imports:
    """What a file that Python runs in a process of its own imports."""
    found = Imports(path.parent, apart=True)
    found.follow(imported_names(path, ""))
    return found


def imported_names(path: Path, package: str) -> Iterator[str]:
    """Names of the modules that a file imports, anywhere in it, with the packages above them.

    Some may be names of other things in a module. package : that of the file, for relative imports.
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
    """What an import statement names, or a call that imports by name."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        yield base
        dot = "." if node.module else ""
        yield from (f"{base}{dot}{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        if called in BY_NAME and isinstance(node.args[0].value, str):
            yield node.args[0].value


def _with_parents(name: str) -> list[str]:
    """For "a.b.c": itself, "a.b" and "a"."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def loaded_from(folder: Path) -> set[str]:
    """Names of the modules that this process has loaded from a folder, its main module apart."""
    place = os.path.join(folder.resolve(), "")
    return {
        name
        for name, module in list(sys.modules.items())
        if name != "__main__" and str(getattr(module, "__file__", None)).startswith(place)
    }


def _file(spec: ModuleSpec) -> Path | None:
    """The module's file, or the archive that holds it."""
    path = Path(spec.origin or "").absolute()
    return next((one for one in (path, *path.parents) if one.is_file()), None)


def _installed(path: Path) -> bool:
    return not INSTALLED.isdisjoint(path.parts)


def _standard(path: Path) -> bool:
    return not _installed(path) and any(path.is_relative_to(one) for one in _library())


@cache
def _library() -> list[Path]:
    """The folders of Python's own modules, as they are named and as they are."""
    places = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return [*places, *(one.resolve() for one in places)]
