"""Odds by counts where outcomes repeat: discrete outputs, and flags and counts beside real columns.

A value of a column that several training draws share is an atom of it. The atoms that a row has in
some columns are its key, and the rows of one key are a cell. The counts of both sides in a cell
estimate its odds, which are shrunk towards the odds of a smooth base score as far as the base
explains them. The more columns enter the key, the more cells there are and the fewer draws each
holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from dpaudit._core.linalg import ascending_columns
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate
from dpaudit.scoring.shrink import STEEPEST, shrink

HALVES = np.random.default_rng(20221250).integers(0, 2**63, size=4096, dtype=np.uint64)
MULTIPLIERS = HALVES * np.uint64(2) + np.uint64(1)  # odd, for the hash of a key


@value_class
class Key:
    """The map from rows (m, k) to their keys.

    atoms : for each column its sorted atoms. columns : positions of the columns in the key.
    varying : positions of the columns that are not constant.
    """

    atoms: tuple[Array, ...]
    columns: tuple[int, ...]
    varying: np.ndarray

    def atom(self, x: Array, column: int) -> np.ndarray:
        """1 + the position of each row's atom in the column, (m,), and 0 where it has none."""
        values, atoms = x[:, column], self.atoms[column]
        if len(atoms) <= 3:
            return np.asarray(
                sum((number + 1) * (values == atom) for number, atom in enumerate(atoms))
            )
        near = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
        return np.where(atoms[near] == values, near + 1, 0)

    def __call__(self, x: Array) -> tuple[np.ndarray, np.ndarray]:
        """(64-bit hash of each row's key, whether all its varying columns are atoms), (m,) each."""
        hashed = np.zeros(len(x), dtype=np.uint64)
        pure = np.full(len(x), set(self.varying) <= set(self.columns))
        for column in self.columns:
            atom = self.atom(x, column)
            hashed += _hash(atom, column)
            pure &= atom > 0
        return hashed, pure


def _hash(atom: np.ndarray, column: int) -> np.ndarray:
    """A 64-bit hash of each row's atom in one column; the hash of a key is their sum.

    Two multiplications by odd numbers modulo 2^64, with a shift that mixes high and low bits
    between them.
    """
    place = column % len(MULTIPLIERS)
    hashed = (atom.astype(np.uint64) + np.uint64(1)) * MULTIPLIERS[place]
    return np.asarray((hashed ^ (hashed >> np.uint64(31))) * MULTIPLIERS[-1 - place])


def key_of(train: Sides) -> Key | None:
    """The key whose columns are those that have an atom, the most informative first, without
    columns that would leave too few draws a cell; None if there are no such columns.
    """
    look = min(constants.ATOM_LOOK, constants.ATOM_NUMBERS // train.P.shape[1])
    few = ascending_columns(train.head(look).stacked()[0])
    again = (few[:, 1:] == few[:, :-1]).any(axis=1)
    if not again.any():
        return None
    varying = np.ptp(train.P, axis=0) + np.ptp(train.Q, axis=0) > 0.0
    varying |= train.P[0] != train.Q[0]
    atoms, apart = [np.empty(0)] * len(again), constants.ATOM_DRAWS - 1
    for column in np.flatnonzero(again).tolist():
        values = np.concatenate([train.P[:, column], train.Q[:, column]])
        ordered = np.sort(values) + 0.0  # 0.0 and -0.0 are one value
        repeated = ordered[apart:] == ordered[: len(ordered) - apart]
        atoms[column] = np.unique(ordered[apart:][repeated])
    finest = Key(tuple(atoms), (), np.flatnonzero(varying))
    x, label = train.head(constants.KEY_DRAWS).stacked()
    hashed, information = {}, {}
    for column in finest.varying.tolist():
        if len(atoms[column]):
            atom = finest.atom(x, column)
            hashed[column], information[column] = _hash(atom, column), _information(atom, label)
    order = sorted(hashed, key=lambda column: (-information[column], column))
    allowed = max(2 * len(train.P) // constants.DRAWS_A_CELL, constants.FEWEST_CELLS)
    total, columns = np.zeros(1, dtype=np.uint64), list[int]()
    for column in order:
        finer = total + hashed[column]
        if len(np.unique(finer)) <= allowed:
            total = finer
            columns.append(column)
    return replace(finest, columns=tuple(columns)) if columns else None


def _information(atom: np.ndarray, label: np.ndarray) -> float:
    """The log likelihood ratio, nats, of a column with odds of its own at each atom against odds of
    1.

    It is reduced by ½ for each degree of freedom, which is its average gain by chance.
    """
    p = np.bincount(atom[label == 1], minlength=atom.max() + 1)
    q = np.bincount(atom[label == 0], minlength=atom.max() + 1)
    live = p + q > 0
    share = np.clip(p[live] / (p + q)[live], 1e-12, 1.0 - 1e-12)
    gain = p[live] @ np.log(2.0 * share) + q[live] @ np.log(2.0 * (1.0 - share))
    return float(gain - 0.5 * (live.sum() - 1))


@value_class
class Cells:
    """The score of c cells over a base score.

    keys : (c,) hashes of the cells' keys, ascending. odds : (c,) log-odds of the cells.
    offset : (c,) the amount that a cell adds to the base score of its rows that are not atoms in
        every column.
    """

    key: Key
    base: Score
    keys: np.ndarray
    odds: Array
    offset: Array

    def find(self, x: Array) -> tuple[np.ndarray, np.ndarray]:
        """(position of each row's cell or −1, whether all its columns are atoms), (m,) each."""
        hashed, pure = self.key(x)
        near = np.minimum(np.searchsorted(self.keys, hashed), len(self.keys) - 1)
        return np.where(self.keys[near] == hashed, near, -1), pure

    def __call__(self, x: Array) -> Array:
        """The log-odds, (m,), in nats, of rows (m, k)."""
        cell, pure = self.find(x)
        out = self.odds[cell]  # rows with an atom in every column get the cell's odds, so they tie
        based = ~pure | (cell < 0)
        if based.any():
            offset = np.where(cell[based] < 0, 0.0, self.offset[cell[based]])
            out[based] = self.base(x[based]) + offset
        return out


def fit_cells(train: Sides, base: Score) -> Cells | None:
    """Fit log-odds by cells; None where no value repeats, or all draws share one cell.

    train : finite rows (encode others first). base : the score of rows outside the cells. The
    cells' odds are shrunk towards its score of the cell's only row, or its probability averaged
    over the cell's training draws.
    """
    if (key := key_of(train)) is None:
        return None
    x, size = train.stacked()[0], len(train.P)
    hashed, pure = key(x)
    keys, first, cell = np.unique(hashed, return_index=True, return_inverse=True)
    a = np.bincount(cell[:size], minlength=len(keys))
    b = np.bincount(cell[size:], minlength=len(keys))
    guess = np.clip(evaluate(base, x[first]), -STEEPEST, STEEPEST)
    mixed = ~pure[first]
    if mixed.any():
        free = ~pure  # draws whose cell has rows with different odds
        odds = np.clip(evaluate(base, x[free]), -STEEPEST, STEEPEST)
        total = np.bincount(cell[free], weights=expit(odds), minlength=len(keys))
        count = np.bincount(cell[free], minlength=len(keys))
        average = logit(np.where(count > 0, total / np.maximum(count, 1), 0.5))
        guess = np.where(mixed, average, guess)
    odds, _ = shrink(a, b, guess)
    return Cells(key, base, keys, odds, odds - guess)
