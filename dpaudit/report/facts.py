"""The facts of an audit for its report, as (name, value) pairs of short texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
NAMELESS = ("pair", "samples")  # relations that the field has no name for
NAMED = 12  # columns of the data that are named
STATISTICS = {
    "leverage": "Leverage of the row",
    "residual_share": "Its share of squared residuals",
}
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
    """The facts about what was audited, in the order in which people read them."""
    mechanism, exact = section(result, "mechanism"), section(result, "exact")
    source, claim = section(result, "source"), section(result, "claim")
    commit, digest = (str(source.get(key) or "")[:12] for key in ("commit", "sha256"))
    no_claim = "none; the bound is held against the exact spectrum" if exact else "none"
    versions = section(result, "versions").items()
    rows = [
        ("Scenario", result.get("scenario")),
        ("Mechanism", _joined(" – ", mechanism.get("name"), mechanism.get("description"))),
        ("Parameters", assignments(section(mechanism, "parameters"))),
        *_dataset(section(result, "dataset")),
        ("Neighbour", _neighbour(section(result, "neighbour"))),
    ]
    if mechanism.get("regression"):
        for key, name in STATISTICS.items():
            if (value := section(result, "neighbour").get(key)) is not None:
                rows.append((name, number(value)))
    rows += [
        (HINT, hint(result)),
        ("Claim", claim.get("text") or no_claim),
        ("Exact spectrum", exact.get("law") or "none known"),
        ("Confidence", percent(result["level"])),
        # With a claim the headline says this at its δ, and an ε at another δ would contradict it.
        ("Certified", "" if claim else _certified(section(result, "certified"))),
        ("Run", moment(section(result, "timings").get("started"))),
        (
            "Source of the mechanism",
            _joined(", ", commit and f"commit {commit}", digest and f"SHA-256 {digest}…"),
        ),
        ("Seed", seed(result)),
        ("Versions", ", ".join(f"{name} {plain(version)}" for name, version in versions)),
    ]
    return [(name, str(value)) for name, value in rows if value]


def seed(result: Mapping[str, Any]) -> str:
    """The seed, with a remark if it does not repeat the draws; "" if no seed is known."""
    if result.get("seed") is None:
        return ""
    unseeded = section(result, "trial").get("repeatable") is False
    return f"{result['seed']}{NOT_REPEATED if unseeded else ''}"


def hint(result: Mapping[str, Any]) -> str:
    """The sentence on the difference that a replay with the same random numbers showed, or ""."""
    replay = section(result, "replay")
    return str(replay["text"]) if replay.get("difference") else ""


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
    """The numbers of an audit for JUnit files of suites and privacy tests, as texts; "" if unknown.

    headline, detectable : as in result.json. neighbour : what differs, in words. tried : how many
    neighbours were compared. draws : draws a side.
    """
    excess = detectable or {}
    values = {
        "verdict": verdict,
        "claim": claim,
        "certified": headline["certified"],
        "parameter": headline["symbol"],
        "at_delta": headline["delta"],
        "detectable": excess.get("excess"),
        "detectable_at_epsilon": excess.get("epsilon"),
        "neighbour": neighbour,
        "neighbours_tried": tried,
        "draws": draws,
        "headline": headline["text"],
    }
    return {name: "" if value is None else str(value) for name, value in values.items()}


def process(result: Mapping[str, Any]) -> dict[str, Any]:
    """Texts on the run: draws a side, the classifier with its losses, timings, and memory."""
    classifier, timings = section(result, "classifier"), section(result, "timings")
    costs = [
        (name, f"{number(timings[key], 3)} s")
        for key, name in TIMINGS.items()
        if timings.get(key) is not None
    ]
    if (memory := result.get("peak_memory_mb")) is not None:
        costs.append(("Peak memory", f"{number(memory, 3)} MB"))
    elif timings:
        costs.append(("Peak memory", "not measured on this system"))
    samples, losses = section(result, "samples").items(), section(classifier, "portfolio").items()
    return {
        "samples": {part: count(draws) for part, draws in samples if draws is not None},
        "classifier": classifier,
        "scores": [f"{name} {number(loss)}" for name, loss in losses],
        "costs": costs,
    }


def _dataset(dataset: Mapping[str, Any]) -> list[Fact]:
    if not dataset:
        return []
    dropped = [
        f"{plain(rows)} ({reason})" for reason, rows in section(dataset, "dropped").items() if rows
    ]
    left_out = f"left out, not audited: {', '.join(dropped)}; audited" if dropped else ""
    if columns := dataset.get("columns"):
        names = ("Columns", _named(len(columns), columns))
    else:
        names = ("Features", _named(dataset.get("features"), dataset.get("feature_names") or []))
    return [
        ("Data", _joined(" – ", dataset.get("name"), dataset.get("source"))),
        ("Rows", _joined(": ", left_out, plain(dataset.get("n")))),
        names,
        ("Changed when loaded", "; ".join(map(str, dataset.get("changes") or []))),
        ("Label", str(dataset.get("target") or "")),
    ]


def _named(size: Any, names: Sequence[Any]) -> str:
    """A number and names, "2: constant, dep_delay"; if there are many, only the first names."""
    more = len(names) - NAMED
    first = [*map(str, names[:NAMED]), *([f"{number(more)} more"] if more > 0 else [])]
    return _joined(": ", plain(size), ", ".join(first))


def _neighbour(neighbour: Mapping[str, Any]) -> str:
    """ "zero-out: one row replaced by zeros; row 11 zeroed (counted from 0); the worst row"."""
    relation, index = neighbour.get("relation"), neighbour.get("index")
    words = str(RELATIONS.get(str(relation), relation) or "")
    change = neighbour.get("change") or ("" if index is None else f"row {number(index)}")
    counted = "" if index is None or relation == "add" else " (counted from 0)"
    return _joined(
        "; ",
        words if relation in NAMELESS else _joined(": ", relation, words),
        f"{change}{counted}",
        str(neighbour.get("rule") or "").removeprefix(f"{change}: "),
    )


def _certified(certified: Mapping[str, Any]) -> str:
    """The certified ε at a few δ, μ and ρ, which all hold simultaneously."""
    bounds = [
        f"ε ≥ {least(epsilon)} at δ = {number(float(delta))}"
        for delta, epsilon in section(certified, "epsilon_at").items()
    ]
    for key, symbol in (("gdp_mu", "μ"), ("zcdp_rho", "ρ")):
        if certified.get(key) is not None:
            bounds.append(f"{symbol} ≥ {least(certified[key])}")
    return ", ".join(bounds)


def _joined(separator: str, *parts: Any) -> str:
    return separator.join(str(part) for part in parts if part)
