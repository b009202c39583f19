"""Audit draws made elsewhere, from two files to a report."""

from __future__ import annotations

import filecmp
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpaudit.auditing.api import audit_samples_of
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.subject import Subject
from dpaudit.errors import InvalidInput

REPORT = Path("dpaudit-out") / "samples"


def run_samples(
    left: str | Path, right: str | Path, out: str | Path | None = None, **options: Any
) -> AuditResult:
    """Audit draws from two files, and write the report.

    Parameters
    ----------
    left : path
        Draws of M(D), a .npy, .csv or .parquet file, a draw a row (`dpaudit.adapters.read_draws`).
    right : path
        Draws of M(D'), likewise.
    out : path, optional
        Folder of the report, made if need be.
    **options
        Keywords of `dpaudit.audit_samples`.

    Returns
    -------
    AuditResult

    Raises
    ------
    DataNotFound
        When there is no such file.
    InvalidInput
        When an argument is not as described, for files of the same content too.
    OSError
        When a file cannot be written.
    """
    left, right = Path(left), Path(right)
    _check_different(left, right)
    subject = Subject(rule=f"{left.name} against {right.name}")
    result = audit_samples_of(left, right, subject, **options)
    result.save(REPORT if out is None else Path(out))
    return result


def _check_different(left: Path, right: Path) -> None:
    """Two files of the same bytes are the same draws, which say nothing of a difference."""
    same = False
    with suppress(OSError):  # which reading the draws tells in words
        same = filecmp.cmp(left, right, shallow=False)
    if same:
        raise InvalidInput(
            f"{left} and {right} must hold different draws, but their bytes are the same: one file "
            "is for outputs on a database, the other for outputs on its neighbour, drawn anew"
        )
