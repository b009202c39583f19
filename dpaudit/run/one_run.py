"""A scenario of one run: the [one_run] table, and the audit that it describes.

`dpaudit schema --markdown` prints every key (`dpaudit.run.schema`).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit._core.user_code import beside
from dpaudit.curves.claims import Claim
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.canaries import KINDS, RELATIONS, Canaries, canaries
from dpaudit.one_run.insertion import audit_canaries
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.scores import NAMES
from dpaudit.run.files import audit_scores
from dpaudit.run.scenario.file import REPORTS, read_claim, read_name, read_subject
from dpaudit.run.scenario.files import File, parsed
from dpaudit.run.scenario.mechanism import Call, Called, is_synthesizer
from dpaudit.run.scenario.section import (
    FLAG,
    Checked,
    Reader,
    ScenarioPath,
    Section,
    integer,
    number,
    one_of,
)
from dpaudit.run.scenario.tables import PRINTED, Data, RowClaim
from dpaudit.run.scenario.target import TARGET, imported, target_text

ONE_RUN = "one_run"
BETWEEN, ABOVE_0 = number(0.0, 1.0, open_=True), number(0.0, open_=True)
USUAL = {
    name: parameter.default
    for function in (canaries, audit_one_run)
    for name, parameter in inspect.signature(function).parameters.items()
}


def _score(key: str, value: Any) -> str:
    named = f'one of {NAMES}, or "package.module:callable"'
    return value if value in NAMES else target_text(key, value, named)


class OneRun(Section):
    """An audit of one run with canaries, without [neighbour] and [audit]."""

    level: Annotated[float, BETWEEN] = USUAL["level"]
    """Confidence of the verdict."""
    inclusion: Annotated[float, BETWEEN] = USUAL["inclusion"]
    """The probability of each coin; not where scores has a column inclusion."""
    delta: Annotated[float, number(0.0, 1.0)] = USUAL["delta"]
    """δ at which ε is read, for a claim without an ε of its own."""

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of `dpaudit.audit_one_run` that the file has."""
        return self.values_set(*set(type(self).model_fields) - set(OneRun.model_fields))


class ScoresOfRun(OneRun):
    """A run that was made elsewhere."""

    scores: ScenarioPath
    """A CSV file, columns score, included, perhaps inclusion; no data, no mechanism."""

    def audit(self, seed: int, **options: Any) -> OneRunResult:
        """Raises `DataNotFound`, `InvalidInput`."""
        return audit_scores(self.path, **options)

    @property
    def path(self) -> Path:
        """The file of scores."""
        assert self.scores is not None
        return self.scores

    @property
    def facts(self) -> dict[str, Any]:
        """What result.json says of the run."""
        return {"score": self.path.name}


class RunToMake(OneRun):
    """A mechanism that is to run once on data with canaries."""

    count: Annotated[int, Checked(partial(check.count, minimum=1), integer(1).schema)]
    """The number of canaries that go into [data]; the [mechanism] runs once."""
    kind: Annotated[str, one_of(*KINDS)] = USUAL["kind"]
    """How canaries are made up."""
    label: Annotated[bool, FLAG] = USUAL["label"]
    """Whether the last column is a label."""
    row_bound: Annotated[float | None, ABOVE_0] = None
    """Norm to which canaries are scaled."""
    label_bound: Annotated[float | None, ABOVE_0] = None
    """Largest size of a canary's label."""
    score: Annotated[str, Checked(_score, {"anyOf": [{"enum": list(NAMES)}, TARGET]})] = NAMES[0]
    """How sure one is that a canary is in, or a callable score(output, rows)."""
    relation: Annotated[str, one_of(*RELATIONS)] = RELATIONS[0]
    """Whether a canary that is out is left out or is a row of zeros."""
    seed: Annotated[int, integer(0)] = 0
    """The seed of canaries, coins and mechanism."""

    @property
    def canary_options(self) -> dict[str, Any]:
        """Keywords of `dpaudit.canaries` that the file has."""
        own = {"count", "score", "relation", "seed"}
        return self.values_set(*own, *OneRun.model_fields)


