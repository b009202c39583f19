"""Compare two results: list and draw the differences that exceed their own uncertainty.

At each ε a result has an estimate δ̂ of the δ that its sets show, and a lower bound `low` on it. The
distance w = δ̂ − low is the margin at the run's level, simultaneous over ε. The same margin is
used upwards, and at least ln(1/(1 − level))/n, the bound on a probability when none of n draws
hits. This gives each run a band [δ̂ − w, δ̂ + w]. A certified δ has moved if the bands of the two
runs do not overlap. The bands are about the δ that the scores show: a better score moves it too.

Two independent runs of one audit differ by a normal variable of √2 standard errors. The bands part
when it exceeds 2z standard errors, where z, the quantile of the margin, is above 2. The margin does
not cover the choice of a poor set by a few dozen draws: of all pairs of 150 runs of a Gaussian
audit with 600 draws a side 2.6 % parted, and of 149 runs with 2,000 draws none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.check import Words, fail
from dpaudit._core.files import replace_file
from dpaudit._core.result_file import is_one_run, load
from dpaudit._core.text import printable
from dpaudit._core.types import Array
from dpaudit._core.value import Text, value_class
from dpaudit.report import style
from dpaudit.report.result import Result
from dpaudit.verdict.headline import Headline
from dpaudit.verdict.numbers import number, percent, plain
from dpaudit.verdict.record import Curves, lookup, read_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTHING = "Nothing moved beyond its uncertainty."
# smaller differences of an exact δ are put down to the rounding of another machine
RELATIVE, ABSOLUTE = (1e-6, 1e-14)
SETTINGS = {
    "mechanism.name": "mechanism",
    "mechanism.parameters": "parameters",
    "dataset.name": "data",
    "dataset.n": "rows of the data",
    "headline.who": "neighbour",
    "claim.text": "claim",
    "level": "confidence",
    "canaries.count": "canaries",
}
SIZE = (6.4, 5.6)  # size of a figure in inches
LOOKS: tuple[style.Look, style.Look] = (
    {"color": style.BLUE, "linewidth": 1.8},
    {"color": style.VERMILION, "linewidth": 1.8, "linestyle": style.DASHED},
)
CLAIMS: tuple[style.Look, style.Look] = (
    {"color": style.GREY, "linewidth": 1.4, "linestyle": style.MIXED},
    {"color": style.GREY, "linewidth": 1.4, "linestyle": (0, (1, 1.6))},
)
SHADE = 0.18


@dataclass(frozen=True)
class Moved:
    """A difference: its name, and both values in words."""

    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.what}: {self.old}, now {self.new}"


@value_class
class Comparison:
    """Two results, and the differences between the first and the second.

    Attributes
    ----------
    names : tuple of str
        The names of both results in figure and text.
    records : tuple of dict
        The contents of their result.json.
    moved : sequence of Moved
        The differences: verdict, settings, and exact and certified δ beyond their uncertainty.
    """

    names: tuple[str, str]
    records: tuple[dict[str, Any], dict[str, Any]]
    moved: Sequence[Moved]

    def __repr__(self) -> str:
        return f"Comparison({self.names[0]!r}, {self.names[1]!r}: {len(self.moved)} moved)"

    def __str__(self) -> str:
        lines = []
        for name, record in zip(self.names, self.records, strict=True):
            text = Headline.of(record["headline"]).text
            lines.append(printable(f"{name}: {record['verdict']}. {text}"))
        moved = [f"  {printable(str(move))}" for move in self.moved] or [NOTHING]
        return "\n".join([*lines, *moved])

    def _repr_html_(self) -> str:
        return Text(self)._repr_html_()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw δ(ε) of both results with their bands, and arrows at the largest rise and fall.

        ax : the matplotlib axes to draw on, by default those of a new figure of pyplot. They are
        returned.
        """
        ax = ax or style.pyplot_axes(*SIZE)
        both = first, second = read_curves(self.records[0]), read_curves(self.records[1])
        for curves, name, look in zip(both, self.names, LOOKS, strict=True):
            ax.plot(curves.epsilon, curves.estimate, **look, label=f"{name}: estimate")
            width = margin(curves)
            low, high = np.clip([curves.estimate - width, curves.estimate + width], 0.0, 1.0)
            band = {"color": look["color"], "alpha": SHADE, "linewidth": 0}
            text = f"{name}: uncertainty, {percent(curves.level)}"
            ax.fill_between(curves.epsilon, low, high, **band, label=text)
        same = first.claim_text == second.claim_text  # if so, one line represents both claims
        for curves, name, look in zip(both, self.names, CLAIMS, strict=True):
            if curves.claim is not None and not (same and curves is second):
                text = f"claim {curves.claim_text}" + ("" if same else f" of {name}")
                ax.plot(curves.epsilon, curves.claim, **look, label=text)
        arrow = {
            "arrowstyle": "-|>",
            "color": "black",
            "linewidth": 1.2,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        titles = []
        for at, here, there in parted(first, second):
            before, now = float(first.estimate[here]), float(second.estimate[there])
            ax.annotate("", (at, now), (at, before), arrowprops=arrow)
            titles.append(f"δ({number(at)}): {number(before, 3)}, now {number(now, 3)}")
        ax.set_title("\n".join(titles), fontsize=10, parse_math=False)
        ax.set(xlabel="ε (nats)", ylabel="δ(ε)", ylim=(0.0, None))
        style.tidy(ax, tick_size=None)
        place: style.Look = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.11)}
        style.legend(ax, *ax.get_legend_handles_labels(), **place)
        return ax

    def save(self, path: str | Path) -> Path:
        """Write the figure to `path`, whose suffix is .png or .svg, and return the path. Raises
        `InvalidInput`, OSError.
        """
        path = Path(path)
        writers = {".png": style.as_png, ".svg": style.as_svg}
        if path.suffix not in writers:
            fail("path", str(path), "a file that ends in .png or .svg")
        with style.house_style():
            figure = style.new_figure(*SIZE)
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
    """Compare two results, such as those of two versions of a mechanism, or of two nights.

    Parameters
    ----------
    first, second : result or path
        Results of audits by draws, or the folders of saved ones. Results of other kinds are
        refused (`InvalidInput`).
    names : tuple of str, default ("first", "second")
        The names of the two.

    Returns
    -------
    Comparison
        `dpaudit.report.comparison` says when a certified δ has moved.

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
    >>> comparison = dp.report.compare(before, after, ("1.0", "1.1"))
    >>> [move.what.partition("(")[0] for move in comparison.moved]
    ['verdict', 'mechanism', 'certified ε at δ = 0', 'certified δ']
    """
    records = []
    for argument, result in (("first", first), ("second", second)):
        if not isinstance(result, str | Path) and not hasattr(result, "to_dict"):
            fail(argument, result, "a result, or the folder of one")
        record = load(Path(result)) if isinstance(result, str | Path) else result.to_dict()
        if is_one_run(record):
            fail(
                argument,
                Words("an audit of one run"),
                "a result of an audit by draws, which has a curve δ(ε)",
            )
        records.append(record)
    if len(names) != 2:
        fail("names", names, "two names")
    before, now = records
    return Comparison((str(names[0]), str(names[1])), (before, now), moved(before, now))


def moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Moved]:
    """The differences between two contents of result.json: verdict, settings, exact spectrum,
    certified δ. The bound of one run is a function of scores and coins, so any difference of these
    is listed.
    """
    kinds = [str(record.get("kind") or "two samples") for record in (old, new)]
    if kinds[0] != kinds[1]:
        return [Moved("kind of audit", kinds[0], kinds[1])]
    one_run = is_one_run(old)
    curves = None if one_run else (read_curves(old), read_curves(new))
    moves = [Moved("verdict", str(old["verdict"]), str(new["verdict"]))]
    if one_run:
        bounds = [number(record["certified"]["epsilon"], down=True) for record in (old, new)]
        moves.append(Moved("certified ε", bounds[0], bounds[1]))
    for path, name in SETTINGS.items():
        before, now = lookup(old, path), lookup(new, path)
        if before != now:
            moves.append(Moved(name, plain(before), plain(now)))
    differing = [move for move in moves if move.old != move.new]
    return differing if curves is None else [*differing, *_exact(*curves), *_certified(*curves)]


def _exact(old: Curves, new: Curves) -> list[Moved]:
    if old.exact is None or new.exact is None:
        known = ["none" if curves.exact is None else "known" for curves in (old, new)]
        return [Moved("exact spectrum", known[0], known[1])] if known[0] != known[1] else []
    at, here, there = _shared(old, new)
    before, now = old.exact[here], new.exact[there]
    gap = np.abs(now - before) - RELATIVE * np.maximum(before, now) - ABSOLUTE
    if len(at) == 0 or np.max(gap) <= 0.0:
        return []
    worst = int(np.argmax(gap))
    values = number(before[worst], 7), number(now[worst], 7)
    return [Moved(f"exact δ({number(at[worst])})", *values)]


