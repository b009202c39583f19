"""The columns that describe the draws of both sides, and a draw's row in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from dpaudit._core.linalg import one_thread
from dpaudit._core.types import Array
from dpaudit.errors import InvalidInput
from dpaudit.outcomes import tables
from dpaudit.outcomes.features import (
    COUNTS,
    RECORDS,
    SETS,
    Features,
    Kind,
    Name,
    Path,
    features,
    name_order,
)
from dpaudit.outcomes.forms import as_bytes, is_table, joined
from dpaudit.outcomes.nested import as_texts

Columns = Callable[[np.ndarray], Array]  # draws (n, ...) of any form → (n, k) float64, row by row
MOST = tables.SLOTS  # columns at most; of more features, those that most draws have are used
NEARLY_ALL = 0.95  # share of a list's entries that have columns of counts
RANDOM = 4.5  # standard errors by which a statistic of a random order may differ from 0
RANDOM_PAIRS = 6.0  # the same for one of many pairs of places
LOOK_WORK, LOOK_LEAST = 200_000_000, 1000  # draws × places², at most, whose order is looked at
ROUNDING = 1e-9  # share of the largest number below which a gap is none
FEW_PLACES = 5  # places of a list, at most, that are kept beside its counts
COINCIDE = 10.0  # times chance, from which whole texts that occur twice are no free text
FEW, SOME = 100, 5  # beyond FEW columns, a feature needs SOME draws of both sides together
TOTAL_SIZE: Name = ((), Kind.SIZE)

# The parts of draws that no column makes comparable from one draw to another
TEXTS, KEYS, MEMBERS = "texts", "keys of dicts", "members of sets"
BEYOND = f"values beyond the first {tables.SLOTS:,}"
UNCOUNTED = "rare entries of lists"
LARGE, CODED = "integers of more than 32 digits", 2.0**107  # from CODED on, the rest may be a code


class Described(NamedTuple):
    """The columns for the draws of both sides, and these draws in them.

    columns : makes rows of any further draws. left, right : the draws of P and Q as float64 rows.
    unread : for each kind of part, the share of draws that have a part which fewer than `SOME`
        draws have, on the side where the share is larger; without shares of 0.
    """

    columns: Columns
    left: Array
    right: Array
    unread: dict[str, float]


def described(P: np.ndarray, Q: np.ndarray) -> Described:
    """The columns for what both sides hold, and the draws of both sides in them.

    Tables of one width stay as they are. Where one side has lists of numbers, or tables of another
    width, their length comes first and NaN pads them. Other draws get a column for every position,
    key and member: numbers; codes of text; sizes; and the type of other values (None, NaN, a dict,
    ...). Columns in which no two draws differ are left out.

    The code of a text is a hash, so that it depends on no other draw. Among a million texts two
    have the same code with probability 1e-4. That can hide a difference, but never make one.

    `Described.unread` names the parts from which a score learns nothing about the next draw: texts,
    keys of dicts, members of sets, very large integers and very long lists that fewer than `SOME`
    draws share, for two of them are compared only as equal or not. A text is read if all its words
    are.
    """
    if not (tables.are_rows(P) and tables.are_rows(Q)):
        return _described_nested(P, Q)
    if alike(P, Q):
        return Described(partial(_table_rows, P.shape[1]), P, Q, {})
    rows = [tables.with_lengths(side) for side in (P, Q)]
    to_rows = partial(_list_rows, 1 + _entries(*(side[:, 0] for side in rows)))
    return Described(to_rows, to_rows(P), to_rows(Q), _unread_lists(*rows))


def _unread_lists(P: Array, Q: Array) -> dict[str, float]:
    """The share of draws with a long list that fewer than `SOME` draws have, as `Described.unread`.

    P, Q : rows of lists, as in `tables`; the last slot of a long list is its code.
    """
    long = [side[side[:, 0] > tables.SLOTS] for side in (P, Q)]
    codes = np.concatenate([side[:, -1] for side in long])
    rare = np.split(_few_share(codes, np.ones(len(codes))), [len(long[0])])
    share = max(float(mark.sum()) / len(side) for mark, side in zip(rare, (P, Q), strict=True))
    return {BEYOND: share} if share > 0.0 else {}


def _distinct(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct draws as texts, and which of them each draw is; all draws if they are records."""
    if not draws.dtype.names or tables.are_rows(draws):
        return np.unique(as_texts(draws), return_inverse=True)
    return draws, np.arange(len(draws))


