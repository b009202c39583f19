"""A scenario file (TOML): what to audit, on what data, against which claim."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import Any, Self

from dpaudit._core import check
from dpaudit._core.seeds import root
from dpaudit._core.value import value_class
from dpaudit.auditing.settings import Settings
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput
from dpaudit.run.scenario.files import File, parsed
from dpaudit.run.scenario.mechanism import (
    Call,
    Program,
    is_synthesizer,
    lawless,
    predicts,
    read_mechanism,
)
from dpaudit.run.scenario.neighbour import Neighbour, Search, Worst, read_neighbour
from dpaudit.run.scenario.section import Reader, text
from dpaudit.run.scenario.tables import Audit, Data, PairClaim, RowClaim, Workers

REPORTS = Path("dpaudit-out")  # where reports go if no folder is named
OWN = {"rule": "own"}
ELSEWHERE = {
    "study": "names a study, which `dpaudit run` makes, and no audit",
    "one_run": "names an audit of one run; `dpaudit run` makes it, no other",
    "training": "names an audit of a training; `dpaudit run` makes it, no other",
}
NOTHING_TO_REFUTE = "needs a claim, since no exact spectrum is known"


class Reported:
    """What a scenario file names and a report is written on: an audit, a training or a study.

    name : of the audit and of the folder of its report. folder : the folder of the file, where its
    relative paths begin and the user's modules are looked for.
    """

    name: str
    folder: Path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and check a file. Raises `ScenarioError`, with a line for each fault: "file: [table]
        key: what is wrong".

        None of the user's code runs here, except the module of a study, which defines its settings.
        """
        return cls.read(parsed(Path(path)))

    @classmethod
    def read(cls, file: File) -> Self:
        """The scenario of a parsed file. Raises `ScenarioError` as `load` does."""
        raise NotImplementedError

    def report_folder(self, out: str | Path | None = None) -> Path:
        """The folder of the report: `out`, or by default dpaudit-out/NAME."""
        return REPORTS / self.name if out is None else Path(out)


