"""What determines the draws that are kept in a folder, as a file beside them.

The manifest is written twice, so that one damaged copy is replaced by the other. A run that resumes
neither uses nor removes draws without a readable manifest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpaudit._core.files import clear_drafts, replace_file
from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import PARTS

MANIFEST, COPY = "manifest.json", "manifest-copy.json"
# What tells of the draws. It is removed after them, the manifest last, so it is
# always known what made those that a killed run leaves.
BOOKS = (PARTS, COPY, MANIFEST)
AFRESH = "run without --resume to start afresh"
GROUPS = {"files": "{}", "packages": "package {}", "programs": "program {}"}


def begin(folder: Path, made_by: Mapping[str, Any], draws: Sequence[str], resume: bool) -> None:
    """Prepare `folder` for files with names in `draws` and for their manifest.

    made_by, resume : as in `DrawStore`. Raises `InvalidInput`, and then has changed nothing.
    """
    manifest = f"{json.dumps(made_by, indent=1, sort_keys=True, allow_nan=False)}\n"
    if not resume:
        clear(folder, draws)
    elif (kept := manifest_of(folder)) is None:
        _refuse_nameless(folder, draws)
    elif kept != json.loads(manifest):
        raise InvalidInput(_differs(folder, kept, json.loads(manifest)))
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in (*draws, *BOOKS):
        clear_drafts(folder, pattern)
    for name in (MANIFEST, COPY):
        if _read(folder / name) is None:
            replace_file(folder / name, manifest.encode())


def clear(folder: Path, draws: Sequence[str]) -> None:
    """Remove files with names in `draws`, then the books, and the folder if it is then empty."""
    for pattern in (*draws, *BOOKS):
        clear_drafts(folder, pattern)
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """The manifest in `folder`, or its copy; None where neither can be read."""
    found = _read(folder / MANIFEST)
    return _read(folder / COPY) if found is None else found


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _refuse_nameless(folder: Path, draws: Sequence[str]) -> None:
    """Raise `InvalidInput` where there are draws."""
    found = [path for pattern in draws for path in folder.glob(pattern) if path.stat().st_size]
    if found:
        raise InvalidInput(
            f"{folder} holds draws (files: {len(found)}), but neither {MANIFEST} nor {COPY} can be "
            "read, so it is not known what they were made with; put one of the two back, or run "
            "without --resume to remove the draws and start afresh"
        )


def _differs(folder: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    return (
        f"the draws kept in {folder} were made with other settings "
        f"({'; '.join(_changes(kept, wanted))}); {AFRESH}"
    )


def _changes(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name in [one for one in {**wanted, **kept} if kept.get(one) != wanted.get(one)]:
        old, new = kept.get(name), wanted.get(name)
        if name in GROUPS and isinstance(old, dict) and isinstance(new, dict):
            yield from _changed_items(name, old, new)
        else:
            yield f"{name} {_short(old)}, now {_short(new)}"


def _changed_items(group: str, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """A file or a program is named; of a package the two versions are given too."""
    for one in [one for one in {**wanted, **kept} if kept.get(one) != wanted.get(one)]:
        name = GROUPS[group].format(one)
        if one not in kept:
            yield f"{name} was not used"
        elif one not in wanted:
            yield f"{name} is no longer used"
        elif group == "packages":
            yield f"{name} {_short(kept[one])}, now {_short(wanted[one])}"
        else:
            yield f"{name} has changed"


def _short(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def drawn_differently(what: str, folder: Path) -> str:
    """The error of a resumed run that draws otherwise than the run that it goes on with."""
    return (
        f"{what} is drawn differently now than when it was kept in {folder}: something that the "
        "run depends on has changed (an environment variable, a file, a program?), or the "
        f"mechanism draws from something else than rng; {AFRESH}"
    )
