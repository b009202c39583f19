"""Text as a reader may see it: nothing controls a terminal or misleads the eye."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from typing import Any, TextIO

# Control characters other than tab and newline (C0, DEL, C1), marks of direction, separators of
# lines and paragraphs, characters without width that join nothing, tags, and lone surrogates
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
DIGITS = Context(prec=4)  # significant digits of a share, or of 1 − share if that is smaller


def printable(text: str) -> str:
    r"""The text, with each character that cannot be seen written as JSON writes it: \u001b.

    So a JSON text stays JSON with the same content. Tab and newline stay.

    >>> print(printable("a\x1b[2Jb"), printable("caf\udce9"))
    a\u001b[2Jb caf\udce9
    """
    return text if text.isascii() and text.isprintable() else HIDDEN.sub(_escaped, text)


def one_line(text: str) -> str:
    """Like `printable`, but tab and newline are escaped too."""
    return re.sub("[\t\n]", _escaped, printable(text))


def with_article(noun: str) -> str:
    """The noun after "a" or "an": "a list", "an object"."""
    return f"{'an' if noun[:1].lower() in {*'aeio'} else 'a'} {noun}"


def encodable(text: str) -> str:
    r"""The text with lone surrogates, which no encoding has, escaped: \udce9."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


class Screen:
    """A text stream that writes `printable` text; other attributes are those of the wrapped stream.

    If the stream's reader is gone, as after `| head`, the rest is dropped without an error.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self._or_nowhere(lambda: self.stream.write(printable(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self._or_nowhere(self.stream.flush)

    def _or_nowhere(self, output: Callable[[], object]) -> None:
        try:
            output()
        except BrokenPipeError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self.stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def percent(share: float) -> str:
    """A share in [0, 1] as text: "95 %", "99.9999 %"; "100 %" only if it is 1, and "0 %" if 0.

    Four digits are shown of the share or of 1 − share, whichever is smaller.

    >>> percent(0.95), percent(1.0 - 1e-6), percent(1.0 - 1e-12), percent(2e-9)
    ('95 %', '99.9999 %', '99.9999999999 %', '0.0000002 %')
    """
    exact = Decimal(repr(float(share)))
    part = DIGITS.create_decimal(min(exact, 1 - exact))
    hundredths = 100 * (part if exact <= 1 - exact else 1 - part)
    return f"{hundredths.normalize():f} %"
