"""T1 to T14: pairs of output laws of known privacy loss, on which scores and bands are measured.

T1 to T4 are laws in closed form, T5 is a mechanism on the cancer data, T6 to T8 are mechanisms of
the zoo. T9 to T14 have structure; their true δ(ε) are sums over the values, or over a grid, of the
few numbers on which the loss depends. ε is in nats.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import i0e, logsumexp
from scipy.stats import betabinom

from dpaudit import datasets, exact, laws, mechanisms, neighbours
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array, Mechanism
from dpaudit.adapters import synthesizer
from dpaudit.curves import readings
from dpaudit.errors import DataNotFound
from dpaudit.laws import Law
from dpaudit.scoring import Score, Sides

Draw = Callable[[np.random.Generator, int], Sides]
Directions = Callable[[Array], tuple[Array, Array]]

SHIFT, SPREAD, REST = 0.5, 0.97 / 0.85, 0.97  # T2: mean and variance of the first number; others'
SHRUNK = 0.8  # T3: the variance of every number of Q
CANCER_ROW = 186  # the worst row of the cancer data for ALS
RADIUS, WIDTH, MODES, COLUMNS = 2.0, 0.4, (6, 7), 10  # T9
LEAN, SIGNS = float(np.tanh(0.5)), 20  # T10: P has an even parity with probability (1 + LEAN)/2
MOVED, LAPLACES, STEP = 5, 200, 0.5  # T11
DENSE = 1000  # T12
# T13: values of each column, copies of each record, the record that is missing
VALUES, COPIES, RARE = (5, 2, 2), 3, 7
PRIOR, RELEASED = 0.5, 60  # T13: records a cell; records of the synthetic table
ATOM, RINGS, NOISE = (0.1, 0.15), (1.0, 2.0, 3.0), 0.2  # T14
SHARES = ((0.5, 0.3, 0.2), (0.3, 0.4, 0.3))  # of the rings, in P and in Q
GRID, REACH = 601, 6.0  # points a side of a grid in the plane, and standard deviations around it
LATTICE = 1 << 12  # of the loss of a Laplace column, from −STEP to STEP


@dataclass(frozen=True, eq=False)
class Task:
    """A pair of output laws P and Q.

    name : "T1". text : the pair in a few words. formula : the same in full. draw : (rng, size) →
    draws of both laws, (size, k) each. loss : outputs (n, k) → log dP/dQ, (n,), in nats. truth : ε
    ↦ the true δ(ε) of P against Q and of Q against P. pure_epsilon : the largest |log dP/dQ|.
    """

    name: str
    text: str
    formula: str
    draw: Draw
    loss: Score
    truth: Directions
    pure_epsilon: float = np.inf

    def drawn(self, size: int, seed: int) -> Sides:
        """Draws of both laws, `size` a side, that a seed, the task and their number fix."""
        return self.draw(generator(np.random.SeedSequence(seed), self.number, size), size)

    @property
    def number(self) -> int:
        """The number in the name."""
        return int(self.name[1:])

    def delta_at(self, epsilon: Array) -> Array:
        """The true δ(ε), the larger direction."""
        return np.maximum(*self.truth(epsilon))

    def epsilon_at(self, delta: Array) -> Array:
        """The true ε at each δ, the larger direction; infinite where the loss is."""
        return readings.epsilon_at(self.delta_at, delta, self.pure_epsilon)


def every_task() -> list[Task]:
    """T1 to T8; T5 is left out where the cancer data are not at hand."""
    tasks = list(TASKS)
    with suppress(DataNotFound):
        tasks.append(_cancer())
    return [
        *tasks,
        _zoo("T6", "one-time RAPPOR, 10 bits", "OneTimeRappor"),
        _zoo("T7", "a flag, a count and a real", "MixedRelease"),
        _zoo("T8", "private quantile on a grid", "PrivateQuantile"),
    ]


def _sampler(left: Law, right: Law) -> Draw:
    return lambda rng, size: Sides(left.sample(size, rng), right.sample(size, rng))


def normal_task(name: str, text: str, formula: str, mean: Array, variance: Array) -> Task:
    """N(0, I) against N(mean, diag(variance))."""
    size = len(mean)
    p = laws.Gaussian(np.zeros(size), np.eye(size))
    q = laws.Gaussian(mean, np.asarray(np.linalg.cholesky(np.linalg.inv(np.diag(variance)))).T)

    def truth(epsilon: Array) -> tuple[Array, Array]:
        if np.all(variance == 1.0):
            delta = exact.gaussian_shift(float(np.linalg.norm(mean)), epsilon)
            return delta, delta
        return exact.gaussian_pair(np.zeros(size), np.eye(size), mean, np.diag(variance), epsilon)

    equal = np.all(mean == 0.0) and np.all(variance == 1.0)
    pure_epsilon = 0.0 if equal else np.inf
    loss = partial(laws.log_ratio, p, q)
    return Task(name, text, formula, _sampler(p, q), loss, truth, pure_epsilon)


def laplace_loss(x: Array) -> Array:
    """log dP/dQ of Laplace(1) against itself shifted by 1: |x − 1| − |x|, (n,).

    Written as a clipped line: the difference of absolute values has ties at ±1 that rounding would
    split.
    """
    return np.clip(1.0 - 2.0 * x, -1.0, 1.0)


def laplace_truth(epsilon: Array) -> tuple[Array, Array]:
    """δ(ε) = 1 − e^{(ε−1)/2} for ε ≤ 1, in both directions.

    The loss is 1 on a half line, −1 on another and 1 − 2u between, of density e^{−u}/2.
    """
    delta = np.maximum(-np.expm1(0.5 * (epsilon - 1.0)), 0.0)
    return delta, delta


def _cancer() -> Task:
    mechanism = mechanisms.ALS(rows=50)
    pair = neighbours.zero_row(datasets.load("cancer").database, CANCER_ROW)
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    loss = partial(laws.log_ratio, left, right)
    text = "ALS, cancer, r = 50, 12 numbers"
    return Task("T5", text, text, _sampler(left, right), loss, *_truth(mechanism, pair))


def _zoo(name: str, text: str, specimen: str) -> Task:
    mechanism = mechanisms.ZOO[specimen]
    pair = mechanism.pair()
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    sides = [mechanism.prepare(data) for data in (pair.left, pair.right)]
    return Task(
        name,
        text,
        text,
        lambda rng, size: Sides(*(side(size, rng) for side in sides)),
        lambda x: laws.log_ratio(left, right, mechanism.view(x)),
        *_truth(mechanism, pair),
    )


def _truth(mechanism: Mechanism, pair: neighbours.NeighbourPair) -> tuple[Directions, float]:
    """The exact curves of a mechanism, and its pure ε."""

    def truth(epsilon: Array) -> tuple[Array, Array]:
        spectrum = exact.spectrum(mechanism, pair, epsilon)
        return np.asarray(spectrum.forward), np.asarray(spectrum.backward)

    return truth, exact.spectrum(mechanism, pair, 0.0).pure_epsilon


TASKS = (
    normal_task("T1", "N(0, 1) against N(1, 1)", "N(0, 1) against N(1, 1)", np.ones(1), np.ones(1)),
    normal_task(
        "T2",
        "11 numbers, one shifted and spread",
        "11 numbers, N(0, I) against N(0.5e₁, 0.97·diag(1/0.85, 1, …, 1))",
        np.r_[SHIFT, np.zeros(10)],
        np.r_[SPREAD, np.full(10, REST)],
    ),
    normal_task(
        "T3",
        "30 numbers, N(0, I) against N(0, 0.8 I)",
        "30 numbers, N(0, I) against N(0, 0.8·I)",
        np.zeros(30),
        np.full(30, SHRUNK),
    ),
    Task(
        "T4",
        "Laplace(1) against itself shifted by 1",
        "Laplace(1) against the same moved by 1",
        lambda rng, size: Sides(*(rng.laplace(mean, 1.0, (size, 1)) for mean in (0.0, 1.0))),
        lambda x: laplace_loss(x[:, 0]),
        laplace_truth,
        pure_epsilon=1.0,
    ),
)


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

    even = 0.5 * (1.0 + LEAN)
    text = "the sign of a product of 3 of 20 normals"
    return Task(
        "T10",
        text,
        text,
        lambda rng, size: Sides(side(rng, size, LEAN), side(rng, size, -LEAN)),
        lambda x: np.asarray(np.sign(np.prod(x[:, :3], axis=1))),
        Discrete(np.array([even, 1.0 - even]), np.array([1.0 - even, even])),
        pure_epsilon=1.0,
    )


def _sparse() -> Task:
    """200 Laplace(1) numbers, five of which are shifted."""

    def draw(rng: np.random.Generator, size: int) -> Sides:
        P, Q = (rng.laplace(size=(size, LAPLACES)) for _ in range(2))
        Q[:, :MOVED] += STEP
        return Sides(P, Q)

    def loss(x: Array) -> Array:
        return np.asarray(np.clip(STEP - 2.0 * x[:, :MOVED], -STEP, STEP).sum(axis=1))

    text = "200 Laplace(1) numbers, 5 of them shifted by 0.5"
    return Task("T11", text, text, draw, loss, _shifted_laplaces(), MOVED * STEP)


def _shifted_laplaces() -> Discrete:
    """The law of the sum of the columns' losses, each on a lattice that has both its atoms.

    The loss of a column is STEP with P's probability 1/2, −STEP with probability e^{−STEP}/2,
    and STEP − 2x for x in (0, STEP); Q's law is the mirror image.
    """
    edges = np.linspace(0.0, STEP, LATTICE + 1)
    between = 0.5 * (np.exp(-edges[:-1]) - np.exp(-edges[1:]))
    one = np.zeros(LATTICE + 1)
    one[-1], one[0] = 0.5, 0.5 * np.exp(-STEP)
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

    def truth(epsilon: Array) -> tuple[Array, Array]:
        delta = exact.gaussian_shift(1.0, epsilon)
        return delta, delta

    text = "1,000 normals, all shifted, by 1 in all"
    return Task("T12", text, text, draw, lambda x: np.asarray(0.5 - x @ mean), truth)


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
    return Task("T14", text, text, draw, loss, Discrete(p, q))


def _log_rings(radius: Array, which: int) -> Array:
    """Log density in the plane at a distance from the origin, up to a constant.

    Of a ring of radius R with normal noise it is e^{−(r² + R²)/2s²} I₀(rR/s²).
    """
    parts = [
        np.log(share) - 0.5 * ((radius - ring) / NOISE) ** 2 + np.log(i0e(radius * ring / NOISE**2))
        for share, ring in zip(SHARES[which], RINGS, strict=True)
    ]
    return np.asarray(logsumexp(parts, axis=0))