def _described_nested(P: np.ndarray, Q: np.ndarray) -> Described:
    texts, which = _distinct(joined([P, Q]))
    sides = np.split(which, [len(P)])
    draws = np.array([np.bincount(side, minlength=len(texts)) for side in sides])
    table = features(texts)
    names = _names_of(table, draws.sum(axis=0))
    unread = _unread(table, names, draws)
    names = _without_words(table, names, draws.sum(axis=0))
    with one_thread():
        names, hidden = _without_order(table, names, draws, TEXTS not in unread)
    if len(names) > MOST:
        total = draws.sum(axis=0)
        by_use = sorted(names, key=lambda name: (name[1] in COUNTS, -total[table[name][0]].sum()))
        frequent = set(by_use[:MOST])
        for name in by_use[MOST:]:
            hidden[table[name][0]] = True
        names = tuple(name for name in names if name in frequent)
    if hidden.any():
        unread[UNCOUNTED] = _share(hidden, draws)
    rows = _rows(table, names, len(texts))
    differs = np.any(rows.view(np.int64) != rows[0].view(np.int64), axis=0)
    if differs.any():
        names = tuple(name for name, differ in zip(names, differs, strict=True) if differ)
        rows = rows[:, differs]
    else:
        names = (TOTAL_SIZE,)
        rows = _rows(table, names, len(texts))
    return Described(FeatureColumns(names), rows[sides[0]], rows[sides[1]], unread)


