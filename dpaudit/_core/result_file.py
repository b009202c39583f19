"""The file result.json: how the record of a result is turned into JSON, written and read."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import __version__
from dpaudit._core.files import replace_file
from dpaudit._core.text import encodable, printable
from dpaudit.errors import DpauditError, InvalidInput

SCHEMA_VERSION = 1
RESULT = "result.json"
# the `kind` of audits of one run, by canaries or by steps; an audit of two samples has no `kind`
ONE_RUN, STEPS = "one run", "steps"


def plain(value: Any) -> Any:
    """The value in JSON types, with infinities as strings. Raises `InvalidInput` for NaN.

    Lone surrogates, as in a file name that is not UTF-8, are escaped, since no file can hold them.
    """
    if isinstance(value, dict):
        return {encodable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        if np.isnan(value):
            raise InvalidInput("a result must hold no NaN")
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return encodable(str(value))


@cache
def versions() -> dict[str, str]:
    """The versions of Python, dpaudit and the libraries that decide a result's digits."""
    by_name = {"python": platform.python_version(), "dpaudit": __version__}
    for name in ("numpy", "scipy", "scikit-learn", "lightgbm"):
        try:
            by_name[name] = version(name)
        except PackageNotFoundError:
            by_name[name] = "not installed"
    return by_name


def save(record: Mapping[str, Any], folder: Path) -> None:
    """Write result.json in `folder`, whole or not at all."""
    text = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    replace_file(folder / RESULT, printable(text))


def folder_of(place: Path) -> Path:
    """The folder of a result: `place`, or the folder of the result.json that `place` is."""
    return place.parent if place.name == RESULT else place


def load(folder: Path) -> dict[str, Any]:
    """Read the result.json in a folder, which may be given by the path of that file. Raises
    `InvalidInput` when the file is missing or has another schema.
    """
    path = folder_of(folder) / RESULT
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{path} must be an audit's result, but there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} must be an audit's result, but it cannot be read: {error}"
        ) from None
    schema = record.get("schema_version") if isinstance(record, dict) else None
    if schema != SCHEMA_VERSION:
        raise InvalidInput(f"{path} must have schema_version {SCHEMA_VERSION}, got {schema!r}")
    if record.get("verdict") == "not violated" and _refuted(record.get("headline")):
        raise InvalidInput(
            f"{path} must have the verdict that its headline shows, got 'not violated' where the "
            "claim is refuted: it was changed; run the audit again"
        )
    return dict(record)


def _refuted(headline: Any) -> bool:
    """Whether a headline says that the claim is exceeded, or has a certified value above it."""
    if not isinstance(headline, dict):
        return False
    with suppress(KeyError, TypeError, ValueError):  # the reader says what is missing
        if float(headline["certified"]) > float(headline["claimed"]):
            return True
    return headline.get("exceeded") is True


def is_one_run(record: Mapping[str, Any]) -> bool:
    """Whether the content of a result.json is of an audit of one run, by canaries or by steps."""
    return record.get("kind") is not None


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """A context for reading a result.json that somebody may have changed since it was written.

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
