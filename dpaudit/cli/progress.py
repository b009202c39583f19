"""Progress on stderr: on a terminal a bar with the time left, else a line at every tenth."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

from dpaudit._core.text import one_line
from dpaudit.auditing.progress import Bars
from dpaudit.cli.console import console
from dpaudit.sampling import Progress
from dpaudit.verdict.numbers import count

COUNTED = "{desc}: {percentage:3.0f} % |{bar:18}| {n:,} of {total:,}, {remaining} left"
SINGLE = "{desc}: {elapsed}"


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Progress]:
    """A context with a callback progress(step, done, wanted) that writes to `stream`, by default
    stderr; nothing with --quiet, lines with the time with --verbose.
    """
    if console().quiet:
        yield lambda step, done, wanted: None
        return
    stream = sys.stderr if stream is None else stream
    # a bar goes back to the beginning of its line, which a screen does not allow
    terminal = getattr(stream, "stream", stream)
    if console().verbose or not stream.isatty():
        yield Lines(stream)
        return

    def bar(step: str, done: int, wanted: int) -> tqdm:
        """A new bar for a step, as wide as the terminal is now."""
        form, size = SINGLE if wanted == 1 else COUNTED, shutil.get_terminal_size()
        shape = {"ncols": size.columns, "nrows": size.lines, "bar_format": form}
        return tqdm(desc=one_line(step), total=wanted, initial=done, file=terminal, **shape)

    bars = Bars(bar)
    try:
        yield bars
    finally:
        bars.close()


class Lines:
    """A progress callback that prints a line at the beginning and the end of each step, and at each
    tenth of it, at most once a second. Steps may be nested, as the rounds of a search are.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.step = stream, ""
        self.begins: dict[str, float] = {}  # of the steps that are not done
        self.since, self.first, self.last, self.tenth = 0.0, 0, 0.0, 0

    def __call__(self, step: str, done: int, wanted: int) -> None:
        now = time.monotonic()
        if new := step != self.step:
            self.step, self.since, self.first, self.tenth = step, now, done, 0
        begin = self.begins.setdefault(step, now)
        tenth = 10 * done // wanted
        if not (new or done == wanted or (tenth > self.tenth and now - self.last >= 1.0)):
            return
        self.last, self.tenth = now, tenth
        line = f"{step}: {count(done)} of {count(wanted)}"
        if done == wanted:
            del self.begins[step]
            line = f"{step}: done in {tqdm.format_interval(now - begin)}"
        elif wanted == 1:
            line = f"{step} ..."
        elif done > self.first:
            left = (now - self.since) / (done - self.first) * (wanted - done)
            line += f", {tqdm.format_interval(left)} left"
        if console().verbose:
            console().moment(line)
        else:
            print(line, file=self.stream, flush=True)
