"""The sentences of a result, from its record: for its page, the terminal and the files of CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dpaudit._core.result_file import is_one_run
from dpaudit.curves.claims import exceeds
from dpaudit.verdict.judgement import would_show
from dpaudit.verdict.numbers import count, number, plain
from dpaudit.verdict.record import Curves, read_curves, section

NO_PROOF = "This concerns one pair of databases and one score: it is no proof of privacy."
NO_PROOF_OF_ONE_RUN = "This concerns these canaries and one score: it is no proof of privacy."
BROKEN = "The exact spectrum breaks the claim, which these draws are too few to show."


class Reason(NamedTuple):
    """The parts of a reason: what is said of the draws first, the headline, and all else."""

    notes: str
    headline: str
    rest: str


def reason_of(record: Mapping[str, Any]) -> Reason:
    """The reason in its parts; one without a headline, as of an earlier version, as a whole."""
    reason = plain(record.get("reason") or "")
    headline = plain(section(record, "headline").get("text") or "")
    if not headline or headline not in reason:
        return Reason("", reason, "")
    notes, text, rest = reason.partition(headline)
    return Reason(notes.strip(), text, rest.strip())


def one_line(record: Mapping[str, Any]) -> str:
    """The verdict in one line: what is to be known before it, and the headline."""
    notes, headline, _ = reason_of(record)
    texts = [
        f"Not audited: {count(size)} {'row' if size == 1 else 'rows'} ({reason})."
        for reason, size in section(section(record, "dataset"), "dropped").items()
    ]
    texts.append(notes)
    judged = record["verdict"] == "violated" or is_one_run(record)
    if not judged and breaks_exactly(read_curves(record)):
        texts.append(BROKEN)
    return f"{record['verdict'].upper()}: {' '.join(filter(None, [*texts, headline]))}"


def lines(record: Mapping[str, Any]) -> list[str]:
    """The verdict in some lines.

    They have what is said of the draws, and the headline; δ at the claim's ε and what else the
    reason says; and what would have been seen, where nothing was.
    """
    notes, headline, rest = reason_of(record)
    verdict = str(record["verdict"])
    texts = [f"{verdict.upper()}: {notes or headline}", headline if notes else ""]
    if is_one_run(record):
        texts += [rest, "" if verdict == "violated" else NO_PROOF_OF_ONE_RUN]
        return [text for text in texts if text]
    head, detectable = section(record, "headline"), section(record, "detectable")
    if verdict == "violated" or head.get("exceeded"):
        return [text for text in [*texts, rest] if text]
    in_delta = ""  # the values of δ that are ruled out at the claim's own ε, where all are allowed
    if head.get("allowed_delta") is not None:
        epsilon, low = number(head["epsilon"]), head["certified_delta"]
        in_delta = f"No δ({epsilon}) is ruled out"
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
    """What differs between the two databases, as "row 11 zeroed"; "" where no row is named."""
    who = section(record, "headline").get("who")
    return plain(who or section(record, "neighbour").get("change") or "")


def breaks_exactly(curves: Curves) -> bool:
    """Whether the exact spectrum is above the claim somewhere, whatever the draws say."""
    if curves.claim is None or curves.exact is None:
        return False
    return bool(np.any(exceeds(curves.exact, curves.claim)))
