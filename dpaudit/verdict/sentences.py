"""The sentences of a result, from its record: for its page, the terminal and the files of CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dpaudit._core.result_file import ONE_RUN, is_one_run
from dpaudit.curves.claims import exceeds
from dpaudit.verdict.judgement import would_show
from dpaudit.verdict.numbers import count, counted, number, plain
from dpaudit.verdict.record import Curves, read_curves, section

NO_PROOF = "This concerns one pair of databases and one score: it is no proof of privacy."
NO_PROOF_OF_ONE_RUN = "This concerns these canaries and one score: it is no proof of privacy."
BROKEN = "The exact spectrum breaks the claim, which these draws are too few to show."


class Reason(NamedTuple):
    """The parts of a reason: notes before the headline, the headline, and what follows it."""

    notes: str
    headline: str
    rest: str


def reason_of(record: Mapping[str, Any]) -> Reason:
    reason, headline = plain(record["reason"]), plain(record["headline"]["text"])
    notes, text, rest = reason.partition(headline)
    return Reason(notes.strip(), text, rest.strip())


def one_line(record: Mapping[str, Any]) -> str:
    """The verdict in one line: rows left out, notes on the draws, and the headline."""
    notes, headline, _ = reason_of(record)
    texts = [
        f"Not audited: {counted(size, 'row')} ({reason})."
        for reason, size in section(section(record, "dataset"), "dropped").items()
    ]
    texts.append(notes)
    judged = record["verdict"] == "violated" or is_one_run(record)
    if not judged and breaks_exactly(read_curves(record)):
        texts.append(BROKEN)
    return f"{record['verdict'].upper()}: {' '.join(filter(None, [*texts, headline]))}"


def lines(record: Mapping[str, Any]) -> list[str]:
    """The verdict in a few lines: notes and headline; δ at the claim's ε and the rest of the
    reason; and, if nothing was refuted, the excess that would have been found.
    """
    notes, headline, rest = reason_of(record)
    verdict = str(record["verdict"])
    texts = [f"{verdict.upper()}: {notes or headline}", headline if notes else ""]
    if is_one_run(record):
        proven_nothing = verdict != "violated" and record["kind"] == ONE_RUN
        texts += [rest, NO_PROOF_OF_ONE_RUN if proven_nothing else ""]
        return [text for text in texts if text]
    head, detectable = section(record, "headline"), section(record, "detectable")
    if verdict == "violated" or head.get("exceeded"):
        return [text for text in [*texts, rest] if text]
    in_delta = ""  # the values of δ that are ruled out at the headline's ε; all are allowed
    if head.get("allowed_delta") is not None:
        epsilon, low = number(head["epsilon"]), head["certified_delta"]
        in_delta = f"No lower bound on δ({epsilon}) is certified"
        if low:
            in_delta = f"Ruled out: every δ({epsilon}) below {number(low, 3, down=True)}"
        in_delta = f"{in_delta}; {number(head['allowed_delta'], 3)} is allowed."
    texts += [in_delta, rest] if verdict == "not violated" else [rest, in_delta]
    if detectable and (missed := would_show(detectable)) not in rest:
        texts.append(missed)
    neighbour = section(record, "neighbour")
    if neighbour.get("tried") is not None:
        of = "" if neighbour.get("pool") is None else f" of {count(neighbour['pool'])}"
        texts.append(f"Neighbours tried: {count(neighbour['tried'])}{of}.")
    return [text for text in [*texts, NO_PROOF] if text]


def whom(record: Mapping[str, Any]) -> str:
    """What differs between the two databases, such as "row 11 zeroed"; "" if no row is named."""
    who = section(record, "headline").get("who")
    return plain(who or section(record, "neighbour").get("change") or "")


def breaks_exactly(curves: Curves) -> bool:
    """Whether the exact spectrum is above the claim at some ε of the grid."""
    if curves.claim is None or curves.exact is None:
        return False
    return bool(np.any(exceeds(curves.exact, curves.claim)))
