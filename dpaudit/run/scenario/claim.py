"""The [claim] table: a privacy claim of one kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpaudit._core.check import integer, real
from dpaudit.auditing.settings import LARGEST_EPSILON
from dpaudit.curves.claims import Claim
from dpaudit.run.scenario.table import Check, Table, flag

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
PRINTED = "printed"


def read_claim(table: Table, mechanism: Any) -> Claim | None:
    """The claim; None after a fault. `printed = true` is the claim of the mechanism's source."""
    if PRINTED in table:
        return _printed(table, mechanism)
    values: dict[str, Any] = {key: table.get(key, check, None) for key, check in CHECKS.items()}
    kind = tuple(key for key in CHECKS if key in table)
    if table.readable and kind not in KINDS:
        table.fault("", EXPECTED)
    table.close()
    given = {key: values[key] for key in kind}
    return KINDS[kind](*given.values()) if kind in KINDS and None not in given.values() else None


def _printed(table: Table, mechanism: Any) -> Claim | None:
    asked = table.get(PRINTED, flag)
    table.close()
    claim = getattr(mechanism, "claim", None)
    if asked is False:
        table.fault(PRINTED, "must be true, or be left out")
    elif asked and mechanism is not None and not isinstance(claim, Claim):
        table.fault(
            PRINTED,
            f"{getattr(mechanism, 'name', 'a callable')} claims nothing with these parameters",
        )
    return claim if isinstance(claim, Claim) else None
