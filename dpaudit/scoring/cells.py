"""Exact odds where outcomes repeat: atoms, small discrete supports, and flags and counts beside real columns.

A value that repeats in training is an atom of its column. The atoms of a row (0: none) are its key, and the rows of
one key are a cell, whose counts on the two sides say what its odds are, shrunk towards a smooth base score as far as
the base explains them. Cells that still have columns without an atom get a score of their own in these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, logit

from dpaudit._check import Array
from dpaudit.scoring.additive import fit_additive
from dpaudit.scoring.base import CHUNK, Score, Sides, evaluate, log_loss
from dpaudit.scoring.shrink import STEEPEST, shrink
from dpaudit.scoring.spline import WIDEST, fit_spline

ATOM = 5  # pooled draws that make a value an atom: reals rounded to 32 bits coincide less often
KEY_DRAWS = 200_000  # a side, for the choice of the columns in the key
LEVELS = (20_000, 2000, 20)  # pooled draws a cell on average, from few cells to many
SLACK = 1.0  # nats on the choosing draws that a finer level may lose: atoms too rare for these cost no more
OWN_DRAWS = 500  # on the rarer side, for a cell to get a score of its own
OWN_CHECKS = 25
OWN_CELLS = 64
Inner = Callable[[Sides, Sides, np.random.SeedSequence], Score | None]
TURN = np.random.default_rng(20221250).integers(0, 2**63, size=4096, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def fit_cells(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    inner: Inner | None = None,
    base: Score | None = None,
) -> Score | None:
    """Log odds by cells; None where nothing repeats, or all draws share one cell.

    train, choose : finite rows (encode others first). inner : fits a cell's own score on its columns without atom
    (default: splines where there are at most 2 such columns); it is used where it has less log loss on `choose`.
    base : score of rows, for what the cells do not know (default: the additive score).

    Level by level: few cells, with scores of their own, are the base of more and smaller ones; a level that loses on
    `choose` is left out.
    """
    atoms, varying = _all_atoms(train), _varying(train)
    head, portion = train.head(KEY_DRAWS), min(1.0, KEY_DRAWS / len(train.P))
    keys = [Key.choose(atoms, varying, head, draws * portion) for draws in LEVELS]
    if not keys[-1].columns:
        return None
    score = fit_additive(train, choose, seed) if base is None else base
    least, slack = log_loss(score, choose), SLACK / (2.0 * len(choose.P))
    for key in dict.fromkeys(keys):
        finer = _level(key, train, choose, seed, _splines if inner is None else inner, score)
        loss = log_loss(finer, choose)
        if loss < least + slack:
            score, least = finer, loss
    return score


def _level(key: Key, train: Sides, choose: Sides, seed: np.random.SeedSequence, inner: Inner, base: Score) -> Score:
    if not key.columns:
        return base
    cells = _table(key, train, base)
    return replace(cells, own=_own(cells, train, choose, seed, inner))


def _varying(train: Sides) -> np.ndarray:
    moved = np.ptp(train.P, axis=0) + np.ptp(train.Q, axis=0) > 0.0
    return np.flatnonzero(moved | (train.P[0] != train.Q[0]))


def _all_atoms(train: Sides) -> tuple[Array, ...]:
    return tuple(_atoms(np.concatenate(pair)) for pair in zip(train.P.T, train.Q.T, strict=True))


@dataclass(frozen=True, eq=False)
class Key:
    """atoms : for each column its sorted atoms. columns : those in the key. varying : those not constant."""

    atoms: tuple[Array, ...]
    columns: tuple[int, ...]
    varying: np.ndarray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(self.columns)

    @classmethod
    def choose(cls, atoms: tuple[Array, ...], varying: np.ndarray, train: Sides, draws: float) -> Key:
        """Of the columns with atoms those that leave so many pooled draws a cell, the most informative first."""
        able = tuple(int(j) for j in varying if len(atoms[j]))
        return cls(atoms, _columns(cls(atoms, able, varying), train, draws), varying)

    def atom(self, x: Array, column: int) -> np.ndarray:
        """1 + the position of each row's atom, 0 where it has none."""
        values, atoms = x[:, column], self.atoms[column]
        near = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
        return np.where(atoms[near] == values, near + 1, 0)

    def __call__(self, x: Array) -> tuple[np.ndarray, np.ndarray]:
        """(64-bit hash of each row's key, whether the row is atoms throughout)."""
        hashed, pure = np.zeros(len(x), dtype=np.uint64), np.full(len(x), set(self.varying) <= set(self.columns))
        for column in self.columns:
            atom = self.atom(x, column)
            hashed += _mix(atom, column)
            pure &= atom > 0
        return hashed, pure

    def free(self, row: Array) -> np.ndarray:
        """Columns in which rows of the cell of `row` (1, k) still differ."""
        fixed = {column for column in self.columns if self.atom(row, column)[0]}
        return np.array([column for column in self.varying if column not in fixed], dtype=np.intp)


