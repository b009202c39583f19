"""What a user's own code raised, in a form that may be shown: with its own frames, without data.

An exception holds the data in its text, its arguments and the variables of its frames, all of which
a test runner, a notebook or the log of a cluster may print. `Raised` travels from a worker to the
auditing process, where it becomes an exception of the same name with the lines of the code as a
note.
"""

from __future__ import annotations

import builtins
import re
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import MechanismError

PACKAGE = Path(__file__).parents[1]
# rooms whose frames stand between the user and the mechanism
BETWEEN = ("_core", "adapters", "auditing", "cli", "run", "sampling", "search", "testing")
DEEPEST = 8  # exceptions of a chain that are stored

# What replaces a hidden number, and a list of numbers
HIDDEN, LIST = "…", "[…]"
MOST = 4000  # characters of a text that are stored
# the least number of significant digits at which a number may reveal a value: for a number with a
# decimal point that equals the value, and for a whole number
EXACT, OF_INTEGERS = 2, 4

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ITEM = rf"(?:{_NUMBER}|[-+]?(?:nan|inf|NaN|Inf)|\.\.\.|…)"
NUMBER = re.compile(r"(?<![\d.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"(?<![\d.])-?\d{1,3}(?:[,_]\d{3})+(?![\d])(?:\.\d*)?")  # 8,123.46 and 8_123
OF_BITS = re.compile(r"-?0x[\da-fA-F]\.[\da-fA-F]+p[-+]?\d+")  # as float.hex() writes them
FRAME = re.compile(r'^  File "(.*)", line (\d+), in (.*)$', re.MULTILINE)  # as Python prints it
NUMBERS = re.compile(rf"\[[\s\[\]]*{_ITEM}(?:[\s,;\[\]]+{_ITEM})*[\s,\]]*\]")


@dataclass(frozen=True)
class Raised:
    """An exception without data.

    module, name : the module and name of its type. base : the built-in type that its type derives
    from. text : its message, redacted. frames : where it was raised, as Python prints a traceback,
    but without dpaudit's own frames. cause : the exception from which it was raised.
    """

    module: str
    name: str
    base: str
    text: str
    frames: str = ""
    cause: Raised | None = None

    @classmethod
    def of(cls, error: BaseException, data: Any = None, depth: int = DEEPEST) -> Raised:
        """Redact an exception. data : values that the text must not show, as for `redacted`."""
        kind, before = type(error), error.__cause__
        if before is None and not error.__suppress_context__:
            before = error.__context__
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        between = [PACKAGE / room for room in BETWEEN]
        stack = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if not any(Path(frame.filename).is_relative_to(room) for room in between)
        ]
        return cls(
            kind.__module__,
            kind.__qualname__,
            _base(kind).__name__,
            redacted(text, data),
            "".join(traceback.format_list(stack)),
            None if before is None or depth == 0 else cls.of(before, data, depth - 1),
        )

    @property
    def line(self) -> str:
        """The name of the type and the text, on one line."""
        return f"{self.name.rpartition('.')[2]}: {self.text}"

    @property
    def places(self) -> list[tuple[str, int, str]]:
        """The file, line and function of each frame, outermost first, down to the user's own line:
        frames of installed packages below it are left out.
        """
        calls = [(file, int(line), name) for file, line, name in FRAME.findall(self.frames)]
        own = [at for at, (file, *_) in enumerate(calls) if not _installed(file)]
        return calls[: own[-1] + 1] if own else calls

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
    """The text of a fault of dpaudit itself: all frames, and its message without data."""
    raised = Raised.of(error)
    frames = "".join(traceback.format_tb(error.__traceback__))
    before = "" if error.__cause__ is None else f"{report(error.__cause__)}which led to\n"
    return f"{before}Traceback (most recent call last):\n{frames}{raised.line}\n"


def with_cause(error: MechanismError) -> MechanismError:
    """The same error, with the mechanism's own exception as its cause if that has frames.

    The error's traceback is removed: when it is raised again, the traceback starts there.
    """
    raised = error.raised
    error.__cause__ = raised.exception() if isinstance(raised, Raised) and raised.frames else None
    error.__context__ = None
    return error.with_traceback(None)


def _installed(file: str) -> bool:
    """Whether a file belongs to an installed package or to Python itself."""
    library = Path(sysconfig.get_path("stdlib"))
    return "site-packages" in Path(file).parts or Path(file).is_relative_to(library)


def _base(kind: type[BaseException]) -> type[BaseException]:
    """The nearest built-in base type that one text suffices to create, as it does not for
    UnicodeDecodeError; no SyntaxError, which would print a text of its own.
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


def redacted(text: str, data: Any = None) -> str:
    """The text without lists of numbers in brackets, and without numbers that a value rounds to.

    data : the values, or None where they are unknown: then every number is removed. Whole numbers
    with fewer than 4 significant digits stay, and other numbers with fewer than 3, unless a number
    of 2 digits equals a value.

    >>> print(redacted("row 3: [73.12 -8.5], got 73.12 for 0.125", [[73.1234567, 2.0]]))
    row 3: […], got … for 0.125
    >>> print(redacted("exit status 7 after 4096 bytes"))
    exit status 7 after … bytes
    """
    values = None
    if data is not None:
        try:
            values = np.abs(np.asarray(data, dtype=np.float64).ravel())
        except (TypeError, ValueError):  # these data are not numbers
            values = np.empty(0)
        values = values[np.isfinite(values)]

    def hidden(match: re.Match[str]) -> str:
        return HIDDEN if match.re is OF_BITS or _tells(match, values) else match[0]

    text = NUMBERS.sub(LIST, text if len(text) <= MOST else f"{text[:MOST]}...")
    for pattern in (OF_BITS, NUMBER) if values is None else (OF_BITS, GROUPED, NUMBER):
        text = pattern.sub(hidden, text)
    return text


def _tells(match: re.Match[str], values: np.ndarray | None) -> bool:
    """Whether a written number has enough digits to reveal a value, and a value rounds to it.

    A number that equals a value cut off instead of rounded, or a value without its sign, reveals
    it, too. A whole number inside a name, as in float64, does not; where the values are unknown, no
    number inside a name does, as in python3.11.
    """
    start, end = match.span()
    around = match.string[max(start - 1, 0) : start] + match.string[end : end + 1]
    if re.search(r"\w", around) and (values is None or "." not in match[0]):
        return False
    number = re.sub("[,_]", "", match[0]).lower()
    mantissa, _, power = number.partition("e")
    digits = mantissa.lstrip("-")
    significant = len(digits.replace(".", "").lstrip("0"))
    if significant < (EXACT if "." in digits else OF_INTEGERS):
        return False
    if values is None:
        return significant > EXACT
    last_place = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    room = last_place if significant > EXACT else 0.0
    return bool(np.any(np.abs(values - abs(float(number))) <= room))
