"""The figure of one run: how many guesses are right, the strongest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit.report.figures import BARS, CLAIM, EXACT, PERFECT
from dpaudit.report.style import legend, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 4.4)  # inches
TOP = 0.95  # of the law of right guesses by chance that is shaded


@dataclass(frozen=True)
class Guessed:
    """count, right : of the strongest guesses, (k,). chance : the largest of the coins' own
    probabilities. epsilon : nats, claimed; None where no ε is.
    """

    count: Array
    right: Array
    chance: float
    epsilon: float | None

    __repr__ = short_repr

    @classmethod
    def of(cls, record: Any) -> Guessed:
        """From the content of result.json."""
        guesses, claim = record["guesses"], record["claim"]
        low, high = record["canaries"]["inclusion"]
        epsilon = None if claim is None else claim["epsilon"]
        count, right = (np.array(guesses[key], dtype=np.float64) for key in ("count", "right"))
        return cls(count, right, max(float(high), 1.0 - float(low)), epsilon)

    @property
    def allowed(self) -> float | None:
        """The share that ε-DP allows on average, at most; None where no ε is claimed."""
        if self.epsilon is None:
            return None
        return float(expit(np.log(self.chance / (1.0 - self.chance)) + self.epsilon))


def guesses_figure(guessed: Guessed) -> Figure:
    """Share of right guesses against their number, on a log axis."""
    figure = new_figure(*SIZE)
    ax = _panel(figure.subplots(), guessed)
    legend(figure, *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def plot_guesses(guessed: Guessed, ax: Axes) -> Axes:
    """The same on axes that hold their legend; returns them."""
    _panel(ax, guessed)
    legend(ax, *ax.get_legend_handles_labels(), loc="best")
    return ax


def _panel(ax: Axes, guessed: Guessed) -> Axes:
    if guessed.count.size:
        _curves(ax, guessed)
    ax.set(xlabel="number of guesses, the strongest first", ylabel="share of right guesses")
    ax.set(xscale="log", ylim=(0.0, 1.04))
    return tidy(ax)


def _curves(ax: Axes, guessed: Guessed) -> None:
    from scipy.stats import binom  # here: slow to import

    size, share = guessed.count, guessed.right / guessed.count
    marker = {"marker": "o", "markersize": 3.5}
    ax.plot(size, share, label="this run", **{**EXACT, **marker})
    ax.axhline(guessed.chance, label="chance", **{**PERFECT, "linewidth": 1.4})
    most = binom.ppf(TOP, size.astype(int), guessed.chance) / size
    shaded = {"facecolor": BARS["colors"], "alpha": 0.12, "linewidth": 0}
    ax.fill_between(size, 0.0, most, label="19 of 20 runs by chance", **shaded)
    if guessed.allowed is not None:
        name = "average that the claimed ε allows"
        ax.axhline(guessed.allowed, label=name, **{**CLAIM, "marker": "None"})
