"""Files that are the old one or the new one, never half of either."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step, on disk before it counts."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def clear_drafts(folder: Path, pattern: str) -> None:
    """Remove what `replace_file` has left of files so named in processes that were killed."""
    for draft in folder.glob(f".{pattern}.[0-9]*"):
        draft.unlink(missing_ok=True)
