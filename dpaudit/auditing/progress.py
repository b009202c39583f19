"""Show the progress of an audit: by a user's own function, by bars of tqdm on a terminal, in one
line of a notebook, or not at all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit.auditing.settings import silent
from dpaudit.sampling import Progress

NOTEBOOK = "ZMQInteractiveShell"  # IPython's shell in a notebook; in a terminal it has another one
ProgressLike = bool | Progress | None


@contextmanager
def shown(progress: ProgressLike) -> Iterator[Progress]:
    """A context manager that gives a callback progress(step, done, wanted) and closes its bars.

    progress : True to show it, None to show it in a notebook alone, False for nothing; or a
    callback, returned as it is. What shows progress also shows, by its method `look`, what the
    audit will cost.
    """
    if callable(progress):
        yield progress
        return
    if not isinstance(progress, (bool, np.bool_, type(None))):
        expected = "True, False, None or a function progress(step, done, wanted)"
        check.fail("progress", progress, expected)
    if not (in_notebook() if progress is None else progress):
        yield silent
        return
    bars = NotebookLine() if in_notebook() else Bars(_bar)
    try:
        yield bars
    finally:
        bars.close()


def in_notebook() -> bool:
    """Whether this process is an IPython kernel, as in Jupyter; does not import IPython."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get is not None and type(get()).__name__ == NOTEBOOK


class Bars:
    """A `Progress` callback with one bar for each step; full bars stay on the screen.

    A step that others interrupt, as the rounds of a search do with the choice of the neighbour,
    gets another bar, whose clock starts where the step began.

    bar : a function of (step, done, wanted) that returns a new bar of tqdm.
    """

    def __init__(self, bar: Callable[[str, int, int], Any]) -> None:
        self.new, self.step = bar, ""
        self.bar: Any = None
        self.begins: dict[str, float] = {}  # of the steps that are not done

    def __call__(self, step: str, done: int, wanted: int) -> None:
        if step != self.step or self.bar is None:
            self.close()
            self.step, self.bar = step, self.new(step, done, wanted)
            begin = self.begins.setdefault(step, self.bar.start_t)
            self.bar.start_t = begin if wanted == 1 else self.bar.start_t  # the rate is of this bar
        self.bar.update(done - self.bar.n)
        if done == wanted:
            del self.begins[step]
            self.close()

    def look(self, text: str) -> None:
        print(text, file=sys.stderr)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = None


class NotebookLine:
    """A `Progress` callback that shows the present step in one line of a notebook, and empties the
    line at the end, so that a saved notebook keeps none of the steps.
    """

    def __init__(self) -> None:
        display = import_module("IPython.display").display
        self.handle: Any = display({"text/plain": ""}, raw=True, display_id=True)
        self.step, self.since, self.first, self.shown = "", 0.0, 0, 0.0
        self.cost = ""

    def look(self, text: str) -> None:
        self.cost = f"{text} – "
        self._show(text)

    def __call__(self, step: str, done: int, wanted: int) -> None:
        """Show that `done` of `wanted` parts of the step are done, at most five times a second."""
        now = time.monotonic()
        if step != self.step:
            self.step, self.since, self.first, self.shown = step, now, done, 0.0
        if now - self.shown < 0.2 and done < wanted:
            return
        self.shown, text = now, self.cost + step
        if wanted > 1:
            text += f": {done:,} of {wanted:,}"
        if self.first < done < wanted:
            left = (now - self.since) / (done - self.first) * (wanted - done)
            text += f", about {left:,.0f} s left"
        self._show(text)

    def close(self) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        self.handle.update({"text/plain": text}, raw=True)


def _bar(step: str, done: int, wanted: int) -> Any:
    from tqdm import tqdm

    return tqdm(desc=step, total=wanted, initial=done)
