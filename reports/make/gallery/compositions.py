"""Many releases of one database: exact composition against what composition theorems bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.curves.claims import Claim
from dpaudit.curves.readings import epsilon_at
from dpaudit.exact import PrivacyLoss, compose
from dpaudit.papers import printed
from dpaudit.report.style import (
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    GREY,
    VERMILION,
    legend,
    new_figure,
    tidy,
)
from reports.make.gallery.settings import DELTA, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MU, ROWS, GAMMA = 0.1, 10, 100.0
RANGE = (0.01, 20.0)  # ε
PARTS = np.geomspace(1e-4, 3.0, 400)  # ε₀ of one release
FLOOR = 1e-12
STYLES = {"exact": "-", "concentrated": DASHED, "parts": DOTTED}
COLOURS, MARKERS = (BLUE, VERMILION, GREEN, GREY), ("o", "s", "^", "D")


@dataclass(frozen=True)
class Release:
    """One release with its exact loss and the claim that is made for `times` of it."""

    title: str
    loss: PrivacyLoss
    claim: Callable[[int], Claim]
    claimed: str


def releases() -> list[Release]:
    """A Gaussian shift and a Gaussian sketch."""
    rho, omega = printed.corollary_1_tcdp(ROWS, GAMMA)
    return [
        Release(
            f"Gaussian shift, μ = {MU:g}",
            PrivacyLoss.gaussian_shift(MU),
            lambda times: Claim.zcdp(0.5 * times * MU**2),
            "zCDP, ρ = nμ²/2",
        ),
        Release(
            f"Gaussian sketch, k = {ROWS}, q = 1/γ = {1.0 / GAMMA:g}",
            PrivacyLoss.gaussian_sketch(1.0 / GAMMA, ROWS),
            lambda times: Claim.tcdp(times * rho, omega),
            "tCDP, n times paper 3's corollary 1",
        ),
    ]


def from_parts(
    delta_of: Callable[[np.ndarray], np.ndarray], times: int, epsilon: np.ndarray
) -> np.ndarray:
    """The better of basic and advanced composition (Dwork, Rothblum & Vadhan 2010).

    Basic: nδ(ε/n). Advanced: ε = ε₀√(2n ln(1/δ′)) + nε₀(e^{ε₀} − 1) with δ = nδ(ε₀) + δ′, at the
    best ε₀ of one release. Here δ(ε₀) is exact.
    """
    room = epsilon[:, None] - times * PARTS * np.expm1(PARTS)
    slack = np.exp(-0.5 * np.maximum(room, 0.0) ** 2 / (times * PARTS**2))
    advanced = np.min(np.where(room > 0.0, times * delta_of(PARTS) + slack, 1.0), axis=1)
    return np.minimum(np.minimum(times * delta_of(epsilon / times), advanced), 1.0)


def numbers(settings: Settings) -> list[dict[str, Any]]:
    """For each release and each n the three curves, and the ε of each at δ = DELTA."""
    grid = np.geomspace(*RANGE, settings.points)
    return [
        {
            "title": release.title,
            "claimed": release.claimed,
            "epsilon": grid.tolist(),
            "curves": {str(times): _curves(release, times, grid) for times in settings.releases},
        }
        for release in releases()
    ]


def _curves(release: Release, times: int, grid: np.ndarray) -> dict[str, Any]:
    curves = {
        "exact": _larger(compose([release.loss], [times])),
        "concentrated": release.claim(times).delta_at,
        "parts": lambda e: from_parts(_larger(release.loss), times, np.atleast_1d(e)).reshape(
            np.shape(e)
        ),
    }
    return {
        **{name: curve(grid).tolist() for name, curve in curves.items()},
        "epsilon_at_delta": {
            name: float(epsilon_at(curve, DELTA)) for name, curve in curves.items()
        },
    }


def _larger(loss: PrivacyLoss) -> Callable[[Any], np.ndarray]:
    return lambda epsilon: np.maximum(*loss.delta(epsilon))


def figure(content: list[dict[str, Any]]) -> Figure:
    """A panel for each kind of release; colour and marker show n, the line style the analysis."""
    made = new_figure(9.6, 5.4)
    grid = np.atleast_1d(made.subplots(1, len(content), sharey=True))
    for ax, one in zip(grid, content, strict=True):
        panel(one, ax)
    grid[0].set_ylabel("δ(ε)")
    looks = [{"color": "black", "linestyle": style} for style in STYLES.values()]
    counts = list(content[0]["curves"])
    looks += [{**_look(place), "linestyle": ""} for place in range(len(counts))]
    texts = [
        "exact composition",
        "concentrated privacy: zCDP (left), tCDP (right)",
        "basic or advanced, the better",
    ]
    handles = [grid[0].plot([], [], linewidth=1.7, **look)[0] for look in looks]
    legend(
        made, handles, [*texts, *(f"n = {n}" for n in counts)], loc="outside lower center", ncols=2
    )
    return made


def _look(place: int) -> dict[str, Any]:
    return {"color": COLOURS[place % 4], "marker": MARKERS[place % 4], "markersize": 5.0}


def panel(one: dict[str, Any], ax: Axes) -> Axes:
    """δ against ε on log axes."""
    epsilon = np.array(one["epsilon"])
    for place, (times, curves) in enumerate(one["curves"].items()):
        for number, (name, style) in enumerate(STYLES.items()):
            if name != "parts" or times != "1":  # of one release they are the exact curve
                marked = (3 * number, max(1, len(epsilon) // 11))
                delta = np.maximum(curves[name], 1e-300)
                ax.plot(
                    epsilon, delta, linewidth=1.7, linestyle=style, markevery=marked, **_look(place)
                )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks([0.01, 0.1, 1.0, 10.0], ["0.01", "0.1", "1", "10"])
    ax.set(xlabel="ε (nats)", xlim=(epsilon[0], epsilon[-1]), ylim=(FLOOR, 1.5))
    ax.set_title(one["title"], fontsize=10, loc="left")
    return tidy(ax)
