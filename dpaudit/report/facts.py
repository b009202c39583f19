"""What was audited and how, as (name, value) pairs of short texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.report.data import section
from dpaudit.report.text import assignments, number, percent, plain

Fact = tuple[str, str]
RELATIONS = {
    "zero-out": "one row replaced by zeros",
    "replace": "one row replaced by another",
    "pair": "two databases given by the user",
    "samples": "not known: two sets of draws made elsewhere",
}
ROW = {"leverage": "Leverage of the row", "residual_share": "Its share of squared residuals"}
TIMINGS = {
    "sample_s": "Drawing",
    "fit_s": "Training",
    "certify_s": "Certifying",
    "total_s": "Total",
}


def facts(result: Mapping[str, Any]) -> list[Fact]:
    """What was audited, in the order in which people read it."""
    mechanism, exact = section(result, "mechanism"), section(result, "exact")
    no_claim = "none; the bound is held against the exact spectrum" if exact else "none"
    rows = [
        ("Scenario", result.get("scenario")),
        ("Mechanism", _joined(" – ", mechanism.get("name"), mechanism.get("description"))),
        ("Parameters", assignments(section(mechanism, "parameters"))),
        *_dataset(section(result, "dataset")),
        *_neighbour(section(result, "neighbour")),
        ("Claim", section(result, "claim").get("text") or no_claim),
        ("Exact spectrum", exact.get("law") or "none known"),
        ("Confidence", percent(result["level"])),
        ("Certified as well", _certified(section(result, "certified"))),
        ("Seed", None if result.get("seed") is None else str(result["seed"])),
        (
            "Versions",
            ", ".join(f"{name} {plain(v)}" for name, v in section(result, "versions").items()),
        ),
    ]
    return [(name, str(value)) for name, value in rows if value]


def process(result: Mapping[str, Any]) -> dict[str, Any]:
    """How the run went: draws a side, classifier with its scores, timings and memory, as texts."""
    classifier, samples = section(result, "classifier"), section(result, "samples")
    return {
        "samples": {part: number(draws) for part, draws in samples.items() if draws is not None},
        "classifier": classifier,
        "scores": [
            f"{name} {number(loss)}" for name, loss in section(classifier, "portfolio").items()
        ],
        "costs": list(_costs(section(result, "timings"), result.get("peak_memory_mb"))),
    }


def _costs(timings: Mapping[str, Any], memory: float | None) -> Iterator[Fact]:
    for key, name in TIMINGS.items():
        if timings.get(key) is not None:
            yield name, f"{number(timings[key], 3)} s"
    if memory is not None:
        yield "Peak memory", f"{number(memory, 3)} MB"
    elif timings:
        yield "Peak memory", "not measured on this system"


def _dataset(dataset: Mapping[str, Any]) -> Iterator[Fact]:
    if not dataset:
        return
    dropped = [
        f"{plain(count)} ({reason})"
        for reason, count in section(dataset, "dropped").items()
        if count
    ]
    names = ", ".join(map(str, dataset.get("feature_names") or []))
    yield "Data", _joined(" – ", dataset.get("name"), dataset.get("source"))
    yield "Rows", _joined("; dropped before: ", plain(dataset.get("n")), ", ".join(dropped))
    yield "Features", _joined(": ", plain(dataset.get("features")), names)
    yield "Label", str(dataset.get("target") or "")


def _neighbour(neighbour: Mapping[str, Any]) -> Iterator[Fact]:
    relation, index = neighbour.get("relation"), neighbour.get("index")
    row = "" if index is None else f"row {number(index)} (counted from 0)"
    yield (
        "Neighbour",
        _joined("; ", RELATIONS.get(str(relation), relation), row, neighbour.get("rule")),
    )
    for key, name in ROW.items():
        if neighbour.get(key) is not None:
            yield name, number(neighbour[key])


def _certified(certified: Mapping[str, Any]) -> str:
    """Certified ε at a few δ, and μ. All these bounds and the curve hold at once."""
    if not certified:
        return ""
    bounds = {
        delta: number(epsilon, 3, down=True)
        for delta, epsilon in section(certified, "epsilon_at").items()
    }
    at = ", ".join(f"{epsilon} at δ = {number(float(delta))}" for delta, epsilon in bounds.items())
    return f"no smaller ε than {at}; no smaller μ than {number(certified['gdp_mu'], 3, down=True)}"


def _joined(separator: str, *parts: Any) -> str:
    return separator.join(str(part) for part in parts if part)
