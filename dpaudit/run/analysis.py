"""The exact worst case of a scenario, and the calibration of its mechanism. Nothing is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit._core.user_code import importable_from
from dpaudit._core.value import value_class
from dpaudit.auditing.settings import grid
from dpaudit.curves.claims import Claim, exceeds
from dpaudit.curves.spectrum import Spectrum
from dpaudit.datasets import Table
from dpaudit.datasets.table import read_candidates
from dpaudit.errors import NoExactSpectrum, ScenarioError
from dpaudit.run.execute import describe_data, loaded_data, loaded_mechanism
from dpaudit.run.scenario.file import Scenario

DELTAS = (1e-5, 1e-6)  # the δ at which `Readings` has ε
EPSILON = 1.0  # the ε, nats, at which `Readings` has the μ of a Gaussian shift


@value_class(show_numbers=True)
class Neighbours:
    """The kind of neighbours over which a worst case is taken.

    relation, candidates (m, d), row_bound : arguments of `dpaudit.exact.worst_case`, which checks
    them. source : the name of the file of candidates.
    """

    relation: str
    candidates: Array | None = None
    row_bound: float | None = None
    source: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        names = ("relation", "candidates", "row_bound")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Readings:
    """Numbers that an exact spectrum implies; ε and divergences in nats, which may be infinite.

    epsilon_at : maps δ to the least ε with δ(ε) ≤ δ, at 10⁻⁵, 10⁻⁶ and the claim's δ if above 0.
    gdp_mu : maps ε to the μ of the Gaussian shift with the same δ(ε), at 1 and the claim's ε.
    renyi_2 : Rényi divergence of order 2, of the larger direction; None where no closed form is
    known, for the reason in `notes`. pure_epsilon : the largest privacy loss.
    """

    epsilon_at: dict[float, float]
    total_variation: float
    gdp_mu: dict[float, float]
    renyi_2: float | None
    pure_epsilon: float
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spectrum: Spectrum, claim: Claim | None) -> Readings:
        deltas, epsilons = {*DELTAS}, {EPSILON}
        if claim is not None and claim.epsilon is not None:
            deltas |= {claim.delta} if claim.delta > 0.0 else set()
            epsilons |= {claim.epsilon}
        at, of = sorted(deltas, reverse=True), sorted(epsilons)
        renyi, notes = None, {}
        try:
            renyi = float(spectrum.renyi(2.0))
        except NoExactSpectrum as error:
            notes = {"renyi_2": str(error)}
        return cls(
            dict(zip(at, map(float, spectrum.epsilon_at(at)), strict=True)),
            spectrum.total_variation,
            dict(zip(of, map(float, spectrum.gdp_mu(of)), strict=True)),
            renyi,
            spectrum.pure_epsilon,
            notes,
        )


@value_class(show_numbers=True)
class Analysis:
    """The exact worst case over all neighbours of one kind.

    dataset : what `describe_data` returns. spectrum : the worst δ at m points ε, with the
    asymptotic δ where it is known. claimed : the δ that the claim allows there, (m,), or None.
    """

    scenario: str
    mechanism: Mechanism
    dataset: dict[str, Any]
    neighbours: Neighbours
    spectrum: Spectrum
    claim: Claim | None
    claimed: Array | None

    @cached_property
    def readings(self) -> Readings:
        return Readings.of(self.spectrum, self.claim)

    @property
    def broken(self) -> np.ndarray:
        """The positions in the grid where the exact δ exceeds the claim by more than rounding."""
        if self.claimed is None:
            return np.array([], dtype=int)
        return np.flatnonzero(exceeds(self.spectrum.delta, self.claimed))


def analyse(
    scenario: Scenario,
    *,
    epsilon: ArrayLike | None = None,
    relation: str = "zero-out",
    candidates: str | Path | None = None,
    row_bound: float | None = None,
) -> Analysis:
    """Compute the exact worst case over all neighbours of one kind, in both directions.

    For zeroed or removed rows of some mechanisms the spectrum has the asymptotic curve too.

    Parameters
    ----------
    scenario : Scenario
        A scenario with data and a mechanism whose output law is known.
    epsilon : array of shape (m,), nats, optional
        The grid of ε, instead of the scenario's; the claim's own ε is added to either.
    relation : {"zero-out", "remove", "replace", "add"}, default "zero-out"
        The kind of neighbours, as for `dpaudit.exact.worst_case`.
    candidates : path, optional
        A CSV file of the data's columns: the rows that may come in, with "replace".
    row_bound : float, optional
        The largest norm of the row that comes in, with "add".

    Raises
    ------
    ScenarioError
        When the scenario has a fault that was not found when it was read.
    NoExactSpectrum
        When no exact spectrum of the mechanism is known.
    DataNotFound
        When the data files do not exist.
    DegenerateData
        When the data leave the law undefined.
    """
    if scenario.settings.metric is not None:
        raise ScenarioError("[claim] per: judged on one pair, by `dpaudit run`; leave it out here")
    claim = scenario.claim
    points = scenario.settings.epsilon if epsilon is None else grid(epsilon, claim)
    with _subject(scenario, relation, candidates, row_bound) as (dataset, neighbours, mechanism):
        worst = exact.worst_case(mechanism, dataset.database, points, **neighbours.options)
        if relation in ("zero-out", "remove"):
            options = {"law": "asymptotic", **neighbours.options}
            limit = exact.worst_case(mechanism, dataset.database, points, **options)
            if limit.law != worst.law:
                worst = worst.replace(asymptotic=limit.delta)
    claimed = None if claim is None else claim.delta_at(points)
    about = describe_data(dataset)
    return Analysis(scenario.name, mechanism, about, neighbours, worst, claim, claimed)


@contextmanager
def _subject(
    scenario: Scenario, relation: str, candidates: str | Path | None, row_bound: float | None
) -> Iterator[tuple[Table, Neighbours, Mechanism]]:
    """The data, the kind of neighbours and the mechanism, whose modules can be imported inside."""
    dataset, neighbours = loaded_data(scenario), Neighbours(relation, None, row_bound)
    if candidates is not None:
        path = Path(candidates).expanduser()
        rows = read_candidates(path, dataset)
        neighbours = Neighbours(relation, rows, row_bound, path.name)
    with importable_from(scenario.modules):
        yield dataset, neighbours, loaded_mechanism(scenario, dataset)


@value_class(show_numbers=True)
class Calibrated:
    """A calibration with the scenario that it is for. mechanism : the mechanism of the scenario;
    the calibrated one is `calibration.mechanism`.
    """

    scenario: str
    mechanism: Mechanism
    dataset: dict[str, Any]
    neighbours: Neighbours
    calibration: exact.Calibration


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
        As for `analyse`.
    epsilon, delta : float
        The target's ε, nats, and its δ in (0, 1).
    parameter : str, optional
        The parameter to set; by default the first that `dpaudit list mechanisms` names.
    relation, candidates, row_bound : optional
        As for `analyse`.

    Raises
    ------
    InvalidInput
        When no value of the parameter keeps δ(epsilon) ≤ delta, or every value does. Other errors
        are those of `analyse`.
    """
    with _subject(scenario, relation, candidates, row_bound) as (dataset, neighbours, mechanism):
        options = {"parameter": parameter, **neighbours.options}
        calibration = exact.calibrate(mechanism, dataset.database, epsilon, delta, **options)
    about = describe_data(dataset)
    return Calibrated(scenario.name, mechanism, about, neighbours, calibration)
