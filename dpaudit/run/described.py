"""What result.json says of a run beside the audit: its data, its code, its text, its search."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit._core.source import commit_of
from dpaudit.datasets import Table
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.scenario.neighbour import Own


def describe_data(data: Table) -> dict[str, Any]:
    """The data as the mechanism sees them; row numbers count the rows that are kept.

    changes : what was done to the columns of the file.
    """
    return {
        "name": data.name,
        "n": data.n,
        "features": len(data.features),
        "feature_names": list(data.features),
        "target": data.target,
        "columns": list(data.columns),
        "shape": [data.n, len(data.columns)],
        "changes": list(data.changes),
        "source": data.source,
        "dropped": dict(data.dropped),
    }


def describe_pair(pair: NeighbourPair) -> dict[str, Any]:
    """A mechanism's own pair, in the form in which result.json describes a data set."""
    n, width = pair.left.shape
    names = [f"column {number + 1}" for number in range(width)]
    return {
        "name": "own pair",
        "n": n,
        "features": width - 1,
        "feature_names": names[:-1],
        "target": names[-1],
        "columns": names,
        "shape": [n, width],
        "changes": [],
        "source": Own.words,
        "dropped": {},
    }


def describe_source(files: Mapping[str, str], folder: Path) -> dict[str, str | None] | None:
    """SHA-256 of a mechanism's own files, and the commit of the work tree that they are in.

    files : their SHA-256 by path, from `folder` (`run.origin`). Of several files it is the SHA-256
    of these, sorted, a line each. None where there are no files.
    """
    if not files:
        return None
    sums = sorted(files.values())
    whole = hashlib.sha256("".join(f"{one}\n" for one in sums).encode()).hexdigest()
    commit = commit_of((folder / min(files)).parent)
    return {"sha256": sums[0] if len(sums) == 1 else whole, "commit": commit}
