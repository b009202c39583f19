"""Show the progress of an audit by a user's own function, by bars of tqdm, or not at all."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

    progress : True for bars of `tqdm.auto`; None for bars in a notebook and nothing elsewhere;
    False for nothing; or a callback, which is returned as it is. Raises `InvalidInput`.
    """
    if callable(progress):
        yield progress
        return
    if not (in_notebook() if progress is None else _asked(progress)):
        yield silent
        return
    bars = Bars(_bar)
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
        """Show that `done` of `wanted` parts of the step are done."""
        if step != self.step or self.bar is None:
            self.close()
            self.step, self.bar = step, self.new(step, done, wanted)
            begin = self.begins.setdefault(step, self.bar.start_t)
            self.bar.start_t = begin if wanted == 1 else self.bar.start_t  # the rate is of this bar
        self.bar.update(done - self.bar.n)
        if done == wanted:
            del self.begins[step]
            self.close()

    def close(self) -> None:
        """End the bar of the last step."""
        if self.bar is not None:
            self.bar.close()
        self.bar = None


def _asked(progress: object) -> bool:
    if not isinstance(progress, (bool, np.bool_)):
        expected = "True, False, None or a function progress(step, done, wanted)"
        check.fail("progress", progress, expected)
    return bool(progress)


def _bar(step: str, done: int, wanted: int) -> Any:
    """A bar of the notebook or the terminal; without ipywidgets a text bar, and no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        from tqdm.auto import tqdm
    return tqdm(desc=step, total=wanted, initial=done)
