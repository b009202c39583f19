"""T9 to T14: pairs of laws with structure, whose privacy loss is known in closed form.

Their true δ(ε) come from a sum over the values, or a grid, of the few numbers on which the loss
depends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import i0e, logsumexp
from scipy.stats import betabinom

from dpaudit import exact, neighbours
from dpaudit._core.types import Array
from dpaudit.adapters import synthesizer
from dpaudit.scoring import Sides
from reports.make.tasks import Task

RADIUS, WIDTH, MODES, COLUMNS = 2.0, 0.4, (6, 7), 10  # T9
LEAN, SIGNS = float(np.tanh(0.5)), 20  # T10: P has an even parity with probability (1 + LEAN)/2
MOVED, LAPLACES, SHIFT = 5, 200, 0.5  # T11
DENSE = 1000  # T12
# T13: values of each column, copies of each record, the record that is missing
VALUES, COPIES, RARE = (5, 2, 2), 3, 7
PRIOR, RELEASED = 0.5, 60  # T13: records a cell; records of the synthetic table
ATOM, RINGS, NOISE = (0.1, 0.15), (1.0, 2.0, 3.0), 0.2  # T14
SHARES = ((0.5, 0.3, 0.2), (0.3, 0.4, 0.3))  # of the rings, in P and in Q
GRID, REACH = 601, 6.0  # points a side of a grid in the plane, and standard deviations around it
LATTICE = 1 << 12  # of the loss of a Laplace column, from −SHIFT to SHIFT


def structured_tasks() -> list[Task]:
    """T9 to T14."""
    return [_circle(), _parity(), _sparse(), _dense(), _table(), _rings()]


@dataclass(frozen=True)
class Discrete:
    """The masses of P and of Q in cells of one privacy loss each, (c,); sums to 1 a side."""

    p: Array
    q: Array

    def __call__(self, epsilon: Array) -> tuple[Array, Array]:
        """δ(ε) of P against Q and of Q against P, (m,) each."""
        gamma = np.exp(np.atleast_1d(epsilon))[:, None]
        ways = ((self.p, self.q), (self.q, self.p))
        forward, backward = (np.maximum(one - gamma * two, 0.0).sum(axis=1) for one, two in ways)
        return forward.reshape(np.shape(epsilon)), backward.reshape(np.shape(epsilon))


def _circle() -> Task:
    """Six against seven normal modes on a circle in two of ten rotated coordinates."""
    rotation = np.linalg.qr(np.random.default_rng(9).normal(size=(COLUMNS, COLUMNS)))[0]
    centres = [_on_circle(count) for count in MODES]

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(*(_modes(rng, size, centre) @ rotation.T for centre in centres))

    def loss(x: Array) -> Array:
        plane = x @ rotation[:, :2]
        return _log_modes(plane, centres[0]) - _log_modes(plane, centres[1])

    axis = np.linspace(-RADIUS - REACH * WIDTH, RADIUS + REACH * WIDTH, GRID)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    masses = (np.exp(_log_modes(plane, centre)) for centre in centres)
    truth = Discrete(*(mass / mass.sum() for mass in masses))
    text = "six against seven modes on a circle, in 2 of 10 numbers, rotated"
    return Task("T9", text, text, draw, loss, truth, np.inf)


def _on_circle(count: int) -> Array:
    angle = 2.0 * np.pi * np.arange(count) / count
    return RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])


def _modes(rng: np.random.Generator, size: int, centres: Array) -> Array:
    x = rng.normal(size=(size, COLUMNS))
    x[:, :2] = WIDTH * x[:, :2] + centres[rng.integers(len(centres), size=size)]
    return np.asarray(x)


def _log_modes(plane: Array, centres: Array) -> Array:
    """Log density of equal normal modes, up to a constant that the number of modes leaves alone."""
    parts = [-0.5 * ((plane - centre) ** 2).sum(axis=1) / WIDTH**2 for centre in centres]
    return np.asarray(logsumexp(parts, axis=0) - np.log(len(centres)))


def _parity() -> Task:
    """The sign of a product of three of twenty normals leans to either side."""

    def side(rng: np.random.Generator, size: int, lean: float) -> Array:
        x = rng.normal(size=(size, SIGNS))
        wanted = np.where(rng.random(size) < 0.5 * (1.0 + lean), 1.0, -1.0)
        x[:, 0] *= wanted * np.sign(np.prod(x[:, :3], axis=1))
        return np.asarray(x)

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(side(rng, size, LEAN), side(rng, size, -LEAN))

    def loss(x: Array) -> Array:
        return np.asarray(np.sign(np.prod(x[:, :3], axis=1)))

    even = 0.5 * (1.0 + LEAN)
    truth = Discrete(np.array([even, 1.0 - even]), np.array([1.0 - even, even]))
    text = "the sign of a product of 3 of 20 normals"
    return Task("T10", text, text, draw, loss, truth, 1.0)


def _sparse() -> Task:
    """200 Laplace(1) numbers, five of which are shifted."""

    def draw(rng: np.random.Generator, size: int) -> Sides:
        P, Q = (rng.laplace(size=(size, LAPLACES)) for _ in range(2))
        Q[:, :MOVED] += SHIFT
        return Sides(P, Q)

    def loss(x: Array) -> Array:
        return np.asarray(np.clip(SHIFT - 2.0 * x[:, :MOVED], -SHIFT, SHIFT).sum(axis=1))

    text = "200 Laplace(1) numbers, 5 of them shifted by 0.5"
    return Task("T11", text, text, draw, loss, _shifted_laplaces(), MOVED * SHIFT)


def _shifted_laplaces() -> Discrete:
    """The law of the sum of the columns' losses, each on a lattice that has both its atoms.

    The loss of a column is SHIFT with P's probability 1/2, −SHIFT with probability e^{−SHIFT}/2,
    and SHIFT − 2x for x in (0, SHIFT); Q's law is the mirror image.
    """
    edges = np.linspace(0.0, SHIFT, LATTICE + 1)
    between = 0.5 * (np.exp(-edges[:-1]) - np.exp(-edges[1:]))
    one = np.zeros(LATTICE + 1)
    one[-1], one[0] = 0.5, 0.5 * np.exp(-SHIFT)
    # half of a cell's mass to either end, which keeps the mean loss
    one[1:] += 0.5 * between[::-1]
    one[:-1] += 0.5 * between[::-1]
    p = one
    for _ in range(MOVED - 1):
        p = np.maximum(np.convolve(p, one), 0.0)
    return Discrete(p, p[::-1])


def _dense() -> Task:
    """A thousand normals whose mean moves by 1 in a random direction."""
    mean = np.random.default_rng(12).normal(size=DENSE)
    mean /= np.linalg.norm(mean)

    def draw(rng: np.random.Generator, size: int) -> Sides:
        P, Q = (rng.normal(size=(size, DENSE)) for _ in range(2))
        return Sides(P, Q + mean)

    def loss(x: Array) -> Array:
        return np.asarray(0.5 - x @ mean)

    def truth(epsilon: Array) -> tuple[Array, Array]:
        delta = exact.gaussian_shift(1.0, epsilon)
        return delta, delta

    text = "1,000 normals, all shifted, by 1 in all"
    return Task("T12", text, text, draw, loss, truth, np.inf)


def _table() -> Task:
    """A Dirichlet-multinomial synthesizer, and a record whose combination of values is new.

    Shares of all cells are drawn from Dirichlet(PRIOR + counts), and RELEASED records by these.
    Given the number x of those in the new record's cell, the others have one law on both sides, so
    the loss depends on x alone, whose law is beta-binomial.
    """
    cells = np.array(list(np.ndindex(VALUES)), dtype=float)
    data = np.repeat(np.delete(cells, RARE, axis=0), COPIES, axis=0)
    pair = neighbours.add_row(data, cells[RARE])
    total = PRIOR * len(cells) + len(data)

    def fit(data: Array, rng: np.random.Generator) -> Array:
        cell = np.ravel_multi_index(tuple(data.astype(int).T), VALUES)
        return rng.dirichlet(PRIOR + np.bincount(cell, minlength=len(cells)))

    def sample(shares: Array, rng: np.random.Generator) -> Array:
        return np.asarray(cells[rng.choice(len(cells), RELEASED, p=shares)])

    mechanism = synthesizer(fit, sample, pair)

    def draw(rng: np.random.Generator, size: int) -> Sides:
        P, Q = (np.array(mechanism(data, size, rng=rng)) for data in (pair.left, pair.right))
        return Sides(P, Q)

    def loss(x: Array) -> Array:
        copies = x[:, 1]  # of the added record; x[:, 0] is the number of all records
        return np.asarray(np.log1p(RELEASED / total) - np.log1p(copies / PRIOR))

    copies = np.arange(RELEASED + 1)
    most = float(np.log1p(RELEASED / PRIOR) - np.log1p(RELEASED / total))
    p, q = (betabinom.pmf(copies, RELEASED, PRIOR + new, total - PRIOR) for new in (0, 1))
    text = "a synthetic table of 60 records, to whose data a new combination is added"
    return Task("T13", text, text, draw, loss, Discrete(p, q), most)


def _rings() -> Task:
    """An atom at the origin and three noisy rings around it, in other shares."""

    def side(rng: np.random.Generator, size: int, which: int) -> Array:
        ring = rng.choice(RINGS, size=size, p=SHARES[which])
        angle = rng.uniform(0.0, 2.0 * np.pi, size)
        x = ring[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        x += NOISE * rng.normal(size=x.shape)
        x[rng.random(size) < ATOM[which]] = 0.0
        return np.asarray(x)

    def draw(rng: np.random.Generator, size: int) -> Sides:
        return Sides(side(rng, size, 0), side(rng, size, 1))

    def loss(x: Array) -> Array:
        radius = np.hypot(x[:, 0], x[:, 1])
        beside = [np.log1p(-ATOM[which]) + _log_rings(radius, which) for which in (0, 1)]
        return np.where(radius == 0.0, np.log(ATOM[0] / ATOM[1]), beside[0] - beside[1])

    radius = np.linspace(0.0, RINGS[-1] + 2.0 * REACH * NOISE, 200_001)[1:]
    masses = [radius * np.exp(_log_rings(radius, which)) for which in (0, 1)]
    p, q = (
        np.append(atom, (1.0 - atom) * mass / mass.sum())
        for atom, mass in zip(ATOM, masses, strict=True)
    )
    text = "an atom and three noisy rings in the plane"
    return Task("T14", text, text, draw, loss, Discrete(p, q), np.inf)


def _log_rings(radius: Array, which: int) -> Array:
    """Log density in the plane at a distance from the origin, up to a constant.

    Of a ring of radius R with normal noise it is e^{−(r² + R²)/2s²} I₀(rR/s²).
    """
    parts = [
        np.log(share) - 0.5 * ((radius - ring) / NOISE) ** 2 + np.log(i0e(radius * ring / NOISE**2))
        for share, ring in zip(SHARES[which], RINGS, strict=True)
    ]
    return np.asarray(logsumexp(parts, axis=0))
