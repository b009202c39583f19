"""The files for a CI server that a suite writes: JUnit XML, SARIF, a table of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit.errors import InvalidInput
from dpaudit.run.suite.job_summary import write_job_summary
from dpaudit.run.suite.junit import write_junit
from dpaudit.run.suite.sarif import write_sarif
from dpaudit.run.suite.suite import ScenarioOutcome


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
        writers = (
            (self.junit, write_junit),
            (self.sarif, write_sarif),
            (self.summary, write_job_summary),
        )
        failed: list[Exception] = []
        for path, writer in writers:
            if path is not None:
                try:
                    writer(path, outcomes)
                except Exception as error:
                    failed.append(error)
        if failed:
            raise failed[0]
