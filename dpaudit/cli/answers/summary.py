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
        return _of_one_run(record)
    curves = read_curves(record)
    return "\n".join(
        [
            *(hanging("", line) for line in _verdict(record, curves)),
            *(hanging("", f"{HINT}: {said}") for said in [hint(record)] if said),
            "",
            named([(name, label(value, WIDTH)) for name, value in _known(record)]),
            "",
            spectrum_table(curves),
        ]
    )


def line(record: Mapping[str, Any]) -> str:
    """The verdict in one line: what is to be known before it, and the headline."""
    notes, first, _ = sentences(record)
    said = [*_left_out(record), notes, *_by_theory(record), first]
    return f"{record['verdict'].upper()}: {' '.join(filter(None, said))}"


def _left_out(record: Mapping[str, Any]) -> Iterator[str]:
    """The rows of the data that nobody audited."""
    for reason, size in section(section(record, "dataset"), "dropped").items():
        yield f"Not audited: {count(size)} {'row' if size == 1 else 'rows'} ({reason})."


def _by_theory(record: Mapping[str, Any]) -> Iterator[str]:
    """What the exact spectrum says of a claim that the draws did not refute."""
    if record["verdict"] == "violated" or is_one_run(record):
        return
    if breaks_exactly(read_curves(record)):
        yield "The exact spectrum breaks the claim, which these draws are too few to show."


def brief(record: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in JSON types, under the names of result.json, and what data were audited."""
    names = ("scenario", "verdict", "reason", "headline", "level", "seed", "dataset")
    return {name: record[name] for name in names if name in record}


def details(record: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """What was read, chosen, drawn and written, and what took how long. No value of the data.

    folder : of the report.
    """
    known = {} if is_one_run(record) else dict(_known(record))
    shown = ("Data", "Neighbour", "Draws per side")
    yield from (f"{name.lower()}: {label(known[name], WIDTH)}" for name in shown if name in known)
    yield from _costs(record)
    yield f"written: {', '.join(str(path) for path in sorted(folder.glob('*.*')))}"


def _costs(record: Mapping[str, Any]) -> Iterator[str]:
    done = process(record)
    if chosen := done["classifier"].get("chosen"):
        losses = f" (loss of each: {', '.join(done['scores'])})" if done["scores"] else ""
        yield f"score: {label(chosen + losses, WIDTH)}"
    if done["costs"]:
        yield ", ".join(f"{name.lower()} {value}" for name, value in done["costs"])


def _of_one_run(record: Mapping[str, Any]) -> str:
    """The same of an audit of one run with canaries."""
    notes, first, rest = sentences(record)
    lines = [f"{record['verdict'].upper()}: {notes or first}", *([first] if notes else []), rest]
    lines += [] if record["verdict"] == "violated" else [NO_PROOF_OF_ONE_RUN]
    said = [hanging("", line) for line in lines if line]
    return "\n".join([*said, "", named(one_run_facts(record))])


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


def _verdict(record: Mapping[str, Any], curves: Curves) -> Iterator[str]:
    """What is said of the draws, and the headline; δ at the claim's ε and what else the reason
    says; what would have been found.
    """
    notes, first, rest = sentences(record)
    yield f"{record['verdict'].upper()}: {notes or first}"
    if notes:
        yield first
    shown = record["verdict"] == "violated" or section(record, "headline").get("exceeded")
    in_delta = [] if shown else list(_in_delta(record))
    said = [rest] if rest else []
    yield from in_delta + said if record["verdict"] == "not violated" else said + in_delta
    if shown:
        return
    found = section(record, "detectable")
    if found and (missed := would_show(found)) not in rest:
        yield missed
    neighbour = section(record, "neighbour")
    if neighbour.get("tried") is not None:
        of = "" if neighbour.get("pool") is None else f" of {count(neighbour['pool'])}"
        yield f"Neighbours tried: {count(neighbour['tried'])}{of}."
    yield NO_PROOF


def _in_delta(record: Mapping[str, Any]) -> Iterator[str]:
    """The values of δ that are ruled out at the claim's own ε, where all are allowed."""
    found = section(record, "headline")
    if found and found.get("allowed_delta") is not None:
        epsilon, allowed = number(found["epsilon"]), number(found["allowed_delta"], 3)
        low = found["certified_delta"]
        below = f"Ruled out: every δ({epsilon}) below {number(low, 3, down=True)}"
        yield f"{below if low else f'No δ({epsilon}) is ruled out'}; {allowed} is allowed."


def _known(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was audited first, then how."""
    found = dict(facts(record)) | dict(_data(section(record, "dataset")))
    found["Draws per side"] = _draws(record)
    order = [
        *(name for name in FIRST if name in found),
        *(one for one in found if one not in FIRST),
    ]
    return [(name, found[name]) for name in order if name not in LEFT_OUT]


def _data(dataset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name, shape and first columns of the data, as the mechanism sees them."""
    if not dataset:
        return
    names = dataset.get("columns") or [*dataset["feature_names"], dataset["target"]]
    rows, columns = dataset.get("shape") or (dataset["n"], len(names))
    shown = ", ".join(str(name) for name in names[:COLUMNS])
    more = "" if len(names) <= COLUMNS else ", …"
    kind = "column" if columns == 1 else "columns"
    dropped = section(dataset, "dropped").items()
    parts = [
        f"{count(rows)} rows × {count(columns)} {kind} ({shown}{more})",
        *(f"left out, not audited: {count(size)} ({reason})" for reason, size in dropped),
        *(["row numbers count the rows that are left"] if dropped else []),
        *(dataset.get("changes") or ()),
    ]
    yield "Data", f"{dataset['name']}: {'; '.join(parts)}"


def _draws(record: Mapping[str, Any]) -> str:
    if bets := section(record, "sequential"):
        return f"{count(bets['drawn'])} in batches, {count(bets['tested'])} of them bet on"
    return ", ".join(
        f"{count(draws)} to {PURPOSE.get(part, part)}"
        for part, draws in section(record, "samples").items()
    )
