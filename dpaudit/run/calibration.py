"""Calibration of a scenario's mechanism: the least noise, or the most sketch rows, for a target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit import exact
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Mechanism
from dpaudit._core.user_code import beside
from dpaudit.run.analysis import Neighbours
from dpaudit.run.described import describe_data
from dpaudit.run.execute import loaded_data, loaded_mechanism
from dpaudit.run.scenario.file import Scenario


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration and its scenario. mechanism : as in the scenario; `found.mechanism` is
    calibrated.
    """

    scenario: str
    mechanism: Mechanism
    dataset: dict[str, Any]
    neighbours: Neighbours
    found: exact.Calibration

    __repr__ = short_repr


def calibrate(
    scenario: Scenario,
    epsilon: float,
    delta: float,
    *,
    parameter: str | None = None,
    relation: str = "zero-out",
    candidates: str | Path | None = None,
    row_bound: float | None = None,
) -> Calibrated:
    """Set one parameter of the mechanism so that the exact worst δ(epsilon) is at most `delta`.

    The scenario's claim and numbers of draws are not used.

    Parameters
    ----------
    scenario : Scenario
        With data and a mechanism whose output law is known.
    epsilon : float, nats
        The target's ε.
    delta : float in (0, 1)
        The target's δ.
    parameter : str, optional
        By default the first that `dpaudit list mechanisms` names.
    relation : {"zero-out", "remove", "replace", "add"}, default "zero-out"
        As in `dpaudit.exact.worst_case`.
    candidates : path, optional
        A CSV file of the data's columns.
    row_bound : float, optional
        As in `dpaudit.exact.worst_case`.

    Returns
    -------
    Calibrated

    Raises
    ------
    ScenarioError
        When the scenario has a fault that shows only now.
    NoExactSpectrum
        When none is known.
    DataNotFound
        When the data are not there.
    DegenerateData
        When the data leave the law undefined.
    InvalidInput
        When an argument is not as described; also where no value keeps the target, or every one
        does.
    """
    dataset = loaded_data(scenario)
    neighbours = Neighbours.given(relation, candidates, row_bound, dataset)
    options = {"parameter": parameter, **neighbours.arguments}
    with beside(scenario.modules):
        mechanism = loaded_mechanism(scenario)
        found = exact.calibrate(mechanism, dataset.database, epsilon, delta, **options)
    return Calibrated(scenario.name, mechanism, describe_data(dataset), neighbours, found)
