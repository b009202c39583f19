"""A letter to the makers of a package, and for each finding a script that needs that package."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit._core.types import Array
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.run import Scenario
from dpaudit.run.execute import loaded_data
from dpaudit.run.scenario.neighbour import Search
from reports.make import page
from reports.make.libraries import report
from reports.make.libraries.facts import EMBARGO, KINDS, SCENARIOS, Package
from reports.make.libraries.report import Audit

BESIDE = re.compile(r"^from (\w+_calls) import .*$", re.MULTILINE)
FUTURE = "from __future__ import annotations\n"
GRID = np.linspace(0.0, 3.0, 13)  # where a claim that is no pair (ε, δ) is held against the draws


def write(package: Package) -> list[Path]:
    """Write them to a folder in `EMBARGO`; returns the paths, of the letter first.

    Raises as `report.audits`.
    """
    folder = EMBARGO / "letters" / package.package.lower()
    made = {one.name: one for one in report.audits(package) if one.finding and not one.public}
    found = report.findings(sorted(made.values(), key=lambda one: one.gravity))
    letter = page.render("package-letter.md", package=package, findings=found, kinds=KINDS)
    for path in package.scenarios.parent.glob("*.txt"):
        page.write(folder / path.name, path.read_bytes())  # what a call reads beside itself
    scripts = [page.write(folder / f"{one['name']}.py", script(made[one["name"]])) for one in found]
    return [page.write(folder / "letter.md", letter), *scripts]


def script(audit: Audit) -> str:
    """A Python file that draws both sides by the scenario's call and counts a set of outputs."""
    scenario = Scenario.read(audit.package.audits()[audit.name])
    pair, outcome = _pair(audit, scenario), audit.outcome
    claim = [(outcome.claimed, outcome.delta)]
    if outcome.delta is None:
        assert scenario.claim is not None
        claim = list(zip(GRID.tolist(), scenario.claim.delta_at(GRID).tolist(), strict=True))
    module = scenario.mechanism.call.partition(":")[0]
    assert audit.finding is not None
    return page.render(
        "package-script.txt",
        package=audit.package,
        stated=audit.stated,
        outcome=outcome,
        code=_code(SCENARIOS / audit.package.package.lower() / f"{module}.py"),
        left=_literal(pair.left),
        right=_literal(pair.right),
        claim=claim,
        draws=outcome.draws,
        mechanism=_called(scenario.mechanism),
        event=audit.finding.event,
    )


def _pair(audit: Audit, scenario: Any) -> NeighbourPair:
    """The audited pair; where it was searched for, the finding names the row that was put in."""
    data = loaded_data(scenario).database
    if not isinstance(scenario.neighbour, Search):
        return scenario.neighbour.pair(None, data)
    assert audit.finding is not None
    index = int(audit.outcome.neighbour.split()[1])  # "row 4 replaced"
    return replace_row(data, index, audit.finding.row or data[index].tolist())


def _called(table: Any) -> str:
    """The mechanism as an expression, in the words of the scenario's [mechanism] table."""
    name, given = table.call.partition(":")[2], dict(table.parameters or {})
    arguments = ", ".join(f"{key}={one!r}" for key, one in given.items())
    kind, made = getattr(table, "kind", None), f"{name}({arguments})"
    if kind == "synthesizer":
        drawn = "np.asarray(one.sample(one.fit(data, rng), rng))"
        return f"lambda data, size, rng, one={made}: [{drawn} for _ in range(size)]"
    if kind != "estimator":
        return made if table.parameters is not None else str(name)
    random = "random_state=int(rng.integers(2**31))"
    fitted = f"{made[:-1]}, {random}).fit(data[:, :-1], data[:, -1])"
    out = f"vars({fitted})[{table.outputs[0]!r}]"
    if isinstance(table.outputs, str):
        out = f"{table.outputs.partition(':')[2]}({fitted})"
    return f"lambda data, size, rng: [{out} for _ in range(size)]"


def _code(path: Path) -> str:
    """A module without its docstring, with those from which it imports in place of the imports."""
    text = path.read_text(encoding="utf-8")
    docstring = ast.parse(text).body[0]
    code = "\n".join(text.splitlines()[docstring.end_lineno :]).strip("\n")
    return BESIDE.sub(
        lambda found: _code(path.with_name(f"{found[1]}.py")).replace(FUTURE, ""), code
    )


def _literal(data: Array) -> Sequence[Any]:
    rows: Sequence[Any] = np.asarray(data).tolist()
    return rows
