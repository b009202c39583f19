"""A user's modules in a folder of their own, as a scenario's are: found while it is in use, then
forgotten.

Two folders may each have a `release.py`. Python keeps the first module of a name, so what was
imported from a folder goes when the folder does.
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
    """before : the top-level modules that were there when the folder came into use, which stay."""

    place: str
    before: frozenset[str]

    @classmethod
    def entered(cls, place: str) -> Folder:
        """Modules of the folder can be imported from now on, rather than others of the same names."""
        sys.path.insert(0, place)
        return cls(place, frozenset(name for name in sys.modules if "." not in name))

    def left(self) -> None:
        """That ends, and those that were are forgotten, with all below them."""
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
    """Modules in `folder` can be imported, as those beside a script can."""
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
    """A function that takes along where its modules are looked for, when it is sent to another
    process or machine.
    """

    function: Callable[..., Any]

    def __call__(self, *given: Any) -> Any:
        return self.function(*given)

    @cached_property
    def _parcel(self) -> bytes:
        """Packed once, not once a task; a function of a script or a notebook goes along whole."""
        return pickle.dumps(wrap_non_picklable_objects(self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (
            tuple(place for place in sys.path if place),
            tuple(_IN_USE),
            self._parcel,
        )


def _unpacked(path: Sequence[str], folders: Sequence[str], parcel: bytes) -> Any:
    """In a worker: the same folders are in use as in the process that audits, and no other ones."""
    for place in [one for one in _IN_USE if one not in folders]:
        _IN_USE.pop(place).left()
    _IN_USE.update({place: Folder.entered(place) for place in folders if place not in _IN_USE})
    sys.path.extend(place for place in path if place not in sys.path)
    return pickle.loads(parcel)


def elsewhere(name: str) -> str | None:
    """Where an imported module is from, if an import made now would find another one."""
    top = name.partition(".")[0]
    kept, fresh = getattr(sys.modules.get(top), "__file__", None), PathFinder.find_spec(top)
    if kept is None or fresh is None or not fresh.has_location or fresh.origin is None:
        return None
    return None if Path(kept).resolve() == Path(fresh.origin).resolve() else kept
