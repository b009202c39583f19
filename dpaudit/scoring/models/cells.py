"""Exact odds where outcomes repeat: atoms, small discrete supports, and flags and counts beside
real columns.

A value that repeats in training is an atom of its column. The atoms of a row (0: none) are its key,
and the rows of one key are a cell, whose counts on the two sides say what its odds are, shrunk
towards a smooth base score as far as the base explains them. Cells that still have columns without
an atom get a score of their own in these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, logit

from dpaudit._core.check import Array
from dpaudit.scoring.atoms import Key, able_key, few_values, keys_by_level
from dpaudit.scoring.base import CHUNK, Score, Sides, evaluate, log_loss
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.spline import WIDEST, fit_spline
from dpaudit.scoring.shrink import STEEPEST, shrink

# nats on the choosing draws that a finer level may lose: atoms too rare for these cost no more
SLACK = 1.0
OWN_DRAWS = 500  # on the rarer side, for a cell to get a score of its own
OWN_CHECKS = 25
OWN_CELLS = 64
Inner = Callable[[Sides, Sides, np.random.SeedSequence], Score | None]


def fit_cells(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    inner: Inner | None = None,
    base: Score | None = None,
) -> Score | None:
    """Log odds by cells; None where nothing repeats, or all draws share one cell.

    train, choose : finite rows (encode others first). inner : fits a cell's own score on its
    columns without atom (default: splines where there are at most 2 such columns); it is used where
    it has less log loss on `choose`.
    base : score of rows, for what the cells do not know (default: the additive score).

    Level by level: few cells, with scores of their own, are the base of more and smaller ones; a
    level that loses on `choose` is left out.
    """
    able = able_key(train)
    keys = keys_by_level(able, train) if able.columns else [able]
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


def _level(
    key: Key, train: Sides, choose: Sides, seed: np.random.SeedSequence, inner: Inner, base: Score
) -> Score:
    if not key.columns:
        return base
    cells = _table(key, train, base)
    return replace(cells, own=_own(cells, train, choose, seed, inner))


@dataclass(frozen=True, eq=False)
class Cells:
    """keys : (c,) sorted hashes. odds : (c,) log odds. offset : (c,) what a cell adds to the base
    of its rows.

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
            out[loose] = self.base(x[loose]) + np.where(
                cell[loose] < 0, 0.0, self.offset[cell[loose]]
            )
        for number, (columns, score) in self.own.items():
            here = np.flatnonzero(cell == number)
            if len(here):
                out[here] = self.odds[number] + score(x[np.ix_(here, columns)])
        return out


def _table(key: Key, train: Sides, base: Score) -> Cells:
    """Counts of each cell, and the share of P that the base gives it: at its row, or on average
    over its draws.
    """
    (hash_p, pure_p), (hash_q, pure_q) = key(train.P), key(train.Q)
    keys, first, cell = np.unique(
        np.concatenate([hash_p, hash_q]), return_index=True, return_inverse=True
    )
    a, b = (
        np.bincount(part, minlength=len(keys))
        for part in (cell[: len(hash_p)], cell[len(hash_p) :])
    )
    pure = np.concatenate([pure_p, pure_q])
    at = np.where(first < len(hash_p), 0, 1)
    rows = np.where(
        at[:, None] == 0, train.P[first % len(hash_p)], train.Q[(first - len(hash_p)) % len(hash_q)]
    )
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
                share = expit(
                    np.clip(base(side[begin : begin + CHUNK][loose]), -STEEPEST, STEEPEST)
                )
                total += np.bincount(cell[here][loose], weights=share, minlength=cells)
    return np.asarray(logit(np.where(count > 0, total / np.maximum(count, 1), 0.5)))


def _splines(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    return fit_spline(train, choose, seed) if train.P.shape[1] <= WIDEST else None


def _own(
    cells: Cells, train: Sides, choose: Sides, seed: np.random.SeedSequence, inner: Inner
) -> dict[int, tuple[np.ndarray, Score]]:
    """Scores of the fullest cells that are not atoms throughout, where they beat the base on the
    choosing draws.
    """
    wanted = _candidates(cells, train)
    if not wanted:
        return {}
    number = {part: [cells.find(side)[0] for side in (part.P, part.Q)] for part in (train, choose)}
    found: dict[int, tuple[np.ndarray, Score]] = {}
    for cell, columns in wanted.items():
        parts = [_within(part, number[part], cell) for part in (train, choose)]
        if min(len(parts[1].P), len(parts[1].Q)) < OWN_CHECKS:
            continue
        score = inner(_take(parts[0], columns), _take(parts[1], columns), seed)
        if score is not None and _better(cells, parts[1], cell, columns, score):
            found[cell] = (columns, score)
    return found


def _candidates(cells: Cells, train: Sides) -> dict[int, np.ndarray]:
    """The fullest cells and their columns without atom, if these are more than a few values."""
    few, found = few_values(cells.key, train), {}
    for cell in np.argsort(-cells.least, kind="stable")[:OWN_CELLS]:
        columns = cells.key.free(cells.rows[cell : cell + 1])
        if cells.least[cell] >= OWN_DRAWS and not few >= set(columns):
            found[int(cell)] = columns
    return found


def _within(sides: Sides, number: list[np.ndarray], cell: int) -> Sides:
    """The draws in a cell, as many of either side, so that a score's odds are those within the
    cell.
    """
    inside = [side[place == cell] for side, place in zip((sides.P, sides.Q), number, strict=True)]
    return Sides(*inside).head(min(map(len, inside)))


def _take(sides: Sides, columns: np.ndarray) -> Sides:
    return Sides(
        np.ascontiguousarray(sides.P[:, columns]), np.ascontiguousarray(sides.Q[:, columns])
    )


def _better(cells: Cells, choose: Sides, cell: int, columns: np.ndarray, score: Score) -> bool:
    """Less log loss within the cell (equal sides: the cell's own odds are left out of both)."""
    base, odds = cells.base, cells.odds[cell] - cells.offset[cell]
    return log_loss(lambda x: score(x[:, columns]), choose) < log_loss(
        lambda x: base(x) - odds, choose
    )
