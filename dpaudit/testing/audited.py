"""One audit as facts and as a line: verdict, claim, what is certified, what it could have shown."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from dpaudit.auditing.result import AuditResult
from dpaudit.neighbours import NeighbourPair
from dpaudit.report.facts import properties
from dpaudit.report.text import count, number
from dpaudit.testing.reporting import Audited


def audited(
    verdict: str,
    claim: str,
    result: AuditResult,
    *,
    detectable: Mapping[str, float] | None,
    tried: int | None = None,
) -> Audited:
    """verdict, claim : in words.

    detectable : as in `AuditResult`. tried : neighbours that were compared; None where the pair was
    given.
    """
    head, pair = result.headline, result.subject.pair
    facts = properties(
        head.to_dict(),
        detectable,
        verdict=verdict,
        claim=claim,
        neighbour=_change(pair),
        tried=tried,
        draws=result.sizes.total,
    )
    certified = f"{head.symbol} ≥ {number(head.certified, down=True)} certified {head.at}".rstrip()
    parts = (
        claim if head.claimed is None else f"{claim}; {certified}",
        _would_show(detectable),
        f"{_change(pair)}{_of(tried)}",
        f"{count(result.sizes.total)} draws a side",
    )
    return Audited(facts, "; ".join(parts), _excess(detectable, result.settings.claimed_epsilon))


def _excess(detectable: Mapping[str, float] | None, epsilon: float | None) -> float:
    """The excess by which audits of one test are compared: at the claim's own ε if it has one."""
    if detectable is None or epsilon not in (None, detectable["epsilon"]):
        return inf
    return detectable["excess"]


def _would_show(detectable: Mapping[str, float] | None) -> str:
    if detectable is None:
        return "no excess detectable"
    excess, epsilon, power = (number(detectable[key], 3) for key in ("excess", "epsilon", "power"))
    return f"excess of any shape detectable with probability {power}: {excess} in δ({epsilon})"


def _change(pair: NeighbourPair | None) -> str:
    return (pair.change if pair is not None else "") or "two databases"


def _of(tried: int | None) -> str:
    if tried is None:
        return " (given)"
    return f", worst of {count(tried)} neighbour{'' if tried == 1 else 's'} tried"
