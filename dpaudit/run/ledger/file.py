"""The file of a ledger: lines are added, none is changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpaudit._core.files import append_line, replace_file
from dpaudit.errors import InvalidInput
from dpaudit.run.ledger.entry import Entry
from dpaudit.run.ledger.standing import Standing
from dpaudit.run.store.lock import Lock


class Ledger:
    """Evidence of runs, a line each. The file is made by the first.

    Each line has a checksum, and names the checksums of the last lines before it, so that a line
    that was changed or taken out is noticed (all but the last). Two processes may add at once. What
    a killed one left of a line is removed by the next. Files that grew apart are merged.

    Parameters
    ----------
    path : path
        Of the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def entries(self) -> list[Entry]:
        """All lines, in order; an unfinished last one is left out.

        Returns
        -------
        list of Entry

        Raises
        ------
        InvalidInput
            Where a line was changed or is missing.
        OSError
            When the file cannot be read.
        """
        if not self.path.exists():
            return []
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")
        found = [self._read(at, line) for at, line in enumerate(whole.split(b"\n"), 1) if line]
        known: set[str] = set()
        for at, one in enumerate(found, 1):
            if not known.issuperset(one.after):
                raise InvalidInput(f"{self.path}, line {at}: a line before it is missing")
            known.add(one.checksum)
        return found

    def add(self, entry: Entry) -> Standing:
        """Add a run.

        Parameters
        ----------
        entry : Entry
            The run.

        Returns
        -------
        Standing
            Where its version stands.

        Raises
        ------
        InvalidInput
            Where its draws are in the ledger already, or the file is damaged.
        """
        with self._alone():
            self.refuse(entry.draws_id, entry.seed)
            known = self.entries()
            self._drop_unfinished()
            append_line(self.path, (added := entry.following(_last(known))).line)
        return _standing([*known, added], added)

    def standings(self) -> list[Standing]:
        """Where each version of each mechanism and claim stands, in the order of first runs."""
        entries = self.entries()
        firsts = {(one.subject, one.code): one for one in reversed(entries)}
        return [_standing(entries, one) for one in reversed(firsts.values())]

    def refuse(self, draws_id: str, seed: int) -> None:
        """Raises `InvalidInput` where a run of these draws is in the ledger."""
        if any(one.draws_id == draws_id for one in self.entries()):
            raise InvalidInput(
                f"{self.path} has this run already (seed {seed}): its draws count once; give "
                "another --seed, or none",
                argument="seed",
            )

    def next_seed(self, name: str, first: int) -> int:
        """The seed of the next run of a scenario: its first one, and one more for each run."""
        return first + sum(one.name == name for one in self.entries())

    def merge(self, others: Iterable[Ledger]) -> int:
        """Take over the lines of other ledgers that are not in this one.

        Parameters
        ----------
        others : iterable of Ledger
            The other ledgers.

        Returns
        -------
        int
            The number of new lines.

        Raises
        ------
        InvalidInput
            Where a file is damaged.
        """
        with self._alone():
            known = self.entries()
            mine = len(known)
            for other in others:
                known = _joined(known, other.entries())
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, b"".join(one.line for one in known))
        return len(known) - mine

    def _read(self, at: int, line: bytes) -> Entry:
        try:
            return Entry.read(line)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(
                f"{self.path}, line {at} is no line of a ledger, or was changed: {error}"
            ) from None

    def _drop_unfinished(self) -> None:
        """Remove what a killed process left of a line."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return
        content = self.path.read_bytes()
        if not content.endswith(b"\n"):
            with self.path.open("r+b") as file:
                file.truncate(content.rfind(b"\n") + 1)
                os.fsync(file.fileno())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process writes meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.path.with_name(self.path.name + ".lock"), self.path)
        lock.take()
        try:
            yield
        finally:
            lock.release()


def _last(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The checksums of lines that no other line comes after."""
    followed = {one for entry in entries for one in entry.after}
    return tuple(sorted({one.checksum for one in entries} - followed))


def _joined(mine: Sequence[Entry], theirs: Sequence[Entry]) -> list[Entry]:
    """Mine, then what only they have; draws that both have count once, as the line that I have."""
    have = {one.checksum for one in mine}
    return [*mine, *(one for one in theirs if one.checksum not in have)]


def _standing(entries: Sequence[Entry], of: Entry) -> Standing:
    """Of the version that an entry belongs to."""
    versions = list(dict.fromkeys(one.code for one in entries if one.subject == of.subject))
    own = [one for one in entries if (one.subject, one.code) == (of.subject, of.code)]
    once = {one.draws_id: one for one in reversed(own)}
    return Standing.of(versions.index(of.code) + 1, list(reversed(once.values())))
