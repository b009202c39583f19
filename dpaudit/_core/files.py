"""Write files so that they hold the old content or the new content, never part of either."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from dpaudit._core.text import encodable


def replace_file(path: Path, content: bytes | str, *, durable: bool = True) -> None:
    """Put `content` at `path` in one step.

    content : bytes, or text, which is written as UTF-8. Any text can be written: lone surrogates
        are escaped (`text.encodable`).
    durable : wait until the content is on the disk, so that a crash of the machine leaves the old
        file or the new one. Files whose checksum is stored elsewhere do not need it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(encodable(content).encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def append_line(path: Path, line: bytes) -> None:
    """Append a whole line, or nothing if a full disk cuts it short. A crash of the machine may lose
    it.
    """
    with path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            written = file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        except OSError:
            file.truncate(end)
            raise


def clear_drafts(folder: Path, pattern: str) -> None:
    """Remove the drafts that `replace_file` left in processes that were killed."""
    for draft in folder.glob(f".{pattern}.[0-9]*"):
        draft.unlink(missing_ok=True)
