"""The verdict on a claim that does not say whether neighbours add or remove a row, or replace one.

The verdict is "violated" only if the claim fails under both relations. It does if the audits under
both find a violation. It also does if the audit of a replacement alone shows more than two steps of
the claim: a mechanism that is (ε, δ)-DP when a row is added or removed is (2ε, (1 + e^ε)δ)-DP when
a row is replaced, since a removal and an addition replace it (group privacy; Dwork & Roth 2014,
theorem 2.2, and Vadhan 2017, lemma 2.2, for δ > 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpaudit.curves.readings import LARGEST
from dpaudit.verdict.numbers import number

# the relations that a claim may be about, and the changes of a row that each of them allows
READINGS = {"add-remove": ("remove", "add"), "replace": ("replace",)}
WORDS = {"add-remove": "one row added or removed", "replace": "one row replaced"}
BOTH = "Violated, whichever neighbours the claim is about: rows added or removed, or rows replaced."
GROUP = (
    "Violated, whichever neighbours the claim is about: if it held for rows added or removed, "
    "δ({epsilon}) would be at most {delta} for rows replaced."
)
SINGLE = (
    "A violation was found for {shown}, and none for {other}. Only you can say which of them the "
    "claim is about: give --neighbours {relations} if it is the first."
)
NEITHER = "No violation was seen, neither for rows added or removed nor for rows replaced."
WEAK = "The draws cannot decide for {names}."
LEFT_OUT = (
    "Left out: {name}. There the mechanism cannot be audited: {reason}\n"
    "The verdict is that of the other relation: {kind}."
)


def of_both(records: Mapping[str, Mapping[str, Any]], failed: Mapping[str, str]) -> tuple[str, str]:
    """The verdict on a claim and the reason. records : the content of result.json by relation
    (`READINGS`). failed : the reason by relation under which the mechanism cannot be audited; the
    claim is then taken to be about the other one.
    """
    kinds = {
        name: "violated" if record["headline"]["exceeded"] else str(record["verdict"])
        for name, record in records.items()
    }
    if failed:
        ((name, reason),), (verdict,) = failed.items(), kinds.values()
        return verdict, LEFT_OUT.format(name=WORDS[name], reason=reason, kind=verdict)
    violated = [name for name, kind in kinds.items() if kind == "violated"]
    if len(violated) == 2:
        return "violated", BOTH
    if (excess := _beyond_group(records["replace"])) is not None:
        epsilon, delta = (number(value, 3) for value in excess)
        return "violated", GROUP.format(epsilon=epsilon, delta=delta)
    if violated:
        (name,), (other,) = violated, set(kinds) - set(violated)
        relations = ",".join(READINGS[name])
        words = {"shown": WORDS[name], "other": WORDS[other], "relations": relations}
        return "inconclusive", SINGLE.format(**words)
    weak = [WORDS[name] for name, kind in kinds.items() if kind == "inconclusive"]
    if weak:
        return "inconclusive", WEAK.format(names=" or ".join(weak))
    return "not violated", NEITHER


def _beyond_group(replaced: Mapping[str, Any]) -> tuple[float, float] | None:
    """The pair (2ε, (1 + e^ε)δ) if the audit of a replaced row certifies that it is exceeded, or
    None. δ(·) does not increase, so a certified bound at any ε' ≥ 2ε is also a bound at 2ε.
    """
    epsilon, delta = replaced["headline"]["claimed"], replaced["headline"]["delta"]
    most = (1.0 + math.exp(min(epsilon, LARGEST))) * delta
    grid, low = replaced["epsilon"], replaced["empirical"]["low"]
    at_twice = [bound for at, bound in zip(grid, low, strict=True) if at >= 2.0 * epsilon]
    return (2.0 * epsilon, most) if max(at_twice, default=0.0) > most else None
