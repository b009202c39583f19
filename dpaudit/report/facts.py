"""The texts of an audit's page: four tiles and advice at its top, then facts as (name, value)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dpaudit import power
from dpaudit.verdict.headline import CLAIMED, PREMISE, Headline
from dpaudit.verdict.numbers import (
    NONE,
    assignments,
    count,
    enough,
    equation,
    label,
    least,
    moment,
    number,
    percent,
    plain,
)
from dpaudit.verdict.record import Curves, section
from dpaudit.verdict.sentences import breaks_exactly, whom

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
NOTE_WIDTH = 80  # characters below a tile
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


class Tile(NamedTuple):
    """One of the four facts on top: its name, the value in large type, and a line below it."""

    name: str
    value: str
    note: str = ""


def tiles(result: Mapping[str, Any], curves: Curves) -> tuple[Tile, ...]:
    headline, samples = curves.headline, section(result, "samples")
    text = label(curves.claim_text, NOTE_WIDTH)
    if curves.claim is None:
        note = "nothing to judge by" if curves.exact is None else "judged by the exact spectrum"
        claimed = Tile("Claimed", "none", note)
    elif headline.claimed is None:
        claimed = Tile("Claimed", text or NONE)
    else:
        value = equation(headline.symbol, headline.claimed_text)
        claimed = Tile("Claimed", value, headline.at or text)
    if bets := section(result, "sequential"):
        draws = count(bets["drawn"]), f"{count(bets['tested'])} of them bet on"
    elif drawn := [size for size in samples.values() if size is not None]:
        test = samples.get("test")
        draws = count(sum(drawn)), f"{count(test)} of them certify" if test else ""
    else:
        draws = NONE, "not recorded"
    certified = certified_tile(headline, result["level"])
    return claimed, certified, Tile("Draws a side", *draws), _neighbour_tile(result)


def certified_tile(headline: Headline, level: float) -> Tile:
    """The tile of the certified value if the claim is exceeded, else of the values ruled out."""
    confidence = f"at {percent(level)} confidence"
    note = ", ".join(filter(None, (headline.at, confidence)))
    if headline.claimed is not None and not headline.exceeded:
        return Tile("Ruled out", headline.ruled_out, note)
    if not headline.exceeded or headline.excess_shown:
        value = equation(headline.symbol, headline.certified_text)
        return Tile("Certified", f"at least {value}", note)
    if headline.claimant == PREMISE:
        return Tile("Ruled out", headline.ruled_out, confidence)
    if headline.claimant != CLAIMED:
        return Tile("Certified", "more than the curve", confidence)  # at which δ is not known
    return Tile("Certified", f"more than {equation(headline.symbol, headline.claimed_text)}", note)


def _neighbour_tile(result: Mapping[str, Any]) -> Tile:
    neighbour = section(result, "neighbour")
    tried, pool = neighbour.get("tried"), neighbour.get("pool")
    if neighbour.get("relation") == "samples" or not neighbour:
        return Tile("Neighbour", "not known", "two sets of draws")
    rule = plain(neighbour.get("rule") or "the only one audited")
    if tried is not None:
        rule = f"worst of {count(tried)} tried" + (f", of {count(pool)} in all" if pool else "")
    name = "Worst neighbour" if "worst" in rule else "Neighbour"
    return Tile(name, label(whom(result) or "two databases", 40), label(rule, NOTE_WIDTH))


def advice(result: Mapping[str, Any], curves: Curves) -> tuple[str, str]:
    headline = curves.headline
    if result["verdict"] == "violated":
        change = whom(result) or "what differs between the two sides"
        look = f"Look at how the output moves with {change}"
        if curves.claim is None:
            return (
                "Do not release this implementation: it leaks more than its exact spectrum.",
                f"{look}, and compare the noise that is drawn with the noise that is meant.",
            )
        needed = ""
        if headline.excess_shown:
            value = equation(headline.symbol, headline.certified_text)
            least = " ".join(filter(None, (value, headline.at)))
            needed = f": a true one would say at least {least}"
        return (
            f"Do not release with this claim{needed}.",
            f"{look}: the sensitivity or clipping that is assumed, and the scale of the noise.",
        )
    if breaks_exactly(curves):
        return (
            "Do not release with this claim: the exact spectrum breaks it.",
            "These draws are too few to show it; the exact curve needs none.",
        )
    if result["verdict"] == "not violated":
        excess = section(result, "detectable")
        smaller = f"below {number(excess.get('excess'), 3)}" if excess else "that is small"
        return (
            f"This is no proof of privacy: an excess {smaller}, or about another pair, may go "
            "unseen.",
            f"To see {_smaller_excess(result)}; to see other pairs, search more neighbours.",
        )
    if curves.reference is None:
        return (
            "Say what the mechanism is meant to keep: a claim, such as ε = 1 at δ = 10⁻⁵.",
            "The certified bound below holds as it is, but there is nothing to judge it by.",
        )
    if headline.exceeded:
        return (
            "Do not read this as a pass: these draws exceed the claim, by themselves.",
            "The reason names what else has to be known before the mechanism is accused.",
        )
    return (
        "Do not read this as a pass: the audit could not have shown what it was to look for.",
        "Mend what the reason names, or take as many draws as it says.",
    )


def _smaller_excess(result: Mapping[str, Any]) -> str:
    """Advice on how many draws show half of the excess, as `dpaudit plan` does."""
    shown, head = section(result, "detectable"), section(result, "headline")
    epsilon, delta = section(result, "claim").get("epsilon"), head.get("allowed_delta")
    half = 0.5 * float(shown.get("excess") or 0.0)
    at_claim = shown.get("epsilon") == epsilon == head.get("epsilon")
    if epsilon is None or delta is None or not at_claim or half < power.LEAST:
        return "a smaller excess, take more draws"
    stop = "verdict" if section(result, "sequential") else None
    draws = power.draws_to_detect(epsilon, delta, half, level=result["level"], stop=stop)
    return f"an excess of {number(half, 3)}, take {enough(draws)} draws a side (dpaudit plan)"


def facts(result: Mapping[str, Any]) -> list[Fact]:
    mechanism, exact = section(result, "mechanism"), section(result, "exact")
    source, claim = section(result, "source"), section(result, "claim")
    digest = str(source.get("sha256") or "")[:12]
    no_claim = "none; the bound is compared with the exact spectrum" if exact else "none"
    unseeded = section(result, "trial").get("repeatable") is False
    seed = "" if result.get("seed") is None else f"{result['seed']}{NOT_REPEATED * unseeded}"
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
        ("Claim", claim.get("text") or no_claim),
        ("Exact spectrum", exact.get("law") or "none known"),
        ("Confidence", percent(result["level"])),
        # With a claim the headline says this at its δ, and an ε at another δ would contradict it.
        ("Certified", "" if claim else _certified(section(result, "certified"))),
        ("Run", moment(section(result, "timings").get("started"))),
        ("Source of the mechanism", digest and f"SHA-256 {digest}…"),
        ("Seed", seed),
        ("Versions", versions(result)),
    ]
    return [(name, str(value)) for name, value in rows if value]


def versions(result: Mapping[str, Any]) -> str:
    known = section(result, "versions").items()
    return ", ".join(f"{name} {plain(version)}" for name, version in known)


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

    headline, detectable : as in result.json. neighbour : what differs, in words. draws : a side.
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
    rows = [plain(dataset.get("n"))] + [
        f"{plain(size)} left out ({reason}), not audited"
        for reason, size in section(dataset, "dropped").items()
        if size
    ]
    return [
        ("Data", _joined(" – ", dataset.get("name"), dataset.get("source"))),
        ("Rows", _joined("; ", *rows)),
        ("Columns", _named(dataset.get("columns") or [])),
        ("Changed when loaded", "; ".join(map(str, dataset.get("changes") or []))),
        ("Label", str(dataset.get("target") or "")),
    ]


def _named(names: Sequence[Any]) -> str:
    """A number and names, "2: constant, dep_delay"; if there are many, only the first names."""
    more = len(names) - NAMED
    first = [*map(str, names[:NAMED]), *([f"{number(more)} more"] if more > 0 else [])]
    return _joined(": ", plain(len(names)), ", ".join(first))


def _neighbour(neighbour: Mapping[str, Any]) -> str:
    relation, index = neighbour.get("relation"), neighbour.get("index")
    words = str(RELATIONS.get(str(relation), relation) or "")
    change = neighbour.get("change") or ("" if index is None else f"row {number(index)}")
    nameless = relation in NAMELESS
    if change and index is not None and relation != "add":
        change = f"{change} (counted from 0)"
    return _joined(
        "; ",
        _joined("; ", words, change) if nameless else _joined(": ", relation, change or words),
        str(neighbour.get("rule") or "").removeprefix(f"{neighbour.get('change')}: "),
    )


def _certified(certified: Mapping[str, Any]) -> str:
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
