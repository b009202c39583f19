"""The file of a ledger: lines are added, none is changed."""

from __future__ import annotations

import heapq
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpaudit._core.files import append_line, replace_file
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.run.ledger.entry import Entry
from dpaudit.run.ledger.standing import ALPHA, Standing
from dpaudit.run.store.lock import Lock
from dpaudit.sampling.independence.findings import OWN_SEED

START = b'{"draws_id": '  # of every line
TRIES = 600  # half a minute: writers hold the file for milliseconds
SEEDS = 1 << 48  # that are drawn from, so that runs of different machines have different ones


class Ledger:
    """Evidence of runs, a line each. The file is made by the first.

    Each line has a checksum, and names the checksums of the last lines before it. So a line that
    was changed, or taken out before others, is noticed. Lines cut off at the end leave no trace in
    the file: who may have to prove that there were none keeps `head` elsewhere. Two processes may
    add at once. What a killed one left of a line is removed by the next. Files that grew apart are
    merged.

    Parameters
    ----------
    path : path
        Of the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()

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
        lines = self.path.read_bytes().split(b"\n")
        found = [self._read(at, line) for at, line in enumerate(lines[:-1], 1) if line]
        if (last := self._last(lines)) is not None:
            found.append(last)
        known: set[str] = set()
        for at, one in enumerate(found, 1):
            if not known.issuperset(one.after):
                raise InvalidInput(f"{self.path}, line {at}: a line before it is missing")
            known.add(one.checksum)
        return found

    @property
    def head(self) -> str:
        """The checksums of the last lines, which stand for all before them; "" of no lines."""
        return " ".join(_last(self.entries()))

    def ready(self) -> None:
        """Raise OSError where no line can be added, `InvalidInput` where the file is damaged."""
        with self._alone():
            self.entries()
            new = not self.path.exists()
            self.path.open("ab").close()
            if new:
                self.path.unlink()

    def add(self, entry: Entry, alpha: float = ALPHA) -> Standing:
        """Add a run. One that is there already, with the same evidence, is not added again.

        Parameters
        ----------
        entry : Entry
            The run.
        alpha : float in (0, 1), default 0.05
            Of a false alarm over the whole history.

        Returns
        -------
        Standing
            Where its version stands.

        Raises
        ------
        InvalidInput
            Where another run of its mechanism and claim had its seed, or the file is damaged.
        MechanismError
            Where its draws are those of an earlier run with another seed.
        """
        with self._alone():
            known = self.entries()
            for one in known:
                if (one.draws_id, one.log_e) == (entry.draws_id, entry.log_e):
                    return _standing(known, one, alpha)
            self._refuse(known, entry.subject, entry.seed)
            _refuse_again(known, entry)
            self._finish_last_line()
            append_line(self.path, (added := entry.following(_last(known))).line)
        return _standing([*known, added], added, alpha)

    def standings(self, alpha: float = ALPHA) -> list[Standing]:
        """Where each version of each mechanism and claim stands, in the order of last runs."""
        return _standings(self.entries(), alpha)

    def refuse(self, subject: str, seed: int, draws_id: str | None = None) -> None:
        """Raises `InvalidInput` where a run of the subject had the seed.

        draws_id : of a run that is resumed; it may be there itself.
        """
        self._refuse([one for one in self.entries() if one.draws_id != draws_id], subject, seed)

    def merge(self, others: Iterable[Ledger], alpha: float = ALPHA) -> int:
        """Take over the lines of other ledgers that are not in this one, in the order of time.

        Parameters
        ----------
        others : iterable of Ledger
            The other ledgers.
        alpha : float in (0, 1), default 0.05
            Of a false alarm: at this level rejections stand.

        Returns
        -------
        int
            The number of new lines.

        Raises
        ------
        InvalidInput
            Where a file is missing or damaged, or where one of them rejects a claim that all
            together would not: a rejection stands.
        """
        with self._alone():
            books = [self, *others]
            for other in books[1:]:
                if not other.path.exists():
                    raise InvalidInput(f"{other.path} must be a ledger, but there is no such file")
            parts = [book.entries() for book in books]
            whole = _joined(parts)
            for book, entries in zip(books, parts, strict=True):
                book._refuse_acquittal(entries, whole, alpha)
            replace_file(self.path, b"".join(one.line for one in whole))
        return len(whole) - len(parts[0])

    def _refuse(self, known: Iterable[Entry], subject: str, seed: int) -> None:
        if any((one.subject, one.seed) == (subject, seed) for one in known):
            raise InvalidInput(
                f"{self.path} has a run of this mechanism and claim with seed {seed} already: "
                "draws from one seed are not independent, and count once; give another --seed, or "
                "none",
                argument="seed",
            )

    def _refuse_acquittal(
        self, entries: Sequence[Entry], whole: Sequence[Entry], alpha: float
    ) -> None:
        rejected = {one.key for one in _standings(whole, alpha) if one.violated}
        for one in _standings(entries, alpha):
            if one.violated and one.key not in rejected:
                last = one.entries[-1]
                raise InvalidInput(
                    f"{self.path} rejects the claim {last.claim} of {last.name}, and merged it "
                    "would not be rejected: a rejection stands; keep the files apart"
                )

    def _read(self, at: int, line: bytes) -> Entry:
        try:
            return Entry.read(line)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(
                f"{self.path}, line {at} is no line of a ledger, or was changed: {error}"
            ) from None

    def _last(self, lines: Sequence[bytes]) -> Entry | None:
        """Of a file that does not end with a line break; None where a killed process left it."""
        line = lines[-1]
        begun = START.startswith(line[: len(START)]) or not line.strip(b"\0")
        try:
            return self._read(len(lines), line)
        except InvalidInput:
            if begun:
                return None
            raise

    def _finish_last_line(self) -> None:
        """Remove what a killed process left of a line, or end a line that is whole."""
        content = self.path.read_bytes() if self.path.exists() else b""
        if content and not content.endswith(b"\n"):
            whole = self._last(content.split(b"\n")) is not None
            with self.path.open("r+b") as file:
                if whole:
                    file.seek(0, os.SEEK_END)
                    file.write(b"\n")
                else:
                    file.truncate(content.rfind(b"\n") + 1)
                os.fsync(file.fileno())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process writes meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.path.with_name(self.path.name + ".lock"), self.path, TRIES)
        lock.take()
        try:
            yield
        finally:
            lock.release()


def fresh_seed() -> int:
    """The seed of a run that names none: from the system's random numbers, since runs of one claim
    on several machines must not share any.
    """
    return secrets.randbelow(SEEDS)


def _last(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The checksums of lines that no other line comes after."""
    followed = {one for entry in entries for one in entry.after}
    return tuple(sorted({one.checksum for one in entries} - followed))