def _atoms(values: Array) -> Array:
    """Values that at least `ATOM` draws share, ascending; 0.0 and -0.0 are one."""
    ordered = np.sort(values) + 0.0
    repeats = ordered[ATOM - 1 :][ordered[ATOM - 1 :] == ordered[: len(ordered) - ATOM + 1]]
    return np.unique(repeats)


def _mix(atom: np.ndarray, column: int) -> np.ndarray:
    """A hash that adds up over columns: odd multiples modulo 2^64, high and low bits mixed in between."""
    turned = (atom.astype(np.uint64) + np.uint64(1)) * TURN[column % len(TURN)]
    return np.asarray((turned ^ (turned >> np.uint64(31))) * TURN[-1 - column % len(TURN)])


def _columns(key: Key, train: Sides, draws: float) -> tuple[int, ...]:
    x, label = train.stacked()
    found = {column: key.atom(x, column) for column in key.columns}
    order = sorted(found, key=lambda column: (-_information(found[column], label), column))
    hashed, chosen = np.zeros(len(x), dtype=np.uint64), []
    for column in order:
        finer = hashed + _mix(found[column], column)
        if len(np.unique(finer)) * draws <= len(x):
            hashed = finer
            chosen.append(column)
    return tuple(chosen)


def _information(atom: np.ndarray, label: np.ndarray) -> float:
    """Log likelihood ratio of the atoms' own odds against none, less what chance alone gives."""
    p, q = (np.bincount(atom[label == side], minlength=atom.max() + 1) for side in (1, 0))
    total = p + q
    live = total > 0
    share = np.clip(p[live] / total[live], 1e-12, 1.0 - 1e-12)
    gain = p[live] @ np.log(2.0 * share) + q[live] @ np.log(2.0 * (1.0 - share))
    return float(gain - 0.5 * (live.sum() - 1))


@dataclass(frozen=True, eq=False)
class Cells:
    """keys : (c,) sorted hashes. odds : (c,) log odds. offset : (c,) what a cell adds to the base of its rows.

    rows : (c, k) one row of each cell. least : (c,) draws on the rarer side.
    own : scores of single cells, by position: the columns and what to make of them.
    """

    key: Key
    base: Score
    keys: np.ndarray
    odds: Array
    offset: Array
    rows: Array
    least: np.ndarray
    own: dict[int, tuple[np.ndarray, Score]] = field(default_factory=dict)

    def find(self, x: Array) -> tuple[np.ndarray, np.ndarray]:
        """(position of each row's cell or −1, whether the row is atoms throughout)."""
        hashed, pure = self.key(x)
        near = np.minimum(np.searchsorted(self.keys, hashed), len(self.keys) - 1)
        return np.where(self.keys[near] == hashed, near, -1), pure

    def __call__(self, x: Array) -> Array:
        cell, pure = self.find(x)
        out = self.odds[cell]  # of pure rows the table's own number, so that equal rows tie exactly
        loose = ~pure | (cell < 0)
        if loose.any():
            out[loose] = self.base(x[loose]) + np.where(cell[loose] < 0, 0.0, self.offset[cell[loose]])
        for number, (columns, score) in self.own.items():
            here = np.flatnonzero(cell == number)
            if len(here):
                out[here] = self.odds[number] + score(x[np.ix_(here, columns)])
        return out


