"""Comparing two results, given as they are or by their folders."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dpaudit._core.check import Words, fail
from dpaudit._core.files import replace_file
from dpaudit._core.result_file import is_one_run, load
from dpaudit._core.shown.printable import printable
from dpaudit.report.comparison.moved import Moved, moved
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.record import read_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTHING = "Nothing moved beyond its uncertainty."
SIZE = (6.4, 5.6)  # inches, of a figure


class Result(Protocol):
    """A result of an audit by draws."""

    def to_dict(self) -> dict[str, Any]:
        """The content of its result.json."""
        ...


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two results: what moved from the first to the second.

    Attributes
    ----------
    names : tuple of str
        Of both, in figure and text.
    records : tuple of dict
        The contents of their result.json.
    moved : sequence of Moved
        Verdict, settings, exact and certified δ that differ by more than their uncertainty.
    """

    names: tuple[str, str]
    records: tuple[dict[str, Any], dict[str, Any]]
    moved: Sequence[Moved]

    def __repr__(self) -> str:
        return f"Comparison({self.names[0]!r}, {self.names[1]!r}: {len(self.moved)} moved)"

    def __str__(self) -> str:
        lines = [f"{name}: {said}" for name, said in zip(self.names, self._said(), strict=True)]
        return "\n".join([*map(printable, lines), *self._lines()])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _lines(self) -> list[str]:
        return [f"  {printable(str(one))}" for one in self.moved] or [NOTHING]

    def _said(self) -> list[str]:
        """Verdict and headline of both; the reason of a result that is older than headlines."""
        return [f"{one['verdict']}. {_head(one)}" for one in self.records]

    def plot(self, ax: Axes | None = None) -> Axes:
        """δ(ε) of both with the bands of their uncertainty; arrows at the largest rise and fall.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            To draw on; None for a new figure of pyplot.

        Returns
        -------
        matplotlib Axes
        """
        from dpaudit.report.comparison.figure import plot_comparison
        from dpaudit.report.style import pyplot_axes

        first, second = map(read_curves, self.records)
        return plot_comparison(first, second, self.names, ax or pyplot_axes(*SIZE))

    def save(self, path: str | Path) -> Path:
        """Write the figure as PNG or SVG, by its suffix.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Path

        Raises
        ------
        InvalidInput
            For another suffix.
        OSError
            When the file cannot be written.
        """
        from dpaudit.report.figures import as_png, as_svg, house_style
        from dpaudit.report.style import new_figure

        path = Path(path)
        writers = {".png": as_png, ".svg": as_svg}
        if path.suffix not in writers:
            fail("path", str(path), "a file that ends in .png or .svg")
        with house_style():
            figure = new_figure(*SIZE)
            self.plot(figure.subplots())
            content = writers[path.suffix](figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
        return path


def compare(
    first: Result | str | Path,
    second: Result | str | Path,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """What moved from one result to another: two versions of a mechanism, say, or two nights.

    Parameters
    ----------
    first : result or path
        Of an audit by draws, or the folder of a saved one.
    second : result or path
        Likewise.
    names : tuple of str, default ("first", "second")
        Of the two.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidInput
        When one of the two is no such result.

    Notes
    -----
    A certified δ has moved where the bands [δ̂ − w, δ̂ + w] of the two do not meet, with w the
    distance from the estimate δ̂ down to its bound (`dpaudit.report.comparison.moved`). Both show
    what their scores saw, so a better score moves it too.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def noisy_sum(data, size, *, rng, scale=1.0):
    ...     return data.sum() + rng.laplace(scale=scale, size=(size, 1))
    >>> def less_noise(data, size, *, rng):
    ...     return noisy_sum(data, size, rng=rng, scale=0.5)
    >>> pair = dp.neighbours.replace_row(np.array([[0.0], [1.0]]), 0, [1.0])
    >>> before, after = (
    ...     dp.audit(each, pair, claim=(1.0, 0.0), draws=4000, rng=0)
    ...     for each in (noisy_sum, less_noise)
    ... )
    >>> found = dp.report.compare(before, after, ("1.0", "1.1"))
    >>> [one.what.partition("(")[0] for one in found.moved]
    ['verdict', 'mechanism', 'certified δ']
    """
    records = _record("first", first), _record("second", second)
    if len(names) != 2:
        fail("names", names, "two names")
    return Comparison((str(names[0]), str(names[1])), records, moved(*records))


def _head(record: dict[str, Any]) -> str:
    head = record.get("headline")
    return str(record["reason"]) if head is None else Headline.of(head).text


def _record(name: str, given: Result | str | Path) -> dict[str, Any]:
    if not isinstance(given, str | Path) and not hasattr(given, "to_dict"):
        fail(name, given, "a result, or the folder of one")
    record = load(Path(given)) if isinstance(given, str | Path) else given.to_dict()
    if is_one_run(record):
        fail(
            name,
            Words("an audit of one run"),
            "a result of an audit by draws, which has a curve δ(ε)",
        )
    return record
