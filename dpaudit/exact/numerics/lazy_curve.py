"""A curve δ(ε) by series on fixed panels, each fitted and checked when it is first asked.

The panels do not depend on the ε that are asked, so neither do the values; and a search that asks
many times pays for each panel once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.log_series import AGREE, LogSeries, unresolved
from dpaudit.exact.numerics.signed_curve import Delta

SMALLEST = 1e-300
LEAST = 1e-13  # of δ, below which two meshes may differ by AGREE of this
PRECISE, MOST = 1e-10, 24  # of a series, and its panels
FINER = (1, 2, 4, 8)  # times as fine as the first mesh


@dataclass(frozen=True, eq=False, repr=False)
class LazyCurve:
    """A falling function, by series between 0, unit, 2 unit, 4 unit, …; below 0 as it stands.

    on_mesh : (k,) → (k,), values ≥ 0, by a mesh so many times as fine as the first. unit : about
    the length over which it falls. least : what is smaller counts as 0.
    """

    on_mesh: Callable[[Array, int], Array]
    unit: float
    least: float = SMALLEST
    panels: dict[int, Delta] = field(default_factory=dict)

    def __call__(self, epsilon: Array) -> Array:
        """δ at each ε, (m,). Raises `NoExactSpectrum`."""
        found, ahead = np.empty_like(epsilon), epsilon >= 0.0
        found[~ahead] = self.direct(epsilon[~ahead])
        places = np.maximum(np.frexp(epsilon / self.unit)[1], 0)  # the power of 2 above ε/unit
        for place in np.unique(places[ahead]):
            at = ahead & (places == place)
            found[at] = self._panel(int(place))(epsilon[at])
        return found

    def direct(self, epsilon: Array) -> Array:
        """Without series: by the first mesh that agrees with the one before, half as fine.

        Raises `NoExactSpectrum` where there is none.
        """
        if not len(epsilon):
            return epsilon
        found = self.on_mesh(epsilon, FINER[0])
        for parts in FINER[1:]:
            last, found = found, self.on_mesh(epsilon, parts)
            if np.all(np.abs(found - last) <= AGREE * np.maximum(found, LEAST)):
                return found
        return unresolved("two meshes of an average over losses disagree")

    def _panel(self, place: int) -> Delta:
        """The values up to unit·2^place: by a series, or as they stand where it would be long."""
        if place not in self.panels:
            self.panels[place] = self._made(
                self.unit * np.array([np.ldexp(0.5, place) if place else 0.0, 2.0**place])
            )
        return self.panels[place]

    def _made(self, ends: Array) -> Delta:
        if self.direct(ends[:1])[0] < self.least:
            return np.zeros_like
        try:
            series = LogSeries.of(self._log(1), ends, PRECISE, MOST, self._log(2))
        except NoExactSpectrum:
            return self.direct
        return lambda epsilon: np.exp(series(epsilon))

    def _log(self, parts: int) -> Delta:
        def log_delta(epsilon: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.log(self.on_mesh(epsilon, parts))

        return log_delta
