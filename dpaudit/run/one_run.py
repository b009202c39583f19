"""A scenario of one run: the [one_run] table, and the report that comes of it.

`dpaudit schema --markdown` prints every key (`dpaudit.run.schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array
from dpaudit._core.user_code import beside
from dpaudit.curves.claims import Claim
from dpaudit.one_run.canaries import KINDS, RELATIONS, Canaries, canaries
from dpaudit.one_run.insertion import audit_canaries
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.scores import NAMES
from dpaudit.run.scenario.claim import PRINTED, row_claim
from dpaudit.run.scenario.data import Data, read_data
from dpaudit.run.scenario.file import REPORTS, parsed, read_name
from dpaudit.run.scenario.mechanism import Call, Called, read_mechanism
from dpaudit.run.scenario.table import Check, Table, flag, refuse, takes, text
from dpaudit.run.scenario.target import TARGET, imported, target_text
from dpaudit.run.scenario.user_mechanism import is_synthesizer, predicts
from dpaudit.run.scores import audit_scores

ONE_RUN = "one_run"
BETWEEN: Check = partial(check.real, low=0.0, high=1.0, open_=True)
ABOVE_0: Check = partial(check.real, low=0.0, open_=True)
CANARY: dict[str, Check] = {
    "kind": partial(check.choice, allowed=KINDS),
    "label": flag,
    "row_bound": ABOVE_0,
    "label_bound": ABOVE_0,
}
AUDIT: dict[str, Check] = {
    "level": BETWEEN,
    "inclusion": BETWEEN,
    "delta": partial(check.real, low=0.0, high=1.0),
}


@dataclass(frozen=True)
class GivenScores:
    """Scores and coins from a CSV file."""

    path: Path

    def audit(self, seed: int, **options: Any) -> OneRunResult:
        """Raises `DataNotFound`, `InvalidInput`."""
        return audit_scores(self.path, **options)

    @property
    def known(self) -> dict[str, Any]:
        """What result.json says of it."""
        return {"score": self.path.name}


@dataclass(frozen=True, eq=False)
class Insertion:
    """A mechanism that is to run once on data with canaries.

    mechanism : one, or a `Call` that is imported when it runs. count : of canaries. made : other
    keywords of `dpaudit.canaries`. score : a name, or "package.module:callable".
    """

    data: Data
    mechanism: Any
    count: int
    made: Mapping[str, Any]
    score: str
    relation: str

    __repr__ = short_repr

    def canaries(self, data: Array, seed: int) -> Canaries:
        """For the database, (n, b). Raises `InvalidInput`."""
        return canaries(data, self.count, **self.made, rng=seed)

    def audit(self, seed: int, **options: Any) -> OneRunResult:
        """Runs the mechanism. Raises `ScenarioError`, `DataNotFound`, `MechanismError`."""
        data = self.data.load().database
        score = self.score if self.score in NAMES else imported(self.score, "[one_run] score")
        mechanism, rows = loaded(self.mechanism), self.canaries(data, seed)
        return audit_canaries(
            mechanism, data, rows, score, relation=self.relation, rng=seed, **options
        )

    @property
    def known(self) -> dict[str, Any]:
        """What result.json says of it."""
        called, named = isinstance(self.mechanism, Call), self.mechanism
        parameters = dict(named.parameters or {}) if called else named.parameters()
        return {
            "mechanism": {"name": named.target if called else named.name, "parameters": parameters},
            "dataset": {"name": self.data.name or self.data.path.name},  # type: ignore[union-attr]
            "inserted": {"kind": self.made.get("kind", KINDS[0]), "relation": self.relation},
            "score": self.score,
        }


def loaded(mechanism: Any) -> Any:
    """What `audit_canaries` takes; a `call` executes the user's code. Raises `ScenarioError`."""
    made = mechanism.load() if isinstance(mechanism, Call) else mechanism
    if not (is_synthesizer(mechanism) and isinstance(made, Called)):
        return made
    fit, sample = made.function.fit, made.function.sample
    return lambda data, *, rng: sample(fit(data, rng), rng)


