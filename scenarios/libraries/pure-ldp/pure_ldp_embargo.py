"""What pure-ldp releases in the audits that are not public, as mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pure_ldp_calls import Client


def rappor(epsilon: float, m: int, cohorts: int) -> Callable[..., list[Any]]:
    """RAPPOR with one hash function a cohort, its f from `convert_eps_to_f`."""
    from pure_ldp.frequency_oracles import RAPPORClient

    f = RAPPORClient(0.5, m, []).convert_eps_to_f(epsilon)
    server = {"f": f, "m": m, "k": 1, "d": m, "num_of_cohorts": cohorts}
    return Client("RAPPOR", {"f": f, "m": m, "num_of_cohorts": cohorts}, server)
