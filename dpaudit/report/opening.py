"""The opening of the page: four tiles, the headline in ε (or μ, or ρ), and what to do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dpaudit.curves.claims import exceeds
from dpaudit.verdict.headline import CLAIMED, Headline
from dpaudit.verdict.numbers import NONE, count, equation, label, number, percent, plain
from dpaudit.verdict.record import Curves, section

NOTE_WIDTH = 80  # characters below a tile


class Tile(NamedTuple):
    """A fact of four: its name, the value in large type, and a line below it."""

    name: str
    value: str
    note: str = ""


def tiles(result: Mapping[str, Any], curves: Curves) -> tuple[Tile, ...]:
    """Claimed, certified or ruled out, draws a side and the neighbour, in this order."""
    return (
        _claimed(curves),
        certified_tile(curves.headline, result["level"]),
        _draws(result),
        _neighbour(result),
    )


class Reason(NamedTuple):
    """The parts of a reason: what is said of the draws first, the headline, and all else."""

    notes: str
    headline: str
    rest: str


def sentences(result: Mapping[str, Any]) -> Reason:
    """The reason in its parts; one without a headline, as of an earlier version, as a whole."""
    reason = plain(result.get("reason") or "")
    headline = plain(section(result, "headline").get("text") or "")
    if not headline or headline not in reason:
        return Reason("", reason, "")
    notes, text, rest = reason.partition(headline)
    return Reason(notes.strip(), text, rest.strip())


def whom(result: Mapping[str, Any]) -> str:
    """What differs between the two databases, as "row 11 zeroed"; "" where no row is named."""
    who = section(result, "headline").get("who")
    return plain(who or section(result, "neighbour").get("change") or "")


def advice(result: Mapping[str, Any], curves: Curves) -> tuple[str, str]:
    """What now, in two sentences, by the verdict."""
    if result["verdict"] == "violated":
        return _of_violated(result, curves)
    if breaks_exactly(curves):
        return (
            "Do not release with this claim: the exact spectrum breaks it.",
            "These draws are too few to show it; the exact curve needs none.",
        )
    if result["verdict"] == "not violated":
        return _of_held(result)
    return _of_inconclusive(curves)


def breaks_exactly(curves: Curves) -> bool:
    """Whether the exact spectrum is above the claim somewhere, whatever the draws showed."""
    if curves.claim is None or curves.exact is None:
        return False
    return bool(np.any(exceeds(curves.exact, curves.claim)))


def _of_violated(result: Mapping[str, Any], curves: Curves) -> tuple[str, str]:
    change = whom(result) or "what differs between the two sides"
    look = f"Look at how the output moves with {change}"
    if curves.claim is None:
        return (
            "Do not release this implementation: it leaks more than its exact spectrum.",
            f"{look}, and compare the noise that is drawn with the noise that is meant.",
        )
    return (
        f"Do not release with this claim{_needed(curves.headline)}.",
        f"{look}: the sensitivity or clipping that is assumed, and the scale of the noise.",
    )


def _needed(headline: Headline | None) -> str:
    """What a true claim has to say at least, as a clause; "" where the band does not tell."""
    if headline is None or not headline.excess_shown:
        return ""
    value = equation(headline.symbol, headline.certified_text)
    return f": a true one would say at least {' '.join(filter(None, (value, headline.at)))}"


def _of_held(result: Mapping[str, Any]) -> tuple[str, str]:
    found = section(result, "detectable")
    smaller = f"below {number(found.get('excess'), 3)}" if found else "that is small"
    return (
        f"This is no proof of privacy: an excess {smaller}, or about another pair, may go unseen.",
        "To see smaller ones, take more draws (dpaudit plan says how many); to see other pairs, "
        "search more neighbours.",
    )


def _of_inconclusive(curves: Curves) -> tuple[str, str]:
    if curves.reference is None:
        return (
            "Say what the mechanism is meant to keep: a claim, such as ε = 1 at δ = 10⁻⁵.",
            "The certified bound below holds as it is, but there is nothing to judge it by.",
        )
    if curves.headline is not None and curves.headline.exceeded:
        return (
            "Do not read this as a pass: these draws exceed the claim, by themselves.",
            "The reason names what else has to be known before the mechanism is accused.",
        )
    return (
        "Do not read this as a pass: the audit could not have shown what it was to look for.",
        "Mend what the reason names, or take more draws (dpaudit plan says how many).",
    )


def _claimed(curves: Curves) -> Tile:
    headline = curves.headline
    if curves.claim is None:
        note = "nothing to judge by" if curves.exact is None else "judged by the exact spectrum"
        return Tile("Claimed", "none", note)
    text = label(curves.claim_text, NOTE_WIDTH)
    if headline is None or headline.claimed is None:
        return Tile("Claimed", text or NONE)
    return Tile("Claimed", equation(headline.symbol, headline.claimed_text), headline.at or text)


def certified_tile(headline: Headline | None, level: float) -> Tile:
    """What is certified of a claim that is exceeded, else what is ruled out below it."""
    if headline is None:
        return Tile("Certified", NONE, "not in this result.json")
    confidence = f"at {percent(level)} confidence"
    note = ", ".join(filter(None, (headline.at, confidence)))
    if headline.claimed is not None and not headline.exceeded:
        return Tile("Ruled out", headline.ruled_out, note)
    if not headline.exceeded or headline.excess_shown:
        return Tile(
            "Certified", f"at least {equation(headline.symbol, headline.certified_text)}", note
        )
    if headline.claimant != CLAIMED:
        return Tile("Certified", "more than the curve", confidence)  # at which δ is not shown
    return Tile("Certified", f"more than {equation(headline.symbol, headline.claimed_text)}", note)


def _draws(result: Mapping[str, Any]) -> Tile:
    name, samples = "Draws a side", section(result, "samples")
    if bets := section(result, "sequential"):
        return Tile(name, count(bets["drawn"]), f"{count(bets['tested'])} of them bet on")
    drawn = [draws for draws in samples.values() if draws is not None]
    if not drawn:
        return Tile(name, NONE, "not recorded")
    note = f"{count(samples['test'])} of them certify" if samples.get("test") else ""
    return Tile(name, count(sum(drawn)), note)


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
