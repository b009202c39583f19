"""Outputs as people release them, with a known privacy loss: tables, texts, lists, series, images.

Each family is a function (rng, size) → for P and for Q, `size` draws and their log dP/dQ, (size,),
in nats. On them `python -m reports.make oracle families` measures the score `auto`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from dpaudit._core.types import Array
from reports.make.tasks import laplace_loss

Sample = tuple[Any, Array]  # draws of one side, and their losses
Family = Callable[[np.random.Generator, int], Sequence[Sample]]
LETTERS = "uvwxyz"
SIDES = (0, 1)


# --- parts that repeat ----------------------------------------------------------------------------


def as_tuples(cells: np.ndarray) -> Any:
    """Tables (n, m) of cells as lists of records (number, letter)."""
    return [[(int(x) // 4, "abcd"[int(x) % 4]) for x in row] for row in cells]


def as_columns(cells: np.ndarray) -> Any:
    """The same tables as dicts of columns."""
    return [
        dict(zip(("region", "kind"), zip(*row, strict=True), strict=True))
        for row in as_tuples(cells)
    ]


def as_csv(cells: np.ndarray) -> Any:
    """The same tables as the text of CSV files."""
    return ["region,kind\n" + "".join(f"{a},{b}\n" for a, b in row) for row in as_tuples(cells)]


def as_json(cells: np.ndarray) -> Any:
    """The same tables as JSON lists of objects."""
    return [json.dumps([{"region": a, "kind": b} for a, b in row]) for row in as_tuples(cells)]


def table(
    rng: np.random.Generator,
    size: int,
    form: Callable[[np.ndarray], Any] = as_tuples,
    cells: int = 24,
    more: float = 0.35,
) -> Sequence[Sample]:
    """Tables of 40 records, of which one cell has more in Q."""
    odds = np.full((2, cells), 1 / cells)
    odds[1, 3] *= 1 + more
    odds[1] /= odds[1].sum()
    gain = np.log(odds[0] / odds[1])
    drawn = [rng.choice(cells, size=(size, 40), p=p) for p in odds]
    return [(form(cell), gain[cell].sum(axis=1)) for cell in drawn]


def baskets(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """10 to 30 items of 30 kinds, of which one is bought half again as often in Q."""
    odds = np.tile(1 / np.arange(1.0, 31.0), (2, 1))
    odds[1, 5] *= 1.5
    odds /= odds.sum(axis=1, keepdims=True)
    gain, sides = np.log(odds[0] / odds[1]), []
    for p in odds:
        drawn = [rng.choice(30, size=length, p=p) for length in rng.integers(10, 31, size=size)]
        named = [[f"item {chr(97 + x)}" for x in basket] for basket in drawn]
        sides.append((named, np.array([gain[basket].sum() for basket in drawn])))
    return sides


def words(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Texts of 30 words of 40, of which one is half again as frequent in Q."""
    names = np.array([f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40)])
    odds = np.tile(1 / np.arange(1.0, 41.0), (2, 1))
    odds[1, 5] *= 1.5
    odds /= odds.sum(axis=1, keepdims=True)
    gain = np.log(odds[0] / odds[1])
    drawn = [rng.choice(40, size=(size, 30), p=p) for p in odds]
    return [([" ".join(row) for row in names[word]], gain[word].sum(axis=1)) for word in drawn]


