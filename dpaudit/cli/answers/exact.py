"""The output of `dpaudit spectrum` and `dpaudit calibrate`, as text, as a line and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit._core.result_file import plain
from dpaudit._core.types import Mechanism, describe
from dpaudit.cli.answers.summary import WIDTH, data_text
from dpaudit.cli.table import aligned, hanging, named
from dpaudit.mechanisms.scatter import ScatterDraw
from dpaudit.neighbours.pair import DONE
from dpaudit.run.analysis import Analysis, Calibrated, Neighbours
from dpaudit.verdict.numbers import assignments, count, label, number

PRIVATE = "The value is a function of these data: if the data are private, so is the value."


def as_text(analysis: Analysis) -> str:
    spectrum, readings, claim = analysis.spectrum, analysis.readings, analysis.claim
    about = _about(analysis)
    about += [("Law", str(spectrum.law)), *([] if claim is None else [("Claim", claim.text)])]
    columns = {
        "ε": spectrum.epsilon,
        "D to D′": spectrum.forward,
        "D′ to D": spectrum.backward,
        "δ": spectrum.delta,
        "asymptotic": spectrum.asymptotic,
        "row": spectrum.index,
        "candidate": spectrum.candidate,
        "claim": analysis.claimed,
    }
    cells = [
        [head, *map(number, plain(values))]
        for head, values in columns.items()
        if values is not None
    ]
    measures = [
        *((f"ε at δ = {number(at)}", _finite(value)) for at, value in readings.epsilon_at.items()),
        ("total variation, δ(0)", number(readings.total_variation)),
        # the μ of the Gaussian shift with the same δ at one ε
        *((f"GDP μ at ε = {number(at)}", _finite(mu)) for at, mu in readings.gdp_mu.items()),
        (
            "Rényi divergence of order 2",
            readings.notes.get("renyi_2") or _finite(readings.renyi_2),
        ),
        ("pure ε", _finite(readings.pure_epsilon)),
    ]
    parts = [
        named([(name, label(value, WIDTH)) for name, value in about]),
        aligned(list(zip(*cells, strict=True))),
        named(measures),
    ]
    return "\n\n".join([*parts, *([] if claim is None else [hanging("", _judgement(analysis))])])


def as_line(analysis: Analysis) -> str:
    if analysis.claim is not None:
        return f"{analysis.scenario}: {_judgement(analysis)}"
    at = analysis.readings.epsilon_at.items()
    texts = (f"ε = {_finite(epsilon)} at δ = {number(delta)}" for delta, epsilon in at)
    return f"{analysis.scenario}: no claim; {', '.join(texts)}"


def as_json(analysis: Analysis) -> dict[str, Any]:
    spectrum, readings, claim = analysis.spectrum, analysis.readings, analysis.claim
    return {
        **_subject(analysis, analysis.mechanism),
        "law": spectrum.law,
        "epsilon": spectrum.epsilon,
        "delta": spectrum.delta,
        "forward": spectrum.forward,
        "backward": spectrum.backward,
        "asymptotic": spectrum.asymptotic,
        "row": spectrum.index,
        "candidate": spectrum.candidate,
        "epsilon_at": {f"{delta:g}": value for delta, value in readings.epsilon_at.items()},
        "total_variation": readings.total_variation,
        "gdp_mu": {f"{epsilon:g}": mu for epsilon, mu in readings.gdp_mu.items()},
        "renyi_2": readings.renyi_2,
        "pure_epsilon": readings.pure_epsilon,
        "notes": readings.notes,
        "claim": None if claim is None else {"text": claim.text, "delta": analysis.claimed},
    }


def calibrated_text(done: Calibrated) -> str:
    """Scenario, target and parameter, with all its digits: a rounded one may miss the target."""
    answer = done.calibration
    epsilon = number(answer.epsilon)
    question = [*_about(done), ("Target", f"δ({epsilon}) ≤ {number(answer.delta)}")]
    values = [
        (answer.parameter, repr(answer.value)),
        (f"attained δ({epsilon})", number(answer.attained, 6)),
        *([] if answer.index is None else [("worst row", number(answer.index))]),
        *([] if answer.candidate is None else [("its candidate", number(answer.candidate))]),
    ]
    # noise for any added row within a bound does not depend on the data
    public = done.neighbours.relation == "add" and not isinstance(done.mechanism, ScatterDraw)
    question_lines = named([(name, label(value, WIDTH)) for name, value in question])
    return "\n\n".join([question_lines, named(values), *([] if public else [hanging("", PRIVATE)])])


def calibrated_line(done: Calibrated) -> str:
    return f"{done.scenario}: {done.calibration.parameter} = {done.calibration.value!r}"


def calibrated_json(done: Calibrated) -> dict[str, Any]:
    answer = done.calibration
    names = ("parameter", "value", "epsilon", "delta", "attained")
    return {
        **_subject(done, answer.mechanism),
        **{name: getattr(answer, name) for name in names},
        "row": answer.index,
        "candidate": answer.candidate,
    }


def _about(answer: Analysis | Calibrated) -> list[tuple[str, str]]:
    name, parameters = describe(answer.mechanism)
    values = assignments(parameters)
    return [
        ("Scenario", answer.scenario),
        ("Data", data_text(answer.dataset)),
        ("Mechanism", f"{name} ({values})" if values else name),
        ("Neighbour", f"{_which(answer.neighbours)}; either direction"),
    ]


def _which(neighbours: Neighbours) -> str:
    if neighbours.relation == "add":
        return f"one more row, the worst of norm at most {number(neighbours.row_bound)}"
    if neighbours.candidates is None:
        return f"the worst of all rows, {DONE[neighbours.relation]}"
    candidates = f"{count(len(neighbours.candidates))} candidates for its place"
    return f"the worst of all rows and {candidates} ({neighbours.source})"


def _subject(answer: Analysis | Calibrated, mechanism: Mechanism) -> dict[str, Any]:
    (name, parameters), neighbours = describe(mechanism), answer.neighbours
    candidates = None if neighbours.candidates is None else len(neighbours.candidates)
    return {
        "scenario": answer.scenario,
        "mechanism": {"name": name, "parameters": parameters},
        "dataset": answer.dataset,
        "neighbour": {
            "relation": neighbours.relation,
            "candidates": candidates,
            "row_bound": neighbours.row_bound,
        },
    }


def _finite(value: float | None) -> str:
    return "infinite" if value == np.inf else number(value)


def _judgement(analysis: Analysis) -> str:
    """A sentence: the claim holds at all ε, or the ε at which the exact δ exceeds it most."""
    assert analysis.claim is not None
    assert analysis.claimed is not None
    claim = f"the claim of {analysis.claim.text}"
    if not len(analysis.broken):
        return f"NOT VIOLATED: at no ε of the grid does the exact δ(ε) exceed {claim}."
    curves = (analysis.spectrum.epsilon, analysis.spectrum.delta, analysis.claimed)
    at = analysis.broken[np.argmax((curves[1] - curves[2])[analysis.broken])]
    epsilon, delta, claimed = (number(float(curve[at])) for curve in curves)
    return f"VIOLATED: the exact δ({epsilon}) is {delta}, above the {claimed} that {claim} allows."
