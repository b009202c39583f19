"""A scenario whose mechanism runs once, on data with canaries: [one_run] and its audit."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.user_code import importable_from
from dpaudit._core.value import value_class
from dpaudit.certify.one_run.bound import CANARIES
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput
from dpaudit.one_run.api import FamilyLike, audit_one_run, question_of
from dpaudit.one_run.canaries import KINDS, RELATIONS, Canaries, canaries
from dpaudit.one_run.insertion import audit_canaries
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.scores import NAMES
from dpaudit.run.files import audit_scores
from dpaudit.run.scenario.file import Reported, read_claim, read_name, read_subject
from dpaudit.run.scenario.files import File
from dpaudit.run.scenario.mechanism import Call, Called, is_synthesizer
from dpaudit.run.scenario.neighbour import PAIR
from dpaudit.run.scenario.section import (
    FLAG,
    Checked,
    NeededPath,
    Reader,
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


def _family(key: str, value: Any) -> FamilyLike:
    if value == "gaussian":
        return "gaussian"
    if not isinstance(value, list) or len(value) != 2:
        fail(key, value, '"gaussian" or [sample_rate, steps]')
    rate = check.real(f"{key}[0]", value[0], 0.0, 1.0)
    return rate, check.integer(f"{key}[1]", value[1], 1)


FAMILY = {"anyOf": [{"enum": ["gaussian"]}, PAIR]}


class OneRun(Section):
    """An audit of one run with canaries, without [neighbour] and [audit]."""

    level: Annotated[float, BETWEEN] = USUAL["level"]
    """Confidence of the verdict."""
    inclusion: Annotated[float, BETWEEN] = USUAL["inclusion"]
    """The probability with which each canary is put in; without a column inclusion in scores."""
    delta: Annotated[float, number(0.0, 1.0)] = USUAL["delta"]
    """The δ at which the certified ε is stated, for a claim that has no ε of its own."""
    assume: Annotated[str, one_of(*CANARIES)] = USUAL["canaries"]
    """With "independent" it is assumed that the noise of each canary's score is its own."""
    family: Annotated[FamilyLike, Checked(_family, FAMILY)] = None
    """The law of a canary's change: "gaussian", or [sample_rate, steps] with such steps."""

    @property
    def options(self) -> dict[str, Any]:
        return self.values_set(*set(type(self).model_fields) - set(OneRun.model_fields))


class ScoresOfRun(OneRun):
    """A [one_run] table with the scores of a run that another program made."""

    scores: NeededPath
    """A CSV file with columns score, included, perhaps inclusion; without data and mechanism."""


class RunToMake(OneRun):
    """A [one_run] table for a mechanism that dpaudit runs once, on data with canaries."""

    count: Annotated[int, Checked(partial(check.count, minimum=1), integer(1).schema)]
    """The number of canaries that go into [data]; the [mechanism] runs once."""
    kind: Annotated[str, one_of(*KINDS)] = USUAL["kind"]
    """How the canaries are generated."""
    label: Annotated[bool, FLAG] = USUAL["label"]
    """Whether the last column is a label."""
    row_bound: Annotated[float | None, ABOVE_0] = None
    """Norm to which canaries are scaled."""
    label_bound: Annotated[float | None, ABOVE_0] = None
    """Largest size of a canary's label."""
    score: Annotated[str, Checked(_score, {"anyOf": [{"enum": list(NAMES)}, TARGET]})] = NAMES[0]
    """The score by which a canary is guessed to be in, or a callable score(output, rows)."""
    relation: Annotated[str, one_of(*RELATIONS)] = RELATIONS[0]
    """Whether a canary that is not put in is left out or becomes a row of zeros."""
    seed: Annotated[int, integer(0)] = 0
    """The seed of canaries, coins and mechanism."""

    @property
    def canary_options(self) -> dict[str, Any]:
        return self.values_set("count", "score", "relation", "seed", *OneRun.model_fields)


