"""Progress on stderr: a bar with the time left on a terminal, else a line at every tenth."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

from dpaudit._core.shown.printable import one_line
from dpaudit.auditing.progress import Bars
from dpaudit.cli.console import console
from dpaudit.sampling import Progress
from dpaudit.verdict.numbers import count

COUNTED = "{desc}: {percentage:3.0f} % |{bar:18}| {n:,} of {total:,}, {remaining} left"
SINGLE = "{desc}: {elapsed}"


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Progress]:
    """A callback progress(step, done, wanted) that writes to `stream` (stderr).

    With --quiet it writes nothing, and with --verbose lines with the time.
    """
    if console().quiet:
        yield _silent
        return
    stream = sys.stderr if stream is None else stream
    bars = stream.isatty() and not console().verbose
    view = Bars(_bar_on(stream)) if bars else Lines(stream)
    try:
        yield view
    finally:
        view.close()


def _silent(step: str, done: int, wanted: int) -> None:
    """Progress that nobody wants to see."""


def _bar_on(stream: TextIO) -> Callable[[str, int, int], tqdm]:
    """Bars as wide as the terminal is when they begin."""
    # a bar goes back to the beginning of its line, which a screen does not allow
    terminal = getattr(stream, "stream", stream)

    def bar(step: str, done: int, wanted: int) -> tqdm:
        form, size = SINGLE if wanted == 1 else COUNTED, shutil.get_terminal_size()
        shape = {"ncols": size.columns, "nrows": size.lines, "bar_format": form}
        return tqdm(desc=one_line(step), total=wanted, initial=done, file=terminal, **shape)

    return bar


class Lines:
    """A line at the beginning and the end of a step, and at every tenth, at most one a second."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.step = stream, ""
        self.begin, self.first, self.last, self.tenth = 0.0, 0, 0.0, 0

    def __call__(self, step: str, done: int, wanted: int) -> None:
        """Print that `done` of `wanted` parts of the step are done, if a line is due."""
        now = time.monotonic()
        if new := step != self.step:
            self.step, self.begin, self.first, self.tenth = step, now, done, 0
        tenth = 10 * done // wanted
        if new or done == wanted or (tenth > self.tenth and now - self.last >= 1.0):
            self.last, self.tenth = now, tenth
            self._say(self._line(done, wanted, now - self.begin))

    def _say(self, text: str) -> None:
        if console().verbose:
            console().moment(text)
        else:
            print(text, file=self.stream, flush=True)

    def _line(self, done: int, wanted: int, spent: float) -> str:
        if done == wanted:
            return f"{self.step}: done in {tqdm.format_interval(spent)}"
        if wanted == 1:
            return f"{self.step} ..."
        if done == self.first:
            return f"{self.step}: {count(done)} of {count(wanted)}"
        left = tqdm.format_interval(spent / (done - self.first) * (wanted - done))
        return f"{self.step}: {count(done)} of {count(wanted)}, {left} left"

    def close(self) -> None:
        """Nothing to do: each line is complete."""
