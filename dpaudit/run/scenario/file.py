"""A scenario file (TOML): what to audit, on what data, against which claim. All of it is checked
before anything runs.

Keys, by table (`name` stands above them and is optional):

- [data] name = "flight", or path = "x.csv" (from the scenario's folder) and target = "y"; constant
  = true; row_bound = 5.0 shrinks longer rows (label included) to that norm
- [mechanism] name = "ALS" and its parameters; or call = "package.module:callable", with a table
  `parameters` if the callable makes the mechanism from them, batched = false if it gives one output
  a call, or kind = "estimator" if it makes an estimator with fit (and then outputs = ["coef_"] or
  "package.module:callable", or predict = [[..], ..]); or command = ["program", "{data}", "{size}",
  "{seed}"], run in the scenario's folder; timeout = 60 seconds, of either
- [neighbour] rule = "worst" (of all rows zeroed, at ε = `at`, by theory), "search" (the same and
  other relations, without theory: keys in `dpaudit.run.scenario.search`), "row" (`index` zeroed),
  "replace" (`index` by `row`), or, without [data], "own": the two databases on which a mechanism of
  a paper shows what it claims
- [claim] of one kind, or none: epsilon = 1.0 and delta = 0.1; gdp = 0.5; rho = 0.1
  (zero-concentrated), with omega = 20.0 (truncated); rows = 1000 and gamma = 50.0 (the Rényi curve
  of Gaussian mixing); printed = true, what the mechanism's own source claims
- [audit] epsilon = [..] or {start, stop, num}; samples, level, classifier, seed, detect,
  train_share, choose_share, bits, focus, and stop = "verdict" to draw no more than that takes; all
  optional, as in `dpaudit.audit`; the seed is 0 if not given, and the ε go to where the claim's δ
  is 1e-9 if not given for a claim that has no ε of its own; and backend = "threading", "loky"
  (processes) or "dask", with address = "tcp://..." of a scheduler, which change no result
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dpaudit import datasets, scoring
from dpaudit._core import check
from dpaudit.auditing.api import audit
from dpaudit.certify.sets import FOCUS
from dpaudit.certify.split import split
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.claim import claim_grid, given_claim
from dpaudit.run.scenario.mechanism import given_mechanism
from dpaudit.run.scenario.search import Search, given_search
from dpaudit.run.scenario.table import Check, Table, flag, numbers, text
from dpaudit.run.scenario.workers import Workers, given_workers

DEFAULTS = {name: one.default for name, one in inspect.signature(audit).parameters.items()}
RULES = ("worst", "search", "row", "replace", "own")


@dataclass(frozen=True)
class Data:
    """A data set by name, or a CSV file by path and target."""

    name: str | None
    path: Path | None
    target: str | None
    constant: bool
    row_bound: float | None = None

    def load(self) -> datasets.Dataset:
        """Raises `DataNotFound`, `InvalidInput`."""
        found = self.path or self.name
        assert found is not None
        loaded = datasets.load(found, target=self.target, constant=self.constant)
        return loaded if self.row_bound is None else loaded.shrunk(self.row_bound)


@dataclass(frozen=True)
class Neighbour:
    """How D' is chosen: `rule` is "worst" (of all rows zeroed, at ε = `at`), "row" or "replace"
    (row `index`).

    "search" goes by what `search` says. "own" is the mechanism's `pair()`, and then there are no
    other data.
    """

    rule: str
    index: int | None = None
    row: tuple[float, ...] | None = None
    at: float | None = None
    search: Search | None = None


@dataclass(frozen=True, eq=False)
class Scenario:
    """One audit, checked. `settings` are keyword arguments of `dpaudit.audit`; `folder` holds the
    file.
    """

    name: str
    folder: Path
    data: Data | None
    mechanism: Any
    neighbour: Neighbour
    claim: Claim | None
    seed: int
    settings: Mapping[str, Any]
    workers: Workers = field(default_factory=Workers)

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read and check a file. Raises `ScenarioError`, a line for each fault: "file: [table] key:
        what is wrong".

        Nothing of the user's own code runs here. A `call` is imported, which executes it, by `run`
        and `analyse`.
        """
        path = Path(path)
        content, faults = parsed(path), list[str]()
        if "study" in content:
            raise ScenarioError(
                f"{path.name}: [study]: names a study, which `dpaudit run` makes, and no audit"
            )
        scenario = _read(path, Table("", content, faults))
        if faults:
            raise ScenarioError("\n".join(f"{path.name}: {fault}" for fault in faults))
        return scenario

    def override(self, samples: int | None, seed: int | None, stop: str | None = None) -> Scenario:
        """With another number of draws, another seed, or a stop, where given. Raises
        `InvalidInput`.
        """
        settings = dict(self.settings)
        if stop is not None:
            settings["stop"] = check.choice("stop", stop, ("verdict",))
        if samples is not None:
            split(samples, settings["train_share"], settings["choose_share"])
            settings["samples"] = samples
        chosen = self.seed if seed is None else check.integer("seed", seed, 0)
        return replace(self, seed=chosen, settings=MappingProxyType(settings))


