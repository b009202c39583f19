"""A band from few draws that come in blocks, each with a score and a set learned from the blocks
before it.

Given the earlier blocks, set S of a block is fixed, and its hits are X ~ Bin(n, p), Y ~ Bin(m, q)
with p − γq ≤ δ(γ) at every γ. Let π(p, q) be the probability under (p, q) of an outcome as extreme
as the block's, where outcomes are ordered by an approximate lower limit of p − γ*q, made monotone
in both counts. At the true (p, q) it is super-uniform given the past, so Z = Φ⁻¹(1 − π) is
stochastically below a standard normal variable given the past, and so is Σ w_b Z_b where Σ w_b² = 1
(Stouffer's sum) with weights that are fixed beforehand. The event that this sum is at most
Φ⁻¹(1 − α) has probability ≥ 1 − α.

On that ONE event, let δ(γ) = d. Then every block has p ≤ d + γq, and π rises with p, so
Z_b ≥ z_b(γ, d), the least Φ⁻¹(1 − π) on the line p = d + γq. Thus Σ w_b z_b(γ, d) is at most
Φ⁻¹(1 − α). As it falls in d, δ(γ) is above every d at which it is larger. This holds at
all γ at once; and in the other direction, with 1 − q and 1 − p in the place of p and q.

The least value on the line is bounded cell by cell of a grid of q: π also falls in q, so in the
cell from q to q' it is at most π(d + γq', q), with p rounded up to a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtri
from scipy.stats import binom

from dpaudit._core.types import Array
from dpaudit.certify.band import REPORTED, Certificate, Region, level_of
from dpaudit.certify.binomial import score_variance

MOST_DRAWS = 500  # a side; tables of counts grow with their square
GRID = np.sin(np.linspace(0.0, 0.5 * np.pi, 801)) ** 2  # of p and of q: dense near 0 and 1
GRID[-1] = 1.0
HALVINGS = 24  # of [0, 1] in the search for δ, and of [0, LAST] in that for ε
LAST = 12.0  # nats; few draws certify nothing beyond
ROUNDING = 1e-11  # added to each probability, for the error of its sum and of GRID
LEAST = 1e-300  # the least probability that is told from 0


@dataclass(frozen=True, repr=False)
class Block:
    """Hits of one set, fixed by the past: x of n draws from P and y of m draws from Q.

    aim : γ at which p − γq the outcomes are ordered, fixed by the past too.
    """

    x: int
    n: int
    y: int
    m: int
    aim: float = 1.0


def band(blocks: Sequence[Block], epsilon: Array, alpha: float) -> Certificate:
    """The certificate of level 1 − alpha of both directions together, at any ε.

    blocks : in the order in which they were drawn; their sizes and number are fixed beforehand.
    epsilon : (m,), nats, where the bound is computed. Between them it follows from
    them, as δ never rises with γ = e^ε and the best set at γ has Q(S) ≤ (1 − δ)/γ.
    """
    regions: list[Region] = []
    forward: list[bool] = []
    ahead = CombinedTest.of(blocks, alpha)
    for way, test in ((True, ahead), (False, ahead.backward)):
        at = np.unique(np.concatenate([epsilon, [test.epsilon_at(one) for one in REPORTED]]))
        gamma = np.exp(np.minimum(at, LAST))
        low = test.delta_at(gamma)
        regions += [_region(*one) for one in zip(gamma, low, strict=True) if one[1] > 0.0]
        forward += [way] * (len(regions) - len(forward))
    return Certificate.of(regions, forward, level_of(alpha))


def _region(gamma: float, low: float) -> Region:
    """What δ(γ) ≥ low says at every other γ."""
    end = (1.0 - low) / gamma
    return Region(np.array([0.0, end]), np.array([low, 1.0]))


@dataclass(frozen=True, eq=False, repr=False)
class CombinedTest:
    """Tests of δ(γ) ≤ d in one direction, by Stouffer's sum of all blocks.

    tables : one a block, (k, k), of Φ⁻¹(1 − π) at GRID of q and of p. weights : (b,).
    goal : the sum above which a d is false.
    """

    tables: list[Array]
    weights: Array
    goal: float

    @classmethod
    def of(cls, blocks: Sequence[Block], alpha: float) -> CombinedTest:
        """Of these blocks; weights are the roots of their harmonic mean sizes."""
        size = np.array([block.n * block.m / (block.n + block.m) for block in blocks])
        tables = [_normal_scores(block) for block in blocks]
        return cls(tables, np.sqrt(size / size.sum()), -float(ndtri(alpha)))

    @property
    def backward(self) -> CombinedTest:
        """The same of Q against P: 1 − q and 1 − p in the place of p and q."""
        turned = [np.ascontiguousarray(table[::-1, ::-1].T) for table in self.tables]
        return CombinedTest(turned, self.weights, self.goal)

    def rejected(self, gamma: Array, delta: Array) -> np.ndarray:
        """Where δ(γ) ≤ delta is false, (k,) each."""
        line = np.minimum(delta[:, None] + gamma[:, None] * GRID[1:], 1.0)
        above = np.minimum(np.searchsorted(GRID, line, side="left"), len(GRID) - 1)
        cell = np.arange(len(GRID) - 1)
        total = np.zeros(len(gamma))
        for weight, table in zip(self.weights, self.tables, strict=True):
            total += weight * table[cell, above].min(axis=1)
        return np.asarray(total > self.goal)

    def delta_at(self, gamma: Array) -> Array:
        """The certified lower bound of δ at each γ, (k,); 0 where there is none."""
        low, high = np.zeros(len(gamma)), np.ones(len(gamma))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            good = self.rejected(gamma, middle)
            low, high = np.where(good, middle, low), np.where(good, high, middle)
        return low

    def epsilon_at(self, delta: float) -> float:
        """The largest ε, nats, at which δ(e^ε) ≤ delta is rejected; 0 where there is none."""
        low, high, level = 0.0, LAST, np.array([delta])
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            good = bool(self.rejected(np.exp([middle]), level)[0])
            low, high = (middle, high) if good else (low, middle)
        return low


def _normal_scores(block: Block) -> Array:
    """Φ⁻¹(1 − π) of a block at GRID of q, by rows, and of p."""
    need = _need(block)
    hits = np.arange(block.m + 1)
    mass = binom.pmf(hits, block.m, GRID[:, None])
    tail = np.where(
        need[:, None] > 0, bdtrc(np.maximum(need[:, None] - 1.0, 0.0), block.n, GRID), 1.0
    )
    probability = mass @ np.where(need[:, None] > block.n, 0.0, tail)
    return np.asarray(-ndtri(np.clip(probability + ROUNDING, LEAST, 1.0 - 1e-15)))


def _need(block: Block) -> np.ndarray:
    """For each y the least x of an outcome as extreme as observed, (m + 1,); n + 1 for none."""
    order = _order(block.n, block.m, block.aim)
    extreme = order >= order[block.x, block.y]
    return np.where(extreme.any(axis=0), extreme.argmax(axis=0), block.n + 1)


def _order(n: int, m: int, aim: float, z: float = 1.0) -> Array:
    """An approximate lower limit of p − aim·q, of outcomes (n + 1, m + 1).

    It rises with x and falls with y, which makes its tail probabilities monotone in p and q.
    """
    x, y = np.arange(n + 1.0)[:, None], np.arange(m + 1.0)
    spread = score_variance(x, n, z) + aim**2 * score_variance(y, m, z)
    limit = np.round(x / n - aim * y / m - z * np.sqrt(spread), 12)
    limit = np.maximum.accumulate(limit, axis=0)
    return np.asarray(np.maximum.accumulate(limit[:, ::-1], axis=1)[:, ::-1])
