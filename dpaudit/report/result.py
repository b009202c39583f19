"""The base class of results of all kinds of audits: a record, the content of result.json."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.result_file import ONE_RUN, STEPS, load, reading, save
from dpaudit.verdict.attacker import Rate, Roc, rate_of, roc_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {  # of records: in words, and by what they are read
    None: ("an audit of two samples", "AuditResult.load"),
    ONE_RUN: ("an audit of one run", "OneRunResult.load"),
    STEPS: ("an audit of steps", "StepResult.load"),
}


class Result(ABC):
    """A result that is determined by its record: it can be saved, loaded, plotted and tabulated.

    A loaded result has the attributes that its record keeps. Any other attribute raises an
    AttributeError, which says what is kept instead.
    """

    verdict: Any
    headline: Any
    kind: ClassVar[str | None] = None  # as in the record
    not_kept: ClassVar[Mapping[str, str]] = {}  # what is kept instead of each attribute

    @property
    @abstractmethod
    def record(self) -> dict[str, Any]:
        """The content of result.json; `to_dict` returns a copy of it that may be changed."""

    @classmethod
    @abstractmethod
    def of(cls, record: dict[str, Any]) -> Self:
        """Make a result from the content of result.json. Raises `InvalidInput`."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a saved result.

        Parameters
        ----------
        folder : path
            A folder that `save` or `dpaudit run` wrote.

        Returns
        -------
        AuditResult, OneRunResult or StepResult
            With verdict, headline, curves and report as they were. Attributes that result.json does
            not keep raise an AttributeError, which says where to find what is kept of them.

        Raises
        ------
        InvalidInput
            When the folder holds no result, one of another kind of audit, or one that was changed.
        """
        place = Path(folder)
        record = load(place)
        if (kind := record.get("kind")) != cls.kind:
            _, reader = KINDS.get(kind, ("", "a later version of dpaudit"))
            fail("folder", str(place), KINDS[cls.kind][0], f"read it by {reader}")
        with reading(place):
            return cls.of(record)

    @classmethod
    def _restored(cls, **attributes: Any) -> Self:
        result = object.__new__(cls)
        vars(result).update(attributes)
        return result

    def __getattr__(self, name: str) -> Any:
        if name in self.not_kept:
            raise AttributeError(f"{name} is not kept in result.json; {self.not_kept[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict}: {self.headline.text})"

    def _repr_html_(self) -> str:
        from dpaudit import report

        return report.in_notebook(self.record)

    def to_dict(self) -> dict[str, Any]:
        """The content of result.json: JSON types only, no NaN, infinity as the string "inf"."""
        return deepcopy(self.record)

    def tpr_at(self, fpr: float) -> Rate:
        """The true positive rate of the best attack with a false positive rate in [0, 1].

        `.estimate` is no bound. `.low` is certified at the result's level, for all rates together;
        it is None of one run, since a mechanism may tell all coins in a share of its runs. Of a
        mechanism that is Gaussian DP, `gdp_mu` of one run certifies Φ(Φ⁻¹(fpr) + μ) (Dong, Roth &
        Su 2022, section 2.2).
        """
        return self.roc().at(check.real("fpr", fpr, 0.0, 1.0))

    def roc(self) -> Roc:
        """The ROC curve: arrays `.fpr`, `.estimate` and `.low`, as in `tpr_at`, and `to_frame`."""
        return roc_of(self.record)

    @property
    def advantage(self) -> Rate:
        """The largest TPR − FPR of an attack, which is δ(0); `.estimate` and `.low` as in `tpr_at`.

        Of one run, the estimate is that of the best threshold of these scores, and too large by
        that choice; if the mechanism is Gaussian DP, `gdp_mu` certifies 2Φ(μ/2) − 1.
        """
        return rate_of(self.record, "advantage")

    @property
    def accuracy(self) -> Rate:
        """The share of fair coins that the best attack guesses: half of 1 + `advantage`."""
        return rate_of(self.record, "accuracy")

    def save(self, folder: str | Path) -> Path:
        """Write result.json, report.html and a figure into `folder`; returns the folder.

        The figure is spectrum.png; for an audit of one run, guesses.png or steps.png. The folder
        is made if it does not exist. Raises OSError.
        """
        from dpaudit import report  # this loads the HTML templates and matplotlib

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        report.write_report(folder, self.record)
        save(self.record, folder)  # last: a run that is killed leaves no result without its report
        return folder

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the figure of the report: δ(ε) against ε in nats or, for an audit of one run, the
        share of right guesses.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure of pyplot, which a notebook shows.

        Returns
        -------
        matplotlib Axes
        """
        from dpaudit import report

        return report.plot(self.record, ax)
