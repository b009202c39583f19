"""Audit draws made elsewhere, from two files to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpaudit.auditing.api import audit_samples_of
from dpaudit.auditing.result import AuditResult, Subject

REPORT = Path("dpaudit-out") / "samples"


def run_samples(
    left: str | Path, right: str | Path, out: str | Path | None = None, **options: Any
) -> AuditResult:
    """Audit the draws of M(D) in `left` and of M(D') in `right`, and write the report into `out`.

    left, right : .npy, .csv or .parquet files, a draw a row (`dpaudit.adapters.read_draws`).
    options : keywords of `dpaudit.audit_samples`.
    Raises `DataNotFound`, `InvalidInput`, OSError.
    """
    subject = Subject(rule=f"{Path(left).name} against {Path(right).name}")
    result = audit_samples_of(Path(left), Path(right), subject, **options)
    result.save(REPORT if out is None else Path(out))
    return result
