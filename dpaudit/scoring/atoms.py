"""Values that repeat, and the keys that they give to rows: which columns enter a key.

An atom of a column is a value that several training draws share. A row's key is made of the atoms
that it has in some columns. Rows of equal keys form a cell (`models.cells`). The more columns enter
the key, the more cells there are and the fewer draws each holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpaudit._core.types import Array
from dpaudit.scoring.base import Sides

ATOM = 5  # pooled draws that make a value an atom: reals rounded to 32 bits coincide less often
LEVELS = (20_000, 2000, 20)  # pooled draws a cell on average, from few cells to many
KEY_DRAWS = 50_000  # a side, for the choice of the columns in the key
FEWEST_CELLS = 16  # allowed at the last level whatever the number of draws
FEW = 16  # atoms of a column with few values: cells split it further, no spline is fitted to it
HALVES = np.random.default_rng(20221250).integers(0, 2**63, size=4096, dtype=np.uint64)
MULTIPLIERS = HALVES * np.uint64(2) + np.uint64(1)  # odd, for the hash of a key


@dataclass(frozen=True, eq=False, repr=False)
class Key:
    """The map from rows (m, k) to their keys; two keys are equal if their columns are.

    atoms : for each column its sorted atoms. columns : positions of the columns in the key.
    varying : positions of the columns that are not constant.
    """

    atoms: tuple[Array, ...]
    columns: tuple[int, ...]
    varying: np.ndarray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(self.columns)

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
        hashed, pure = (
            np.zeros(len(x), dtype=np.uint64),
            np.full(len(x), set(self.varying) <= set(self.columns)),
        )
        for column in self.columns:
            atom = self.atom(x, column)
            hashed += _mix(atom, column)
            pure &= atom > 0
        return hashed, pure

    def free(self, row: Array) -> np.ndarray:
        """Positions of the columns in which the rows of the cell of `row`, (1, k), still differ."""
        fixed = {column for column in self.columns if self.atom(row, column)[0]}
        return np.array([column for column in self.varying if column not in fixed], dtype=np.intp)


def atom_key(train: Sides) -> Key:
    """The finest key: of all columns that vary and have an atom."""
    atoms = tuple(_atoms(np.concatenate(pair)) for pair in zip(train.P.T, train.Q.T, strict=True))
    moved = np.ptp(train.P, axis=0) + np.ptp(train.Q, axis=0) > 0.0
    varying = np.flatnonzero(moved | (train.P[0] != train.Q[0]))
    return Key(atoms, tuple(int(j) for j in varying if len(atoms[j])), varying)


def keys_by_level(finest: Key, train: Sides) -> list[Key]:
    """A key for each of `LEVELS`, from few cells to many.

    Its columns are those of the finest key, the most informative first, but for those that would
    leave too few draws a cell.
    """
    x, label = train.head(KEY_DRAWS).stacked()
    found = {column: finest.atom(x, column) for column in finest.columns}
    order = sorted(found, key=lambda column: (-_information(found[column], label), column))
    hashed = {column: _mix(found[column], column) for column in order}
    allowed = [2.0 * len(train.P) / draws for draws in LEVELS]
    allowed[-1] = max(allowed[-1], FEWEST_CELLS)
    return [replace(finest, columns=_columns(hashed, cells)) for cells in allowed]


def few_values(key: Key, train: Sides) -> set[int]:
    """Positions of the columns with at most `FEW` values, all of them atoms."""
    train = train.head(KEY_DRAWS)
    few = [int(j) for j in key.varying if 0 < len(key.atoms[j]) <= FEW]
    return {j for j in few if all(key.atom(side, j).all() for side in (train.P, train.Q))}


def _atoms(values: Array) -> Array:
    """Values that at least `ATOM` draws share, ascending; 0.0 and -0.0 are one value."""
    ordered = np.sort(values) + 0.0
    repeats = ordered[ATOM - 1 :][ordered[ATOM - 1 :] == ordered[: len(ordered) - ATOM + 1]]
    return np.unique(repeats)


def _mix(atom: np.ndarray, column: int) -> np.ndarray:
    """A 64-bit hash of each row's atom in one column; the hash of a key is their sum.

    Two multiplications by odd numbers modulo 2^64, with a shift that mixes high and low bits
    between them.
    """
    place = column % len(MULTIPLIERS)
    hashed = (atom.astype(np.uint64) + np.uint64(1)) * MULTIPLIERS[place]
    return np.asarray((hashed ^ (hashed >> np.uint64(31))) * MULTIPLIERS[-1 - place])


def _columns(hashed: dict[int, np.ndarray], allowed: float) -> tuple[int, ...]:
    """Columns in the order of `hashed`, but for those that would make more cells than allowed."""
    total: np.ndarray = np.zeros(1, dtype=np.uint64)
    chosen = []
    for column, hashes in hashed.items():
        finer = total + hashes
        if len(np.unique(finer)) <= allowed:
            total = finer
            chosen.append(column)
    return tuple(chosen)


def _information(atom: np.ndarray, label: np.ndarray) -> float:
    """Log likelihood ratio in nats of a column's own odds at each atom against odds of 1.

    Less ½ for each degree of freedom, which is what it gains on average by chance.
    """
    p, q = (np.bincount(atom[label == side], minlength=atom.max() + 1) for side in (1, 0))
    total = p + q
    live = total > 0
    share = np.clip(p[live] / total[live], 1e-12, 1.0 - 1e-12)
    gain = p[live] @ np.log(2.0 * share) + q[live] @ np.log(2.0 * (1.0 - share))
    return float(gain - 0.5 * (live.sum() - 1))
