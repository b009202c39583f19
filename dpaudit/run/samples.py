"""Audit draws made elsewhere, from two .npy files to a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._check import fail
from dpaudit.auditing import About, AuditResult, audit_samples
from dpaudit.errors import DataNotFound

REPORT = Path("dpaudit-out") / "samples"


def run_samples(left: str | Path, right: str | Path, out: str | Path | None = None, **options: Any) -> AuditResult:
    """Audit the draws of M(D) in `left` and of M(D') in `right`, and write the report into `out`.

    left, right : .npy files of (n, k) or (n,) numbers, NaN and infinities among them.
    options : keywords of `dpaudit.audit_samples`.
    Raises `DataNotFound`, `InvalidInput`, OSError.
    """
    result = audit_samples(read_draws(left), read_draws(right), **options)
    result = replace(result, about=About(rule=f"{Path(left).name} against {Path(right).name}"))
    result.save(REPORT if out is None else Path(out))
    return result


def read_draws(path: str | Path) -> np.ndarray:
    """The array in a .npy file. Pickled objects are never loaded. Raises `DataNotFound`, `InvalidInput`."""
    try:
        with Path(path).open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise DataNotFound(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, EOFError) as error:
        fail(str(path), str(error), "a .npy file of numbers")
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2) or array.size == 0:
        fail(str(path), f"{array.dtype} of shape {array.shape}", "a non-empty (n,) or (n, k) array of numbers")
    return np.asarray(array)