def parsed(path: Path) -> dict[str, Any]:
    """The file's content. Raises `ScenarioError` where it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ScenarioError(f"cannot read the scenario {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{path.name}: must be UTF-8 text, got byte {error.object[error.start]:#04x}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path.name}: not TOML: {error}") from None


def _read(path: Path, top: Table) -> Scenario:
    """The whole file; of no use when it has faults."""
    name = top.get("name", given_name, path.stem)
    own = top.content.get("neighbour") == {"rule": "own"}
    data = None if own and "data" not in top else _data(top.table("data"), path.parent)
    mechanism = given_mechanism(top.table("mechanism"), path.parent)
    claim_table = top.table("claim", {})
    claim = given_claim(claim_table, mechanism) if "claim" in top else None
    neighbour = _neighbour(top.table("neighbour", {}), claim, path.parent)
    if own and (data is not None or (mechanism is not None and not hasattr(mechanism, "pair"))):
        top.fault(
            "neighbour", 'rule "own" takes a mechanism that has a pair of its own, and no [data]'
        )
    audit_table = top.table("audit", {})
    seed = audit_table.get("seed", partial(check.integer, minimum=0), 0)
    workers = given_workers(audit_table)
    settings = _settings(audit_table)
    if claim is not None and "epsilon" not in audit_table:
        settings["epsilon"] = claim_grid(claim)
    top.close()
    return Scenario(
        name,
        path.parent,
        data,
        mechanism,
        neighbour,
        claim,
        seed,
        MappingProxyType(settings),
        workers,
    )


def given_name(key: str, value: Any) -> str:
    """The report's folder is called so."""
    if text(key, value) != Path(value).name or value == ".." or "\\" in value:
        check.fail(key, value, "text that can name a folder")
    return str(value)


def _data(table: Table, folder: Path) -> Data:
    path = table.get("path", text, None)
    name = table.get("name", _dataset, None)
    target = table.get("target", text, None)
    constant = table.get("constant", flag, True)
    row_bound = table.get("row_bound", partial(check.real, low=0.0, open_=True), None)
    if table.readable and ("name" in table) == ("path" in table):
        table.fault("", "must have either name or path")
    if "path" in table and "target" not in table:
        table.fault("target", "missing (the column to predict)")
    table.close()
    return Data(
        name,
        None if path is None else folder / os.path.expanduser(path),
        target,
        constant,
        row_bound,
    )


def _dataset(key: str, value: Any) -> str:
    if Path(text(key, value)).suffix or len(Path(value).parts) > 1:
        check.fail(
            key,
            value,
            f"the name of a data set ({', '.join(datasets.names())}); a file goes under path",
        )
    return str(value)


def _neighbour(table: Table, claim: Claim | None, folder: Path) -> Neighbour:
    rule = table.get("rule", partial(check.choice, allowed=RULES), "worst")
    if rule is None:
        return Neighbour("")
    default = claim.epsilon if claim is not None and claim.epsilon is not None else 0.0
    if rule == "search":
        chosen = Neighbour(rule, search=given_search(table, folder, default))
    elif rule == "worst":
        chosen = Neighbour(rule, at=table.get("at", partial(check.real, low=0.0), default))
    elif rule == "own":
        chosen = Neighbour(rule)
    else:
        index = table.get("index", partial(check.integer, minimum=0))
        chosen = Neighbour(rule, index, table.get("row", numbers) if rule == "replace" else None)
    table.close()
    return chosen


def _settings(table: Table) -> dict[str, Any]:
    checks: dict[str, Check] = {
        "samples": partial(check.integer, minimum=1),
        "level": partial(check.real, low=0.0, high=1.0, open_=True),
        "classifier": partial(check.choice, allowed=tuple(scoring.ALIASES)),
        "detect": partial(check.real, low=0.0, high=1.0),
        "train_share": partial(check.real, low=0.0, high=1.0),
        "choose_share": partial(check.real, low=0.0, high=1.0),
        "bits": check.boolean,
        "focus": partial(check.choice, allowed=FOCUS),
        "stop": partial(check.choice, allowed=("verdict",)),
    }
    settings = {key: table.get(key, check, DEFAULTS[key]) for key, check in checks.items()}
    settings["epsilon"] = _grid(table)
    sizes = [settings[key] for key in ("samples", "train_share", "choose_share")]
    try:
        if sizes[0] is not None:
            split(*sizes)
    except InvalidInput as error:
        table.fault("samples", str(error))
    table.close()
    return settings


def _grid(table: Table) -> Any:
    """A list of ε, or evenly spaced ones from start to stop; None where neither is given."""
    if not isinstance(table.content.get("epsilon"), dict):
        return table.get("epsilon", _list, DEFAULTS["epsilon"])
    inner = table.table("epsilon")
    start, stop = (inner.get(key, partial(check.real, low=0.0)) for key in ("start", "stop"))
    number = inner.get("num", partial(check.integer, minimum=1))
    inner.close()
    return None if None in (start, stop, number) else np.linspace(start, stop, number)


def _list(key: str, value: Any) -> Any:
    return check.epsilon(numbers(key, value), key)
