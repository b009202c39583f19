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
        for _ in range(8):  # from adapters, partial functions and decorators to the function inside
            inner = inspect.unwrap(mechanism)
            if isinstance(inner, partial) or type(inner).__module__.startswith("dpaudit."):
                within = (getattr(inner, name) for name in WITHIN if hasattr(inner, name))
                inner = next(within, inner)
            if inner is mechanism:
                break
            mechanism = inner
        known = inspect.isroutine(mechanism) or isinstance(mechanism, type)
        path = Path(inspect.getsourcefile(mechanism if known else type(mechanism)) or "").resolve()
        if path.is_file() and not path.is_relative_to(OWN):
            return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return None


def top_of(folder: Path) -> Path | None:
    """The top folder of the git work tree around a folder; None outside git."""
    return next((at for at in (folder, *folder.parents) if (at / ".git").exists()), None)
