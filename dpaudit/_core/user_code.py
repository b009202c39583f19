"""The import of a user's modules from a folder of their own, such as that of a scenario.

While the folder is in use it is last on `sys.path`, so no file in it can replace an installed
module. Two folders may each have a `release.py`, and Python keeps the first module of a name, so
the modules of a folder are removed from `sys.modules` when it is left.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from joblib import wrap_non_picklable_objects

SAFE_PATH, OURS = "PYTHONSAFEPATH", "dpaudit"  # an environment variable, and dpaudit's value of it


@dataclass(frozen=True)
class Folder:
    """The state from before a folder came into use.

    added : whether it is on `sys.path` only while it is in use. before : the top-level modules that
    were loaded at that time, which stay. writes_nothing : whether Python already wrote no compiled
    code.
    """

    added: bool
    before: frozenset[str]
    writes_nothing: bool


_IN_USE: dict[str, Folder] = {}  # by resolved path


@contextmanager
def importable_from(folder: Path | None) -> Iterator[None]:
    """A context in which modules in `folder`, if not None, can be imported, after all others."""
    place = None if folder is None else str(folder.resolve())
    if place is None or place in _IN_USE:
        yield
        return
    _enter(place)
    try:
        yield
    finally:
        _leave(place)


def _enter(place: str) -> None:
    """Make the modules of a folder importable.

    Python writes no compiled code meanwhile: it would use that code again where only a digit of the
    source is changed within the same second.
    """
    before = frozenset(name for name in sys.modules if "." not in name)
    _IN_USE[place] = Folder(place not in sys.path, before, sys.dont_write_bytecode)
    if place not in sys.path:
        sys.path.append(place)
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()


def _leave(place: str) -> None:
    """Take a folder off `sys.path`, and unload its modules and their submodules."""
    folder = _IN_USE.pop(place)
    if folder.added and place in sys.path:
        sys.path.remove(place)
    sys.dont_write_bytecode = folder.writes_nothing
    forgotten = set()
    for name, module in list(sys.modules.items()):
        if "." in name or name in folder.before:
            continue
        file = getattr(module, "__file__", None) or ""
        packages = [os.path.dirname(path) for path in getattr(module, "__path__", ())]
        if place in (packages or [os.path.dirname(file)]):
            forgotten.add(name)
    for name in [name for name in sys.modules if name.partition(".")[0] in forgotten]:
        del sys.modules[name]


@contextmanager
def without_current_folder() -> Iterator[None]:
    """A context in which new workers do not look for modules in the current folder first.

    Python looks there first when it is started with -m or -c, as workers are. Workers receive
    `sys.path` later, and their first task takes the variable out of the worker's environment.
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
    """A function that carries the places of its modules to another process or machine.

    joblib pickles the function, by value where a script or a notebook defines it. name : unique to
    the function; a process stores the function under it for the next task. "" where each task gets
    a copy of its own.
    """

    function: Callable[..., Any]
    name: str = ""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    @cached_property
    def parcel(self) -> bytes:
        return pickle.dumps(wrap_non_picklable_objects(self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function with `sys.path` and the folders in use."""
        added = {place for place, folder in _IN_USE.items() if folder.added}
        path = tuple(place for place in sys.path if place and place not in added)
        return _unpacked, (path, tuple(_IN_USE), self.parcel, self.name)


def _unpacked(
    path: Sequence[str], folders: Sequence[str], parcel: bytes, name: str = ""
) -> Callable[..., Any]:
    """In a worker: import modules from where the auditing process does, and unpickle."""
    if os.environ.get(SAFE_PATH) == OURS:
        del os.environ[SAFE_PATH]
    if tuple(_IN_USE) != tuple(folders) or not set(path) <= set(sys.path):
        for place in reversed(list(_IN_USE)):
            _leave(place)
        # a worker starts with the path, and so with the folders, of the time it was started
        sys.path[:] = [place for place in sys.path if place in path or place not in folders]
        sys.path.extend(place for place in path if place not in sys.path)
        for place in folders:
            _enter(place)
    function: Callable[..., Any] = _named(name, parcel) if name else pickle.loads(parcel)
    return function


@lru_cache(maxsize=4)
def _named(name: str, parcel: bytes) -> Any:
    return pickle.loads(parcel)


def other_place_of(name: str) -> str | None:
    """Where a module is imported from if not from the folder in use that has its name, else None.

    Nothing is imported.
    """
    top, *rest = name.split(".")
    folders = [Path(place) for place in _IN_USE]
    modules = [folder.joinpath(top, *rest) for folder in folders]
    if not any(path.is_dir() or path.with_name(f"{path.name}.py").is_file() for path in modules):
        return None
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a loaded module without a spec
        return str(getattr(sys.modules[top], "__file__", None) or "built-in")
    if spec is None:
        return None
    if not spec.has_location and spec.submodule_search_locations is None:
        return spec.origin or "built-in"
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    sources = [Path(str(place)).resolve() for place in places]
    own = {*folders, *(folder / top for folder in folders)}
    if any(source in own or source.parent in own for source in sources):
        return None
    return os.pathsep.join(map(str, sources))
