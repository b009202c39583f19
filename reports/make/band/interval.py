"""How often the two-sided interval holds what the sets of a score show, at all ε at once.

A score is fitted as an audit fits it, and many further draws count once how often it falls into
each of many fine cells. The choosing and certifying draws of a simulated audit are multinomials of
these cells; from the counts on everything is what an audit runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed

from dpaudit import outcomes, scoring
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.interval import cells_interval
from dpaudit.certify.scores import ScoreCells, SortedScores
from dpaudit.certify.sets import CandidateSets
from dpaudit.certify.split import split
from dpaudit.scoring import Score, Sides, evaluate
from reports.make import page
from reports.make.tasks import Task, every_task

EPSILON = np.linspace(0.0, 4.0, 41)
SHOWN = (0, 10, 20)  # of EPSILON: 0, 1, 2
SIZES, AUDITS = (1_000, 10_000, 100_000, 1_000_000), 2_000
SCORES, DRAWS = 3, 2_000_000  # fitted scores of each cell; draws a side that count their laws
FEWER, MORE = 2, 5_000_000  # the same at the largest size
UNEVEN = (60, 500), (500, 60), (450, 10_000), (10_000, 450)  # certifying draws of P and of Q
UNEVEN_TASKS, UNEVEN_FIT = ("T1", "T8"), 1_000  # draws a side that such scores are from
RARE = (0.002, 0.0), (0.004, 0.0004), (0.01, 0.001)  # probability of a value under P and under Q
RARE_DRAWS = (500, 500), (1_000, 1_000), (1_650, 1_650), (10_000, 10_000), *UNEVEN
RARE_CHOOSE = 200
CHOICES = 20  # audits that share their choosing draws
ERROR, SLACK = 0.05, 1e-12  # rounding
SEED = 2026
HEAD = (
    "task",
    "draws",
    "covered",
    "lower end above",
    "upper end below",
    "width at ε = 0, 1, 2",
    "shown there",
)
CELLS = 3_000  # of equal mass, and ENDS more towards each end
ENDS = 200
FIRST = 1 << 17  # draws a side that lay out the cells, and of which each chunk consists
KEY = 17


@dataclass(frozen=True, eq=False)
class FineLaw:
    """A score under P and under Q, on k values.

    score : (k,) ascending. p, q : (k,) probabilities. choose : draws a side that choose. certify :
    draws of P and of Q that certify.
    """

    score: Array
    p: Array
    q: Array
    choose: int
    certify: tuple[int, int]

    def chosen(self, rng: np.random.Generator) -> SortedScores:
        """The scores of an audit's choosing draws."""
        p, q = (
            np.repeat(self.score, rng.multinomial(self.choose, part)) for part in (self.p, self.q)
        )
        return SortedScores(p, q)

    def tail(self, threshold: Array, is_p: bool) -> Array:
        """The probability of P or of Q above each threshold, (c,)."""
        part = self.p if is_p else self.q
        first = np.searchsorted(self.score, threshold, side="right")
        return np.asarray(np.append(np.cumsum(part[::-1])[::-1], 0.0)[first])


