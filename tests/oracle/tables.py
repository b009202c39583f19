"""The tables of reference values: how they are written, and how values are held against them."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

SIDES = ("forward", "backward")
Row = dict[str, Any]


def write_table(path: Path, entries: Callable[[Any], list[Row]], settings: Iterable[Any]) -> None:
    """The rows of every setting as a JSON list, a line each; `entries` gives those of one."""
    table: list[Row] = []
    with Pool() as pool:
        for done, rows in enumerate(pool.imap(entries, settings), 1):
            table += rows
            print(done, rows[0]["law"], rows[0]["params"], len(rows), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(row) for row in table)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def disagreements(
    rows: Sequence[Row], side: str, values: np.ndarray, allowed: Callable[[Row, float], float]
) -> list[tuple[float, str, float]]:
    """(epsilon, reference, computed) of each inaccurate value.

    Also of each that should be an exact zero and is another number.

    allowed : of a row and its reference value, the largest error.
    """
    wrong = []
    for row, value in zip(rows, values, strict=True):
        wanted = float(row[side])
        fine = (
            value == 0
            if row[side] == "0"
            else value >= 0 and abs(value - wanted) <= allowed(row, wanted)
        )
        if not fine:
            wrong.append((row["epsilon"], row[side], value))
    return wrong


def assert_matches(
    rows: Sequence[Row],
    deltas: Callable[[str, Row, np.ndarray], Sequence[np.ndarray]],
    allowed: Callable[[Row, float], float],
) -> None:
    """Both directions of one setting agree with the table. deltas : of law, parameters and ε."""
    epsilon = np.array([row["epsilon"] for row in rows])
    found = deltas(rows[0]["law"], rows[0]["params"], epsilon)
    for side, values in zip(SIDES, found, strict=True):
        assert values.shape == epsilon.shape
        assert disagreements(rows, side, values, allowed) == []
