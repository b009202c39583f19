"""A ledger: a file that pools the evidence against a claim from many runs of unchanged code."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from dpaudit._core.files import append_line, replace_file
from dpaudit._core.result_file import plain
from dpaudit.auditing.result import AuditResult
from dpaudit.certify.betting import log_mean
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, MechanismError, ScenarioError
from dpaudit.run.scenario.file import Scenario
from dpaudit.sampling.independence import OWN_SEED
from dpaudit.verdict.numbers import count, counted, from_log, number

ALPHA = 0.05  # probability of a false alarm over the whole history, where no level is given
GRID = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 60)])  # ε at which two claims are compared
CODE = ("programs", "packages", "installed", "python")  # these and "files" identify a version
START = b'{"draws_id": '  # the beginning of every line
PATIENCE = 30.0  # seconds to wait for the lock, which a writer holds for milliseconds
SEEDS = 1 << 48  # fresh seeds are below this, so that runs on several machines hardly share one
ADVICE = "run this without --ledger, or with --isolated where pyproject.toml sets it"
ALONE = (
    "This run alone would be judged violated. A single run of a sound mechanism is, too, from time "
    "to time, so the history decides: run it again."
)


@dataclass(frozen=True)
class Entry:
    """The line of one run in a ledger.

    draws_id : hash of all that determines the draws, so that no draws count twice. subject : hash
    of mechanism, parameters and claim. code : hash of the code. name, claim : the audit and the
    claim in words. seed : the seed of the run. draws : number of draws of each side that were bet
    on. log_e : logarithm of an e-value for each of the k widths of bets, (k,). verdict : the
    verdict of this run alone. at : when the run began, UTC. after : the checksum of the line
    before, none for the first. marks : hashes of the first draws of both sides, which reveal a
    mechanism that makes the same draws under another seed.
    """

    draws_id: str
    subject: str
    code: str
    name: str
    claim: str
    seed: int
    draws: int
    log_e: tuple[float, ...] = field(repr=False)
    verdict: str
    at: str
    after: tuple[str, ...] = ()
    marks: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, result: AuditResult, origin: Mapping[str, Any], marks: Iterable[str | None] = ()
    ) -> Entry:
        """The entry of a run. origin : what determines its draws, as in its manifest. marks : as
        `DrawStore.mark` returns them. Raises `InvalidInput` for a run without evidence against a
        claim.
        """
        if result.evidence is None or result.claim is None:
            raise InvalidInput(
                "a ledger needs evidence against a claim: the scenario needs a [claim]"
            )
        return cls(
            draws_id(origin),
            subject_of(origin, result.claim),
            code_of(origin),
            result.subject.scenario or str(origin["mechanism"]),
            result.claim.text,
            origin["seed"],
            result.evidence.draws,
            result.evidence.log_e,
            result.verdict,
            result.timings["started"],
            marks=tuple(mark for mark in marks if mark is not None),
        )

    @property
    def key(self) -> tuple[str, str]:
        """The version of a mechanism to which this run belongs: `subject` and `code`."""
        return self.subject, self.code

    @property
    def checksum(self) -> str:
        return _hash(asdict(self))

    @property
    def line(self) -> bytes:
        return (json.dumps({**asdict(self), "sha256": self.checksum}) + "\n").encode()

    @classmethod
    def read(cls, line: bytes) -> Entry:
        """The entry of a line of the file. Raises ValueError where it is no such line, or its
        checksum shows that it was changed.
        """
        content = json.loads(line)
        if not isinstance(content, dict):
            raise ValueError("it is not an object")
        checksum = content.pop("sha256", None)
        if set(content) != {part.name for part in fields(cls)}:
            raise ValueError("it has other keys")
        lists = {key: tuple(content[key]) for key in ("log_e", "after", "marks")}
        entry = cls(**{**content, **lists})
        if checksum != entry.checksum:
            raise ValueError("its checksum is another one")
        if not np.isfinite(entry.log_e).all():
            raise ValueError("its evidence is not finite")
        return entry


@dataclass(frozen=True)
class Standing:
    """The pooled evidence against the claim of one version of a mechanism.

    Over the whole history, the claim of any sound version is rejected with probability at most α,
    however many versions there are: version k gets the share α/(k(k + 1)), and the shares sum to α.
    The evidence of a version is a mean over the widths of bets of products over runs
    (`certify.betting`). By Ville's inequality the evidence against a true claim ever reaches
    k(k + 1)/α with probability at most α/(k(k + 1)). Products need runs with independent draws, so
    no two runs of one mechanism and claim may have the same seed.

    version : the number k of the version, from 1. entries : its runs, in order. log_e : the
    logarithm of their evidence now. largest : the largest value that `log_e` has had, which decides
    the verdict. alpha : the probability α of a false alarm, 1 − the level.
    """

    version: int
    entries: Sequence[Entry]
    log_e: float
    largest: float
    alpha: float = ALPHA

    @classmethod
    def of(cls, version: int, entries: Sequence[Entry], alpha: float = ALPHA) -> Standing:
        path = log_mean(np.cumsum([entry.log_e for entry in entries], axis=0))
        return cls(version, entries, float(path[-1]), float(path.max()), alpha)

    @property
    def needed(self) -> float:
        """The evidence at which the claim is rejected, k(k + 1)/α."""
        return self.version * (self.version + 1) / self.alpha

    @property
    def violated(self) -> bool:
        """Whether `largest` has reached the evidence that rejects the claim."""
        return bool(self.largest >= np.log(self.needed))

    @property
    def text(self) -> str:
        """The sentence "Ledger: the claim is rejected. 30 runs … brought the e-value … to 55 …"."""
        runs = counted(len(self.entries), "run")
        draws = count(sum(entry.draws for entry in self.entries))
        verdict, side = ("rejected", "at least") if self.violated else ("not rejected", "below")
        peak, now = from_log(self.largest), from_log(self.log_e)
        text = (
            f"Ledger: the claim is {verdict}. {runs} of version {self.version} of the code, "
            f"{draws} draws a side in all, brought the e-value against it to {peak}, {side} the "
            f"{number(self.needed)} that rejects it."
        )
        return text if now == peak else f"{text} It is {now} now."

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "runs": len(self.entries),
            "draws": sum(entry.draws for entry in self.entries),
            "log_e": self.log_e,
            "largest_log_e": self.largest,
            "needed": self.needed,
            "violated": self.violated,
            "text": self.text,
        }


class Ledger:
    """A file with the evidence of runs, one on each line. The first run creates it.

    Each line has a checksum, and names the checksum of the line before it. So reading finds a line
    that was changed, or removed before others. Lines cut off at the end leave no trace in the
    file: to prove that none were cut off, keep `head` elsewhere. Two processes may add lines at the
    same time. If a process was killed while it wrote a line, the next one removes the rest of it.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()

    def entries(self) -> list[Entry]:
        """The entries of all lines, in order, without an unfinished last line. Raises
        `InvalidInput` where a line was changed or is missing.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        entries: list[Entry] = []
        lines = content.splitlines(keepends=True)
        for place, line in enumerate(lines, 1):
            try:
                entry = Entry.read(line)
            except (ValueError, TypeError, KeyError) as error:
                if place == len(lines) and _is_begun(line):
                    break
                raise InvalidInput(
                    f"{self.path}, line {place} is no line of a ledger, or was changed: {error}"
                ) from None
            if entry.after != _head(entries):
                raise InvalidInput(f"{self.path}, line {place}: a line before it is missing")
            entries.append(entry)
        return entries

    @property
    def head(self) -> str:
        """The checksum of the last line, which depends on all lines before it; "" if empty."""
        return "".join(_head(self.entries()))

    def ready(self) -> None:
        """Check the file: raise OSError if no line can be added, `InvalidInput` if damaged."""
        with self._alone():
            self.entries()
            is_new = not self.path.exists()
            self.path.open("ab").close()
            if is_new:
                self.path.unlink()

    def add(self, entry: Entry, alpha: float = ALPHA) -> Standing:
        """Add a run, unless the file has it already, and return the standing of its version.

        alpha : probability of a false alarm over the whole history. Raises `InvalidInput` where
        another run of the same mechanism and claim had the same seed, or the file is damaged, and
        `MechanismError` where the draws equal those of an earlier run with another seed.
        """
        with self._alone():
            known = self.entries()
            run = (entry.draws_id, entry.log_e)
            same = [line for line in known if (line.draws_id, line.log_e) == run]
            if not same:
                self._refuse_seed(known, entry.subject, entry.seed)
                _refuse_marks(known, entry)
                same = [self._append(entry, known)]
                known += same
        standings = _standings(known, alpha)
        return next(each for each in standings if each.entries[0].key == same[0].key)

    def standings(self, alpha: float = ALPHA) -> list[Standing]:
        """The standing of each version of each mechanism and claim, the latest run last."""
        return _standings(self.entries(), alpha)

    def refuse(self, subject: str, seed: int, draws_id: str | None = None) -> None:
        """Raise `InvalidInput` where a run of the subject had the seed. draws_id : the id of a run
        that is resumed, which the file may have already.
        """
        others = [entry for entry in self.entries() if entry.draws_id != draws_id]
        self._refuse_seed(others, subject, seed)

    def merge(self, others: Iterable[Ledger], alpha: float = ALPHA) -> int:
        """Add the lines of other ledgers below the own ones, of runs with one seed the first;
        return how many. Raises `InvalidInput` where a file is missing or damaged, or where one of
        them rejects a claim at level 1 − `alpha` that the merged file would not reject, since a
        rejection is final.
        """
        with self._alone():
            own = self.entries()
            seeds = {(entry.subject, entry.seed) for entry in own}
            new: list[Entry] = []
            rejections: dict[tuple[str, str], tuple[Path, Entry]] = {}
            for book in others:
                if not book.path.exists():
                    raise InvalidInput(f"{book.path} must be a ledger, but there is no such file")
                theirs = book.entries()
                for entry in theirs:
                    if (entry.subject, entry.seed) not in seeds:
                        seeds.add((entry.subject, entry.seed))
                        new.append(entry)
                rejected = _rejected(theirs, alpha)
                rejections |= {key: (book.path, run) for key, run in rejected.items()}
            for key in rejections.keys() - _rejected([*own, *new], alpha).keys():
                path, run = rejections[key]
                raise InvalidInput(
                    f"{path} rejects the claim {run.claim} of {run.name}, and merged it would not "
                    "be rejected: a rejection stands; keep the files apart"
                )
            for entry in new:
                own.append(self._append(entry, own))
        return len(new)

    def _refuse_seed(self, known: Iterable[Entry], subject: str, seed: int) -> None:
        if any((entry.subject, entry.seed) == (subject, seed) for entry in known):
            raise InvalidInput(
                f"{self.path} has a run of this mechanism and claim with seed {seed} already: "
                "draws from one seed are not independent, and count once; give another --seed, or "
                "none",
                argument="seed",
            )

    def _append(self, entry: Entry, known: Sequence[Entry]) -> Entry:
        if self.path.exists() and not self.path.read_bytes().endswith(b"\n"):  # cut short
            replace_file(self.path, b"".join(line.line for line in known))
        added = replace(entry, after=_head(known))
        append_line(self.path, added.line)
        return added

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path.with_name(self.path.name + ".lock"), timeout=PATIENCE):
                yield
        except Timeout:
            raise InvalidInput(
                f"another run has been writing to {self.path} for {PATIENCE:g} s; wait, and repeat "
                "the command with --resume"
            ) from None


def judged_by(standing: Standing, result: AuditResult, head: str = "") -> AuditResult:
    """The result with the verdict of the ledger. A violation that the history does not show yet is
    inconclusive: the false alarms of single runs would add up. head : `Ledger.head`.
    """
    verdict, headline, reasons = result.verdict, result.headline, [standing.text]
    if standing.violated:  # the true value is larger than the claimed one
        verdict = "violated"
        certified = max(headline.certified, headline.claimed or headline.certified)
        headline = replace(headline, exceeded=True, certified=certified)
    elif verdict == "violated":
        verdict = "inconclusive"
        reasons.append(ALONE)
    return replace(
        result,
        verdict=verdict,
        reason=" ".join([*reasons, f"This run alone: {result.reason}"]),
        headline=headline,
        ledger={**standing.to_dict(), "head": head},
    )


def check_fit(scenario: object) -> None:
    """Raise `ScenarioError` for a scenario whose evidence cannot be pooled with other runs."""
    if not isinstance(scenario, Scenario) or scenario.claim is None:
        name = getattr(scenario, "name", "it")
        what = "pools evidence against a claim that is one for all pairs, of audits by draws"
        raise ScenarioError(f"{name}: --ledger {what}; {ADVICE}")
    if scenario.settings.stop is not None:
        what = "decides when the draws of many runs are enough, and a run that stops by itself"
        raise ScenarioError(
            f"{scenario.name}: --ledger {what} brings less than it could: leave out stop; {ADVICE}"
        )


def fresh_seed() -> int:
    """A seed for a run that names none, from the system's random numbers, since runs of one claim
    on several machines must not share a seed.
    """
    return secrets.randbelow(SEEDS)


def subject_of(origin: Mapping[str, Any], claim: Claim) -> str:
    """A hash of the mechanism with its parameters, and of the claim: the subject of a history."""
    about = origin["mechanism"], origin["parameters"], claim.text
    return _hash([*about, plain(claim.delta_at(GRID))])


def code_of(origin: Mapping[str, Any]) -> str:
    """A hash of the code, which does not depend on the folders of its files."""
    files = sorted([PurePath(path).name, digest] for path, digest in origin["files"].items())
    return _hash({**{key: origin[key] for key in CODE}, "files": files})


def draws_id(origin: Mapping[str, Any]) -> str:
    return _hash(dict(origin))


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_begun(line: bytes) -> bool:
    """Whether the last line of a file may be unfinished, since a process was killed writing it."""
    begins = START.startswith(line[: len(START)]) or not line.strip(b"\0")
    return begins and not line.endswith(b"\n")


def _head(entries: Sequence[Entry]) -> tuple[str, ...]:
    return (entries[-1].checksum,) if entries else ()


def _refuse_marks(known: Iterable[Entry], entry: Entry) -> None:
    """Raise `MechanismError` where an earlier run of the subject had the same first draws."""
    for previous in known:
        if previous.subject == entry.subject and not set(previous.marks).isdisjoint(entry.marks):
            raise MechanismError(
                f"the first draws with seed {entry.seed} are those of an earlier run with seed "
                f"{previous.seed}: the mechanism does not take its random numbers from rng, so its "
                f"runs are not independent and a ledger cannot pool them; {OWN_SEED}"
            )


def _rejected(entries: Sequence[Entry], alpha: float) -> dict[tuple[str, str], Entry]:
    """The last run of each version whose claim these entries reject, by its key."""
    standings = [standing for standing in _standings(entries, alpha) if standing.violated]
    return {standing.entries[0].key: standing.entries[-1] for standing in standings}


def _standings(entries: Iterable[Entry], alpha: float) -> list[Standing]:
    versions: dict[str, list[str]] = {}
    runs: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        codes = versions.setdefault(entry.subject, [])
        if entry.code not in codes:
            codes.append(entry.code)
        runs[entry.key] = [*runs.pop(entry.key, []), entry]
    return [
        Standing.of(versions[subject].index(code) + 1, runs[subject, code], alpha)
        for subject, code in runs
    ]
