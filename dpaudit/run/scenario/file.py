"""A scenario file (TOML): what to audit, on what data, against which claim. It is parsed once, into
objects, and all of it is checked before anything runs.

`dpaudit schema --markdown` prints every key (`dpaudit.run.schema`).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit._core import check
from dpaudit._core.seeds import root
from dpaudit._core.shown.printable import one_line
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.auditing.settings import Settings
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.audit import read_settings
from dpaudit.run.scenario.claim import read_claim
from dpaudit.run.scenario.data import Data, read_data
from dpaudit.run.scenario.mechanism import read_mechanism
from dpaudit.run.scenario.neighbour import Neighbour, Searched, Unstated, Worst, read_neighbour
from dpaudit.run.scenario.table import LINE, Table, refuse, takes, text
from dpaudit.run.scenario.user_mechanism import Call, Program, is_synthesizer, lawless, predicts
from dpaudit.run.scenario.workers import Workers, read_workers

REPORTS = Path("dpaudit-out")  # where reports go if no folder is named
OWN = {"rule": "own"}
NOTHING_TO_REFUTE = "needs a claim, since no exact spectrum is known"


@dataclass(frozen=True, eq=False)
class Scenario:
    """One audit, checked. `load` makes it from a file.

    Attributes
    ----------
    name : str
        Of the audit, and of the folder of its report.
    folder : Path
        Of the file. Paths in the file begin there, and so do the user's modules.
    data : Data or None
        The rows to audit on; None for a mechanism's own pair.
    mechanism : LawMechanism or Call
        What is audited. A `Call` is imported when it runs.
    neighbour : Neighbour
        The rule that chooses the second database.
    settings : Settings
        Of the audit, with claim and seed sequence.
    seed : int
        What the seed sequence is made from.
    workers : Workers
        Where draws are made, which changes no result.
    text : str or None
        Of the file; None where the scenario comes from no file.
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

    __repr__ = short_repr

    @property
    def claim(self) -> Claim | None:
        """The claim that is judged; None also where it depends on the pair (`settings.metric`)."""
        return self.settings.claim

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read and check a file. Raises `ScenarioError`, with a line for each fault: "file: [table]
        key: what is wrong".

        Nothing of the user's own code runs here. A `call` is imported, which executes it, by `run`
        and `analyse`.
        """
        file = parsed(Path(path))
        return cls.read(file.path, file.content, file.text)

    @classmethod
    def read(cls, path: Path, content: dict[str, Any], text: str | None = None) -> Scenario:
        """From the content of a file, and its text. Raises as `load`."""
        if "study" in content:
            refuse(path, ["[study]: names a study, which `dpaudit run` makes, and no audit"])
        if "one_run" in content:
            refuse(path, ["[one_run]: names an audit of one run; `dpaudit run` makes it, no other"])
        faults: list[str] = []
        scenario = read_tables(path, Table("", content, faults))
        refuse(path, faults)
        assert scenario is not None
        return replace(scenario, text=text)

    @property
    def modules(self) -> Path | None:
        """Where the user's modules are; None where the scenario names no callable of the user's."""
        call = isinstance(self.mechanism, Call) and not isinstance(self.mechanism, Program)
        ranked = isinstance(self.neighbour, Searched) and self.neighbour.search.imports
        metric = self.settings.metric
        measured = metric is not None and not isinstance(metric.distance, str)
        return self.folder if call or ranked or measured else None

    def report_folder(self, out: str | Path | None = None) -> Path:
        """Where the report goes."""
        return REPORTS / self.name if out is None else Path(out)

    def override(
        self,
        samples: int | None,
        seed: int | None,
        stop: str | None = None,
        level: float | None = None,
    ) -> Scenario:
        """With other draws a side, seed, stop or level where given. Raises `InvalidInput`."""
        given = {"samples": samples, "stop": stop, "level": level}
        changes: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
        chosen = self.seed if seed is None else check.integer("seed", seed, 0)
        settings = self.settings.replaced(seed=root(chosen), **changes)
        if _aimless(settings, self.mechanism):
            raise InvalidInput(f"stop {NOTHING_TO_REFUTE}", argument="stop")
        return replace(self, seed=chosen, settings=settings)


@dataclass(frozen=True, repr=False)
class File:
    """A scenario file, read once. content : its tables."""

    path: Path
    text: str
    content: dict[str, Any]


def parsed(path: Path) -> File:
    """The file. Raises `ScenarioError` where it cannot be read or is not TOML."""
    try:
        text = path.read_bytes().decode("utf-8")
        return File(path, text, tomllib.loads(text))
    except OSError as error:
        said = f"cannot read the scenario {one_line(str(path))}: {error.strerror}"
        raise ScenarioError(said) from None
    except UnicodeDecodeError as error:
        wrong = f"{error.object[error.start]:#04x}"
        fault = f"must be UTF-8 text, got byte {wrong}"
    except RecursionError:
        fault = "tables and lists are nested too deeply"
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        fault = f"not TOML: {error}"
    raise ScenarioError(f"{one_line(path.name)}: {fault}")


def read_tables(path: Path, top: Table) -> Scenario | None:
    """All tables; None after a fault in any of them."""
    name = read_name(top, path)
    own = top.content.get("neighbour") == OWN
    data = None if own and "data" not in top else read_data(top.table("data"), path.parent)
    mechanism = read_mechanism(top.table("mechanism"), path.parent)
    if data is not None:
        data = data.seen_by(mechanism)
        if data.path and data.target is None and predicts(mechanism):
            top.faults.append("[data] target: missing (the column to predict)")
    claim_table = top.table("claim", {})
    claim = read_claim(claim_table, mechanism) if "claim" in top else None
    rules = top.table("neighbour", {})
    neighbour = read_neighbour(rules, claim, path.parent, mechanism)
    if own and (data is not None or (mechanism is not None and not hasattr(mechanism, "pair"))):
        wanted = "takes a mechanism that has a pair of its own, and no [data]"
        top.fault("neighbour", f'rule "own" {wanted}')
    if isinstance(neighbour, Worst) and lawless(mechanism):
        rules.fault("rule", 'give "search", or "row" and an index: the worst row is not known')
    if isinstance(neighbour, (Searched, Unstated)) and is_synthesizer(mechanism):
        rules.fault(
            "rule", 'give "template", "add", "replace" or "row": a synthesizer has no search'
        )
    table = top.table("audit", {})
    seed = table.get("seed", partial(check.integer, minimum=0), 0)
    workers = read_workers(table)
    settings = read_settings(table, claim, seed)
    if settings is not None and _aimless(settings, mechanism):
        table.fault("stop", NOTHING_TO_REFUTE)
    top.close()
    if top.faults or settings is None or neighbour is None:
        return None
    return Scenario(name, path.parent, data, mechanism, neighbour, settings, seed, workers)


def _aimless(settings: Settings, mechanism: Any) -> bool:
    """Whether the audit is to stop at a verdict that it cannot reach."""
    return settings.stop is not None and not settings.claims and lawless(mechanism)


def read_name(top: Table, path: Path) -> str:
    """The key `name`, by default the name of the file, which must then be one line too."""
    if "name" not in top and "\n" in path.stem:
        top.fault("name", "missing: the name of the file has more than one line")
    return str(top.get("name", folder_name, path.stem))


@takes(LINE)
def folder_name(key: str, value: Any) -> str:
    """A name, which the report's folder takes too."""
    if text(key, value) != Path(value).name or value == ".." or "\\" in value:
        check.fail(key, value, "text that can name a folder")
    if value.lstrip().startswith("::"):  # GitHub takes such a line for a command
        check.fail(key, value, "text that does not begin with ::")
    return str(value)
