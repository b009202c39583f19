"""Lower bounds on δ(ε) that hold at any stopping time.

They rest on counts of fresh draws in sets that were chosen before these draws were made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.types import Array

BETS = 16  # values of λ, each half of the one before
HALVINGS = 30  # of the interval that contains the bound


@dataclass(frozen=True, eq=False, repr=False)
class Cuts:
    """A set for each ε and direction: {s > forward_j} for M(D), {s < −backward_j} for M(D').

    forward, backward : (m,).
    """

    forward: Array
    backward: Array


@dataclass(repr=False)
class Counts:
    """Counts of pairs of fresh draws by which of the two fell into the set of each ε.

    epsilon : (m,), nats. pairs : (2, m, 4), by direction and ε: the number of pairs with both draws
    in the set, with only the draw of the side that is likelier there, with only the other draw, and
    with neither.
    """

    epsilon: Array
    pairs: Array = field(init=False)

    def __post_init__(self) -> None:
        """Start from no pairs."""
        self.pairs = np.zeros((2, len(self.epsilon), 4))

    def add(self, cuts: Cuts, x: Array, y: Array) -> None:
        """Count pairs of draws by their scores x (n,) of M(D) and y (n,) of M(D').

        cuts : sets that were chosen without these draws.
        """
        for j in range(len(self.epsilon)):
            self.pairs[0, j] += _pairs(x > cuts.forward[j], y > cuts.forward[j])
            self.pairs[1, j] += _pairs(-y > cuts.backward[j], -x > cuts.backward[j])

    @property
    def delta(self) -> Array:
        """Plug-in estimates p − e^ε q of both directions, (2, m), in [0, 1]."""
        size = np.maximum(self.pairs.sum(axis=2), 1.0)
        p, q = self.pairs[..., :2].sum(axis=2) / size, self.pairs[..., [0, 2]].sum(axis=2) / size
        return np.asarray(np.clip(p - np.exp(self.epsilon) * q, 0.0, 1.0))

    def low(self, share: float) -> Array:
        """Lower bounds, (2, m), each wrong at any time with probability at most `share`.

        For a set S, E[1[x in S] − e^ε 1[y in S]] ≤ δ(ε). So if δ(ε) ≤ d, then Π(1 + λ(1[x in S] −
        e^ε 1[y in S] − d)) is a supermartingale for λ in [0, 1/(e^ε + d)), whatever set is chosen
        before each pair, and so is the mean over a few λ. It decreases in d: the bound is the
        largest d at which it has reached 1/share (Waudby-Smith & Ramdas 2024). The sets may change
        from pair to pair but λ may not, so counts suffice.
        """
        low, high = np.zeros(self.pairs.shape[:2]), np.ones(self.pairs.shape[:2])
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            refuted = self._log_wealth(middle) >= -np.log(share)
            low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
        return np.where(self._log_wealth(np.zeros_like(low)) >= -np.log(share), low, 0.0)

    def _log_wealth(self, allowed: Array) -> Array:
        """Log of the supermartingale of `low`, the mean over λ, at d = `allowed`, (2, m)."""
        gamma = np.exp(self.epsilon)[:, None]
        most = 1.0 / (gamma + 1.0)
        bets = most * 0.5 ** np.arange(1, BETS + 1)
        edge = np.stack([1.0 - gamma, np.ones_like(gamma), -gamma, np.zeros_like(gamma)], axis=-1)
        terms = np.log1p(bets[..., None] * (edge - allowed[..., None, None]))
        return np.asarray(
            logsumexp(np.einsum("dmc,dmbc->dmb", self.pairs, terms), axis=-1) - np.log(BETS)
        )


def _pairs(near: np.ndarray, far: np.ndarray) -> Array:
    both = np.count_nonzero(near & far)
    first, second = np.count_nonzero(near) - both, np.count_nonzero(far) - both
    return np.array([both, first, second, len(near) - both - first - second], dtype=np.float64)
