"""Which code a mechanism is: the SHA-256 of the file that defines it."""

from __future__ import annotations

import hashlib
import inspect
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

# attributes in which adapters and partial functions store the user's own function
WITHIN = ("function", "factory", "func", "mechanism", "fit")
OWN = Path(__file__).parents[1]  # dpaudit's own files, which the version identifies


def source_of(mechanism: Any) -> dict[str, str] | None:
    """{"sha256": …} of the file that defines a mechanism.

    None for code without a file, as in a notebook, and for dpaudit's own. The function raises
    nothing.
    """
    with suppress(Exception):
        inner = _innermost(mechanism)
        code = inner if inspect.isroutine(inner) or isinstance(inner, type) else type(inner)
        path = Path(inspect.getsourcefile(code) or "").resolve()
        if path.is_file() and not path.is_relative_to(OWN):
            return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return None


def _innermost(mechanism: Any) -> Any:
    """The user's function inside adapters, partial functions and decorators."""
    for _ in range(8):
        inner = inspect.unwrap(mechanism)
        if isinstance(inner, partial) or type(inner).__module__.startswith("dpaudit."):
            inner = next((getattr(inner, name) for name in WITHIN if hasattr(inner, name)), inner)
        if inner is mechanism:
            break
        mechanism = inner
    return mechanism


def top_of(folder: Path) -> Path | None:
    """The top folder of the git work tree around a folder; None outside git."""
    return next((at for at in (folder, *folder.parents) if (at / ".git").exists()), None)
