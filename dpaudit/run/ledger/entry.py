"""A line of a ledger: what one run adds to the evidence, with its checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from dpaudit.auditing.record import plain
from dpaudit.auditing.result import AuditResult
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput

GRID = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 60)])  # of ε at which claims are compared
CODE = ("programs", "packages", "installed", "python")  # beside files: another version


@dataclass(frozen=True)
class Entry:
    """One run.

    draws_id : hash of all that determines its draws, so that none counts twice. subject : hash of
    mechanism, parameters and claim. code : hash of the code. name, claim : in words. seed : of the
    run. draws : bet on, a side. log_e : logarithm of an e-value for each width of bet, (k,).
    verdict : of the run alone. at : when it began, UTC. after : checksums of the last lines
    before it, "" for the first; more than one after a merge. marks : of the first draws of both
    sides, by which draws that come again under another seed are known.
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
    after: tuple[str, ...] = field(default=())
    marks: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, result: AuditResult, origin: Mapping[str, Any], marks: Iterable[str | None] = ()
    ) -> Entry:
        """Of a run. origin : what determines its draws (`dpaudit.run.execute.made_by`).

        Raises `InvalidInput` for a run without evidence.
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
            marks=tuple(one for one in marks if one is not None),
        )

    @property
    def key(self) -> tuple[str, str]:
        """Of the version: what its history is about, and its code."""
        return self.subject, self.code

    @property
    def checksum(self) -> str:
        """SHA-256 of the entry without it."""
        return _hash(asdict(self))

    @property
    def line(self) -> bytes:
        """As the file has it."""
        return (json.dumps({**asdict(self), "sha256": self.checksum}) + "\n").encode()

    @classmethod
    def read(cls, line: bytes) -> Entry:
        """From a line. Raises ValueError where it is none, or was changed."""
        content = json.loads(line)
        said = content.pop("sha256", None)
        if set(content) != {one.name for one in fields(cls)}:
            raise ValueError("it has other keys")
        lists = {key: tuple(content[key]) for key in ("log_e", "after", "marks")}
        entry = cls(**{**content, **lists})
        if said != entry.checksum:
            raise ValueError("its checksum is another one")
        if not np.isfinite(entry.log_e).all():
            raise ValueError("its evidence is not finite")
        return entry

    def following(self, last: tuple[str, ...]) -> Entry:
        """The same after other lines."""
        return replace(self, after=last)


def subject_of(origin: Mapping[str, Any], claim: Claim) -> str:
    """A hash of what a history is about: the mechanism with its parameters, and the claim."""
    about = origin["mechanism"], origin["parameters"], claim.text
    return _hash([*about, plain(claim.delta_at(GRID))])


def code_of(origin: Mapping[str, Any]) -> str:
    """A hash of the code, wherever it lies: the folders of its files make no difference."""
    files = sorted([PurePath(path).name, digest] for path, digest in origin["files"].items())
    return _hash({**{key: origin[key] for key in CODE}, "files": files})


def draws_id(origin: Mapping[str, Any]) -> str:
    """A hash of all that determines the draws of a run."""
    return _hash(dict(origin))


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
