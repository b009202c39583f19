"""The curve δ(ε) that `assert_matches` compares with draws, read from any of its forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.auditing.settings import DEFAULT_EPSILON
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum

SpectrumLike = Spectrum | Claim | Callable[[Any], Any] | tuple[ArrayLike, ArrayLike]

EITHER, FORWARD, BACKWARD = range(3)  # the larger direction, D against D′, D′ against D
DIRECTIONS = ("either direction", "D against D′", "D′ against D")


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """A curve on a grid. epsilon : (m,), nats. delta : (m,) for each direction that is compared."""

    epsilon: Array
    delta: dict[int, Array]

    @classmethod
    def of(cls, spectrum: SpectrumLike, epsilon: ArrayLike | None) -> Target:
        """From any form of a curve. Raises `InvalidInput`, also for a δ outside [0, 1]."""
        found = _read(spectrum, epsilon)
        for delta in found.delta.values():
            if delta.shape != found.epsilon.shape or not np.all((delta >= 0.0) & (delta <= 1.0)):
                check.fail("spectrum", delta, "δ in [0, 1], one for each ε")
        return found


def _read(spectrum: SpectrumLike, epsilon: ArrayLike | None) -> Target:
    if isinstance(spectrum, Spectrum):
        return _of_spectrum(spectrum, epsilon)
    if isinstance(spectrum, Claim) or callable(spectrum):
        claim = spectrum if isinstance(spectrum, Claim) else Claim.from_function(spectrum)
        points = _points(DEFAULT_EPSILON if epsilon is None else epsilon)
        return Target(points, {EITHER: claim.delta_at(points)})
    if not isinstance(spectrum, (tuple, list)) or len(spectrum) != 2:
        forms = "a Spectrum, a Claim, a function of epsilon or a pair (epsilon, delta)"
        check.fail("spectrum", spectrum, forms)
    delta = np.asarray(spectrum[1], dtype=np.float64)
    return _of_spectrum(Spectrum(_points(spectrum[0]), delta), epsilon)


def _points(epsilon: ArrayLike) -> Array:
    points = np.atleast_1d(check.epsilon(epsilon))
    if np.any(np.diff(points) <= 0.0):
        check.fail("epsilon", epsilon, "ascending, without repetition")
    return points


def _of_spectrum(spectrum: Spectrum, epsilon: ArrayLike | None) -> Target:
    """Both directions where they are known at these ε, else the larger one.

    They are known anywhere from a curve, and on the spectrum's own grid from its values. Between
    the points of the grid the larger direction is bounded by its chords.
    """
    own = _points(spectrum.epsilon)
    points = own if epsilon is None else _points(epsilon)
    if spectrum.curve is not None:
        forward, backward = map(np.asarray, spectrum.curve.delta(points))
        return Target(points, {FORWARD: forward, BACKWARD: backward})
    if epsilon is not None:
        return Target(points, {EITHER: spectrum.delta_at(points)})
    if spectrum.forward is None or spectrum.backward is None:
        return Target(own, {EITHER: np.atleast_1d(spectrum.delta)})
    sides = np.atleast_1d(spectrum.forward), np.atleast_1d(spectrum.backward)
    return Target(own, dict(zip((FORWARD, BACKWARD), sides, strict=True)))
