"""The spectrum of sketched least squares whose W is released too: the sharpest bound of all.

With M(s) = E[e^{sL₊}] of `student.py` it is (1/2πi) ∫ M(s) e^{−sε}/(s(s + 1)) ds over Re s = σ. By
Poisson's formula the trapezoid rule of step h gives, with T = 2π/h and k over the integers,
Σ_k E[(1 − e^{ε−L₊−kT})₊] e^{−σkT}. All terms are ≥ 0 and the one of k = 0 is wanted, so the rule is
an upper bound. What it leaves out beyond the last node Ω is at most B(Ω) e^{−σε}/(πΩ), where

    B(ω) = E|M(s | W)| = e^{σc} ∏_i |1 − s b_i|^{−½} (Re ρ)^{−ν/2},   s = σ + iω,
    ρ = ∏_j (1 − s a_j)/∏_i (1 − s b_i).

B falls in ω, as given W the loss is a quadratic form in a Gaussian vector. The a_j are the
eigenvalues of the whole form, the b_i those of its block, and c is the constant of L₊.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.exact.pairs.student_t import log_ratio
from dpaudit.exact.replaced_rows.student import Replaced

NODES = 192
FAR = 36.0  # σT − σε: the terms of k ≠ 0 are of this many logarithms below e^{−σε}
BLOCK = 1 << 9  # pairs at a time


def contour_bound(pairs: Replaced, epsilon: Array, sigma: Array) -> Array:
    """A bound of δ at each ε, (n, m).

    epsilon : (m,), nats. sigma : (m,), where the line should cross the real axis.
    """
    found = np.ones((len(pairs.up), len(epsilon)))
    for places in _alike(sigma):
        crossing = float(np.median(sigma[places]))
        for at in range(0, len(found), BLOCK):
            some = np.arange(at, min(at + BLOCK, len(found)))
            found[np.ix_(some, places)] = _on_line(pairs.at(some), epsilon[places], crossing)
    return found


def _alike(sigma: Array) -> list[np.ndarray]:
    """Places whose σ differ by a factor of at most 2."""
    order, found = np.argsort(sigma, kind="stable"), []
    while len(order):
        near = sigma[order] <= 2.0 * sigma[order[0]]
        found.append(order[near])
        order = order[~near]
    return found


def _on_line(pairs: Replaced, epsilon: Array, sigma: float) -> Array:
    """The rule and what it leaves out, on one line."""
    step = 2.0 * np.pi * sigma / (FAR + sigma * float(epsilon.max()))
    above = np.linspace(0.0, step * NODES, NODES + 1)
    peak = pairs.log_moment(sigma)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        scale = np.exp(peak[:, None] - sigma * epsilon)
        nodes = _moments(pairs, sigma, above) @ _weights(epsilon, sigma, above)
        total = scale * (step / np.pi * nodes.real + _remainder(pairs, sigma, above[-1])[:, None])
    return np.where(np.isfinite(total), np.clip(total, 0.0, 1.0), 1.0)


def _weights(epsilon: Array, sigma: float, above: Array) -> np.ndarray:
    """e^{−iωε}/(s(s + 1)) at each node, (nodes, m), half of it at the first."""
    s = sigma + 1j * above
    weights = np.exp(-1j * np.multiply.outer(above, epsilon)) / (s * (s + 1.0))[:, None]
    weights[0] *= 0.5
    return weights


def _moments(pairs: Replaced, sigma: float, above: Array) -> np.ndarray:
    """M(σ + iω)/M(σ), (n, nodes)."""
    values, powers = pairs.form
    exponent = log_ratio(values / (1.0 - sigma * values), powers, above[None])
    exponent += 1j * np.multiply.outer(pairs.start, above)
    return np.asarray(np.exp(exponent))


def _remainder(pairs: Replaced, sigma: float, last: float) -> Array:
    """B(Ω)/(πΩ M(σ)), (n,)."""
    room = 1.0 - (sigma + 1j * last) * pairs.form[0]
    whole, block, rest = room[:, 0] * room[:, 1], room[:, 2] * room[:, 3], room[:, 4]
    ratio = (whole * rest / block).real
    log_size = (
        sigma * pairs.start
        - 0.5 * (np.log(np.abs(block)) + (pairs.features - 2) * np.log(np.abs(rest)))
        - 0.5 * pairs.dof * np.log(ratio)
    )
    return np.asarray(np.exp(log_size - pairs.log_moment(sigma)) / (np.pi * last))
