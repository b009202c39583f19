"""A calibrated parameter on the terminal or as JSON: the answer of `dpaudit calibrate`."""

from __future__ import annotations

import json

from dpaudit._core.result_file import plain
from dpaudit._core.types import describe
from dpaudit.cli.answers.analysis import WIDTH, about, neighbour
from dpaudit.cli.table import hanging, named
from dpaudit.mechanisms.scatter import ScatterDraw
from dpaudit.run.calibration import Calibrated
from dpaudit.verdict.numbers import label, number

PRIVATE = "The value is a function of these data: if the data are private, so is the value."


def as_json(done: Calibrated) -> str:
    """All numbers as JSON; `mechanism` is the calibrated one."""
    found = done.found
    name, parameters = describe(found.mechanism)
    content = {
        "scenario": done.scenario,
        "mechanism": {"name": name, "parameters": parameters},
        "dataset": done.dataset,
        "neighbour": neighbour(done.neighbours),
        "parameter": found.parameter,
        "value": found.value,
        "epsilon": found.epsilon,
        "delta": found.delta,
        "attained": found.attained,
        "row": found.index,
        "candidate": found.candidate,
    }
    return json.dumps(plain(content), indent=1, allow_nan=False, ensure_ascii=False)


def as_text(done: Calibrated) -> str:
    """The question, and the parameter with all its digits: a rounded one may miss the target."""
    found = done.found
    epsilon = number(found.epsilon)
    asked = [
        *about(done.scenario, done.dataset, done.mechanism, done.neighbours),
        ("Target", f"δ({epsilon}) ≤ {number(found.delta)}"),
    ]
    answer = [
        (found.parameter, repr(found.value)),
        (f"attained δ({epsilon})", number(found.attained, 6)),
        *([] if found.index is None else [("worst row", number(found.index))]),
        *([] if found.candidate is None else [("its candidate", number(found.candidate))]),
    ]
    shown = named([(name, label(value, WIDTH)) for name, value in asked])
    return "\n\n".join([shown, named(answer), *([] if _public(done) else [hanging("", PRIVATE)])])


def as_line(done: Calibrated) -> str:
    """The parameter with all its digits."""
    return f"{done.scenario}: {done.found.parameter} = {done.found.value!r}"


def _public(done: Calibrated) -> bool:
    """Whether the value does not depend on the data: noise for any added row within a bound."""
    return done.neighbours.relation == "add" and not isinstance(done.mechanism, ScatterDraw)
