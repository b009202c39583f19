"""The files for a CI server that a suite writes: JUnit XML, SARIF, a table of Markdown."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit._core.files import replace_file
from dpaudit.errors import InvalidInput
from dpaudit.run.suite.job_summary import job_summary
from dpaudit.run.suite.junit import junit
from dpaudit.run.suite.sarif import sarif
from dpaudit.run.suite.suite import ScenarioOutcome

GITHUB = "GITHUB_STEP_SUMMARY"  # names the file of the page of a GitHub job


@dataclass(frozen=True)
class Outputs:
    """Where each file goes; None where it is not wanted."""

    junit: Path | None = None
    sarif: Path | None = None
    summary: Path | None = None

    def prepare(self) -> None:
        """Make the folders of the files, before hours of work. Raises `InvalidInput`, OSError."""
        for name, path in asdict(self).items():
            if path is None:
                continue
            if path.is_dir():
                raise InvalidInput(f"{name} must be a file to write, got {str(path)!r}, a folder")
            path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, outcomes: Sequence[ScenarioOutcome]) -> None:
        """Write the files that are wanted; one that cannot be written does not stop the others.

        Raises what the first of those raised, when all are done.
        """
        failed: list[Exception] = []
        made = (
            (self.junit, junit),
            (self.sarif, lambda done: json.dumps(sarif(done), indent=1, ensure_ascii=False) + "\n"),
            (self.summary, job_summary),
        )
        for path, text in made:
            if path is not None:
                try:
                    _write(path, text(outcomes))
                except Exception as error:
                    failed.append(error)
        if failed:
            raise failed[0]


def _write(path: Path, content: str | bytes) -> None:
    """Write a file whole. The page of a GitHub job is added to, as other commands do."""
    if str(path) == os.environ.get(GITHUB) and isinstance(content, str):
        with path.open("a", encoding="utf-8") as file:
            file.write(content)
    else:
        replace_file(path, content)