def sentence(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Texts of 12 words, each replaced at random with probability 0.6; one differs in Q."""
    names = np.array([f"w{chr(97 + i)}" for i in range(20)])
    P = np.arange(12)
    Q = np.where(P == 4, 15, P)
    drawn = [
        np.where(rng.random((size, 12)) < 0.4, words, rng.integers(20, size=(size, 12)))
        for words in (P, Q)
    ]
    odds = [[np.log(0.6 / 20 + 0.4 * (x == words)).sum(axis=1) for words in (P, Q)] for x in drawn]
    return [
        ([" ".join(row) for row in names[x]], left - right)
        for x, (left, right) in zip(drawn, odds, strict=True)
    ]


def states(rng: np.random.Generator, size: int, text: bool = False) -> Sequence[Sample]:
    """Markov chains of 40 of six letters, of which one step is likelier in Q, and one less."""
    moves = np.full((2, 6, 6), 1 / 6)
    moves[1, 1, 2] += 0.08
    moves[1, 1, 3] -= 0.08
    gain, sides = np.log(moves[0] / moves[1]), []
    for move in moves.cumsum(axis=2):
        state = rng.integers(6, size=(size, 40))
        for t in range(1, 40):
            state[:, t] = (move[state[:, t - 1]] < rng.random((size, 1))).sum(axis=1)
        drawn = [[LETTERS[x] for x in row] for row in state]
        loss = gain[state[:, :-1], state[:, 1:]].sum(axis=1)
        sides.append((["".join(row) for row in drawn] if text else drawn, loss))
    return sides


def ranking(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Mallows rankings of 8 items, with two of the centre's items exchanged in Q."""
    centres, theta = (np.arange(8), np.array([0, 5, 2, 3, 4, 1, 6, 7])), 0.35
    first, second = np.triu_indices(8, 1)
    sides = []
    for centre in centres:
        ranks = np.zeros((size, 0), dtype=int)
        for i in range(8):  # repeated insertion (Doignon, Pekec & Regenwetter 2004)
            weight = np.exp(-theta * np.arange(i, -1, -1.0))
            place = rng.choice(i + 1, size=size, p=weight / weight.sum())
            kept = np.arange(i) + (np.arange(i) >= place[:, None])
            longer = np.full((size, i + 1), centre[i])
            np.put_along_axis(longer, kept, ranks, axis=1)
            ranks = longer
        places = np.argsort(ranks, axis=1)
        left, right = ((places[:, by[first]] > places[:, by[second]]).sum(axis=1) for by in centres)
        sides.append((np.array(list("abcdefgh"))[ranks].tolist(), theta * (right - left)))
    return sides


# --- parts that do not repeat ---------------------------------------------------------------------


def records(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Tables of 40 records of three normals; in P one record lies apart with probability 0.8."""
    apart, sides = np.array([2.5, -1.0, 1.5]), []
    for side in SIDES:
        x = rng.normal(size=(size, 40, 3))
        x[:, :, 1] += 0.5 * x[:, :, 0]
        if side == 0:
            which = np.flatnonzero(rng.random(size) < 0.8)
            moved = apart + 0.5 * rng.normal(size=(len(which), 3))
            x[which, rng.integers(40, size=len(which))] = moved
        usual = -0.5 * (x[..., 0] ** 2 + (x[..., 1] - 0.5 * x[..., 0]) ** 2 + x[..., 2] ** 2)
        far = -2.0 * ((x - apart) ** 2).sum(axis=2) + 3 * np.log(2.0)
        sides.append((x.tolist(), np.log(0.2 + 0.8 * np.exp(far - usual).mean(axis=1))))
    return sides


def centres(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Four noisy cluster centres in any order, of which one is moved in Q."""
    first = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
    second, sides = first + np.array([[0.0, 0.0]] * 3 + [[0.5, 0.3]]), []
    for means in (first, second):
        order = rng.permuted(np.tile(np.arange(4), (size, 1)), axis=1)
        x = means[order] + 0.7 * rng.normal(size=(size, 4, 2))
        odds = []
        for by in (first, second):
            apart = -0.5 * ((x[:, :, None] - by) ** 2).sum(axis=3) / 0.49
            sums = [apart[:, range(4), p].sum(axis=1) for p in permutations(range(4))]
            odds.append(logsumexp(sums, axis=0))
        sides.append((x.tolist(), odds[0] - odds[1]))
    return sides


def reals(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Lists of 10 to 30 normals, which spread by 15 % more in Q."""
    sides = []
    for spread in (1.0, 1.15):
        lists = [spread * rng.normal(size=k) for k in rng.integers(10, 31, size=size)]
        loss = [(np.log(1.15) - 0.5 * x**2 * (1 - 1.15**-2)).sum() for x in lists]
        sides.append(([x.tolist() for x in lists], np.array(loss)))
    return sides


def suppressed(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """24 noisy counts, missing below 4; two are larger in Q."""
    first = np.linspace(3.0, 9.0, 24)
    second, sides = first * np.where(np.isin(np.arange(24), (2, 5)), 1.55, 1.0), []
    count = np.arange(60.0)
    for rate in (first, second):
        noisy = rng.poisson(rate, size=(size, 24)) + rng.laplace(size=(size, 24))
        missing, odds = noisy < 4.0, []
        for by in (first, second):
            mass = stats.poisson.pmf(count[:, None], by)
            density = sum(
                p * 0.5 * np.exp(-np.abs(noisy - k)) for k, p in zip(count, mass, strict=True)
            )
            below = (mass * stats.laplace.cdf(4.0 - count)[:, None]).sum(axis=0)
            odds.append(np.log(np.where(missing, below, density)).sum(axis=1))
        values = noisy.astype(object)
        values[missing] = None
        sides.append((values.tolist(), odds[0] - odds[1]))
    return sides


# --- series and images ----------------------------------------------------------------------------


def running_sums(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Sums of 30 Laplace numbers, one of which is shifted by 1 in P."""
    sides = []
    for shift in (1.0, 0.0):
        steps = rng.laplace(size=(size, 30))
        steps[:, 12] += shift
        sides.append((np.cumsum(steps, axis=1), -laplace_loss(steps[:, 12])))
    return sides


def trajectories(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """20 noisy steps of gradient descent in the plane; the gradient has one more term in Q."""
    sides = []
    for side in SIDES:
        w, loss, points = np.zeros((size, 2)), np.zeros(size), []
        for _ in range(20):
            first = 0.1 * (w - np.array([1.0, -1.0]))
            second = first + 0.08 * np.tanh(w + 1.0) * np.array([1.0, 0.5])
            noise = 0.2 * rng.normal(size=(size, 2))
            new = w - (first, second)[side] + noise
            near, far = (((new - w + step) ** 2).sum(axis=1) for step in (first, second))
            w, loss = new, loss + (far - near) / 0.08
            points.append(w)
        sides.append((np.stack(points, axis=1).reshape(size, -1), loss))
    return sides


def images(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Smooth noise of 16 × 16 pixels; P has a faint patch at one of 25 places."""
    apart = np.subtract.outer(np.arange(16), np.arange(16))
    blur = np.exp(-0.5 * (apart / 1.2) ** 2)
    blur = np.kron(*[blur / blur.sum(axis=1, keepdims=True)] * 2)
    covariance = blur @ blur.T + 0.05 * np.eye(256)
    shape = np.outer(*[np.hanning(6)[1:-1]] * 2)
    squares = np.zeros((25, 16, 16))
    for number, patch in enumerate(squares):
        row, column = 3 * np.array(divmod(number, 5))
        patch[row : row + 4, column : column + 4] = 1.28 * shape / np.linalg.norm(shape)
    patches = squares.reshape(25, 256)
    weights, root = np.linalg.solve(covariance, patches.T), np.linalg.cholesky(covariance)
    energy, sides = 0.5 * np.einsum("ij,ji->i", patches, weights), []
    for side in SIDES:
        x = rng.normal(size=(size, 256)) @ root.T
        x += patches[rng.integers(25, size=size)] * (side == 0)
        sides.append((x, logsumexp(x @ weights - energy, axis=1) - np.log(25.0)))
    return sides


# --- vectors --------------------------------------------------------------------------------------


def rotated(rng: np.random.Generator, size: int, law: Any, shift: float) -> Sequence[Sample]:
    """Six numbers of one heavy-tailed law, rotated; one of them is shifted in Q."""
    turn, sides = stats.special_ortho_group(6, seed=5).rvs(), []
    for side in SIDES:
        x = law.rvs(size=(size, 6), random_state=rng)
        x[:, 0] += shift * side
        loss = law.logpdf(x[:, 0]) - law.logpdf(x[:, 0] - shift)
        # rounding errors would split the ties of a Laplace law's losses, and tell the sides apart
        sides.append((x @ turn.T, loss.round(9)))
    return sides


def shells(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Shells in three of eight dimensions, rotated; they are wider in Q."""
    turn, sides = stats.special_ortho_group(8, seed=5).rvs(), []
    for radius in (2.0, 2.6):
        direction = rng.normal(size=(size, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        r = np.abs(radius + 0.35 * rng.normal(size=size))
        x = np.column_stack([direction * r[:, None], 1.3 * rng.normal(size=(size, 5))])
        sides.append((x @ turn.T, ((r - 2.6) ** 2 - (r - 2.0) ** 2) / (2 * 0.35**2)))
    return sides


def cells_of(
    rng: np.random.Generator,
    size: int,
    numbers: Callable[[int], Array],
    marked: Callable[[Array], np.ndarray],
    share: float,
) -> Sequence[Sample]:
    """Numbers in which a marked event, of probability `share`, is likelier in P.

    numbers : size → rows. marked : rows → whether each is in the event.
    """
    rates, sides = (0.9, 0.35), []
    total = [share * a + (1 - share) * b for a, b in (rates, rates[::-1])]
    for side in SIDES:
        x = numbers(8 * size)
        event = marked(x)
        kept = rng.random(len(x)) < np.where(event == (side == 0), *rates)
        odds = np.where(event, np.log(rates[0] / rates[1]), np.log(rates[1] / rates[0]))
        sides.append((x[kept][:size], (odds + np.log(total[1] / total[0]))[kept][:size]))
    return sides


def checkerboard(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Four uniform numbers, two of which have a checkerboard of 4 × 4 squares."""
    return cells_of(
        rng,
        size,
        lambda n: rng.uniform(0.0, 4.0, size=(n, 4)),
        lambda x: (np.floor(x[:, 0]) + np.floor(x[:, 1])) % 2 == 0,
        0.5,
    )


def exclusive_or(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Ten normals, with the exclusive or of thresholds of two of them."""
    above = stats.norm.sf(np.array([0.8, -0.5]))
    return cells_of(
        rng,
        size,
        lambda n: rng.normal(size=(n, 10)),
        lambda x: (x[:, 0] > 0.8) ^ (x[:, 1] > -0.5),
        float(above @ (1 - above[::-1])),
    )


def spreads(rng: np.random.Generator, size: int) -> Sequence[Sample]:
    """Five normals, and a sixth whose spread depends on the first, otherwise in Q."""
    sides = []
    for side in SIDES:
        x = rng.normal(size=(size, 5))
        log_spread = 0.6 * np.sin(2 * x[:, 0])
        y = rng.normal(size=size) * np.exp(log_spread * (1 - 2 * side))
        loss = 0.5 * y**2 * (np.exp(2 * log_spread) - np.exp(-2 * log_spread)) - 2 * log_spread
        sides.append((np.column_stack([x, y]), loss))
    return sides


FAMILIES: dict[str, Family] = {
    "a table as a list of records, one of 24 cells fuller": table,
    "the same as columns": partial(table, form=as_columns),
    "the same as CSV": partial(table, form=as_csv),
    "the same as JSON": partial(table, form=as_json),
    "a table of 500 cells, a rare one fuller": partial(table, cells=500, more=9.0),
    "baskets, one item more frequent": baskets,
    "texts, one word more frequent": words,
    "texts, one word replaced": sentence,
    "lists of states, one step likelier": states,
    "the same as words of letters": partial(states, text=True),
    "rankings": ranking,
    "a table of reals, one record apart": records,
    "cluster centres in any order": centres,
    "lists of reals": reals,
    "suppressed counts": suppressed,
    "running sums": running_sums,
    "trajectories": trajectories,
    "images with a faint patch": images,
    "six t₂ numbers, rotated": partial(rotated, law=stats.t(2), shift=1.5),
    "six Laplace numbers, rotated": partial(rotated, law=stats.laplace(), shift=0.8),
    "shells in a subspace": shells,
    "a checkerboard": checkerboard,
    "exclusive or of thresholds": exclusive_or,
    "a spread that depends on another number": spreads,
}
