"""What determines the draws of a run, as far as it can be listed.

The names and values go into the manifest of the kept draws. What is not listed (environment
variables, files that are read while drawing) shows when a run that resumes repeats some draws.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit._core.result_file import plain
from dpaudit._core.types import describe
from dpaudit.auditing.subject import Subject
from dpaudit.run.imports import KNOWN
from dpaudit.run.scenario.file import Scenario
from dpaudit.run.scenario.mechanism import Call
from dpaudit.run.scenario.user_mechanism import Source
from dpaudit.run.store import digest_of


def origin_of(scenario: Scenario, mechanism: Any, loaded: Iterable[str] = ()) -> dict[str, Any]:
    """What determines the draws from any database, in JSON types.

    mechanism : the scenario's, loaded. loaded : modules that came from the scenario's folder with
    it.
    """
    name, parameters = describe(mechanism)
    named, folder = scenario.mechanism, scenario.folder
    source = named.source(folder, loaded) if isinstance(named, Call) else Source()
    return {
        "mechanism": name,
        "parameters": plain(parameters),
        "files": {_shown(path, folder): _digest(path) for path in sorted(source.files)},
        "programs": {
            one: None if path is None else _digest(path) for one, path in source.programs.items()
        },
        "packages": _versions(source.packages),
        "installed": dict(source.own),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{sys.platform} {platform.machine()}",
        "seed": scenario.seed,
    }


def made_by(origin: dict[str, Any], scenario: Scenario, subject: Subject) -> dict[str, Any]:
    """What determines the draws of an audit, in JSON types."""
    assert subject.pair is not None
    return {
        **origin,
        "D": digest_of(subject.pair.left),
        "D'": digest_of(subject.pair.right),
        "samples": scenario.settings.samples,
        "stop": scenario.settings.stop,
        "unit": scenario.settings.unit,
    }


def _versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of installed distributions, by name, where they are known."""
    known = {"dpaudit": dpaudit.__version__}
    for name in sorted({*KNOWN.values(), *packages} - set(known)):
        with suppress(metadata.PackageNotFoundError):
            known[name] = metadata.version(name)
    return known


def _shown(path: Path, folder: Path) -> str:
    """Relative to the scenario's folder where it is in there, so that the folder can be moved."""
    whole, place = path.resolve(), folder.resolve()
    return (whole.relative_to(place) if whole.is_relative_to(place) else whole).as_posix()


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a program that may be run but not read, its size and time."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        found = path.stat()
        return f"{found.st_size} bytes, changed at {found.st_mtime_ns} ns"
