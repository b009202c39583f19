"""What can be had from the content of result.json of one run, just made or read again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit._core.check import fail
from dpaudit._core.result_file import is_one_run, load, reading
from dpaudit._core.shown.short_repr import html_repr
from dpaudit.auditing.saved import save_record
from dpaudit.report.headline import Headline


class RecordedRun(ABC):
    """A result of one run with a record: it can be saved."""

    @property
    @abstractmethod
    def _record(self) -> dict[str, Any]:
        """The content of result.json."""

    def to_dict(self) -> dict[str, Any]:
        """The content of result.json: counts and bounds, and no score of a single canary."""
        return deepcopy(self._record)

    def save(self, folder: str | Path) -> Path:
        """Write result.json, report.html and guesses.png into `folder`; returns the folder.

        The folder is made if it does not exist. Raises OSError.
        """
        return save_record(self._record, Path(folder))


@dataclass(frozen=True, eq=False, repr=False)
class SavedRun(RecordedRun):
    """A result of one run, read from its result.json: the verdict, and the bounds that it holds."""

    verdict: str
    reason: str
    headline: Headline
    record: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> SavedRun:
        """Read result.json. Raises `InvalidInput` where it is not of one run."""
        place = Path(folder)
        found = load(place)
        if not is_one_run(found):
            fail("folder", str(place), "an audit of one run", "read it by AuditResult.load")
        with reading(place):
            head = Headline.of(found["headline"])
            return cls(str(found["verdict"]), str(found["reason"]), head, found)

    @property
    def _record(self) -> dict[str, Any]:
        return self.record

    def __repr__(self) -> str:
        return f"SavedRun({self.verdict}: {self.headline.text})"

    _repr_html_ = html_repr
