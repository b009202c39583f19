"""From a result to result.json: JSON types only, and every fact that the report shows."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import __version__
from dpaudit._core.result_file import SCHEMA_VERSION
from dpaudit._core.seeds import describe as describe_seed
from dpaudit._core.shown.printable import encodable
from dpaudit._core.types import Array, describe
from dpaudit.errors import DegenerateData, InvalidInput
from dpaudit.neighbours import NeighbourPair, row_statistics

if TYPE_CHECKING:
    from dpaudit.auditing.result import AuditResult, Subject
    from dpaudit.certify.estimate import Direction


def to_dict(result: AuditResult) -> dict[str, Any]:
    """The content of result.json."""
    spectrum, subject, settings = result.spectrum, result.subject, result.settings
    record = {
        "schema_version": SCHEMA_VERSION,
        "scenario": subject.scenario,
        "scenario_text": subject.scenario_text,
        "mechanism": _mechanism(subject.mechanism) if subject.mechanism is not None else None,
        "source": subject.source,
        "dataset": subject.dataset,
        "neighbour": _neighbour(subject),
        "search": subject.search,
        "replay": subject.replay,
        "trial": None if result.trial is None else result.trial.to_dict(),
        "level": settings.level,
        "verdict": result.verdict,
        "reason": result.reason,
        "headline": result.headline.to_dict(),
        "epsilon": spectrum.epsilon,
        "empirical": {
            "delta": spectrum.delta,
            "low": spectrum.low,
            "interval": spectrum.interval,
            "forward": _direction(result.estimate.forward),
            "backward": _direction(result.estimate.backward),
        },
        "certified": result.certified.to_dict(),
        "exact": _exact(result),
        "claim": _claim(result),
        "detectable": result.detectable,
        "sequential": None if result.sequential is None else result.sequential.to_dict(),
        "ledger": result.ledger,
        "evidence": None if result.evidence is None else result.evidence.to_dict(),
        "samples": {
            "train": result.sizes.train,
            "choose": result.sizes.choose,
            "test": result.sizes.certify,
        },
        "classifier": _classifier(result),
        "seed": describe_seed(settings.seed),
        "versions": dict(versions()),
        "timings": result.timings,
        "peak_memory_mb": result.peak_memory_mb,
    }
    return plain(record)


def plain(value: Any) -> Any:
    """The value in JSON types, infinities as strings. Raises `InvalidInput` for NaN.

    Lone surrogates, as in a file name that is not UTF-8, are escaped, since no file can hold them.
    """
    if isinstance(value, dict):
        return {encodable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        if np.isnan(value):
            raise InvalidInput("a result must hold no NaN")
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return encodable(str(value))


def _mechanism(mechanism: Any) -> dict[str, Any]:
    name, parameters = describe(mechanism)
    lines = (
        (getattr(mechanism, "summary", "") or getattr(mechanism, "__doc__", "") or "")
        .strip()
        .splitlines()
    )
    return {
        "name": name,
        "parameters": parameters,
        "description": lines[0] if lines else "",
        "regression": bool(getattr(mechanism, "regression", False)),
    }


def _neighbour(subject: Subject) -> dict[str, Any]:
    """The pair in words; in values only where they are asked for, or of a public bound.

    tried, pool : how many neighbours a search audited, and from how many.
    """
    pair, search = subject.pair, subject.search or {}
    tried = sum(one["rung"] > 0 for one in search.get("tried", ()))
    return {
        **_pair(pair, subject),
        "rule": subject.rule,
        "tried": tried or None,
        "pool": search.get("pool"),
    }


def _pair(pair: NeighbourPair | None, subject: Subject) -> dict[str, Any]:
    """Relation, rows, the source of a row that came in, and the statistics of a row of D by least
    squares, where they are defined.
    """
    if pair is None:
        return {"relation": "samples", "index": None, "leverage": None, "residual_share": None}
    leverage = share = leaves = None
    if pair.index is not None and pair.relation != "add":
        leaves = pair.left[pair.index].tolist() if subject.show_data else None
        leverage, share = _statistics(pair.left, pair.index)
    return {
        **pair.to_dict(show_data=subject.show_data),
        "row_taken_out": leaves,
        "leverage": leverage,
        "residual_share": share,
    }


def _statistics(data: Array, index: int) -> tuple[float | None, float | None]:
    """Leverage and residual share of a row, None where they are not defined."""
    if data.shape[1] < 2:
        return None, None
    try:
        rows = row_statistics(data)
    except DegenerateData:
        return None, None
    return float(rows.leverage[index]), float(rows.residual_share[index])


def _direction(found: Direction) -> dict[str, Any]:
    return {"delta": found.delta, "low": found.low}


def _exact(result: AuditResult) -> dict[str, Any] | None:
    if result.exact is None:
        return None
    names = ("delta", "law", "forward", "backward", "asymptotic")
    return {name: getattr(result.exact, name) for name in names}


def _claim(result: AuditResult) -> dict[str, Any] | None:
    claim = result.claim
    if claim is None:
        return None
    return {
        "text": claim.text,
        "epsilon": claim.epsilon,
        "delta": claim.delta_at(result.spectrum.epsilon),
    }


def _classifier(result: AuditResult) -> dict[str, Any]:
    requested, fitted = result.settings.classifier, result.fitted
    return {
        "requested": requested if isinstance(requested, str) else fitted.name,
        "chosen": fitted.name,
        "note": "; ".join(fitted.notes) or None,
        "portfolio": fitted.portfolio,
        "unread": fitted.unread,
    }


@cache
def versions() -> dict[str, str]:
    """Of what this process has loaded or would load."""
    found = {"python": platform.python_version(), "dpaudit": __version__}
    for name in ("numpy", "scipy", "scikit-learn", "lightgbm"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
