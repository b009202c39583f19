"""What a user's own code raised, as it may be shown: its own frames, and no value of the data.

An exception holds the data in its text, its arguments and the variables of its frames, all of which
a test runner, a notebook or the log of a cluster may print. `Raised` keeps the name, the redacted
text and the places in the code. It goes from a worker to the auditing process, and makes an
exception of that name and those places, whose frames have no variables.
"""

from __future__ import annotations

import ast
import builtins
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

from dpaudit._core.shown.redacted import redacted
from dpaudit.errors import MechanismError

PACKAGE = Path(__file__).parents[2]
# rooms whose frames stand between the user and the mechanism
BETWEEN = ("_core", "adapters", "auditing", "cli", "run", "sampling", "search", "testing")
DEEPEST = 8  # exceptions of a chain that are kept
NAME = "error"


@dataclass(frozen=True)
class Place:
    """Where a frame was.

    file, function : names. first : line at which the function begins.
    span : line, last line, column and last column of the statement; None where not known.
    """

    file: str
    function: str
    first: int
    span: tuple[int, int | None, int | None, int | None]


@dataclass(frozen=True)
class Raised:
    """An exception without data.

    module, name : of its type. base : the built-in type that it is derived from.
    text : what it said, redacted. places : its frames, the outermost first, without dpaudit's.
    cause : the exception that it was raised from.
    """

    module: str
    name: str
    base: str
    text: str
    places: tuple[Place, ...] = ()
    cause: Raised | None = None

    @classmethod
    def of(cls, error: BaseException, data: Any = None, depth: int = DEEPEST) -> Raised:
        """data : what the text must not show; see `redacted`."""
        kind, before = type(error), error.__cause__
        if before is None and not error.__suppress_context__:
            before = error.__context__
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        return cls(
            kind.__module__,
            kind.__qualname__,
            _base(kind).__name__,
            redacted(text, data),
            tuple(_places(error.__traceback__)),
            None if before is None or depth == 0 else cls.of(before, data, depth - 1),
        )

    @property
    def line(self) -> str:
        """The name of the type, and the text."""
        return f"{self.name.rpartition('.')[2]}: {self.text}"

    def exception(self) -> BaseException:
        """An exception that looks as this one, derived from the same built-in type."""
        base = getattr(builtins, self.base)
        own = {
            "__module__": self.module,
            "__qualname__": self.name,
            "__str__": lambda _: self.text,
        }
        error: BaseException = type(self.name.rpartition(".")[2], (base,), own)(self.text)
        if self.cause is not None:
            error.__cause__ = self.cause.exception()
        return error.with_traceback(_traceback(self.places))


def report(error: BaseException) -> str:
    """A fault of dpaudit's own, for its maintainers: all frames, and what it said without data."""
    raised = Raised.of(error)
    frames = "".join(traceback.format_tb(error.__traceback__))
    before = "" if error.__cause__ is None else f"{report(error.__cause__)}which led to\n"
    return f"{before}Traceback (most recent call last):\n{frames}{raised.line}\n"


def shown(error: MechanismError) -> MechanismError:
    """The error, chained to what the mechanism raised where that has frames of its own.

    Its own traceback is left out: raised anew, it begins where that is done.
    """
    raised = error.raised
    error.__cause__ = raised.exception() if isinstance(raised, Raised) and raised.places else None
    error.__context__ = None
    return error.with_traceback(None)


def _base(kind: type[BaseException]) -> type[BaseException]:
    """The nearest built-in type that is made of one text."""
    for one in kind.__mro__:
        if one.__module__ == "builtins" and issubclass(one, Exception) and _of_one_text(one):
            return one
    return Exception


def _of_one_text(kind: type[BaseException]) -> bool:
    try:
        kind("")
    except TypeError:  # as UnicodeDecodeError, ExceptionGroup
        return False
    return not issubclass(kind, SyntaxError)  # which is printed with a text of its own


def _places(trace: TracebackType | None) -> Iterator[Place]:
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _between(code.co_filename):
            yield Place(code.co_filename, code.co_name, code.co_firstlineno, _span(trace))
        trace = trace.tb_next


def _between(file: str) -> bool:
    path = Path(file)
    return path.is_relative_to(PACKAGE) and path.relative_to(PACKAGE).parts[0] in BETWEEN


def _span(trace: TracebackType) -> tuple[int, int | None, int | None, int | None]:
    known = next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None), None)
    if known is None or known[0] != trace.tb_lineno:
        return trace.tb_lineno, None, None, None
    return trace.tb_lineno, *known[1:]


def _traceback(places: tuple[Place, ...]) -> TracebackType | None:
    found: TracebackType | None = None
    for place in reversed(places):
        end = _raise_at(place)
        found = TracebackType(found, end.tb_frame, end.tb_lasti, end.tb_lineno)
    return found


def _raise_at(place: Place) -> TracebackType:
    """The traceback of an error raised there, by a frame that has no variables."""
    try:
        exec(_code(place), {NAME: Exception()})
    except Exception as error:
        trace = error.__traceback__
        assert trace is not None
        assert trace.tb_next is not None
        trace.tb_next.tb_frame.f_globals.pop(NAME)
        return trace.tb_next
    raise AssertionError("unreachable")


def _code(place: Place) -> CodeType:
    """`raise error` at a place in somebody's code, so that the lines there are shown for it.

    Lines are counted from the first one of the code, which is put in its place at the end.
    """
    line, last, column, end = place.span
    above = place.first - 1
    where = {
        "lineno": max(line - above, 1),
        "end_lineno": max((last or line) - above, 1),
        "col_offset": column or 0,
        "end_col_offset": end or 0,
    }
    statement = ast.Raise(ast.Name(NAME, ast.Load(), **where), None, **where)
    code = compile(ast.Module([statement], []), place.file, "exec")
    return code.replace(co_name=place.function, co_firstlineno=place.first)
