"""The opening of a page: four tiles, the headline in ε (or μ, or ρ), and advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dpaudit.verdict.headline import CLAIMED, Headline
from dpaudit.verdict.numbers import NONE, count, equation, label, number, percent, plain
from dpaudit.verdict.record import Curves, section
from dpaudit.verdict.sentences import breaks_exactly, whom

NOTE_WIDTH = 80  # characters below a tile


class Tile(NamedTuple):
    """One of the four facts on top: its name, the value in large type, and a line below it."""

    name: str
    value: str
    note: str = ""


def tiles(result: Mapping[str, Any], curves: Curves) -> tuple[Tile, ...]:
    """Claimed, certified or ruled out, draws a side and the neighbour, in this order."""
    headline, samples = curves.headline, section(result, "samples")
    text = label(curves.claim_text, NOTE_WIDTH)
    if curves.claim is None:
        note = "nothing to judge by" if curves.exact is None else "judged by the exact spectrum"
        claimed = Tile("Claimed", "none", note)
    elif headline is None or headline.claimed is None:
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
    return claimed, certified, Tile("Draws a side", *draws), _neighbour(result)


def certified_tile(headline: Headline | None, level: float) -> Tile:
    """The tile of the certified value if the claim is exceeded, else of the values ruled out."""
    if headline is None:
        return Tile("Certified", NONE, "not in this result.json")
    confidence = f"at {percent(level)} confidence"
    note = ", ".join(filter(None, (headline.at, confidence)))
    if headline.claimed is not None and not headline.exceeded:
        return Tile("Ruled out", headline.ruled_out, note)
    if not headline.exceeded or headline.excess_shown:
        value = equation(headline.symbol, headline.certified_text)
        return Tile("Certified", f"at least {value}", note)
    if headline.claimant != CLAIMED:
        return Tile("Certified", "more than the curve", confidence)  # at which δ is not known
    return Tile("Certified", f"more than {equation(headline.symbol, headline.claimed_text)}", note)


def _neighbour(result: Mapping[str, Any]) -> Tile:
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
    """Two sentences of advice on what to do after this verdict."""
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
        if headline is not None and headline.excess_shown:
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
            "To see smaller ones, take more draws (dpaudit plan says how many); to see other "
            "pairs, search more neighbours.",
        )
    if curves.reference is None:
        return (
            "Say what the mechanism is meant to keep: a claim, such as ε = 1 at δ = 10⁻⁵.",
            "The certified bound below holds as it is, but there is nothing to judge it by.",
        )
    if headline is not None and headline.exceeded:
        return (
            "Do not read this as a pass: these draws exceed the claim, by themselves.",
            "The reason names what else has to be known before the mechanism is accused.",
        )
    return (
        "Do not read this as a pass: the audit could not have shown what it was to look for.",
        "Mend what the reason names, or take more draws (dpaudit plan says how many).",
    )
