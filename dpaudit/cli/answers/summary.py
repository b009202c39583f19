"""The texts that the terminal shows about a verdict, from the content of result.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpaudit._core.result_file import STEPS, is_one_run
from dpaudit.cli.table import aligned, hanging, named
from dpaudit.report.facts import HINT, facts, hint, process
from dpaudit.report.one_run import attacks
from dpaudit.report.one_run import facts as one_run_facts
from dpaudit.report.steps import facts as step_facts
from dpaudit.report.tables import Column, lower_bound, table
from dpaudit.verdict.numbers import count, counted, label
from dpaudit.verdict.record import Curves, read_curves, section, selected_rows
from dpaudit.verdict.sentences import lines

PURPOSE = {"test": "certify"}  # purposes of draws whose name in result.json differs
FIRST = ("Mechanism", "Parameters", "Data", "Claim", "Neighbour")
# facts that only the report shows; `_data` has rows and columns in one line
OF_DATA = ("Rows", "Columns", "Changed when loaded", "Label")
LEFT_OUT = (*OF_DATA, "Exact spectrum", "Versions")
WIDTH = 300  # characters of a value: a long name in a result must not flood the terminal
ROWS, COLUMNS = 8, 6  # of the table and names of columns of the data, at most


def summary(record: Mapping[str, Any]) -> str:
    texts = [hanging("", text) for text in lines(record)]
    if is_one_run(record):
        known = step_facts(record) if record["kind"] == STEPS else one_run_facts(record)
        texts += ["", named(known)]
        if rows := attacks(record):
            heads = (
                "attack",
                "attacks",
                "on train",
                "on hold-out",
                "at random",
                "risk",
                "interval",
            )
            texts += ["", aligned([heads, *rows])]
        return "\n".join(texts)
    if text := hint(record):
        texts.append(hanging("", f"{HINT}: {text}"))
    about = named([(name, label(value, WIDTH)) for name, value in _facts(record)])
    return "\n".join([*texts, "", about, "", spectrum_table(read_curves(record))])


def brief(record: Mapping[str, Any]) -> dict[str, Any]:
    names = ("scenario", "verdict", "reason", "headline", "level", "seed", "dataset")
    return {name: record[name] for name in names if name in record}


def details(record: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Lines on data, neighbour, draws, score, times and written files, for --verbose; no value of
    the data.
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


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    known = dict(facts(record))
    if dataset := section(record, "dataset"):
        known["Data"] = data_text(dataset)
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


def data_text(dataset: Mapping[str, Any]) -> str:
    """The data of a record as the mechanism sees them, in a line: columns, and what was changed."""
    names, (rows, columns) = dataset["columns"], dataset["shape"]
    first = ", ".join(str(name) for name in names[:COLUMNS])
    more = "" if len(names) <= COLUMNS else ", …"
    dropped = section(dataset, "dropped").items()
    parts = [
        f"{counted(rows, 'row')} × {counted(columns, 'column')} ({first}{more})",
        *(f"{counted(size, 'row')} left out ({reason})" for reason, size in dropped),
        *(["row numbers do not count these"] if dropped else []),
        *(dataset.get("changes") or ()),
    ]
    return f"{dataset['name']}: {'; '.join(parts)}"
