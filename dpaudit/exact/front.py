"""The one front: the exact spectrum of a mechanism on a pair, or over every row of a database."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit import _check
from dpaudit._check import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import families, pairs
from dpaudit.laws import StudentRows
from dpaudit.mechanisms.base import LawMechanism, describe
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.spectrum import Spectrum

LAWS = ("finite", "asymptotic")


def spectrum(mechanism: Any, pair: NeighbourPair, epsilon: Any, *, law: str = "finite") -> Spectrum:
    """Exact δ(ε) of `mechanism` on a pair of databases.

    Parameters
    ----------
    mechanism : one with a known output law (`dpaudit list mechanisms`).
    pair : a `NeighbourPair`; forward is left against right.
    epsilon : scalar or (m,), nats.
    law : "finite", or "asymptotic" for the large-rows approximation of ALS and RPLS.

    Returns
    -------
    Spectrum with `forward`, `backward`, `law`, and `asymptotic` where both laws are known.

    Raises `NoExactSpectrum` (use `dpaudit.audit`, which needs none), `InvalidInput`, `DegenerateData`.
    """
    epsilon = _check.epsilon(epsilon)
    _check.choice("law", law, LAWS)
    known = _known(mechanism)
    row = pair.index if pair.relation == "zero-out" else None
    if row is not None and row not in known.exceptional_rows(pair.left):
        return _of_row(known.zeroed_rows(pair.left), row, epsilon, law)
    left, right = known.law(pair.left), known.law(pair.right)
    if law == "asymptotic":
        left, right = pairs.limit(left), pairs.limit(right)
    forward, backward, name = pairs.curves(left, right, epsilon)
    return Spectrum.of_directions(epsilon, forward, backward, name)


def _of_row(family: Any, index: int, epsilon: Array, law: str) -> Spectrum:
    forward, backward, name = families.curves(family, index, epsilon, law)
    result = Spectrum.of_directions(epsilon, forward, backward, name)
    if law == "finite" and isinstance(family, StudentRows):
        limit = families.curves(family, index, epsilon, "asymptotic")
        result = result.replace(asymptotic=np.maximum(limit[0], limit[1]))
    return result


def worst_case(mechanism: Any, data: Any, epsilon: Any, *, law: str = "finite") -> Spectrum:
    """The largest δ(ε) over ALL rows of `data` zeroed in turn, in both directions.

    data : (n, d), label last. epsilon : scalar or (m,), nats. law : as in `spectrum`.

    Returns a Spectrum whose `index` is the worst row at each ε. One thin QR, then O(1) work a row.
    Raises `NoExactSpectrum`, `InvalidInput`, `DegenerateData`.
    """
    epsilon = _check.epsilon(epsilon)
    _check.choice("law", law, LAWS)
    data = _check.matrix("data", data)
    known = _known(mechanism)
    family = known.zeroed_rows(data)
    exceptional = known.exceptional_rows(data)
    candidates = families.front(family, law, exceptional)
    found = [(int(row), families.curves(family, int(row), epsilon, law)) for row in candidates]
    for row in exceptional:
        one = spectrum(mechanism, zero_row(data, row), epsilon, law=law)
        assert one.forward is not None
        assert one.backward is not None
        found.append((row, (one.forward, one.backward, one.law)))
    return _largest(epsilon, found)


def _largest(epsilon: Array, found: list[tuple[int, tuple[Array, Array, str]]]) -> Spectrum:
    rows = np.array([row for row, _ in found])
    forward = np.stack([curve[0] for _, curve in found])
    backward = np.stack([curve[1] for _, curve in found])
    delta = np.maximum(forward, backward)
    best = np.argmax(delta, axis=0)

    def at_best(values: Array) -> Array:
        return np.take_along_axis(values, best[None], axis=0)[0]

    return Spectrum(epsilon, at_best(delta), at_best(forward), at_best(backward), index=rows[best], law=found[0][1][2])


def _known(mechanism: Any) -> LawMechanism:
    if not isinstance(mechanism, LawMechanism):
        name = describe(mechanism)[0]
        raise NoExactSpectrum(f"{name} has no known output law; use dpaudit.audit, which needs only its draws")
    return mechanism
