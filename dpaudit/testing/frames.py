"""What pytest shows of a failure: frames without arguments and locals, and without dpaudit's own.

The arguments of a test, of dpaudit's functions and of the mechanism are data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[1]


def is_told_by_dpaudit(error: BaseException) -> bool:
    """Whether the error, or one that it came from, was raised by dpaudit or went through it."""
    return any(_own(type(one)) or any(map(_inside, _files(one))) for one in _chain(error))


def without_values(item: pytest.Item, found: pytest.ExceptionInfo[BaseException]) -> Any:
    """The failure in pytest's short style, as a report holds it."""
    everything = item.config.getoption("fulltrace", False)
    return found.getrepr(
        style="short",
        showlocals=False,
        funcargs=False,
        tbfilter=False if everything else lambda one: _frames(item, one),
    )


def _frames(item: pytest.Item, found: pytest.ExceptionInfo[BaseException]) -> Any:
    """The frames that pytest shows, less those of dpaudit, unless there are no others."""
    own_choice = getattr(item, "_traceback_filter", None)  # from the test on
    frames = found.traceback if own_choice is None else own_choice(found)
    others = frames.filter(lambda frame: not _inside(str(frame.path)))
    return others or frames


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _own(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] == "dpaudit" for base in kind.__mro__)


def _files(error: BaseException) -> Iterator[str]:
    frame: TracebackType | None = error.__traceback__
    while frame is not None:
        yield frame.tb_frame.f_code.co_filename
        frame = frame.tb_next


def _inside(file: str) -> bool:
    """Whether a file is one of dpaudit's."""
    return PACKAGE in Path(file).parents
