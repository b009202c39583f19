"""Audit one run, from a file of scores and coins to a report."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dpaudit._core.types import Array
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.result import OneRunResult

REPORT = Path("dpaudit-out") / "canaries"
COLUMNS, OPTIONAL = ("score", "included"), "inclusion"
COINS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}


@dataclass(frozen=True, eq=False, repr=False)
class ScoreFile:
    """Scores and coins of m canaries, (m,) each; their probabilities where the file has them."""

    scores: Array
    included: np.ndarray
    inclusion: Array | None

    @classmethod
    def read(cls, path: Path) -> ScoreFile:
        """From a CSV file with a header: columns score, included (1, 0, true, false), and perhaps
        inclusion. Other columns are passed over. Raises `DataNotFound`, `InvalidInput`.
        """
        rows = list(_rows(path))
        if not rows:
            raise InvalidInput(f"{path} must hold a canary a line, but it has none")
        inclusion = None
        if OPTIONAL in rows[0][1]:
            inclusion = np.array([_number(path, *row, OPTIONAL) for row in rows])
        return cls(
            np.array([_number(path, *row, "score") for row in rows]),
            np.array([_coin(path, *row) for row in rows]),
            inclusion,
        )


def run_scores(path: str | Path, out: str | Path | None = None, **options: Any) -> OneRunResult:
    """Audit the scores in a CSV file as `audit_scores`, and write the report into `out`."""
    result = audit_scores(path, **options)
    result.save(REPORT if out is None else Path(out))
    return result


def audit_scores(
    path: str | Path, *, inclusion: float | None = None, **options: Any
) -> OneRunResult:
    """Audit the scores in a CSV file (`ScoreFile.read`).

    inclusion : P(in) of each canary; None for the file's own column, or 0.5 where it has none.
    options : other keywords of `dpaudit.audit_one_run`. Raises `DataNotFound`, `InvalidInput`.
    """
    file = ScoreFile.read(Path(path))
    if inclusion is not None and file.inclusion is not None:
        raise InvalidInput(
            f"inclusion must be left out: {path} has a column {OPTIONAL!r} of its own",
            argument="inclusion",
        )
    given = inclusion if file.inclusion is None else file.inclusion
    chance = 0.5 if given is None else given
    return audit_one_run(file.scores, file.included, inclusion=chance, **options)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str | None]]]:
    """Number of the line and its values by column. Raises `DataNotFound`, `InvalidInput`."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            names = [name.strip().lower() for name in reader.fieldnames or ()]
            reader.fieldnames = names
            missing = [name for name in COLUMNS if name not in names]
            if missing:
                raise InvalidInput(
                    f"{path} must have the columns score and included in its first line, got "
                    f"{', '.join(map(repr, names)) or 'nothing'}"
                )
            yield from ((reader.line_num, row) for row in reader)
    except FileNotFoundError:
        raise DataNotFound(f"there is no file {path}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} must be a CSV file in UTF-8: {error}") from None


def _number(path: Path, line: int, row: Mapping[str, str | None], column: str) -> float:
    try:
        found = float(row[column] or "")
    except ValueError:
        found = np.nan
    if not np.isfinite(found):
        _refuse(path, line, column, "a finite number")
    return found


def _coin(path: Path, line: int, row: Mapping[str, str | None]) -> bool:
    found = COINS.get((row["included"] or "").strip().lower())
    if found is None:
        _refuse(path, line, "included", "1, 0, true or false")
    return found


def _refuse(path: Path, line: int, column: str, expected: str) -> NoReturn:
    raise InvalidInput(f"{path}, line {line}: {column} must be {expected}")
