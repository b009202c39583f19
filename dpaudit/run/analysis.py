"""The exact analysis of a scenario, without a draw: the worst case over all neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import exact
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike, Mechanism
from dpaudit._core.user_code import beside
from dpaudit.auditing.settings import grid
from dpaudit.curves.claims import Claim, exceeds
from dpaudit.curves.spectrum import Spectrum
from dpaudit.datasets import Table
from dpaudit.datasets.table import read_candidates
from dpaudit.errors import NoExactSpectrum, ScenarioError
from dpaudit.run.described import describe_data
from dpaudit.run.execute import loaded_data, loaded_mechanism
from dpaudit.run.scenario.file import Scenario

DELTAS = (1e-5, 1e-6)  # at which ε is read off a spectrum
EPSILON = 1.0  # at which μ is


@dataclass(frozen=True, eq=False)
class Neighbours:
    """relation, candidates (m, d) and row_bound as in `dpaudit.exact.worst_case`.

    source : the name of the candidates' file.
    """

    relation: str
    candidates: Array | None = None
    row_bound: float | None = None
    source: str | None = None

    __repr__ = short_repr

    @classmethod
    def given(
        cls, relation: str, candidates: str | Path | None, row_bound: float | None, dataset: Table
    ) -> Neighbours:
        """From the path of a CSV file of candidates. Raises `DataNotFound`, `InvalidInput`."""
        if candidates is None:
            return cls(relation, None, row_bound)
        path = Path(candidates).expanduser()
        return cls(relation, read_candidates(path, dataset), row_bound, path.name)

    @property
    def arguments(self) -> dict[str, Any]:
        """As keywords of `worst_case`, which checks them."""
        return {
            "relation": self.relation,
            "candidates": self.candidates,
            "row_bound": self.row_bound,
        }


@dataclass(frozen=True)
class Readings:
    """Numbers read off a spectrum; ε and divergences in nats, infinite where none is finite.

    epsilon_at : ε by δ, at 10⁻⁵, 10⁻⁶ and the claim's own δ > 0.
    total_variation : δ(0).
    gdp_mu : the μ of the Gaussian shift with the same δ(ε), by ε, at 1 and the claim's own.
    renyi_2 : Rényi divergence of order 2, of the larger direction; None where no closed form is
        known.
    pure_epsilon : the largest privacy loss.
    notes : by the name of a number that is None, why it is.
    """

    epsilon_at: dict[float, float]
    total_variation: float
    gdp_mu: dict[float, float]
    renyi_2: float | None
    pure_epsilon: float
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spectrum: Spectrum, claim: Claim | None) -> Readings:
        """Read them off an exact spectrum, which carries its curve."""
        own_epsilon = [] if claim is None or claim.epsilon is None else [claim.epsilon]
        own_delta = [claim.delta] if claim is not None and own_epsilon and claim.delta > 0.0 else []
        deltas, epsilons = (
            sorted({*DELTAS, *own_delta}, reverse=True),
            sorted({EPSILON, *own_epsilon}),
        )
        renyi, notes = _renyi(spectrum)
        return cls(
            {
                delta: float(epsilon)
                for delta, epsilon in zip(deltas, spectrum.epsilon_at(deltas), strict=True)
            },
            spectrum.total_variation,
            {
                epsilon: float(mu)
                for epsilon, mu in zip(epsilons, spectrum.gdp_mu(epsilons), strict=True)
            },
            renyi,
            spectrum.pure_epsilon,
            notes,
        )


def _renyi(spectrum: Spectrum) -> tuple[float | None, dict[str, str]]:
    try:
        return float(spectrum.renyi(2.0)), {}
    except NoExactSpectrum as error:
        return None, {"renyi_2": str(error)}


@dataclass(frozen=True, eq=False)
class Analysis:
    """The worst case over all neighbours of one kind, with its law's limit where it has one.

    claimed : (m,) δ that the claim allows, or None.
    """

    scenario: str
    mechanism: Mechanism
    dataset: dict[str, Any]
    neighbours: Neighbours
    spectrum: Spectrum
    claim: Claim | None
    claimed: Array | None

    __repr__ = short_repr

    @cached_property
    def readings(self) -> Readings:
        """What else the spectrum's curve says."""
        return Readings.of(self.spectrum, self.claim)

    @property
    def broken(self) -> np.ndarray:
        """Grid positions where the exact spectrum exceeds the claim by more than rounding."""
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
    """The exact worst case over all neighbours, in both directions.

    Parameters
    ----------
    scenario : Scenario
        With data and a mechanism whose output law is known.
    epsilon : array of shape (m,), nats, optional
        Instead of the scenario's; a claim's own ε is added to either.
    relation : {"zero-out", "remove", "replace", "add"}, default "zero-out"
        As in `dpaudit.exact.worst_case`.
    candidates : path, optional
        A CSV file of the data's columns.
    row_bound : float, optional
        As in `dpaudit.exact.worst_case`.

    Returns
    -------
    Analysis

    Raises
    ------
    ScenarioError
        When the scenario has a fault that shows only now.
    NoExactSpectrum
        When none is known.
    DataNotFound
        When the data are not there.
    InvalidInput
        When an argument is not as described.
    DegenerateData
        When the data leave the law undefined.
    """
    dataset = loaded_data(scenario)
    if scenario.settings.metric is not None:
        raise ScenarioError("[claim] per: judged on one pair, by `dpaudit run`; leave it out here")
    points = scenario.settings.epsilon if epsilon is None else grid(epsilon, scenario.claim)
    neighbours = Neighbours.given(relation, candidates, row_bound, dataset)
    with beside(scenario.modules):
        mechanism = loaded_mechanism(scenario)
        found = _worst(mechanism, dataset.database, points, neighbours)
    claim = scenario.claim
    claimed = None if claim is None else claim.delta_at(points)
    return Analysis(
        scenario.name, mechanism, describe_data(dataset), neighbours, found, claim, claimed
    )


def _worst(mechanism: Mechanism, data: Array, epsilon: Array, neighbours: Neighbours) -> Spectrum:
    """The worst case; for zeroed or removed rows of ALS and RPLS also its asymptotic curve."""
    found = exact.worst_case(mechanism, data, epsilon, **neighbours.arguments)
    if neighbours.relation in ("zero-out", "remove"):
        limit = exact.worst_case(mechanism, data, epsilon, law="asymptotic", **neighbours.arguments)
        if limit.law != found.law:
            return found.replace(asymptotic=limit.delta)
    return found
