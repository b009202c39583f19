"""Laws with finitely many outcomes, their mixtures with others, and noise on whole numbers.

An outcome is a row of numbers, among which NaN may be.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.laws.base import Law, VectorLaw

ROUNDING = 1e-9  # tolerance: the probabilities must sum to 1 within it


@value_class
class Discrete(Law):
    """A law with finitely many outcomes.

    outcomes : (m, k), or (m,) for outcomes of one number; no two alike. log_probability : (m,).
    Raises `InvalidInput` when the probabilities do not sum to 1.
    """

    outcomes: Array
    log_probability: Array

    def __post_init__(self) -> None:
        outcomes = np.asarray(self.outcomes, dtype=np.float64)
        object.__setattr__(self, "outcomes", outcomes[:, None] if outcomes.ndim == 1 else outcomes)
        log_sum = logsumexp(self.log_probability)
        if abs(log_sum) > ROUNDING:
            fail("log_probability", Words(f"a sum of {np.exp(log_sum):.12g}"), "a sum of 1")

    @property
    def dim(self) -> int:
        return int(self.outcomes.shape[1])

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        below = np.cumsum(np.exp(self.log_probability))
        picked = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        return np.asarray(self.outcomes[np.minimum(picked, len(below) - 1)])

    def log_density(self, x: Array) -> Array:
        place = row_positions(self.outcomes, x)
        return np.where(place >= 0, self.log_probability[place], -np.inf)


def row_positions(table: Array, rows: Array) -> np.ndarray:
    """The index of each row in `table`, or −1; two NaNs are equal, and so are 0 and −0."""
    known, inverse = np.unique(
        np.concatenate([_row_keys(table), _row_keys(rows)]), return_inverse=True
    )
    place = np.full(len(known), -1)
    place[inverse[: len(table)]] = np.arange(len(table))
    return np.asarray(place[inverse[len(table) :]])


def _row_keys(rows: Array) -> np.ndarray:
    """Each row as one item of bytes, such that equal rows give equal bytes."""
    plain = np.where(np.isnan(rows), np.nan, rows + 0.0)  # one bit pattern of NaN, and no −0
    return np.ascontiguousarray(plain).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()


@value_class
class Branches(Law):
    """A mixture: branch i has log probability `log_probability[i]` and fills row `templates[i]`.

    templates : (m, k), with NaN in the slots to be drawn; no two rows alike. slots : for each
    branch the columns that its law fills. parts : that law, which draws no NaN, or None for no
    slots.
    """

    templates: Array
    log_probability: Array
    slots: tuple[tuple[int, ...], ...]
    parts: tuple[Law | None, ...]

    @property
    def dim(self) -> int:
        return int(self.templates.shape[1])

    @property
    def tags(self) -> Array:
        """Labels (m, 2k) that tell the branches apart: the template, then 1 for a slot, 0
        elsewhere.
        """
        return np.hstack([self.templates, self._is_slot])

    @property
    def _is_slot(self) -> Array:
        marks = np.zeros(self.templates.shape)
        for mark, slots in zip(marks, self.slots, strict=True):
            mark[list(slots)] = 1.0
        return marks

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        number = Discrete(np.arange(float(len(self.templates))), self.log_probability)
        which = number.sample(size, rng)[:, 0].astype(int)
        out = self.templates[which]
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            chosen = np.flatnonzero(which == i)
            if part is not None and len(chosen):
                out[chosen[:, None], list(slots)] = part.sample(len(chosen), rng)
        return np.asarray(out)

    def log_density(self, x: Array) -> Array:
        value = np.full(len(x), -np.inf)
        is_slot, missing = self._is_slot == 1.0, np.isnan(x)
        for i, (slots, part) in enumerate(zip(self.slots, self.parts, strict=True)):
            equal = (x == self.templates[i]) | (missing & np.isnan(self.templates[i]))
            fits = np.where(is_slot[i], ~missing, equal).all(axis=1)
            if fits.any():
                own = 0.0 if part is None else part.log_density(x[fits][:, list(slots)])
                value[fits] = self.log_probability[i] + own
        return value


@value_class
class DiscreteLaplace(VectorLaw):
    """Independent whole numbers, z with probability ``tanh(1/(2s))·e^{−|z − centre|/s}``.

    centre : (k,), whole numbers. scale : (k,), s > 0. Ghosh, Roughgarden & Sundararajan 2009.
    """

    centre: Array
    scale: Array

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        return self.centre + discrete_laplace(self.scale, size, rng)

    def log_density(self, x: Array) -> Array:
        log_p = np.log(np.tanh(0.5 / self.scale)) - np.abs(x - self.centre) / self.scale
        return np.asarray(log_p.sum(axis=1))


@value_class
class DiscreteGaussian(VectorLaw):
    """Independent whole numbers, z with probability ∝ ``e^{−(z − centre)²/(2·sigma²)}``.

    centre : (k,), whole numbers. sigma : (k,), > 0. Canonne, Kamath & Steinke 2020; draws by their
    algorithm 3, with floats for fractions.
    """

    centre: Array
    sigma: Array

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        out, left = np.empty((size, self.dim)), np.ones((size, self.dim), dtype=bool)
        sigma = np.broadcast_to(self.sigma, out.shape)
        while left.any():
            own = sigma[left]
            scale = np.floor(own) + 1.0
            drawn = discrete_laplace(scale, 1, rng)[0]
            accept = rng.random(len(own)) < np.exp(
                -0.5 * ((np.abs(drawn) - own**2 / scale) / own) ** 2
            )
            place = np.flatnonzero(left)[accept]
            out.flat[place], left.flat[place] = drawn[accept], False
        return self.centre + out

    def log_density(self, x: Array) -> Array:
        return np.asarray(-0.5 * np.sum(((x - self.centre) / self.sigma) ** 2, axis=1))


def discrete_laplace(scale: Array, size: int, rng: np.random.Generator) -> Array:
    """Draws of discrete Laplace noise with scales (k,), (size, k)."""
    tries = rng.geometric(-np.expm1(-1.0 / scale), (2, size, len(scale)))
    return np.asarray((tries[0] - tries[1]).astype(np.float64))