def _joined(parts: Iterable[Iterable[Entry]]) -> list[Entry]:
    """All lines once, each behind those that it follows, else in the order of time.

    So the order, on which the largest evidence depends, is the same whoever merges with whom.
    """
    waiting = {one.checksum: one for part in parts for one in part}
    followers: dict[str, list[str]] = {}
    missing = {key: len(one.after) for key, one in waiting.items()}
    for key, one in waiting.items():
        for before in one.after:
            followers.setdefault(before, []).append(key)
    ready = [(one.at, key) for key, one in waiting.items() if not one.after]
    heapq.heapify(ready)
    found = []
    while ready:
        _, key = heapq.heappop(ready)
        found.append(waiting[key])
        for after in followers.get(key, ()):
            missing[after] -= 1
            if not missing[after]:
                heapq.heappush(ready, (waiting[after].at, after))
    return found


def _refuse_again(known: Iterable[Entry], entry: Entry) -> None:
    """Draws that come again under another seed are no new evidence."""
    for one in known:
        if one.subject == entry.subject and not set(one.marks).isdisjoint(entry.marks):
            raise MechanismError(
                f"the first draws with seed {entry.seed} are those of an earlier run with seed "
                f"{one.seed}: the mechanism does not take its random numbers from rng, so its runs "
                f"are not independent and a ledger cannot pool them; {OWN_SEED}"
            )


def _standings(entries: Sequence[Entry], alpha: float) -> list[Standing]:
    lasts: dict[tuple[str, str], Entry] = {}
    for one in _counted(entries):
        lasts.pop(one.key, None)
        lasts[one.key] = one
    return [_standing(entries, one, alpha) for one in lasts.values()]


def _standing(entries: Sequence[Entry], of: Entry, alpha: float) -> Standing:
    """Of the version that an entry belongs to."""
    about = [one for one in _counted(entries) if one.subject == of.subject]
    versions = list(dict.fromkeys(one.code for one in [*about, of]))
    own = [one for one in about if one.code == of.code]
    return Standing.of(versions.index(of.code) + 1, own or [of], alpha)


def _counted(entries: Iterable[Entry]) -> list[Entry]:
    """Of several runs of a mechanism and claim with one seed, as merged files may have, the first:
    its draws and those of the others are not independent.
    """
    once: dict[tuple[str, int], Entry] = {}
    for one in entries:
        once.setdefault((one.subject, one.seed), one)
    return list(once.values())
