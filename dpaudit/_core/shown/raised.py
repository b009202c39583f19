"""What a user's own code raised, as it may be shown: its own frames, and no value of the data.

An exception holds the data in its text, its arguments and the variables of its frames, all of which
a test runner, a notebook or the log of a cluster may print. `Raised` keeps the name, the redacted
text and the lines of the code. It goes from a worker to the auditing process, and makes an
exception of that name with those lines as a note.
"""

from __future__ import annotations

import builtins
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from dpaudit._core.shown.redacted import redacted
from dpaudit.errors import MechanismError

PACKAGE = Path(__file__).parents[2]
# rooms whose frames stand between the user and the mechanism
BETWEEN = ("_core", "adapters", "auditing", "cli", "run", "sampling", "search", "testing")
DEEPEST = 8  # exceptions of a chain that are kept


@dataclass(frozen=True)
class Raised:
    """An exception without data.

    module, name : of its type. base : the built-in type that it is derived from.
    text : what it said, redacted. frames : where it was raised, as Python prints a traceback, but
    without dpaudit's own frames. cause : the exception that it was raised from.
    """

    module: str
    name: str
    base: str
    text: str
    frames: str = ""
    cause: Raised | None = None

    @classmethod
    def of(cls, error: BaseException, data: Any = None, depth: int = DEEPEST) -> Raised:
        """An exception, redacted. data : values that the text must not show; see `redacted`."""
        kind, before = type(error), error.__cause__
        if before is None and not error.__suppress_context__:
            before = error.__context__
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        return cls(
            kind.__module__,
            kind.__qualname__,
            _base(kind).__name__,
            redacted(text, data),
            _frames(error.__traceback__),
            None if before is None or depth == 0 else cls.of(before, data, depth - 1),
        )

    @property
    def line(self) -> str:
        """The name of the type, and the text."""
        return f"{self.name.rpartition('.')[2]}: {self.text}"

    def exception(self) -> BaseException:
        """An exception of the same name and text, derived from the same built-in type."""
        base = getattr(builtins, self.base)
        members = {
            "__module__": self.module,
            "__qualname__": self.name,
            "__str__": lambda _: self.text,
        }
        error: BaseException = type(self.name.rpartition(".")[2], (base,), members)(self.text)
        if self.frames:
            error.add_note(f"It was raised here:\n{self.frames.rstrip()}")
        if self.cause is not None:
            error.__cause__ = self.cause.exception()
        return error


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
    error.__cause__ = raised.exception() if isinstance(raised, Raised) and raised.frames else None
    error.__context__ = None
    return error.with_traceback(None)


def _base(kind: type[BaseException]) -> type[BaseException]:
    """The nearest built-in type that can be made of one text.

    UnicodeDecodeError and ExceptionGroup cannot, and SyntaxError would print a text of its own.
    """
    for base in kind.__mro__:
        if base.__module__ == "builtins" and issubclass(base, Exception):
            try:
                base("")
            except TypeError:
                continue
            if not issubclass(base, SyntaxError):
                return base
    return Exception


def _frames(trace: TracebackType | None) -> str:
    """The frames as Python prints them, the outermost first, without dpaudit's own."""
    between = [PACKAGE / room for room in BETWEEN]
    stack = [
        frame
        for frame in traceback.extract_tb(trace)
        if not any(Path(frame.filename).is_relative_to(room) for room in between)
    ]
    return "".join(traceback.format_list(stack))