def _table(key: Key, train: Sides, base: Score) -> Cells:
    """Counts of each cell, and the share of P that the base gives it: at its row, or on average over its draws."""
    (hash_p, pure_p), (hash_q, pure_q) = key(train.P), key(train.Q)
    keys, first, cell = np.unique(np.concatenate([hash_p, hash_q]), return_index=True, return_inverse=True)
    a, b = (np.bincount(part, minlength=len(keys)) for part in (cell[: len(hash_p)], cell[len(hash_p) :]))
    pure = np.concatenate([pure_p, pure_q])
    at = np.where(first < len(hash_p), 0, 1)
    rows = np.where(at[:, None] == 0, train.P[first % len(hash_p)], train.Q[(first - len(hash_p)) % len(hash_q)])
    guess = np.clip(evaluate(base, rows), -STEEPEST, STEEPEST)
    mixed = ~pure[first]
    if mixed.any():
        guess = np.where(mixed, _average(base, train, cell, ~pure, len(keys)), guess)
    odds, _ = shrink(a, b, guess)
    return Cells(key, base, keys, odds, odds - guess, rows, np.minimum(a, b))


def _average(base: Score, train: Sides, cell: np.ndarray, wanted: np.ndarray, cells: int) -> Array:
    """Log odds of the mean share of P that the base gives the wanted draws of each cell."""
    total, count = np.zeros(cells), np.bincount(cell[wanted], minlength=cells)
    for start, side in ((0, train.P), (len(train.P), train.Q)):
        for begin in range(0, len(side), CHUNK):
            here = slice(start + begin, min(start + begin + CHUNK, start + len(side)))
            loose = wanted[here]
            if loose.any():
                share = expit(np.clip(base(side[begin : begin + CHUNK][loose]), -STEEPEST, STEEPEST))
                total += np.bincount(cell[here][loose], weights=share, minlength=cells)
    return np.asarray(logit(np.where(count > 0, total / np.maximum(count, 1), 0.5)))


def _splines(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    return fit_spline(train, choose, seed) if train.P.shape[1] <= WIDEST else None


def _own(
    cells: Cells, train: Sides, choose: Sides, seed: np.random.SeedSequence, inner: Inner
) -> dict[int, tuple[np.ndarray, Score]]:
    """Scores of the fullest cells that are not atoms throughout, where they beat the base on the choosing draws."""
    number = {part: [cells.find(side)[0] for side in (part.P, part.Q)] for part in (train, choose)}
    found: dict[int, tuple[np.ndarray, Score]] = {}
    for cell in np.argsort(-cells.least, kind="stable")[:OWN_CELLS]:
        columns = cells.key.free(cells.rows[cell : cell + 1])
        if cells.least[cell] < OWN_DRAWS or len(columns) == 0:
            continue
        parts = [_within(part, number[part], cell) for part in (train, choose)]
        if min(len(parts[1].P), len(parts[1].Q)) < OWN_CHECKS:
            continue
        score = inner(_take(parts[0], columns), _take(parts[1], columns), seed)
        if score is not None and _better(cells, parts[1], cell, columns, score):
            found[int(cell)] = (columns, score)
    return found


def _within(sides: Sides, number: list[np.ndarray], cell: int) -> Sides:
    """The draws in a cell, as many of either side, so that a score's odds are those within the cell."""
    inside = [side[place == cell] for side, place in zip((sides.P, sides.Q), number, strict=True)]
    return Sides(*inside).head(min(map(len, inside)))


def _take(sides: Sides, columns: np.ndarray) -> Sides:
    return Sides(np.ascontiguousarray(sides.P[:, columns]), np.ascontiguousarray(sides.Q[:, columns]))


def _better(cells: Cells, choose: Sides, cell: int, columns: np.ndarray, score: Score) -> bool:
    """Less log loss within the cell (equal sides: the cell's own odds are left out of both)."""
    base, odds = cells.base, cells.odds[cell] - cells.offset[cell]
    return log_loss(lambda x: score(x[:, columns]), choose) < log_loss(lambda x: base(x) - odds, choose)