@value_class(show_numbers=True)
class OneRunScenario(Reported):
    """An audit of one run, whose settings are checked.

    Attributes
    ----------
    name, folder : str, Path
        The name of the audit, and the folder of the file.
    table : ScoresOfRun or RunToMake
        A file of scores, or a mechanism that is to run once on data with canaries.
    data : Data or None
        The rows that canaries go into; None for a file of scores.
    mechanism : LawMechanism, Call or None
        The mechanism that runs once. A `Call` is imported when it runs.
    claim : Claim or None
        The claim to judge; None without a [claim] table.
    seed : int
        The seed of canaries, coins and mechanism.
    """

    name: str
    folder: Path
    table: ScoresOfRun | RunToMake
    data: Data | None
    mechanism: Any
    claim: Claim | None
    seed: int

    @classmethod
    def read(cls, file: File) -> OneRunScenario:
        reader = Reader(file.path, file.content)
        name, drawn = read_name(reader), "scores" in reader.table(ONE_RUN)
        data, mechanism = (None, None) if drawn else read_subject(reader)
        claim = read_claim(reader, mechanism, RowClaim)
        if drawn and PRINTED in reader.table("claim"):
            reader.fault("claim", PRINTED, "needs a [mechanism]; scores have none")
        table: Any = reader.read(ScoresOfRun if drawn else RunToMake, ONE_RUN)
        if "delta" in reader.table(ONE_RUN) and claim is not None and claim.epsilon is not None:
            reader.fault(ONE_RUN, "delta", "must be left out: the claim has its own")
        elif table is not None and not reader.faults:
            options = {"delta": table.delta, "canaries": table.assume, "family": table.family}
            try:
                question_of(claim=claim, **options)
            except InvalidInput as error:
                reader.refuse(ONE_RUN, error)
        reader.close("name", ONE_RUN, "claim", *(() if drawn else ("data", "mechanism")))
        seed = 0 if drawn else table.seed
        return cls(name, file.path.parent, table, data, mechanism, claim, seed)

    def override(self, seed: int | None) -> OneRunScenario:
        return self if seed is None else replace(self, seed=check.integer("seed", seed, 0))

    def canaries(self, data: Array) -> Canaries:
        assert isinstance(self.table, RunToMake)
        return canaries(data, self.table.count, **self.table.canary_options, rng=self.seed)

    def run(self, out: str | Path | None = None, *, seed: int | None = None) -> OneRunResult:
        """Run the audit, and write result.json, report.html and guesses.png into `out`.

        Raises `ScenarioError`, `DataNotFound`, `InvalidInput`, `MechanismError`, OSError.
        """
        scenario = self.override(seed)
        with importable_from(self.folder):
            result, subject = scenario._audit()
        result = replace(result, subject={"scenario": self.name, **subject})
        result.save(self.report_folder(out))
        return result

    def _audit(self) -> tuple[OneRunResult, dict[str, Any]]:
        """The result, and the entries of result.json that describe mechanism, data and canaries.
        Executes the user's code.
        """
        table, options = self.table, {"claim": self.claim, **self.table.options}
        options["canaries"] = options.pop("assume", "any")
        if isinstance(table, ScoresOfRun):
            return audit_scores(table.scores, **options), {"score": table.scores.name}
        assert self.data is not None
        rows, mechanism, score = self.data.load(), self.mechanism, table.score
        data = rows.database
        if isinstance(mechanism, Call):
            name, parameters = mechanism.target, getattr(mechanism, "parameters", None) or {}
            mechanism = mechanism.load(rows)
        else:
            name, parameters = mechanism.name, mechanism.parameters()
        if is_synthesizer(self.mechanism) and isinstance(mechanism, Called):
            model = mechanism.function
            mechanism = lambda data, *, rng: model.sample(model.fit(data, rng), rng)  # noqa: E731
        result = audit_canaries(
            mechanism,
            data,
            self.canaries(data),
            score if score in NAMES else imported(score, "[one_run] score"),
            relation=table.relation,
            rng=self.seed,
            **options,
        )
        return result, {
            "mechanism": {"name": name, "parameters": dict(parameters)},
            "dataset": {"name": self.data.name or self.data.path.name},  # type: ignore[union-attr]
            "inserted": {"kind": table.kind, "relation": table.relation},
            "score": score,
            "seed": self.seed,
        }
