"""A scenario of one training by DP-SGD: the [training] table, and the audit of its steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from dpaudit._core import check
from dpaudit._core.raised import Raised, with_cause
from dpaudit._core.user_code import importable_from
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.errors import DpauditError, InvalidInput, MechanismError
from dpaudit.one_run.step_result import StepResult
from dpaudit.one_run.steps import StepAudit
from dpaudit.run.files import audit_steps
from dpaudit.run.scenario.file import Reported, read_claim, read_name
from dpaudit.run.scenario.files import File
from dpaudit.run.scenario.section import FLAG, Checked, NeededPath, Reader, Section, integer, number
from dpaudit.run.scenario.tables import RowClaim
from dpaudit.run.scenario.target import TARGET, imported, target_text
from dpaudit.training import TrainingAudit

TRAINING, FUNCTION = "training", "[training] function"
BETWEEN = number(0.0, 1.0, open_=True)


class Training(Section):
    """A training by DP-SGD, audited step by step; without [claim] it claims the accountant's ε."""

    delta: Annotated[float, BETWEEN] = 1e-5
    """The δ at which the accountant's ε and the certified one are stated, without a [claim]."""


class RecordedSteps(Training):
    """A [training] table with steps that another program recorded."""

    steps: NeededPath
    """A .npz or .csv file of steps, as for `dpaudit steps`."""
    sample_rate: Annotated[float, BETWEEN]
    """The claimed probability with which an example is in a batch."""
    noise_multiplier: Annotated[float, number(0.0, open_=True)]
    """The claimed standard deviation of the noise over the clip norm."""
    level: Annotated[float, BETWEEN] = 0.95
    """Confidence of the verdict and of the certified ε."""
    orthogonal: Annotated[bool, FLAG] = False
    """Whether the canaries' directions are orthogonal, so that their evidence multiplies."""
    rows: Annotated[int | None, integer(1)] = None
    """The number of examples beside the canaries, for a file with batch_size."""


class TrainingToRun(Training):
    """A [training] table for a training that dpaudit runs."""

    function: Annotated[str, Checked(target_text, TARGET)]
    """A function(seed) that trains, and returns its audit: a hook of dp.training or a StepAudit."""
    seed: Annotated[int, integer(0)] = 0
    """The seed that the function is called with."""


@value_class(show_numbers=True)
class TrainingScenario(Reported):
    """An audit of one training, whose settings are checked.

    Attributes
    ----------
    name, folder : str, Path
        The name of the audit, and the folder of the file.
    table : RecordedSteps or TrainingToRun
        A file of steps, or a training that is to run.
    claim : Claim or None
        What is claimed of the whole training; None for the accountant's ε.
    """

    name: str
    folder: Path
    table: RecordedSteps | TrainingToRun
    claim: Claim | None

    @classmethod
    def read(cls, file: File) -> TrainingScenario:
        reader = Reader(file.path, file.content)
        name = read_name(reader)
        model = RecordedSteps if "steps" in reader.table(TRAINING) else TrainingToRun
        table: Any = reader.read(model, TRAINING)
        claim = read_claim(reader, None, RowClaim)
        if "claim" in reader and set(reader.table("claim")) != {"epsilon", "delta"}:
            reader.fault(
                "claim", "", "must have epsilon and delta, and no other key, for a training"
            )
        elif claim is not None and not 0.0 < claim.delta < 1.0:
            reader.fault("claim", "delta", f"must be in (0, 1) for a training, got {claim.delta:g}")
        elif claim is not None and "delta" in reader.table(TRAINING):
            reader.fault(TRAINING, "delta", "must be left out: the claim has its own")
        reader.close("name", TRAINING, "claim")
        return cls(name, file.path.parent, table, claim)

    def override(self, seed: int | None) -> TrainingScenario:
        if seed is None or isinstance(self.table, RecordedSteps):
            return self
        seed = check.integer("seed", seed, 0)
        return replace(self, table=self.table.model_copy(update={"seed": seed}))

    def run(self, out: str | Path | None = None, *, seed: int | None = None) -> StepResult:
        """Run the audit, and write result.json, report.html and steps.png into `out`.

        Raises `ScenarioError`, `DataNotFound`, `InvalidInput`, `MechanismError`, OSError.
        """
        result = self.override(seed)._audit()
        result = replace(result, content={"scenario": self.name, **result.content})
        result.save(self.report_folder(out))
        return result

    def _audit(self) -> StepResult:
        table = self.table
        if isinstance(table, RecordedSteps):
            return audit_steps(table.steps, claim=self.claim, **table.values_set("steps"))
        with importable_from(self.folder):
            audit = _trained(imported(table.function, FUNCTION), table.seed)
        try:
            return audit.result(delta=table.delta, claim=self.claim)
        except ImportError as error:
            raise InvalidInput(str(error)) from None


def _trained(function: Any, seed: int) -> TrainingAudit | StepAudit:
    try:
        audit = function(seed)
    except DpauditError:
        raise
    except Exception as error:
        raised = Raised.of(error)
    else:
        if isinstance(audit, TrainingAudit | StepAudit):
            return audit
        raise MechanismError(
            "the training must return its audit, a hook of dp.training or a StepAudit, got "
            f"{type(audit).__name__}"
        )
    raise with_cause(MechanismError(f"the training raised {raised.line}", raised=raised))
