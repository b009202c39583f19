"""Laplace noise in floats by the inverse distribution function: its low bits tell the answer
(Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Array, fail
from dpaudit.laws import Branches, Density
from dpaudit.laws import density as panels
from dpaudit.laws.noise import log_laplace
from dpaudit.mechanisms.specimen import PureClaim, column, pair_of
from dpaudit.neighbours import NeighbourPair

GRAIN = 2.0**-53
LogShare = Callable[[Array], Array]
SMALLEST = 64  # powers of ½ that are told apart


@dataclass(frozen=True)
class FloatLaplace(PureClaim):
    """answer ± ln(u)/ε in float64, u a multiple of 2⁻⁵³. Data: one whole number. Output: (size, 1).

    The sum of noise and a whole number other than 0 is a multiple of 2⁻⁵³: noise of size ½ or more
    is one itself, and adding to less rounds to one. Noise alone of size below ½ has finer bits: in
    [2^{−k−1}, 2^{−k}) floats are 2^{−53−k} apart, and all but a share 2^{−k} of these are no such
    multiples. So the pure ε is infinite.
    """

    epsilon: float = 0.1
    sound: ClassVar[bool] = False
    source: ClassVar[str] = "Mironov 2012"
    summary: ClassVar[str] = "Laplace noise in floats, whose low bits leak"

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        sign = 1.0 - 2.0 * rng.integers(0, 2, (size, 1))
        return column(data)[0] + sign * np.log(1.0 - rng.random((size, 1))) / self.epsilon

    def view(self, x: Array) -> Array:
        """What `law` is the law of, from outputs (m, 1): 1 if it is no multiple of 2⁻⁵³ (else 0),
        and the output.
        """
        scaled = x / GRAIN
        return np.column_stack([scaled != np.round(scaled), x])

    def law(self, data: Array) -> Branches:
        """Of `view`, with the bits below 2⁻⁵³ as evenly spread as those of a real number: the
        spectrum of the output itself is no smaller, since other low bits tell too."""
        answer = float(column(data)[0])
        if answer != np.round(answer) or len(data) != 1:
            fail("data", data.ravel(), "one whole number")
        if answer != 0.0:
            ends = panels.edges(np.array([answer]), 1.0 / self.epsilon)
            return _branches([(0.0, 0.0, Density(lambda x: self._log_noise(x - answer), ends))])
        return _branches([self._part(0.0, _log_coarse), self._part(1.0, _log_fine)])

    def pair(self) -> NeighbourPair:
        return pair_of([0.0], [1.0])

    def _log_noise(self, x: Array) -> Array:
        return np.asarray(log_laplace(x * self.epsilon) + np.log(self.epsilon))

    def _part(self, fine: float, log_share: LogShare) -> tuple[float, float, Density]:
        """One branch of the noise alone: its mark, log probability and density."""
        powers = 2.0 ** -np.arange(1.0, SMALLEST + 1.0)
        kinks = np.concatenate([-powers, [0.0], powers])
        ends = panels.edges(kinks, 1.0 / self.epsilon)
        x, w = panels.gauss(ends[:-1], ends[1:])
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
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(_log_coarse(x))))


def _branches(parts: list[tuple[float, float, Density]]) -> Branches:
    templates = np.array([[fine, np.nan] for fine, _, _ in parts])
    odds = np.array([mass for _, mass, _ in parts])
    return Branches(templates, odds, ((1,),) * len(parts), tuple(part for _, _, part in parts))
