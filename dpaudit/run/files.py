"""Audits of files that another program has made: draws, scores or steps of one run, or tables."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.auditing.api import audit_samples_of
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import ClaimLike
from dpaudit.errors import DataNotFound, InvalidInput
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.step_result import StepResult
from dpaudit.one_run.steps import StepAudit
from dpaudit.one_run.table import audit_table

COINS = {"true": 1.0, "false": 0.0}
OF_STEP = ("known", "shift", "noise", "batch_size")  # what a file of steps may have beside the rest


def audit_draws(left: Path, right: Path, **options: Any) -> AuditResult:
    """Audit draws of M(D) and M(D') in two .npy, .csv or .parquet files, one draw in each row.

    options : keywords of `dpaudit.audit_samples`. Raises `DataNotFound`, `InvalidInput`.
    """
    subject = Subject(rule=f"{left.name} against {right.name}")
    return audit_samples_of(left, right, subject, **options)


def audit_scores(
    path: str | Path, *, inclusion: float | None = None, **options: Any
) -> OneRunResult:
    """Audit the scores in a CSV file (`read_scores`). inclusion : as in `dpaudit.audit_one_run`, as
    are the options; a column of the file may have it instead. Raises `DataNotFound`,
    `InvalidInput`.
    """
    scores, included, own = read_scores(Path(path))
    if inclusion is not None and own is not None:
        raise InvalidInput(
            f"inclusion must be left out: {path} has a column 'inclusion' of its own",
            argument="inclusion",
        )
    chance = 0.5 if inclusion is None else inclusion
    chances = chance if own is None else own
    return audit_one_run(scores, included, inclusion=chances, **options)


def audit_steps(
    path: str | Path, *, delta: float = 1e-5, claim: ClaimLike = None, **options: Any
) -> StepResult:
    """Audit the recorded steps of a training by DP-SGD in a file (`read_steps`). delta, claim : as
    in `StepAudit.result`. Raises `DataNotFound`, and `InvalidInput`, also without dp-accounting.
    """
    path, audit = Path(path), StepAudit(**options)
    columns = read_steps(path)
    if ("batch_size" in columns) != (audit.rows is not None):
        has = "has" if audit.rows is None else "has no"
        raise InvalidInput(
            f"rows must be given where the file has batch_size, and only there: {path} {has} "
            "batch_size",
            argument="rows",
        )
    for step, values in enumerate(zip(*columns.values(), strict=True), start=1):
        try:
            audit.update(**dict(zip(columns, values, strict=True)))
        except InvalidInput as error:
            raise InvalidInput(f"{path}, step {step}: {error}") from None
    try:
        return audit.result(delta=delta, claim=claim)
    except ImportError as error:
        raise InvalidInput(str(error)) from None


def audit_tables(synthetic: Path, train: Path, holdout: Path, **options: Any) -> OneRunResult:
    """Audit a synthetic table (`dpaudit.audit_table`), each table in a CSV file with a header.
    Raises `DataNotFound`, `InvalidInput`.
    """
    return audit_table(*map(read_columns, (synthetic, train, holdout)), **options)


def _texts(path: Path) -> tuple[dict[str, list[str]], list[int]]:
    """The columns of a CSV file with a header, by name, and the line of each row in the file; empty
    lines are left out. Raises `DataNotFound`, `InvalidInput`.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            (_, header), *rows = [(reader.line_num, row) for row in reader if row] or [(1, [])]
    except FileNotFoundError:
        raise DataNotFound(f"there is no file {path}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} must be a CSV file in UTF-8: {error}") from None
    if any(len(row) != len(header) for _, row in rows):
        raise InvalidInput(f"each line of {path} must have {len(header)} fields, as its header")
    columns = {name: [row[at] for _, row in rows] for at, name in enumerate(header)}
    return columns, [line for line, _ in rows]


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV file with a header: numbers, with NaN for an empty field, or texts if a
    field is no number. Raises `DataNotFound`, `InvalidInput`.
    """
    columns = {}
    for name, values in _texts(path)[0].items():
        try:
            columns[name] = np.array([float(value or "nan") for value in values])
        except ValueError:
            columns[name] = np.array(values)
    return columns


def read_scores(path: Path) -> tuple[Array, np.ndarray, Array | None]:
    """Scores of m canaries, whether each was included, and the inclusion probabilities or None,
    (m,) each, from the columns score, included (1, 0, true or false) and perhaps inclusion. Raises
    `DataNotFound`, `InvalidInput`.
    """
    columns = _numbers(path, ("score", "included"), ("inclusion",))
    return columns["score"], columns["included"].astype(bool), columns.get("inclusion")


def read_steps(path: Path) -> dict[str, np.ndarray]:
    """Arguments of `dpaudit.StepAudit.update` by name, each with T recorded steps along axis 0.

    path : a .npz file with the arrays projection and included of shape (T,) or (T, m), and perhaps
    known and shift of the same shape, noise (T, k) and batch_size (T,). Or a .csv file with a
    header, these columns, and a line for each step; for m canaries m lines with the same number in
    a column step, always in the same order. Others are ignored. Raises `DataNotFound`,
    `InvalidInput`.
    """
    if path.suffix.lower() == ".csv":
        columns = _numbers(path, ("projection", "included"), (*OF_STEP, "step"))
        number = columns.pop("step", np.arange(len(columns["included"])))
        starts = np.flatnonzero(np.diff(number, prepend=np.nan))
        canaries = len(number) // len(starts)
        if np.any(np.diff(starts, append=len(number)) != canaries):
            raise InvalidInput(
                f"{path} must have as many lines of each step, one below the other: one a canary"
            )
        columns = {name: values.reshape(-1, canaries) for name, values in columns.items()}
        if "batch_size" in columns:
            sizes = columns["batch_size"][:, 0]
            columns["batch_size"] = sizes if np.any(sizes % 1.0) else sizes.astype(int)
        return columns
    arrays = _arrays(path)
    if not {"projection", "included"} <= arrays.keys():
        names = ", ".join(map(repr, arrays)) or "nothing"
        raise InvalidInput(f"{path} must have the arrays projection and included, got {names}")
    steps = np.shape(arrays["included"])[:1]
    for name, values in arrays.items():
        if steps in ((), (0,)) or values.shape[:1] != steps:
            raise InvalidInput(
                f"{path}: {name} must have an entry for each step, as included has, got shape "
                f"{values.shape} beside {arrays['included'].shape}"
            )
    return arrays


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {
                name: file[name] for name in ("projection", "included", *OF_STEP) if name in file
            }
    except FileNotFoundError:
        raise DataNotFound(f"there is no file {path}") from None
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise InvalidInput(
            f"{path} must be a .npz file of numbers, as numpy.savez writes it, or a .csv file"
        ) from None


def _numbers(path: Path, needed: Sequence[str], possible: Sequence[str]) -> dict[str, Array]:
    """Columns of finite numbers of a CSV file with a header, (n,) each, n ≥ 1; a column included
    has coins. Columns that are neither needed nor possible are ignored.
    """
    known, lines = _texts(path)
    texts = {name.strip().lower(): values for name, values in known.items()}
    if not texts.keys() >= set(needed):
        raise InvalidInput(
            f"{path} must have the columns {' and '.join(needed)} in its first line, got "
            f"{', '.join(map(repr, texts)) or 'nothing'}"
        )
    if not texts[needed[0]]:
        raise InvalidInput(f"{path} must have lines below its first one, but it has none")
    columns: dict[str, Array] = {}
    for name in (name for name in (*needed, *possible) if name in texts):
        cells = zip(lines, texts[name], strict=True)
        columns[name] = np.array(
            [_cell(cell, name, f"{path}, line {line}") for line, cell in cells]
        )
    return columns


def _cell(text: str, column: str, place: str) -> float:
    """The number in a cell of a column. place : for the message of the `InvalidInput` it raises."""
    value = np.nan
    if column == "included":
        value = COINS.get(text.strip().lower(), np.nan)
    with suppress(ValueError):
        value = float(text)
    if column == "included" and value not in (0.0, 1.0):
        raise InvalidInput(f"{place}: included must be 1, 0, true or false")
    if not np.isfinite(value):
        raise InvalidInput(f"{place}: {column} must be a finite number")
    return value
