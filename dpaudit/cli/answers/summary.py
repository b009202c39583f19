"""The verdict on the terminal, from the content of result.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpaudit._core.result_file import is_one_run
from dpaudit.cli.table import aligned, hanging, named
from dpaudit.report.facts import HINT, facts, hint, process
from dpaudit.report.one_run import facts as one_run_facts
from dpaudit.report.opening import breaks_exactly, sentences
from dpaudit.report.tables import Column, lower_bound, table
from dpaudit.verdict.judgement import would_show
from dpaudit.verdict.numbers import count, label, number
from dpaudit.verdict.record import Curves, read_curves, section, selected_rows

PURPOSE = {"test": "certify"}  # of draws, where its name in result.json is another
FIRST = ("Mechanism", "Parameters", "Data", "Claim", "Neighbour")
# said in the report; of rows and columns `_data` says it
OF_DATA = ("Rows", "Columns", "Changed when loaded", "Features", "Label")
LEFT_OUT = (*OF_DATA, HINT, "Exact spectrum", "Versions")
NO_PROOF_OF_ONE_RUN = "This concerns these canaries and one score: it is no proof of privacy."
NO_PROOF = "This concerns one pair of databases and one score: it is no proof of privacy."
WIDTH = 300  # characters of a value: a long name in a result must not flood the terminal
ROWS, COLUMNS = 8, 6  # of the table and names of columns of the data, at most


def summary(record: Mapping[str, Any]) -> str:
    """The verdict in ε, what the audit could have shown, what was audited, and δ at a few ε."""
    if is_one_run(record):
        notes, first, rest = sentences(record)
        lines = [f"{_verdict(record)}: {notes or first}", first if notes else "", rest]
        lines += [] if record["verdict"] == "violated" else [NO_PROOF_OF_ONE_RUN]
        texts = [hanging("", line) for line in lines if line]
        return "\n".join([*texts, "", named(one_run_facts(record))])
    curves = read_curves(record)
    lines = [hanging("", line) for line in _sentences(record)]
    if text := hint(record):
        lines.append(hanging("", f"{HINT}: {text}"))
    about = named([(name, label(value, WIDTH)) for name, value in _facts(record)])
    return "\n".join([*lines, "", about, "", spectrum_table(curves)])


def line(record: Mapping[str, Any]) -> str:
    """The verdict in one line: what is to be known before it, and the headline."""
    notes, first, _ = sentences(record)
    texts = [
        f"Not audited: {count(size)} {'row' if size == 1 else 'rows'} ({reason})."
        for reason, size in section(section(record, "dataset"), "dropped").items()
    ]
    texts.append(notes)
    judged = record["verdict"] == "violated" or is_one_run(record)
    if not judged and breaks_exactly(read_curves(record)):
        texts.append("The exact spectrum breaks the claim, which these draws are too few to show.")
    return f"{_verdict(record)}: {' '.join(filter(None, [*texts, first]))}"


def brief(record: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in JSON types, under the names of result.json, and what data were audited."""
    names = ("scenario", "verdict", "reason", "headline", "level", "seed", "dataset")
    return {name: record[name] for name in names if name in record}


def details(record: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """What was read, chosen, drawn and written, and what took how long. No value of the data.

    folder : of the report.
    """
    known = {} if is_one_run(record) else dict(_facts(record))
    for name in ("Data", "Neighbour", "Draws per side"):
        if name in known:
            yield f"{name.lower()}: {label(known[name], WIDTH)}"
    steps = process(record)
    if score := steps["classifier"].get("chosen"):
        losses = f" (loss of each: {', '.join(steps['scores'])})" if steps["scores"] else ""
        yield f"score: {label(score + losses, WIDTH)}"
    if steps["costs"]:
        yield ", ".join(f"{name.lower()} {value}" for name, value in steps["costs"])
    yield f"written: {', '.join(str(path) for path in sorted(folder.glob('*.*')))}"


def spectrum_table(curves: Curves) -> str:
    """ε, exact, estimate, certified and claim at up to 8 ε; certified bounds are rounded down."""
    columns = [
        Column("ε", curves.epsilon),
        Column("exact δ", curves.exact),
        Column("estimate", curves.estimate),
        Column("certified", curves.low, lower_bound),
        Column("claim", curves.claim),
        Column("", curves.excess, lambda excess: "exceeded" if excess > 0 else ""),
    ]
    heads, cells = table(columns, selected_rows(curves, ROWS))
    return aligned([heads, *cells])


def _verdict(record: Mapping[str, Any]) -> str:
    return str(record["verdict"]).upper()


def _sentences(record: Mapping[str, Any]) -> Iterator[str]:
    """What is said of the draws, and the headline; δ at the claim's ε and what else the reason
    says; what would have been found.
    """
    notes, first, rest = sentences(record)
    yield f"{_verdict(record)}: {notes or first}"
    if notes:
        yield first
    exceeded = record["verdict"] == "violated" or section(record, "headline").get("exceeded")
    in_delta = [] if exceeded else list(_in_delta(record))
    reason = [rest] if rest else []
    yield from in_delta + reason if record["verdict"] == "not violated" else reason + in_delta
    if exceeded:
        return
    detectable = section(record, "detectable")
    if detectable and (missed := would_show(detectable)) not in rest:
        yield missed
    neighbour = section(record, "neighbour")
    if neighbour.get("tried") is not None:
        of = "" if neighbour.get("pool") is None else f" of {count(neighbour['pool'])}"
        yield f"Neighbours tried: {count(neighbour['tried'])}{of}."
    yield NO_PROOF


def _in_delta(record: Mapping[str, Any]) -> Iterator[str]:
    """The values of δ that are ruled out at the claim's own ε, where all are allowed."""
    head = section(record, "headline")
    if head and head.get("allowed_delta") is not None:
        epsilon, allowed = number(head["epsilon"]), number(head["allowed_delta"], 3)
        low = head["certified_delta"]
        below = f"Ruled out: every δ({epsilon}) below {number(low, 3, down=True)}"
        yield f"{below if low else f'No δ({epsilon}) is ruled out'}; {allowed} is allowed."


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was audited first, then how."""
    known = dict(facts(record))
    if dataset := section(record, "dataset"):
        known["Data"] = _data(dataset)
    if bets := section(record, "sequential"):
        draws = f"{count(bets['drawn'])} in batches, {count(bets['tested'])} of them bet on"
    else:
        draws = ", ".join(
            f"{count(size)} to {PURPOSE.get(part, part)}"
            for part, size in section(record, "samples").items()
        )
    known["Draws per side"] = draws
    first = [name for name in FIRST if name in known]
    order = [*first, *(name for name in known if name not in FIRST)]
    return [(name, known[name]) for name in order if name not in LEFT_OUT]


def _data(dataset: Mapping[str, Any]) -> str:
    """Name, shape and first columns of the data, as the mechanism sees them."""
    names = dataset.get("columns") or [*dataset["feature_names"], dataset["target"]]
    rows, columns = dataset.get("shape") or (dataset["n"], len(names))
    first = ", ".join(str(name) for name in names[:COLUMNS])
    more = "" if len(names) <= COLUMNS else ", …"
    kind = "column" if columns == 1 else "columns"
    dropped = section(dataset, "dropped").items()
    parts = [
        f"{count(rows)} rows × {count(columns)} {kind} ({first}{more})",
        *(f"left out, not audited: {count(size)} ({reason})" for reason, size in dropped),
        *(["row numbers count the rows that are left"] if dropped else []),
        *(dataset.get("changes") or ()),
    ]
    return f"{dataset['name']}: {'; '.join(parts)}"
