"""What was audited and how, as (name, value) pairs of short texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpaudit.verdict.numbers import assignments, count, least, moment, number, percent, plain
from dpaudit.verdict.record import section

Fact = tuple[str, str]
RELATIONS = {
    "zero-out": "one row replaced by zeros",
    "replace": "one row replaced by another",
    "remove": "one row removed",
    "add": "one row added",
    "replace-group": "all rows of one user replaced",
    "remove-group": "all rows of one user removed",
    "pair": "two databases given by the user",
    "samples": "not known: two sets of draws made elsewhere",
}
NAMELESS = ("pair", "samples")  # relations that are no adjacency of the field
NAMED = 12  # columns of the data that are named
ROW = {"leverage": "Leverage of the row", "residual_share": "Its share of squared residuals"}
HINT = "Hint"
NOT_REPEATED = (
    ", which does not repeat the draws: two calls with one seed gave different outputs. Global "
    "generators are set with dpaudit.adapters.global_seeds; what draws from the system cannot be "
    "seeded"
)
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
        *_statistics(result),
        (HINT, hint(result)),
        ("Claim", section(result, "claim").get("text") or no_claim),
        ("Exact spectrum", exact.get("law") or "none known"),
        ("Confidence", percent(result["level"])),
        ("Certified", None if section(result, "claim") else _certified(result)),
        ("Run", moment(section(result, "timings").get("started"))),
        ("Source of the mechanism", _source(section(result, "source"))),
        ("Seed", seed(result)),
        (
            "Versions",
            ", ".join(f"{name} {plain(v)}" for name, v in section(result, "versions").items()),
        ),
    ]
    return [(name, str(value)) for name, value in rows if value]


def seed(result: Mapping[str, Any]) -> str:
    """The seed, and whether it repeats the draws; "" where none is known."""
    if result.get("seed") is None:
        return ""
    unseeded = section(result, "trial").get("repeatable") is False
    return f"{result['seed']}{NOT_REPEATED if unseeded else ''}"


def hint(result: Mapping[str, Any]) -> str:
    """What a replay with the same random numbers points at; "" where that is nothing."""
    found = section(result, "replay")
    return str(found["text"]) if found.get("difference") else ""


def properties(
    headline: Mapping[str, Any],
    detectable: Mapping[str, Any] | None,
    *,
    verdict: str,
    claim: str | None,
    neighbour: str,
    tried: int | None,
    draws: int,
) -> dict[str, str]:
    """The numbers of an audit as JUnit files of suites and of privacy tests have them; "" for none.

    headline, detectable : as in result.json. neighbour : what differs, in words. tried : neighbours
    that were compared. draws : a side.
    """
    found = detectable or {}
    values = {
        "verdict": verdict,
        "claim": claim,
        "certified": headline["certified"],
        "parameter": headline["symbol"],
        "at_delta": headline["delta"],
        "detectable": found.get("excess"),
        "detectable_at_epsilon": found.get("epsilon"),
        "neighbour": neighbour,
        "neighbours_tried": tried,
        "draws": draws,
        "headline": headline["text"],
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}


def process(result: Mapping[str, Any]) -> dict[str, Any]:
    """How the run went: draws a side, classifier with its scores, timings and memory, as texts."""
    classifier, samples = section(result, "classifier"), section(result, "samples")
    return {
        "samples": {part: count(draws) for part, draws in samples.items() if draws is not None},
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
    yield "Data", _joined(" – ", dataset.get("name"), dataset.get("source"))
    left_out = f"left out, not audited: {', '.join(dropped)}; audited" if dropped else ""
    yield "Rows", _joined(": ", left_out, plain(dataset.get("n")))
    if columns := dataset.get("columns"):
        yield "Columns", _named(len(columns), columns)
    else:
        yield "Features", _named(dataset.get("features"), dataset.get("feature_names") or [])
    yield "Changed when loaded", "; ".join(map(str, dataset.get("changes") or []))
    yield "Label", str(dataset.get("target") or "")


def _named(size: Any, names: Sequence[Any]) -> str:
    """ "2: constant, dep_delay"; of many names the first ones."""
    more = len(names) - NAMED
    shown = [*map(str, names[:NAMED]), *([f"{number(more)} more"] if more > 0 else [])]
    return _joined(": ", plain(size), ", ".join(shown))


def _neighbour(neighbour: Mapping[str, Any]) -> Iterator[Fact]:
    relation, index = neighbour.get("relation"), neighbour.get("index")
    change = neighbour.get("change") or ("" if index is None else f"row {number(index)}")
    counted = "" if index is None or relation == "add" else " (counted from 0)"
    chosen = str(neighbour.get("rule") or "").removeprefix(f"{change}: ")
    yield "Neighbour", _joined("; ", _adjacency(relation), f"{change}{counted}", chosen)


def _statistics(result: Mapping[str, Any]) -> Iterator[Fact]:
    """Those of the row by least squares, for a mechanism that fits a regression."""
    if not section(result, "mechanism").get("regression"):
        return
    neighbour = section(result, "neighbour")
    for key, name in ROW.items():
        if neighbour.get(key) is not None:
            yield name, number(neighbour[key])


def _adjacency(relation: Any) -> str:
    """ "zero-out: one row replaced by zeros"."""
    words = RELATIONS.get(str(relation), relation)
    return str(words or "") if relation in NAMELESS else _joined(": ", relation, words)


def _source(source: Mapping[str, Any]) -> str:
    """The commit and the digest of the mechanism's own files, shortened."""
    commit, digest = (str(source.get(key) or "")[:12] for key in ("commit", "sha256"))
    return _joined(", ", commit and f"commit {commit}", digest and f"SHA-256 {digest}…")


def _certified(result: Mapping[str, Any]) -> str:
    """Certified ε at a few δ, μ and ρ, all at once. With a claim the headline says it at its δ, and
    an ε at another δ would seem to contradict it.
    """
    certified = section(result, "certified")
    if not certified:
        return ""
    at = [
        f"ε ≥ {least(epsilon)} at δ = {number(float(delta))}"
        for delta, epsilon in section(certified, "epsilon_at").items()
    ]
    symbols = {"gdp_mu": "μ", "zcdp_rho": "ρ"}
    others = [
        f"{symbol} ≥ {least(certified[key])}"
        for key, symbol in symbols.items()
        if certified.get(key) is not None
    ]
    return ", ".join([*at, *others])


def _joined(separator: str, *parts: Any) -> str:
    return separator.join(str(part) for part in parts if part)
