"""The [claim] table: a privacy claim of one kind, and the ε at which one without an ε of its own is
judged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpaudit._core.check import Array, integer, real
from dpaudit.auditing.api import DEFAULT_EPSILON, LARGEST_EPSILON
from dpaudit.curves.claims import Claim
from dpaudit.run.scenario.table import Check, Table, flag

AT_LEAST_0, ABOVE_1 = partial(real, low=0.0), partial(real, low=1.0, open_=True)
CHECKS: dict[str, Check] = {
    "epsilon": AT_LEAST_0,
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
POINTS, TAIL = 41, 1e-9


def given_claim(table: Table, mechanism: Any) -> Claim | None:
    """The claim, `printed = true` being the one that the mechanism's source makes; None after a
    fault.
    """
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


def claim_grid(claim: Claim) -> Array | None:
    """ε, nats, 41 from 0 to where the claim's δ is 1e-9, since a claim on a whole curve may fail
    far out only.

    Beside the audit's own ε if that is beyond them. None, which is those alone, for a claim with an
    ε of its own, or of δ = 0 throughout.
    """
    if claim.epsilon is not None:
        return None
    end = min(float(claim.epsilon_at(TAIL)), LARGEST_EPSILON)
    if end == 0.0:
        return None
    points = np.linspace(0.0, end, POINTS)
    return points if end <= DEFAULT_EPSILON[-1] else np.union1d(points, DEFAULT_EPSILON)
