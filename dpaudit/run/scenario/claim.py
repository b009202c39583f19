"""The [claim] table: a privacy claim of one kind, of a group of rows, or by distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpaudit._core.check import fail, integer, real
from dpaudit.auditing.settings import LARGEST_EPSILON
from dpaudit.curves.claims import Claim
from dpaudit.curves.metric import DISTANCES, MetricClaim
from dpaudit.run.scenario.table import Check, Table, flag, takes
from dpaudit.run.scenario.target import TARGET, imported, is_target

AT_LEAST_0, ABOVE_1 = partial(real, low=0.0), partial(real, low=1.0, open_=True)
CHECKS: dict[str, Check] = {
    "epsilon": partial(real, low=0.0, high=LARGEST_EPSILON),
    "delta": partial(real, low=0.0, high=1.0),
    "gdp": AT_LEAST_0,
    "rho": AT_LEAST_0,
    "omega": ABOVE_1,
    "rows": partial(integer, minimum=1),
    "gamma": ABOVE_1,
}
KINDS: dict[tuple[str, ...], Callable[..., Claim]] = {
    ("epsilon",): Claim,
    ("epsilon", "delta"): Claim,
    ("gdp",): Claim.gdp,
    ("rho",): Claim.zcdp,
    ("rho", "omega"): Claim.tcdp,
    ("rows", "gamma"): Claim.gaussmix,
}
EXPECTED = (
    "must be of one kind: epsilon (and delta), gdp, rho (and omega), rows and gamma, or printed"
)
PRINTED, PER, GROUP = "printed", "per", "group"


@dataclass(frozen=True)
class Target:
    """A distance of the user's, which is imported when two records are there."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name.rpartition(":")[2]

    def __call__(self, x: Any, y: Any) -> Any:
        """d(x, y). Raises `ScenarioError` where it cannot be imported."""
        return imported(self.name, f"[claim] {PER}")(x, y)


def read_claim(table: Table, mechanism: Any) -> Claim | MetricClaim | None:
    """The claim; None after a fault. `printed = true` is the claim of the mechanism's source.

    `group = 3` : what it says of 3 changed rows. `per = "euclidean"` : it is ε a unit of distance.
    """
    claim = _of_one_row(table, mechanism)
    per = table.get(PER, _distance, None)
    size = table.get(GROUP, partial(integer, minimum=1), 1)
    table.close()
    if claim is None or None in (size, per if PER in table else ""):
        return None
    if per is None:
        return claim.group(size)
    if claim.epsilon is None or PRINTED in table or GROUP in table:
        table.fault(PER, "goes with epsilon (and delta) alone: the distances of rows add up")
        return None
    return Claim.metric(claim.epsilon, per, claim.delta)


@takes({"anyOf": [{"enum": list(DISTANCES)}, TARGET]})
def _distance(key: str, value: Any) -> str | Target:
    if is_target(value):
        return Target(value)
    if not isinstance(value, str) or value not in DISTANCES:
        fail(key, value, f'one of {", ".join(DISTANCES)}, or "package.module:callable"')
    return value


def row_claim(table: Table, mechanism: Any) -> Claim | None:
    """The same, of one row, whatever it is; None after a fault."""
    claim = _of_one_row(table, mechanism)
    table.close()
    return claim


def _of_one_row(table: Table, mechanism: Any) -> Claim | None:
    if PRINTED in table:
        return _printed(table, mechanism)
    values: dict[str, Any] = {key: table.get(key, check, None) for key, check in CHECKS.items()}
    kind = tuple(key for key in CHECKS if key in table)
    if table.readable and kind not in KINDS:
        table.fault("", EXPECTED)
    given = {key: values[key] for key in kind}
    return KINDS[kind](*given.values()) if kind in KINDS and None not in given.values() else None


def _printed(table: Table, mechanism: Any) -> Claim | None:
    asked = table.get(PRINTED, flag)
    claim = getattr(mechanism, "claim", None)
    if asked is False:
        table.fault(PRINTED, "must be true, or be left out")
    elif asked and mechanism is not None and not isinstance(claim, Claim):
        table.fault(
            PRINTED,
            f"{getattr(mechanism, 'name', 'a callable')} claims nothing with these parameters",
        )
    return claim if isinstance(claim, Claim) else None
