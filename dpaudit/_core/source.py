"""Which code a mechanism is: the SHA-256 of its file, and the commit of its git work tree.

This module only reads files; it runs not even git, since settings of a work tree are anyone's code.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# attributes in which adapters and partial functions store the user's own function
WITHIN = ("function", "factory", "func", "mechanism", "fit")
OWN = Path(__file__).parents[1]  # dpaudit's own files, which the version identifies


def source_of(mechanism: Any) -> dict[str, str | None] | None:
    """{"sha256", "commit"} of the file that defines a mechanism; the commit is None outside git.

    None for code without a file, as in a notebook, and for dpaudit's own. The function raises
    nothing.
    """
    with suppress(Exception):
        inner = _innermost(mechanism)
        code = inner if inspect.isroutine(inner) or isinstance(inner, type) else type(inner)
        path = Path(inspect.getsourcefile(code) or "").resolve()
        if path.is_file() and not path.is_relative_to(OWN):
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            return {"sha256": sha256, "commit": commit_of(path.parent)}
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


def commit_of(folder: Path) -> str | None:
    """The commit checked out in the work tree around a folder; None where it cannot be read.

    Changes that are not committed show in the SHA-256 alone.
    """
    with suppress(OSError, ValueError):
        top = top_of(folder.resolve())
        if top is None:
            return None
        place = top / ".git"
        if place.is_file():  # a linked work tree has a file that points to its git directory
            place = place.parent / _text(place).removeprefix("gitdir:").strip()
        text = _text(place / "HEAD")
        if text.startswith("ref:"):  # a branch, in a file of its own or in the packed references
            ref = text.removeprefix("ref:").strip()
            shared = place / "commondir"
            common = place / _text(shared) if shared.is_file() else place
            files = [at / ref for at in (place, common) if (at / ref).is_file()]
            packed = [] if files else _text(common / "packed-refs").splitlines()
            lines = (line.split()[0] for line in packed if line.endswith(f" {ref}"))
            text = _text(files[0]) if files else next(lines)
        return text if COMMIT.fullmatch(text) else None
    return None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()