def fine_laws(task: Task, size: int, seeds: Sequence[int], draws: int) -> list[FineLaw]:
    """The laws of the scores that audits of `size` draws a side with these seeds fit.

    draws : a side, from which each law is counted.
    """
    fits = [_Counted.fit(task, size, seed) for seed in seeds]
    rng = generator(np.random.SeedSequence(KEY), task.number, size)
    for _ in range(-(-draws // FIRST)):
        sides = task.draw(rng, FIRST)
        for one in fits:
            one.add(sides)
    return [one.law() for one in fits]


@dataclass(eq=False)
class _Counted:
    """A score and how many draws fell into the cells between `edges`, the first time laid out."""

    columns: outcomes.Columns
    score: Score
    choose: int
    certify: int
    edges: Array = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty((2, 0), dtype=np.int64))

    @classmethod
    def fit(cls, task: Task, size: int, seed: int) -> _Counted:
        """As `auditing.fixed`: split, fit, and choose by training draws too where it does."""
        root = np.random.SeedSequence(seed)
        rng = generator(root, task.number, size)
        sizes = split(size, columns=task.draw(rng, 1).P.shape[1])
        drawn = task.draw(rng, sizes.train + sizes.choose)
        columns = outcomes.described(drawn.P, drawn.Q).columns
        rows = Sides(columns(drawn.P), columns(drawn.Q))
        train, choose = (
            Sides(rows.P[part], rows.Q[part])
            for part in (slice(sizes.train), slice(sizes.train, None))
        )
        fitted = scoring.fit("auto", train, choose, root)
        chosen = scoring.pooled(fitted.score, train, scoring.scores(fitted.score, choose))
        return cls(columns, fitted.score, len(chosen[0]), sizes.certify)

    def add(self, sides: Sides) -> None:
        """Count more draws."""
        scores = SortedScores.of(
            *(evaluate(self.score, self.columns(side)) for side in (sides.P, sides.Q))
        )
        if not len(self.edges):
            self.edges = _edges(np.sort(np.concatenate([scores.p, scores.q])))
            self.counts = np.zeros((2, len(self.edges) + 1), dtype=np.int64)
        ends = [np.searchsorted(side, self.edges, side="right") for side in (scores.p, scores.q)]
        self.counts += [np.diff(np.concatenate([[0], end, [len(scores.p)]])) for end in ends]

    def law(self) -> FineLaw:
        """Frequencies; a cell's score is its upper edge."""
        p, q = self.counts / self.counts.sum(axis=1, keepdims=True)
        score = np.append(self.edges, self.edges[-1] + 1.0)
        return FineLaw(score, p, q, self.choose, (self.certify, self.certify))


def _edges(scores: Array) -> Array:
    """Values at quantiles of sorted scores, closer towards both ends; all where they are few."""
    values = np.unique(scores)
    if len(values) <= CELLS:
        return values
    last = len(scores) - 1
    ends = np.geomspace(10.0, last / 2, ENDS).astype(int)
    rank = np.concatenate([np.linspace(10, last - 10, CELLS).astype(int), ends, last - ends])
    return np.unique(scores[rank])


@dataclass(frozen=True)
class Coverage:
    """What came of simulated audits.

    low, high : how many had a lower end above θ, an upper end below θ, at any ε. missed : either.
    width : median, (3,), at SHOWN. shown : the mean of θ there.
    """

    audits: int
    low: int
    high: int
    missed: int
    width: Array
    shown: Array


def simulate(laws: Sequence[FineLaw], key: tuple[int, ...], audits: int) -> Coverage:
    """`audits` audits in all, by each score in turn."""
    groups = -(-audits // CHOICES)
    parts = [_audits(laws[group % len(laws)], (*key, group)) for group in range(groups)]
    truth, low, high = (np.concatenate(part)[:audits] for part in zip(*parts, strict=True))
    above, below = (np.any(wrong, axis=1) for wrong in (truth < low - SLACK, truth > high + SLACK))
    return Coverage(
        audits,
        int(above.sum()),
        int(below.sum()),
        int((above | below).sum()),
        np.median((high - low)[:, SHOWN], axis=0),
        truth[:, SHOWN].mean(axis=0),
    )


def _audits(law: FineLaw, key: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """θ, lower and upper end of CHOICES audits with the same choosing draws, (CHOICES, 41) each."""
    rng = generator(np.random.SeedSequence(SEED), *key)
    threshold = CandidateSets.of(law.chosen(rng), EPSILON[:1], min(law.certify), ERROR).threshold
    tails = law.tail(threshold, True), law.tail(threshold, False)
    counts = (_counts(tail, size, rng) for tail, size in zip(tails, law.certify, strict=True))
    found = [
        cells_interval(ScoreCells(threshold, *one), EPSILON, ERROR)
        for one in zip(*counts, strict=True)
    ]
    low, high = np.swapaxes(found, 0, 1)
    return np.tile(shown(*tails), (CHOICES, 1)), low, high


def _counts(tail: Array, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draws in each cell, (CHOICES, c + 1)."""
    cells = np.maximum(-np.diff(np.concatenate([[1.0], tail, [0.0]])), 0.0)
    return rng.multinomial(size, cells / cells.sum(), size=CHOICES)


def shown(p: Array, q: Array) -> Array:
    """θ(ε), (41,): the largest over sets of probabilities p and q, (c,), and their complements."""
    gamma = np.exp(EPSILON)[:, None]
    forward, backward = p - gamma * q, (1.0 - q) - gamma * (1.0 - p)
    return np.maximum(np.max(np.maximum(forward, backward), axis=1), 0.0)


Row = tuple[str, str, Coverage]  # what is audited, its draws, what came of it


def even(task: Task, size: int, audits: int) -> Row:
    """Audits of one task with `size` draws a side."""
    scores, draws = (FEWER, MORE) if size == max(SIZES) else (SCORES, DRAWS)
    laws = fine_laws(task, size, range(scores), draws)
    coverage = simulate(laws, (task.number, size), audits)
    return f"{task.name} {task.text}", f"{size:,}", coverage


def uneven(task: Task, audits: int, draws: int = DRAWS) -> list[Row]:
    """One task's scores and UNEVEN certifying draws, and the same where Q is P itself.

    draws : a side, from which the laws are counted.
    """
    laws = fine_laws(task, UNEVEN_FIT, range(SCORES), draws)
    same = [replace(law, q=law.p) for law in laws]
    return [
        (
            f"{task.name} {text}",
            _against(sizes),
            simulate([replace(law, certify=sizes) for law in pair], (task.number, *sizes), audits),
        )
        for text, pair in ((task.text, laws), ("its first law against itself", same))
        for sizes in UNEVEN
    ]


def rare(p: float, q: float, sizes: tuple[int, int], audits: int) -> Row:
    """A value of probability p under P and q under Q; all other outputs are alike."""
    chances = [np.array([1.0 - part, part]) for part in (p, q)]
    law = FineLaw(np.arange(2.0), chances[0], chances[1], RARE_CHOOSE, sizes)
    coverage = simulate([law], (0, RARE.index((p, q)), *sizes), audits)
    return f"{page.number(p, 2)} against {page.number(q, 2)}", _against(sizes), coverage


def _against(sizes: tuple[int, int]) -> str:
    return " against ".join(f"{size:,}" for size in sizes)


def render(**tables: Sequence[Row]) -> str:
    """The page, from the rows of its tables `even`, `uneven` and `rare`."""
    shares = {
        name: [1.0 - found.missed / found.audits for *_, found in rows]
        for name, rows in tables.items()
    }
    return page.render(
        "interval.md",
        audits=f"{tables['even'][0][2].audits:,}",
        scores=SCORES,
        fewer=FEWER,
        largest=f"{max(SIZES):,}",
        fit=f"{UNEVEN_FIT:,}",
        least={name: f"{min(share):.1%}" for name, share in shares.items()},
        most={name: f"{max(share):.1%}" for name, share in shares.items()},
        rows={
            name: page.table(HEAD, [_row(*one) for one in rows]) for name, rows in tables.items()
        },
    )


def _row(text: str, draws: str, found: Coverage) -> list[str]:
    shares = (found.audits - found.missed, found.low, found.high)
    return [
        text,
        draws,
        *(f"{part / found.audits:.1%}" for part in shares),
        " ".join(page.number(float(one), 2) for one in found.width),
        " ".join(page.number(float(one), 2) for one in found.shown),
    ]


def report(audits: int = AUDITS, sizes: Sequence[int] = SIZES, n_jobs: int = 2) -> None:
    """Print the tables and write reports/interval.md."""
    tasks = {task.name: task for task in every_task()}
    values = [(*chances, draws, audits) for chances in RARE for draws in RARE_DRAWS]
    parallel = Parallel(n_jobs=n_jobs)
    parts = parallel(delayed(uneven)(tasks[name], audits) for name in UNEVEN_TASKS)
    text = render(
        uneven=[row for part in parts for row in part],
        rare=parallel(delayed(rare)(*one) for one in values),
        even=parallel(
            delayed(even)(task, size, audits) for task in tasks.values() for size in sizes
        ),
    )
    print(text)
    page.write(page.REPORTS / "interval.md", text)
