"""A user's modules in a folder of their own, such as that of a scenario.

They can be imported while the folder is in use, after all others of the same names, and are
forgotten afterwards. Two folders may each have a `release.py`, and Python keeps the first module of
a name, so the modules imported from a folder are removed from `sys.modules` when the folder is
left.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from pathlib import Path
from typing import Any, cast

from joblib import wrap_non_picklable_objects

SAFE_PATH, OURS = "PYTHONSAFEPATH", "dpaudit"  # an environment variable, and our value of it


class _FromSource(SourceFileLoader):
    """Compiles a module each time it is imported.

    Python takes compiled code to be current where the second of the last change and the length of
    the source agree. So a digit that is changed right after a run would be hashed and reported,
    while the code before the change runs.
    """

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """No time of change: importlib then neither reads nor writes compiled code."""
        raise OSError(f"compiled code of {path} is not used")


def _finder(place: str) -> FileFinder:
    compiled = (ExtensionFileLoader, EXTENSION_SUFFIXES)
    return FileFinder(place, compiled, (_FromSource, SOURCE_SUFFIXES))


@dataclass(frozen=True)
class Folder:
    """A folder in use.

    place : its path. added : whether it is on `sys.path` only while it is in use. before : the
    top-level modules that were loaded when it came into use, which stay.
    """

    place: str
    added: bool
    before: frozenset[str]

    @classmethod
    def entered(cls, place: str) -> Folder:
        """Let modules of the folder be imported.

        It goes last on `sys.path`: no file in it can stand in for an installed or standard module,
        which dpaudit and its libraries may import at any time.
        """
        added = place not in sys.path
        if added:
            sys.path.append(place)
        sys.path_importer_cache[place] = _finder(place)
        return cls(place, added, frozenset(name for name in sys.modules if "." not in name))

    def left(self) -> None:
        """Take the folder off `sys.path`, and forget its modules and their submodules."""
        if self.added and self.place in sys.path:
            sys.path.remove(self.place)
        sys.path_importer_cache.pop(self.place, None)
        here = {
            name
            for name in list(sys.modules)
            if "." not in name and name not in self.before and self._holds(name)
        }
        for name in [one for one in sys.modules if one.partition(".")[0] in here]:
            del sys.modules[name]

    def _holds(self, name: str) -> bool:
        """Whether a module was imported from this folder."""
        module = sys.modules[name]
        places = [
            getattr(module, "__file__", None),
            *(Path(one) / "_" for one in getattr(module, "__path__", ())),
        ]
        folders = {Path(one).parent for one in places if one}
        return bool(folders & {Path(self.place), Path(self.place) / name})


_IN_USE: dict[str, Folder] = {}  # by place


@contextmanager
def beside(folder: Path | None) -> Iterator[None]:
    """While it lasts, modules in `folder` can be imported, after all others; None for no folder."""
    place = None if folder is None else str(folder.resolve())
    if place is None or place in _IN_USE:
        yield
        return
    _IN_USE[place] = Folder.entered(place)
    try:
        yield
    finally:
        _IN_USE.pop(place).left()


@contextmanager
def apart() -> Iterator[None]:
    """Workers that start meanwhile do not look for modules in the current folder first.

    Python does so when it is started with -m or -c, as workers are. They are given `sys.path` after
    that, and the first task takes the variable out of the worker's environment.
    """
    if os.environ.get(SAFE_PATH):
        yield
        return
    os.environ[SAFE_PATH] = OURS
    try:
        yield
    finally:
        os.environ.pop(SAFE_PATH, None)


@dataclass(frozen=True, eq=False)
class Carried:
    """A function that takes along the places of its modules to another process or machine.

    name : no other function has it, and a process keeps the function under it for the next task.
    "" where each task is to get a copy of its own.
    """

    function: Callable[..., Any]
    name: str = ""

    def __call__(self, *given: Any) -> Any:
        """Call the function."""
        return self.function(*given)

    @cached_property
    def parcel(self) -> bytes:
        """The pickled function, made once; one of a script or a notebook goes along by value."""
        return pickle.dumps(wrap_non_picklable_objects(self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function with `sys.path` and the folders in use."""
        added = {one.place for one in _IN_USE.values() if one.added}
        path = tuple(place for place in sys.path if place and place not in added)
        return _unpacked, (path, tuple(_IN_USE), self.parcel, self.name)


_UNPACKED: dict[str, Callable[..., Any]] = {}  # by name
MOST_UNPACKED = 4


def _unpacked(
    path: Sequence[str], folders: Sequence[str], parcel: bytes, name: str = ""
) -> Callable[..., Any]:
    """In a worker: look for modules where the auditing process does, in its order, and unpickle."""
    if os.environ.get(SAFE_PATH) == OURS:
        del os.environ[SAFE_PATH]
    if tuple(_IN_USE) != tuple(folders) or not set(path) <= set(sys.path):
        for place in list(_IN_USE):
            _IN_USE.pop(place).left()
        # a worker starts with the path of that time, and so with the folders of that time
        sys.path[:] = [one for one in sys.path if one in path or one not in folders]
        sys.path.extend(one for one in path if one not in sys.path)
        _IN_USE.update({place: Folder.entered(place) for place in folders})
    if not name:
        return cast(Callable[..., Any], pickle.loads(parcel))
    if (found := _UNPACKED.get(name)) is None:
        found = _UNPACKED.setdefault(name, pickle.loads(parcel))
        for old in list(_UNPACKED)[:-MOST_UNPACKED]:
            _UNPACKED.pop(old, None)
    return found


def elsewhere(name: str) -> str | None:
    """Where a module would be imported from, if a folder in use has another one of that name."""
    top = name.partition(".")[0]
    beside = [place for place in _IN_USE if _within(place, name)]
    if not beside or (found := _spec(top)) is None:
        return None
    places = {_place(own) for one in beside if (own := PathFinder.find_spec(top, [one]))}
    return None if _place(found) in places else _place(found)


def _within(place: str, name: str) -> bool:
    """Whether a folder has a module of that full name; nothing is imported."""
    path: list[str] | None = [place]
    for part in name.split("."):
        spec = None if path is None else PathFinder.find_spec(part, path)
        if spec is None:
            return False
        inside = spec.submodule_search_locations
        path = None if inside is None else list(inside)
    return True


def _spec(top: str) -> ModuleSpec | None:
    """What an import of a top-level module gives now: the one that is loaded, or else is found."""
    try:
        return importlib.util.find_spec(top)
    except ValueError:  # a loaded module without a spec
        return ModuleSpec(top, None, origin=getattr(sys.modules[top], "__file__", None))


def _place(spec: ModuleSpec) -> str:
    """The file of a module, or its folders; "built-in" where it has none."""
    if spec.has_location and spec.origin is not None:
        return str(Path(spec.origin).resolve())
    inside = spec.submodule_search_locations
    return spec.origin or "built-in" if inside is None else os.pathsep.join(inside)
