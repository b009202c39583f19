"""Tables of page and terminal: δ(ε), trade-off of error rates, neighbours tried, row values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit._core.types import Array
from dpaudit.curves.readings import grid_tradeoff
from dpaudit.neighbours.pair import in_words
from dpaudit.report.figures import tradeoff_above
from dpaudit.verdict.attacker import FPR as ALPHA
from dpaudit.verdict.attacker import rate_of, roc_of
from dpaudit.verdict.numbers import NONE, count, label, number, percent
from dpaudit.verdict.record import Curves, section

lower_bound = partial(number, down=True)  # never printed larger than it is
upper_bound = partial(number, up=True)  # never printed smaller than it is
SHOWN_FPR = (0.01, 0.001)
SHORT = 8  # most rows of the tables that are not folded
MOST = 12  # most columns of a row of data that are shown

Table = dict[str, Any]  # "heads", and "rows" as (cells, whether the row is marked)


class Column(NamedTuple):
    """One column of a table. values : an entry for each row, (m, …), or None. write : writes an
    entry.
    """

    head: str
    values: Array | None
    write: Callable[[Any], str] = number


def table(columns: Sequence[Column], rows: Iterable[int]) -> tuple[list[str], list[list[str]]]:
    present = [(head, values, write) for head, values, write in columns if values is not None]
    cells = [[write(values[row]) for _, values, write in present] for row in rows]
    return [head for head, _, _ in present], cells


def spectrum_table(curves: Curves, rows: Iterable[int], *, full: bool) -> Table:
    """δ at the grid positions `rows`, marked where the bound exceeds the curve that it is compared
    with.
    """
    rows, ends = list(rows), None if curves.interval is None else curves.interval.T
    columns = [
        Column("ε (nats)", curves.epsilon),
        Column("Exact δ", curves.exact),
        Column("Asymptotic δ", curves.asymptotic if full else None),
        Column("Estimated δ", curves.estimate),
        Column(
            "Interval of the estimate",
            ends,
            lambda pair: f"{lower_bound(pair[0])} to {upper_bound(pair[1])}",
        ),
        Column("Certified lower bound", curves.low, lower_bound),
        Column("Bound, D against D′", curves.forward if full else None, lower_bound),
        Column("Bound, D′ against D", curves.backward if full else None, lower_bound),
        Column("Claimed δ", curves.claim),
        Column(
            "Excess",
            None if curves.reference is None else curves.excess,
            lambda excess: number(excess) if excess > 0 else NONE,
        ),
    ]
    heads, cells = table(columns, rows)
    over = [bool(curves.excess[row] > 0) for row in rows]
    return {"heads": heads, "rows": list(zip(cells, over, strict=True))}


def tradeoff_table(curves: Curves) -> Table:
    def implied(delta: Array | None) -> Array | None:
        return None if delta is None else grid_tradeoff(curves.epsilon, delta, ALPHA)

    above = np.minimum(tradeoff_above(curves.epsilon, curves.low, ALPHA), 1.0 - ALPHA)
    columns = [
        Column("α", ALPHA),
        Column("Exact β", implied(curves.exact)),
        Column("Estimated β", implied(curves.estimate)),
        Column("Certified upper bound", above, upper_bound),
        Column("Claimed β", implied(curves.claim)),
        Column("Perfect privacy", 1.0 - ALPHA),
    ]
    return _unmarked(*table(columns, range(len(ALPHA))))


def attacker_table(result: Mapping[str, Any]) -> Table | None:
    """The rates of an attacker; None for a result that has none. One run certifies them only if the
    mechanism is Gaussian DP, by the certified μ.
    """
    if result.get("attacker") is None:
        return None
    roc, limit = roc_of(result), "Certified: at least"
    rates = {f"TPR at FPR {percent(fpr)}": roc.at(fpr) for fpr in SHOWN_FPR}
    rates |= {name.capitalize(): rate_of(result, name) for name in ("advantage", "accuracy")}
    lows = [rate.low for rate in rates.values()]
    if lows[0] is None and "gdp_mu" in section(result, "certified"):
        limit += ", if the mechanism is Gaussian DP"
        mu = float(result["certified"]["gdp_mu"])
        right = float(ndtr(mu / 2.0))
        lows = [*(float(ndtr(ndtri(fpr) + mu)) for fpr in SHOWN_FPR), 2.0 * right - 1.0, right]
    rows = [
        [name, *(NONE if value is None else write(value, 3) for value, write in values)]
        for name, values in (
            (name, ((rate.estimate, number), (low, lower_bound)))
            for (name, rate), low in zip(rates.items(), lows, strict=True)
        )
    ]
    if all(rate.estimate is None for rate in rates.values()):
        return _unmarked(["Rate", limit], [[name, low] for name, _, low in rows])
    return _unmarked(["Rate", "Estimate", limit], rows)


def tried_table(result: Mapping[str, Any], most: int | None = None) -> Table | None:
    """The neighbours that a search tried, worst first, at most `most`; None without a search."""
    search = section(result, "search")
    tried = search.get("tried") or []
    if not tried:
        return None
    at = f"Estimated δ({number(search.get('epsilon'))})"
    heads = ["Neighbour", at, "± its error", "Draws", "Last round", "Rank score"]
    heads += ["Why it was given up"] if any(trial.get("note") for trial in tried) else []
    rows = []
    for trial in tried[:most]:
        relation, draws = str(trial.get("relation")), trial.get("draws")
        cells = [
            in_words(relation, f"row {trial.get('row')}") or relation,
            number(trial.get("delta"), 3),
            number(trial.get("error"), 3),
            NONE if draws is None else count(draws),
            number(trial.get("rung") or None),
            number(trial.get("score"), 3),
            label(str(trial.get("note") or ""), 60),
        ]
        rows.append(cells[: len(heads)])
    return _unmarked(heads, rows)


def values_table(result: Mapping[str, Any]) -> Table | None:
    """The row that differs, before and after; None if result.json does not hold its values."""
    neighbour = section(result, "neighbour")
    before, after = neighbour.get("row_taken_out"), section(neighbour, "row_put_in").get("values")
    if before and neighbour.get("relation") == "zero-out":
        after = [0.0] * len(before)
    rows = {"before": before, "after": after}
    cells = [[side, *map(number, row[:MOST])] for side, row in rows.items() if row]
    width = len(before or after or ())
    names = [label(str(name), 24) for name in section(result, "dataset").get("columns") or []]
    if len(names) != width:
        names = [f"column {at}" for at in range(width)]
    return _unmarked(["", *names[:MOST]], cells) if cells else None


def _unmarked(heads: Sequence[str], cells: Iterable[list[str]]) -> Table:
    return {"heads": heads, "rows": [(row, False) for row in cells]}
