"""Odds by counts where outcomes repeat: discrete outputs, and flags and counts beside real columns.

A value that repeats in training is an atom of its column. The atoms of a row are its key, and the
rows of one key are a cell. The counts of both sides in a cell estimate its odds, which are shrunk
towards the odds of a smooth base score as far as the base explains them. Cells whose rows still
differ in other columns get a score of their own in these columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, logit

from dpaudit._core.types import Array
from dpaudit.scoring.atoms import Key, atom_key, few_values, keys_by_level
from dpaudit.scoring.base import CHUNK, Score, Sides, evaluate, log_loss, zero
from dpaudit.scoring.models.additive import fit_additive
from dpaudit.scoring.models.spline import WIDEST, fit_spline
from dpaudit.scoring.shrink import STEEPEST, shrink

# nats, summed over the choosing draws, by which a finer level may be worse: it may gain on atoms
# that are too rare to be among them
SLACK = 1.0
# for a cell to get a score of its own
OWN_DRAWS = 500  # training draws on the rarer side
OWN_CHECKS = 25  # choosing draws a side
OWN_CELLS = 64  # cells at most

# (training draws, choosing draws, seed) → score within a cell, or None where there is none
Inner = Callable[[Sides, Sides, np.random.SeedSequence], Score | None]


def fit_cells(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    inner: Inner | None = None,
    base: Score | None = None,
) -> Score | None:
    """Log-odds by cells; None where no value repeats, or all draws share one cell.

    train, choose : finite rows (encode others first).
    inner : fits a cell's own score on its columns without atom (default: splines where there are at
        most 2 such columns); it is used where it has less log loss on `choose`.
    base : the score of rows outside the cells, to which the cells' odds are shrunk (default: the
        additive score).

    Few large cells, with scores of their own, are the base of more and smaller ones, and so on. A
    level with more log loss on `choose` is left out.
    """
    finest = atom_key(train)
    keys = keys_by_level(finest, train) if finest.columns else [finest]
    if not keys[-1].columns:
        return None
    score = base or fit_additive(train, choose, seed) or zero
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


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The score of c cells over a base score.

    keys : (c,) hashes of the cells' keys, ascending. odds : (c,) log-odds.
    offset : (c,) what a cell adds to the base score of its rows that are not atoms throughout.
    rows : (c, k) one row of each cell. least : (c,) training draws on the rarer side.
    own : scores of single cells, by position: (columns, score of these columns).
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
        """(position of each row's cell or −1, whether all its columns are atoms), (m,) each."""
        hashed, pure = self.key(x)
        near = np.minimum(np.searchsorted(self.keys, hashed), len(self.keys) - 1)
        return np.where(self.keys[near] == hashed, near, -1), pure

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        cell, pure = self.find(x)
        out = self.odds[cell]  # rows of atoms throughout get the cell's number: equal rows tie
        based = ~pure | (cell < 0)
        if based.any():
            offset = np.where(cell[based] < 0, 0.0, self.offset[cell[based]])
            out[based] = self.base(x[based]) + offset
        for number, (columns, score) in self.own.items():
            here = np.flatnonzero(cell == number)
            if len(here):
                out[here] = self.odds[number] + score(x[np.ix_(here, columns)])
        return out


def _table(key: Key, train: Sides, base: Score) -> Cells:
    """The cells of a key, their odds shrunk towards those that the base gives them.

    These are the odds at the cell's only row, or on average over its training draws.
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
    """Log-odds (cells,) of the mean probability of P, by the base, over wanted draws of each cell.

    cell, wanted : (2n,), of all training draws, P's first. cells : their number.
    """
    total, count = np.zeros(cells), np.bincount(cell[wanted], minlength=cells)
    for start, side in ((0, train.P), (len(train.P), train.Q)):
        for begin in range(0, len(side), CHUNK):
            here = slice(start + begin, min(start + begin + CHUNK, start + len(side)))
            asked = wanted[here]
            if asked.any():
                odds = np.clip(base(side[begin : begin + CHUNK][asked]), -STEEPEST, STEEPEST)
                total += np.bincount(cell[here][asked], weights=expit(odds), minlength=cells)
    return np.asarray(logit(np.where(count > 0, total / np.maximum(count, 1), 0.5)))


def _splines(train: Sides, choose: Sides, seed: np.random.SeedSequence) -> Score | None:
    return fit_spline(train, choose, seed) if train.P.shape[1] <= WIDEST else None


def _own(
    cells: Cells, train: Sides, choose: Sides, seed: np.random.SeedSequence, inner: Inner
) -> dict[int, tuple[np.ndarray, Score]]:
    """The own scores of the largest cells, where they have less loss than the base score."""
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
    """The largest cells, with their columns without atom if these have more than a few values."""
    few, found = few_values(cells.key, train), {}
    for cell in np.argsort(-cells.least, kind="stable")[:OWN_CELLS]:
        columns = cells.key.free(cells.rows[cell : cell + 1])
        if cells.least[cell] >= OWN_DRAWS and not few >= set(columns):
            found[int(cell)] = columns
    return found


def _within(sides: Sides, number: list[np.ndarray], cell: int) -> Sides:
    """The draws in a cell, equally many a side: the cell's own odds are left out of a score's."""
    inside = [side[place == cell] for side, place in zip((sides.P, sides.Q), number, strict=True)]
    return Sides(*inside).head(min(map(len, inside)))


def _take(sides: Sides, columns: np.ndarray) -> Sides:
    return Sides(
        np.ascontiguousarray(sides.P[:, columns]), np.ascontiguousarray(sides.Q[:, columns])
    )


def _better(cells: Cells, choose: Sides, cell: int, columns: np.ndarray, score: Score) -> bool:
    """Whether a cell's own score has less log loss within it than the base score.

    Sides are equal within the cell, so the odds that the base gives the cell are subtracted.
    """
    base, odds = cells.base, cells.odds[cell] - cells.offset[cell]
    own = log_loss(lambda x: score(x[:, columns]), choose)
    return own < log_loss(lambda x: base(x) - odds, choose)