def aligned(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Both sides as float64 rows, in the columns for what both sides hold."""
    return described(P, Q)[1:3]


def numbered(P: np.ndarray, Q: np.ndarray) -> tuple[Array, Array]:
    """Rows in which draws are equal if and only if they are: tables as they are, else (n, 1)."""
    if alike(P, Q):
        return P, Q
    lists = [tables.listed(side) if is_table(side) else side for side in (P, Q)]
    draws = as_bytes(joined(lists)).tolist()
    last = {draw: place for place, draw in enumerate(draws)}
    left, right = np.split(np.array([[last[draw]] for draw in draws], np.float64), [len(P)])
    return left, right


def alike(P: np.ndarray, Q: np.ndarray) -> bool:
    """Whether both sides are tables of one width."""
    return is_table(P) and is_table(Q) and P.shape[1] == Q.shape[1]


def _entries(P: Array, Q: Array) -> int:
    """The number of list entries that get a column, for lists of these lengths.

    It is `FEW`, or more if at least `SOME` draws are longer: rarer entries show nothing but their
    length.
    """
    lengths = np.sort(np.concatenate([P, Q]))
    some = int(lengths[-min(SOME, len(lengths))])
    return min(int(lengths[-1]), max(some, FEW), tables.SLOTS)


def _table_rows(width: int, draws: np.ndarray) -> Array:
    """Draws as rows of `width` columns, cut or padded with NaN where they have another width.

    Raises `InvalidInput` for draws of another width where the table is wider than rows of lists.
    """
    table = tables.even(draws) if tables.are_rows(draws) else None
    if table is not None and table.shape[1] == width:
        return table
    if width > tables.SLOTS:
        raise InvalidInput(
            f"draws of more than {tables.SLOTS} numbers must all have as many as the first draws, "
            f"{width} floats; cut or pad the others"
        )
    return _list_rows(1 + width, draws)[:, 1:]


def _list_rows(width: int, draws: np.ndarray) -> Array:
    """Draws as rows (length, entries, NaN) of `width` columns."""
    if tables.are_rows(draws):
        return tables.fitted(tables.with_lengths(draws), width)
    entries: tuple[Name, ...] = tuple(((place,), Kind.NUMBER) for place in range(width - 1))
    return FeatureColumns((TOTAL_SIZE, *entries))(draws)


@dataclass(frozen=True)
class FeatureColumns:
    """A function with one column for each name: (n,) draws of any form → (n, k) float64."""

    names: tuple[Name, ...]

    def __call__(self, draws: np.ndarray) -> Array:
        """The rows (n, k) of draws (n,) of any form."""
        texts, which = _distinct(draws)
        counts = [name for name in self.names if name[1] in COUNTS]
        others = len(counts) < len(self.names)
        return _rows(features(texts, counts, others), self.names, len(texts))[which]


def _rows(table: Features, names: tuple[Name, ...], count: int) -> Array:
    """One column for each name, one row for each of `count` draws."""
    rows = np.empty((count, len(names)))
    for column, name in enumerate(names):
        rows[:, column] = name[1].absent
        if name in table:
            at, values = table[name]
            rows[at, column] = values
    return rows


def _names_of(table: Features, draws: np.ndarray) -> tuple[Name, ...]:
    """The names of the `MOST` features that most draws have, and of as many counts, in order.

    draws : (m,), how many draws each distinct draw stands for.
    """
    often = {name: int(draws[rows].sum()) for name, (rows, _) in table.items()}
    frequent = sorted(often, key=lambda name: (-often[name], name_order(name)))
    chosen: list[Name] = []
    for counts in (False, True):
        group = [name for name in frequent if (name[1] in COUNTS) is counts]
        chosen += [
            name for rank, name in enumerate(group[:MOST]) if rank < FEW or often[name] >= SOME
        ]
    return tuple(sorted(chosen, key=name_order))


def _without_words(table: Features, names: tuple[Name, ...], draws: np.ndarray) -> tuple[Name, ...]:
    """The names without the words, or letters, of texts that nearly all come again as a whole.

    draws : (m,), how many draws each distinct draw stands for.
    """
    whole: set[Path] = set()
    for path, kind in names:
        if kind is Kind.TEXT and (path, Kind.WORDS) in table:
            at, codes = table[path, kind]
            rare = _few_share(codes, draws[at])
            if draws[at][rare].sum() <= (1.0 - NEARLY_ALL) * draws[at].sum():
                whole.add(path)
    return tuple(
        (path, kind)
        for path, kind in names
        if path[:-1] not in whole or kind not in (Kind.TEXT, *COUNTS)
    )


def _few_share(values: Array, draws: np.ndarray) -> np.ndarray:
    """A mask of the values, (n,), that fewer than `SOME` draws have; `draws`, (n,), has each's."""
    _, which = np.unique(values, return_inverse=True)
    return np.asarray(np.bincount(which, draws)[which] < SOME)


def _without_order(
    table: Features, names: tuple[Name, ...], draws: np.ndarray, texts_repeat: bool
) -> tuple[tuple[Name, ...], np.ndarray]:
    """The names that describe lists best: of lists whose places mean nothing, counts alone; and a
    mask of the draws, (m,), of whose lists an entry has neither a count nor a position.

    Where the entries of a list that are counted are nearly all that there are, their counts stand
    for its positions, unless these tell more (`_places_tell`). Counts of pairs of neighbours stay
    only where one of them differs more between the sides than any entry does.
    draws : (2, m), how many draws of each side each distinct draw stands for.
    """
    left_out: set[Name] = set()
    all_draws = draws.sum(axis=0)
    hidden = np.zeros(len(all_draws), dtype=bool)
    for place in {path[:-1] for path, kind in names if kind is Kind.COUNT}:
        entries, pairs = (
            {name for name in names if name[1] is kind and name[0][:-1] == place} for kind in COUNTS
        )
        size = (place, Kind.WORDS if (place, Kind.WORDS) in table else Kind.SIZE)
        counted, length = (_sums(table, names, len(all_draws)) for names in (entries, {size}))
        longest = length.max()
        if longest <= 1.0 or all_draws @ counted < NEARLY_ALL * (all_draws @ length):
            left_out |= entries | pairs  # a single value, or parts that hardly repeat
            continue
        short = counted < length
        if all_draws @ short > (1.0 - NEARLY_ALL) * all_draws.sum() and texts_repeat:
            left_out |= entries | pairs  # numbers that are too rare for a count, but not in size
            continue
        each = (table[name] for name in entries)
        if all(len(at) == len(all_draws) and values.min() == values.max() for at, values in each):
            left_out |= entries | pairs  # a ranking: its parts differ in their order alone
            continue
        if longest <= FEW_PLACES:
            continue
        columns = place[-1:] == (RECORDS,)  # of a table, each with the positions of the records
        depth, inner = len(place), defaultdict[Name, dict[int, Name]](dict)
        for path, kind in names:
            if kind in COUNTS or path[: depth - columns] != place[: depth - columns]:
                continue
            if size[1] is Kind.WORDS and kind is not Kind.TEXT:
                continue  # the numbers of a text
            if len(path) > depth and isinstance(step := path[depth], int):
                inner[(*path[depth - columns : depth], *path[depth + 1 :]), kind][step] = path, kind
        most, of_pairs = (
            max((_gap(table, name, draws) for name in group), default=0.0)
            for group in (entries, pairs)
        )
        limit = max(most, of_pairs, RANDOM_PAIRS)
        if not any(_places_tell(table, part, draws, limit) for part in inner.values()):
            left_out.update(name for part in inner.values() for name in part.values())
            hidden |= short
        if of_pairs <= max(most, RANDOM):
            left_out |= pairs
    return tuple(name for name in names if name not in left_out), hidden


def _sums(table: Features, names: set[Name], count: int) -> Array:
    """The sum of features for each of `count` distinct draws."""
    total = np.zeros(count)
    for at, values in (table[name] for name in names if name in table):
        total[at] += values
    return total


def _gap(table: Features, name: Name, draws: np.ndarray) -> float:
    """By how many standard errors the mean of a feature, 0 where absent, differs between sides."""
    at, values = table[name]
    weights, size = draws[:, at], draws.sum(axis=1)
    mean = weights @ values / size
    variance = weights @ values**2 / size - mean**2
    error = np.sqrt(np.maximum(variance / size, 0.0).sum())
    return float(abs(mean[0] - mean[1]) / error) if error > 0.0 else 0.0


def _places_tell(
    table: Features, by_position: dict[int, Name], draws: np.ndarray, limit: float
) -> bool:
    """Whether a number that describes entries of a list has a mean of its own at one position, or
    its product at two positions differs between the sides by more than `limit` standard errors.

    by_position : the feature at each position. draws : (2, m), how many draws of each side each
    distinct draw stands for.
    """
    places = max(by_position) + 1
    most = max(LOOK_WORK // places**2, LOOK_LEAST)
    step = -(-draws.shape[1] // most)  # the draws are sorted: every few of them
    draws = draws[:, ::step]
    values = np.full((draws.shape[1], places), np.nan)
    for position, name in by_position.items():
        at, column = table[name]
        some = at % step == 0
        values[at[some] // step, position] = column[some]
    known = np.isfinite(values)
    values = np.where(known, values, 0.0)
    values /= max(float(np.abs(values).max()), np.finfo(float).tiny)
    apart = values - (values.sum(axis=1) / np.maximum(known.sum(axis=1), 1))[:, None]
    values -= np.where(known, values.sum() / max(known.sum(), 1), 0.0)
    squares, products = values**2, []
    for side in draws:
        weights = known * side[:, None]
        count = np.maximum(weights.sum(axis=0), 1.0)
        mean = (weights * apart).sum(axis=0) / count
        variance = (weights * apart**2).sum(axis=0) / count - mean**2
        if np.any(np.abs(mean) > RANDOM * np.sqrt(np.maximum(variance, 0.0) / count)):
            return True
        size = max(side.sum(), 1)
        product = (side[:, None] * values).T @ values / size
        spread = (side[:, None] * squares).T @ squares / size - product**2
        products.append((product, np.maximum(spread, 0.0) / size))
    (left, left_error), (right, right_error) = products
    error = np.sqrt(left_error + right_error) + ROUNDING
    return bool(np.any(np.triu(np.abs(left - right) / error, 1) > limit))


def _unread(table: Features, names: tuple[Name, ...], draws: np.ndarray) -> dict[str, float]:
    """The shares of draws that have a rare part, as `Described.unread`.

    names : those that `_names_of` chose. draws : (2, m), how many draws of each side each distinct
    draw stands for.
    """
    total = draws.sum(axis=0)
    chosen = set(names)
    marked: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(total), dtype=bool))
    for name, (rows, values) in table.items():
        if name[1] in COUNTS:  # a count repeats what positions say
            continue
        part, rare = _rare(table, name, rows, values, total)
        if total[rows].sum() >= SOME and name not in chosen:
            part, rare = BEYOND, np.ones(len(rows), dtype=bool)
        marked[part][rows[rare]] = True
    shares = {part: _share(mark, draws) for part, mark in marked.items()}
    return {part: share for part, share in shares.items() if share > 0.0}


def _share(mark: np.ndarray, draws: np.ndarray) -> float:
    """The share of the draws that are marked, (m,), on the side where it is larger."""
    return float((draws @ mark / draws.sum(axis=1)).max())


def _rare(
    table: Features, name: Name, rows: np.ndarray, values: Array, total: np.ndarray
) -> tuple[str, np.ndarray]:
    """The kind of part that a feature describes, and which of its rows, (n,), are rare.

    total : (m,), how many draws each distinct draw stands for.
    """
    (path, kind), draws = name, total[rows]
    few = np.full(len(rows), draws.sum() < SOME)
    if kind is Kind.MEMBER:  # integers are left out, as each also has a position as a number
        return MEMBERS, few & (not str(path[-1]).lstrip("-").isdigit())
    if few.any():  # rare positions of lists are not counted: the lists' sizes show them
        return KEYS, few & any(isinstance(step, str) for step in path)
    if kind is Kind.TEXT:  # texts of a set count as members, at any position in it
        in_set = _where(table, (path[:-1], Kind.TYPE), SETS, rows)
        in_text = _where(table, (path[:-1], Kind.WORDS), 1.0, rows)
        read = _where(table, (path, Kind.WORDS), 1.0, rows)
        if read.any():
            places = [
                table[place]
                for number in range(int(table[path, Kind.WORDS][1].max()))
                if (place := ((*path, number), Kind.TEXT)) in table
            ]
            read &= ~np.isin(rows, _with_rare_words(places, total))
            read &= not _from_dictionary(values, draws, places, total)
        return TEXTS, _few_share(values, draws) & ~in_set & ~in_text & ~read
    if kind is Kind.REST:
        large = _where(table, (path, Kind.NUMBER), CODED, rows)
        return LARGE, _few_share(values, draws) & large
    if kind is Kind.NUMBER and path[-1:] == (tables.SLOTS - 1,):
        long = _where(table, (path[:-1], Kind.SIZE), tables.SLOTS + 1, rows)
        return BEYOND, _few_share(values, draws) & long
    return BEYOND, few


def _with_rare_words(places: list[tuple[np.ndarray, Array]], total: np.ndarray) -> np.ndarray:
    """The draws whose text has a word that fewer than `SOME` draws have in theirs.

    places : the words at each place of the text, as features.
    """
    words = np.column_stack([np.concatenate(part) for part in zip(*places, strict=True)])
    words = np.unique(words, axis=0)  # each word of a draw once
    return words[_few_share(words[:, 1], total[words[:, 0].astype(np.intp)]), 0]


def _from_dictionary(
    codes: Array, draws: np.ndarray, places: list[tuple[np.ndarray, Array]], total: np.ndarray
) -> bool:
    """Whether whole texts, (n,), coincide much more often than their words do by chance.

    Such texts are entries of a list that words do not describe. codes, draws : the code of each
    text and its draws. places : as in `_with_rare_words`.
    """
    often = np.bincount(np.unique(codes, return_inverse=True)[1], draws)
    pairs, count = 0.5 * np.sum(often * (often - 1.0)), float(draws.sum())
    expected = 0.5 * count * (count - 1.0)
    for rows, words in places:
        share = np.bincount(np.unique(words, return_inverse=True)[1], total[rows]) / count
        expected *= np.sum(share**2) + max(1.0 - share.sum(), 0.0) ** 2
    return bool(pairs >= SOME and pairs > COINCIDE * (expected + 1.0))


def _where(table: Features, name: Name, least: float, rows: np.ndarray) -> np.ndarray:
    """A mask, (n,), of the rows whose feature of this name has magnitude `least` or more."""
    if name not in table:
        return np.zeros(len(rows), dtype=bool)
    at, values = table[name]
    return np.isin(rows, at[np.abs(values) >= least])