@dataclass(frozen=True, eq=False)
class OneRunScenario:
    """One audit of one run, checked. `load` makes it from a file with a table [one_run].

    Attributes
    ----------
    name : str
        Of the audit, and of the folder of its report.
    folder : Path
        Of the file. Paths in the file begin there, and so do the user's modules.
    source : GivenScores or Insertion
        A file of scores, or a mechanism that is to run once on data with canaries.
    claim : Claim or None
        What the verdict is about; None where nothing is claimed.
    options : Mapping[str, Any]
        Of `dpaudit.audit_one_run`: level, inclusion and delta where the file has them.
    seed : int
        Of canaries, coins and mechanism.
    """

    name: str
    folder: Path
    source: GivenScores | Insertion
    claim: Claim | None
    options: Mapping[str, Any]
    seed: int

    __repr__ = short_repr

    @classmethod
    def load(cls, path: str | Path) -> OneRunScenario:
        """Read and check a file. Raises `ScenarioError`, with a line for each fault."""
        file = parsed(Path(path))
        return cls.read(file.path, file.content)

    @classmethod
    def read(cls, path: Path, content: dict[str, Any]) -> OneRunScenario:
        """From the content of a file. Raises as `load`."""
        top = Table("", content, [])
        found = read_tables(path, top)
        refuse(path, top.faults)
        return found

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
            found = self.source.audit(chosen, claim=self.claim, **self.options)
        subject = {"scenario": self.name, **self.source.known}
        if isinstance(self.source, Insertion):
            subject["seed"] = chosen
        result = replace(found, subject=subject)
        result.save(self.report_folder(out))
        return result


def read_tables(path: Path, top: Table) -> OneRunScenario:
    """All tables. Faults are noted in `top`."""
    name, table = read_name(top, path), top.table(ONE_RUN)
    given = "scores" in table
    source = _scores(table, path.parent) if given else _insertion(table, top, path.parent)
    held = top.table("claim", {})
    mechanism = source.mechanism if isinstance(source, Insertion) else None
    claim = row_claim(held, mechanism) if "claim" in top else None
    if given and PRINTED in held and held.readable:
        held.fault(PRINTED, "needs a [mechanism]; scores have none")
    asked = {key: table.get(key, one, None) for key, one in AUDIT.items()}
    options = {key: value for key, value in asked.items() if value is not None}
    if "delta" in options and claim is not None and claim.epsilon is not None:
        table.fault("delta", "must be left out: the claim has its own")
    seed = 0 if given else table.get("seed", partial(check.integer, minimum=0), 0)
    table.close()
    top.close()
    return OneRunScenario(name, path.parent, source, claim, options, seed)


def _scores(table: Table, folder: Path) -> GivenScores:
    return GivenScores(folder / str(table.get("scores", text)))


def _insertion(table: Table, top: Table, folder: Path) -> Insertion:
    data = read_data(top.table("data"), folder)
    mechanism = read_mechanism(top.table("mechanism"), folder)
    data = data.seen_by(mechanism)
    if data.path and data.target is None and predicts(mechanism):
        top.faults.append("[data] target: missing (the column to predict)")
    count = table.get("count", partial(check.count, minimum=1))
    made = {key: table.get(key, one, None) for key, one in CANARY.items()}
    return Insertion(
        data,
        mechanism,
        count,
        {key: value for key, value in made.items() if value is not None},
        table.get("score", _score, NAMES[0]),
        table.get("relation", partial(check.choice, allowed=RELATIONS), RELATIONS[0]),
    )


@takes({"anyOf": [{"enum": list(NAMES)}, TARGET]})
def _score(key: str, value: Any) -> str:
    named = f'one of {NAMES}, or "package.module:callable"'
    return value if value in NAMES else target_text(key, value, named)
