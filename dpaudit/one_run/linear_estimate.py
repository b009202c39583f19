"""The coins of canaries from a noisy sum of their parts: the best linear estimate.

Let t_i be what canary i adds if it is in, S_i its coin, P(S_i = 1) = q_i, and r = Σ (S_i − q_i) t_i
+ N(0, σ²I) what is left of an output when all that is known and expected is taken off. Where the
t_i are not orthogonal, the projection t_iᵀr is disturbed by the other canaries. With Q = diag(q_i(1
− q_i)) and the rows t_i in T, the linear estimate of S − q with the least mean square error is

    Q T (TᵀQT + σ²I)⁻¹ r,

which takes the disturbance off as far as the noise allows (Kay 1993, "Estimation Theory", theorem
12.1). Where σ is not known, the σ of the largest likelihood of r ~ N(0, TᵀQT + σ²I) stands for it.
An estimate that is poor costs power and no validity: it sees no coin.
"""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array

LARGEST = 3000  # of the smaller of m and k; beyond, each canary's own projection is taken
NOISE = np.geomspace(1e-9, 1e9, 181)  # σ² in units of the mean of the spread of the parts
RANK = 1e-12  # eigenvalues below this share of the largest are zero


def estimated_coins(parts: Array, left: Array, inclusion: Array) -> Array:
    """Of S − q, (m,). parts : T, (m, k). left : r, (k,). inclusion : q, (m,)."""
    deviation = np.sqrt(inclusion * (1.0 - inclusion))
    scaled = deviation[:, None] * parts
    if min(scaled.shape) > LARGEST:
        return np.asarray(deviation * (scaled @ left))
    spread, seen, directions = _axes(scaled, left)
    if not len(spread):
        return np.zeros(len(parts))
    rest = max(float(left @ left - seen @ seen), 0.0)
    noise = _noise(spread, seen, rest, len(left) - len(spread))
    return np.asarray(deviation * (directions @ (np.sqrt(spread) * seen / (spread + noise))))


def _axes(scaled: Array, left: Array) -> tuple[Array, Array, Array]:
    """Of A = UDVᵀ, (m, k): D² > 0, (l,), Vᵀr, (l,), and U, (m, l), by the smaller Gram matrix."""
    wide = scaled.shape[0] <= scaled.shape[1]
    value, vector = np.linalg.eigh(scaled @ scaled.T if wide else scaled.T @ scaled)
    kept = value > max(RANK * value[-1], 0.0)
    value, vector = value[kept], vector[:, kept]
    size = np.sqrt(value)
    if wide:
        return value, (vector.T @ (scaled @ left)) / size, vector
    return value, vector.T @ left, (scaled @ vector) / size


def _noise(spread: Array, seen: Array, rest: float, others: int) -> float:
    """The σ² of the largest likelihood, among `NOISE`.

    spread, seen : the variances that the coins give to coordinates of r, and these coordinates.
    rest, others : the square norm of r in the other coordinates, and how many there are.
    """
    tried = spread.mean() * NOISE
    variance = spread[:, None] + tried
    cost = np.sum(np.log(variance) + seen[:, None] ** 2 / variance, axis=0)
    return float(tried[np.argmin(cost + others * np.log(tried) + rest / tried)])
