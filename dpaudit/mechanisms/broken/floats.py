"""Laplace noise in floats by inversion: low bits of the sum reveal the answer (Mironov 2012)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit.laws import Branches, Density
from dpaudit.laws.density import gauss_legendre, panel_edges
from dpaudit.laws.noise import laplace_log_density
from dpaudit.mechanisms.example import PureExample, column, pair_of
from dpaudit.neighbours import NeighbourPair

GRAIN = 2.0**-53
SMALLEST = 64  # noise below 2^−64 is taken as if of that size

LogShare = Callable[[Array], Array]


@dataclass(frozen=True)
class FloatLaplace(PureExample):
    """answer ± ln(u)/ε in float64, u a multiple of 2⁻⁵³.

    Data: one whole number, (1, 1). Output: (size, 1).

    The sum of noise and a whole number other than 0 is a multiple of 2⁻⁵³: noise of size ½ or more
    is such a multiple itself, and smaller noise is rounded to one by the addition. Noise alone of
    size below ½ has finer bits: in [2^{−k−1}, 2^{−k}) floats are 2^{−53−k} apart, and only a share
    2^{−k} of them are multiples of 2⁻⁵³. So the pure ε is infinite.
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "Mironov 2012"
    summary: ClassVar[str] = "Laplace noise in floats, whose low bits leak"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The answer plus noise by inversion of the distribution function."""
        sign = 1.0 - 2.0 * rng.integers(0, 2, (size, 1))
        return column(data)[0] + sign * np.log(1.0 - rng.random((size, 1))) / self.epsilon

    def view(self, x: Array) -> Array:
        """1 where the output is no multiple of 2⁻⁵³ and 0 where it is, then the output; (m, 2)."""
        scaled = x / GRAIN
        return np.column_stack([scaled != np.round(scaled), x])

    def law(self, data: Array) -> Branches:
        """The law of `view`, with bits below 2⁻⁵³ as evenly spread as those of a real number.

        δ of the output itself is at least that of this law, since its other low bits may reveal
        more. Raises `InvalidInput` unless the data are one whole number.
        """
        answer = float(column(data)[0])
        if answer != np.round(answer) or len(data) != 1:
            fail("data", data.ravel(), "one whole number")
        if answer != 0.0:
            ends = panel_edges(np.array([answer]), 1.0 / self.epsilon)
            return _branches([(0.0, 0.0, Density(lambda x: self._log_noise(x - answer), ends))])
        return _branches([self._part(0.0, _log_coarse), self._part(1.0, _log_fine)])

    def pair(self) -> NeighbourPair:
        """The answers 0 and 1."""
        return pair_of([0.0], [1.0])

    def _log_noise(self, x: Array) -> Array:
        return np.asarray(laplace_log_density(x * self.epsilon) + np.log(self.epsilon))

    def _part(self, fine: float, log_share: LogShare) -> tuple[float, float, Density]:
        """One branch of the noise alone: its mark, log probability and density.

        log_share : log P(this branch | noise about x).
        """
        powers = 2.0 ** -np.arange(1.0, SMALLEST + 1.0)
        kinks = np.concatenate([-powers, [0.0], powers])
        ends = panel_edges(kinks, 1.0 / self.epsilon)
        x, w = gauss_legendre(ends[:-1], ends[1:])
        with np.errstate(divide="ignore"):
            values = self._log_noise(x.ravel()) + log_share(x.ravel())
        mass = float(logsumexp(values + np.log(w.ravel())))
        return fine, mass, Density(lambda y: self._log_noise(y) + log_share(y) - mass, ends)


def _log_coarse(x: Array) -> Array:
    """log P(a multiple of 2⁻⁵³ | noise about x)."""
    with np.errstate(divide="ignore"):
        binade = np.floor(np.log2(np.abs(x)))
    return np.asarray(np.log(2.0) * np.clip(binade + 1.0, -float(SMALLEST), 0.0))


def _log_fine(x: Array) -> Array:
    """log P(no multiple of 2⁻⁵³ | noise about x)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(_log_coarse(x))))


def _branches(parts: list[tuple[float, float, Density]]) -> Branches:
    """A branch for each (mark, log probability, density): the mark, then a draw of the density."""
    templates = np.array([[fine, np.nan] for fine, _, _ in parts])
    log_probability = np.array([mass for _, mass, _ in parts])
    return Branches(
        templates, log_probability, ((1,),) * len(parts), tuple(part for _, _, part in parts)
    )