def _certified(old: Curves, new: Curves) -> list[Moved]:
    """The differences at the places of `parted`, on common ε, after that of the claim's own
    parameter. If neither grid contains the other, that is a difference too.
    """
    both, moves = (old, new), []
    if len(_shared(old, new)[0]) < min(len(old.epsilon), len(new.epsilon)):
        grids = [
            f"{len(each.epsilon)} ε, {number(each.epsilon[0])} to {number(each.epsilon[-1])}"
            for each in both
        ]
        moves.append(Moved("grid of ε", grids[0], grids[1]))
    places = parted(old, new)
    heads = [each.headline for each in both if each.claim is not None]
    names = {" ".join(filter(None, ("certified", head.symbol, head.at))) for head in heads}
    if places and len(heads) == 2 and len(names) == 1:
        moves.append(Moved(names.pop(), heads[0].certified_text, heads[1].certified_text))
    for at, here, there in places:
        values = [
            f"{number(each.low[place], down=True)} (estimate {number(each.estimate[place])})"
            for each, place in zip(both, (here, there), strict=True)
        ]
        moves.append(Moved(f"certified δ({number(at)})", values[0], values[1]))
    return moves


def parted(old: Curves, new: Curves) -> list[tuple[float, int, int]]:
    """The places (ε, position on both grids) where the new band lies above the old one, and below
    it: the ε of both headlines if the bands part there, else where they are furthest apart. A curve
    may rise at one ε and fall at another; a rise loses privacy.
    """
    at, here, there = _shared(old, new)
    first, second = old.headline.epsilon, new.headline.epsilon
    own = np.isclose(at, first if first == second else -1.0)
    change = new.estimate[there] - old.estimate[here]
    room = margin(old)[here] + margin(new)[there]
    places = []
    for gap in (change - room, -change - room):
        if np.max(gap, initial=0.0) > 0.0:
            worst = int(np.argmax(np.where(own & (gap > 0.0), np.inf, gap)))
            places.append((float(at[worst]), int(here[worst]), int(there[worst])))
    return places


def margin(curves: Curves) -> Array:
    """The margin w at each ε, (m,), raised to at least the margin at smaller ε.

    If the bound at an ε comes from another set than the estimate, or is 0, it says nothing about
    the error of the estimate. Sets shrink as ε grows, so the margin at a smaller ε covers that.
    """
    floor = np.log(1.0 / (1.0 - curves.level)) / (curves.draws or np.inf)
    return np.maximum.accumulate(np.maximum(curves.estimate - curves.low, floor))


def _shared(old: Curves, new: Curves) -> tuple[Array, np.ndarray, np.ndarray]:
    return np.intersect1d(np.round(old.epsilon, 9), np.round(new.epsilon, 9), return_indices=True)
