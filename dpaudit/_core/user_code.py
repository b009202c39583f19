"""A user's modules in a folder of their own, such as that of a scenario.

They can be imported while the folder is in use and are forgotten afterwards. Two folders may each
have a `release.py`, and Python keeps the first module of a name, so the modules imported from a
folder are removed from `sys.modules` when the folder is left.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from joblib import wrap_non_picklable_objects


@dataclass(frozen=True)
class Folder:
    """A folder in use.

    place : its path. before : the top-level modules that were loaded when it came into use, which
    stay.
    """

    place: str
    before: frozenset[str]

    @classmethod
    def entered(cls, place: str) -> Folder:
        """Let modules of the folder be imported, before others of the same names."""
        sys.path.insert(0, place)
        return cls(place, frozenset(name for name in sys.modules if "." not in name))

    def left(self) -> None:
        """Take the folder off `sys.path`, and forget its modules and their submodules."""
        if self.place in sys.path:
            sys.path.remove(self.place)
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
def beside(folder: Path) -> Iterator[None]:
    """While it lasts, modules in `folder` can be imported, as those beside a script can."""
    place = str(folder.resolve())
    if place in _IN_USE:
        yield
        return
    _IN_USE[place] = Folder.entered(place)
    try:
        yield
    finally:
        _IN_USE.pop(place).left()


@dataclass(frozen=True, eq=False)
class Carried:
    """A function that takes along the places of its modules to another process or machine."""

    function: Callable[..., Any]

    def __call__(self, *given: Any) -> Any:
        """Call the function."""
        return self.function(*given)

    @cached_property
    def _parcel(self) -> bytes:
        """The pickled function, made once; one of a script or a notebook goes along by value."""
        return pickle.dumps(wrap_non_picklable_objects(self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function with `sys.path` and the folders in use."""
        return _unpacked, (
            tuple(place for place in sys.path if place),
            tuple(_IN_USE),
            self._parcel,
        )


def _unpacked(path: Sequence[str], folders: Sequence[str], parcel: bytes) -> Any:
    """In a worker: use the folders that the auditing process uses and no others, and unpickle."""
    for place in [one for one in _IN_USE if one not in folders]:
        _IN_USE.pop(place).left()
    _IN_USE.update({place: Folder.entered(place) for place in folders if place not in _IN_USE})
    sys.path.extend(place for place in path if place not in sys.path)
    return pickle.loads(parcel)


def elsewhere(name: str) -> str | None:
    """Where an imported module is from, if importing it now would find another one."""
    top = name.partition(".")[0]
    kept, fresh = getattr(sys.modules.get(top), "__file__", None), PathFinder.find_spec(top)
    if kept is None or fresh is None or not fresh.has_location or fresh.origin is None:
        return None
    return None if Path(kept).resolve() == Path(fresh.origin).resolve() else kept