@dataclass(frozen=True, eq=False)
class Insertion:
    """A mechanism that is to run once on data with canaries.

    mechanism : a mechanism, or a `Call` that is imported when it runs.
    """

    data: Data
    mechanism: Any
    table: RunToMake

    __repr__ = short_repr

    def canaries(self, data: Array, seed: int) -> Canaries:
        """For the database, (n, b). Raises `InvalidInput`."""
        return canaries(data, self.table.count, **self.table.canary_options, rng=seed)

    def audit(self, seed: int, **options: Any) -> OneRunResult:
        """Runs the mechanism. Raises `ScenarioError`, `DataNotFound`, `MechanismError`."""
        data = self.data.load().database
        named = self.table.score
        score = named if named in NAMES else imported(named, "[one_run] score")
        mechanism = self.mechanism
        if isinstance(mechanism, Call):
            mechanism = mechanism.load()
            if is_synthesizer(self.mechanism) and isinstance(mechanism, Called):
                fit, sample = mechanism.function.fit, mechanism.function.sample
                mechanism = lambda data, *, rng: sample(fit(data, rng), rng)  # noqa: E731
        rows, relation = self.canaries(data, seed), self.table.relation
        return audit_canaries(mechanism, data, rows, score, relation=relation, rng=seed, **options)

    @property
    def facts(self) -> dict[str, Any]:
        """What result.json says of the run."""
        called, named = isinstance(self.mechanism, Call), self.mechanism
        own = (getattr(named, "parameters", None) or {}) if called else named.parameters()
        return {
            "mechanism": {"name": named.target if called else named.name, "parameters": dict(own)},
            "dataset": {"name": self.data.name or self.data.path.name},  # type: ignore[union-attr]
            "inserted": {"kind": self.table.kind, "relation": self.table.relation},
            "score": self.table.score,
        }


@dataclass(frozen=True, eq=False)
class OneRunScenario:
    """One audit of one run, checked. `load` makes it from a file with a table [one_run].

    Attributes
    ----------
    name : str
        The name of the audit and of the folder of its report.
    folder : Path
        The folder of the file. Paths in the file begin there, and so do the user's modules.
    source : ScoresOfRun or Insertion
        A file of scores, or a mechanism that is to run once on data with canaries.
    claim : Claim or None
        What the verdict is about; None where nothing is claimed.
    options : Mapping[str, Any]
        Keywords of `dpaudit.audit_one_run`: level, inclusion, delta where the file has them.
    seed : int
        The seed of canaries, coins and mechanism.
    """

    name: str
    folder: Path
    source: ScoresOfRun | Insertion
    claim: Claim | None
    options: Mapping[str, Any]
    seed: int

    __repr__ = short_repr

    @classmethod
    def load(cls, path: str | Path) -> OneRunScenario:
        """Read and check a file. Raises `ScenarioError`, with a line for each fault."""
        return cls.read(parsed(Path(path)))

    @classmethod
    def read(cls, file: File) -> OneRunScenario:
        """Check a file that was parsed. Raises as `load`."""
        return read_tables(Reader(file.path, file.content))

    def report_folder(self, out: str | Path | None = None) -> Path:
        """Where the report goes."""
        return REPORTS / self.name if out is None else Path(out)

    def override(self, seed: int | None) -> OneRunScenario:
        """With another seed if one is given. Raises `InvalidInput`."""
        return self if seed is None else replace(self, seed=check.integer("seed", seed, 0))

    def run(self, out: str | Path | None = None, *, seed: int | None = None) -> OneRunResult:
        """Audit, and write result.json, report.html and guesses.png.

        Raises `ScenarioError`, `DataNotFound`, `InvalidInput`, `MechanismError`, OSError.
        """
        chosen = self.override(seed).seed
        with beside(self.folder):
            result = self.source.audit(chosen, claim=self.claim, **self.options)
        subject = {"scenario": self.name, **self.source.facts}
        if isinstance(self.source, Insertion):
            subject["seed"] = chosen
        result = replace(result, subject=subject)
        result.save(self.report_folder(out))
        return result


def read_tables(reader: Reader) -> OneRunScenario:
    """Read all tables. Raises `ScenarioError` after a fault in any of them."""
    name, drawn = read_name(reader), "scores" in reader.table(ONE_RUN)
    data, mechanism = (None, None) if drawn else read_subject(reader)
    claim = read_claim(reader, mechanism, RowClaim)
    if drawn and PRINTED in reader.table("claim"):
        reader.fault("claim", PRINTED, "needs a [mechanism]; scores have none")
    table: Any = reader.read(ScoresOfRun if drawn else RunToMake, ONE_RUN)
    if "delta" in reader.table(ONE_RUN) and claim is not None and claim.epsilon is not None:
        reader.fault(ONE_RUN, "delta", "must be left out: the claim has its own")
    reader.close("name", ONE_RUN, "claim", *(() if drawn else ("data", "mechanism")))
    source = table if data is None else Insertion(data, mechanism, table)
    seed = 0 if drawn else table.seed
    return OneRunScenario(name, reader.path.parent, source, claim, table.options, seed)
