"""What every tool is asked, and the form of its answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core.types import Array
from reports.make.tasks import Task, normal_task

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])  # where δ(ε) is read
DELTA = np.array([0.0, 1e-3])  # where ε is read
GRID = np.linspace(0.0, 4.0, 81)  # the curve that dpaudit certifies at once
READINGS = ("δ(0)", "δ(0.5)", "δ(1)", "δ(2)", "ε at δ = 0", "ε at δ = 1e-3")
OURS = "dpaudit"
SLACK = 1e-9  # above the truth by less is rounding
NULL = normal_task("null", "N(0, 1) against itself", "N(0, 1)", np.zeros(1), np.ones(1))


@dataclass(frozen=True, eq=False)
class Answer:
    """What a tool certified, and its seconds.

    found : one number for each of READINGS, NaN where there is no answer. wall, cpu : seconds of
    one question, of the whole curve for dpaudit.
    """

    found: Array
    wall: float
    cpu: float


def truth(task: Task) -> Array:
    """The true values of READINGS, (6,): δ and ε of the larger direction, ε in nats."""
    return np.concatenate([task.delta_at(EPSILON), task.epsilon_at(DELTA)])
