"""The file result.json: its name, and its content as it is read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError, InvalidInput

SCHEMA_VERSION = 1
RESULT = "result.json"
ONE_RUN = "one run"  # the `kind` of an audit of one run; an audit of two samples has no `kind`


def load(folder: Path) -> dict[str, Any]:
    """Read result.json. Raises `InvalidInput` when it is missing, or not of this schema."""
    path = folder / RESULT
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{path} must be an audit's result, but there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} must be an audit's result, but it cannot be read: {error}"
        ) from None
    version = record.get("schema_version") if isinstance(record, dict) else None
    if version != SCHEMA_VERSION:
        raise InvalidInput(f"{path} must have schema_version {SCHEMA_VERSION}, got {version!r}")
    return dict(record)


def is_one_run(record: Mapping[str, Any]) -> bool:
    """Whether the content of a result.json comes from `dpaudit.audit_one_run`."""
    return record.get("kind") == ONE_RUN


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Guards the use of a result.json that somebody may have changed since it was written.

    Raises `InvalidInput` where values are missing from it, or have another type.
    """
    try:
        yield
    except (DpauditError, OSError, MemoryError):
        raise
    except Exception as error:
        wrong = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidInput(
            f"{folder / RESULT} must be as dpaudit wrote it, but a value is missing or of another "
            f"type ({wrong[:200]})"
        ) from error