@value_class(show_numbers=True)
class Scenario(Reported):
    """One audit by draws, whose settings are checked.

    Attributes
    ----------
    name, folder : str, Path
        The name of the audit, and the folder of the file.
    data : Data or None
        The rows to audit on; None for a mechanism's own pair.
    mechanism : LawMechanism or Call
        What is audited. A `Call` is imported when it runs.
    neighbour : Neighbour
        The rule that chooses the second database.
    settings : Settings
        The settings of the audit, with claim and seed sequence.
    seed : int
        The number from which the seed sequence is made.
    workers : Workers
        Threads, processes or machines that make the draws; they change no result.
    text : str or None
        The text of the file; None where the scenario comes from no file.
    """

    name: str
    folder: Path
    data: Data | None
    mechanism: Any
    neighbour: Neighbour
    settings: Settings
    seed: int
    workers: Workers = field(default_factory=Workers)
    text: str | None = field(default=None, repr=False)

    @property
    def claim(self) -> Claim | None:
        """The claim to judge; None without one or if it depends on the pair (`settings.metric`)."""
        return self.settings.claim

    @classmethod
    def read(cls, file: File) -> Scenario:
        reader = Reader(file.path, file.content)
        for place, message in ELSEWHERE.items():
            if place in reader:
                reader.fault(place, "", message)
                reader.close(*file.content)
        name, own = read_name(reader), reader.content.get("neighbour") == OWN
        data, mechanism = read_subject(reader, needed=not own)
        claim = read_claim(reader, mechanism, PairClaim)
        neighbour = read_neighbour(reader, mechanism)
        if own and (data is not None or (mechanism is not None and not hasattr(mechanism, "pair"))):
            demand = "takes a mechanism that has a pair of its own, and no [data]"
            reader.fault("", "neighbour", f'rule "own" {demand}')
        if isinstance(neighbour, Worst) and lawless(mechanism):
            message = 'give "search", or "row" and an index: the worst row is not known'
            reader.fault("neighbour", "rule", message)
        if isinstance(neighbour, Search) and is_synthesizer(mechanism):
            message = 'give "template", "add", "replace" or "row": a synthesizer has no search'
            reader.fault("neighbour", "rule", message)
        table, settings = reader.read(Audit, "audit"), None
        if table is not None:
            try:
                settings = table.settings(claim)
                if _aimless(settings, mechanism) and "claim" not in reader:
                    reader.fault("audit", "stop", NOTHING_TO_REFUTE)
            except InvalidInput as error:  # it may be about the claim, which has another table
                owner, _, key = (error.argument or "").partition(" ")
                at = ("claim", key) if owner == "claim" else ("audit", owner)
                reader.fault(*at, error.detail)
        reader.close("name", "data", "mechanism", "claim", "neighbour", "audit")
        assert neighbour is not None
        assert table is not None
        assert settings is not None
        rule, folder = neighbour.against(claim), file.path.parent
        parts = data, mechanism, rule, settings, table.seed, table.workers
        return cls(name, folder, *parts, text=file.text)

    @property
    def modules(self) -> Path | None:
        """The folder of the user's modules; None where the scenario names no callable of theirs."""
        call = isinstance(self.mechanism, Call) and not isinstance(self.mechanism, Program)
        ranked = isinstance(self.neighbour, Search) and self.neighbour.imports
        metric = self.settings.metric
        measured = metric is not None and not isinstance(metric.distance, str)
        return self.folder if call or ranked or measured else None

    def override(
        self,
        draws: int | None,
        seed: int | None,
        stop: str | None = None,
        level: float | None = None,
    ) -> Scenario:
        """The scenario with these settings replaced, except those that are None.
        Raises `InvalidInput`.
        """
        options = {"draws": draws, "stop": stop, "level": level}
        changes: dict[str, Any] = {
            key: value for key, value in options.items() if value is not None
        }
        chosen = self.seed if seed is None else check.integer("seed", seed, 0)
        settings = self.settings.replaced(seed=root(chosen), **changes)
        if _aimless(settings, self.mechanism):
            raise InvalidInput(f"stop {NOTHING_TO_REFUTE}", argument="stop")
        return replace(self, seed=chosen, settings=settings)


def read_subject(reader: Reader, *, needed: bool = True) -> tuple[Data | None, Any]:
    """The data as the mechanism sees them, and the mechanism; either is None after a fault.

    needed : whether a missing [data] table is a fault.
    """
    data = reader.read(Data, "data", needed=True) if needed or "data" in reader else None
    mechanism = read_mechanism(reader)
    if data is None:
        return None, mechanism
    if data.path and data.target is None and predicts(mechanism):
        reader.fault("data", "target", "missing (the column to predict)")
    return data.seen_by(mechanism), mechanism


def read_claim(reader: Reader, mechanism: Any, model: type[RowClaim]) -> Any:
    table = reader.read(model, "claim") if "claim" in reader else None
    # the printed claim of a mechanism is unknown if its table has a fault
    if table is None or (mechanism is None and table.printed):
        return None
    try:
        return table.claim(mechanism)
    except InvalidInput as error:
        return reader.refuse("claim", error)


def _aimless(settings: Settings, mechanism: Any) -> bool:
    """Whether the audit shall stop at a verdict that it cannot reach: no claim, no known law."""
    return settings.stop is not None and not settings.claims and lawless(mechanism)


def read_name(reader: Reader) -> str:
    stem = reader.path.stem
    if "name" not in reader:
        if "\n" in stem:
            reader.fault("", "name", "missing: the name of the file has more than one line")
        return stem
    name = reader.content["name"]
    try:
        if text("name", name) != Path(name).name or name == ".." or "\\" in name:
            check.fail("name", name, "text that can name a folder")
        if name.lstrip().startswith("::"):  # GitHub takes such a line for a command
            check.fail("name", name, "text that does not begin with ::")
    except InvalidInput as error:
        reader.fault("", "name", error.detail)
    return str(name)
