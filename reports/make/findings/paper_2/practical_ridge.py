"""Paper 2, remark 4.4: ridge regression with radii from the private rows themselves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit import datasets
from dpaudit.exact import gaussian_pair
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import PracticalDPRR, printed
from reports.make.findings.evidence import Evidence, claimed
from reports.make.findings.measures import exact_claim
from reports.make.findings.statement import PRIVACY, Statement, Swept

TRACE, LABEL_MOMENT = 2.0, 1.0
REPLACED = "neighbours have one row replaced, n is public"
MUS = {"mu": (0.3, 0.5, 1.0), "epsilon": (0.0, 0.5, 1.0)}


def _keeping(rows: int, eta: float) -> NeighbourPair:
    """A row at both radii whose label changes its sign; Tr(Σ̂) = 2 and σ̂² = 1 on both sides."""
    radius = printed.theorem_4_3_radius(TRACE, 2, rows, eta)
    label = printed.remark_4_4_label_radius(LABEL_MOMENT, rows, eta)
    place = np.arange(1, rows)
    data = np.zeros((rows, 3))
    data[0] = radius, 0.0, label
    data[place, place % 2] = math.sqrt((TRACE * rows - radius**2) / (rows - 1))
    data[place, 2] = np.where(place % 4 < 2, 1.0, -1.0) * math.sqrt(
        (LABEL_MOMENT * rows - label**2) / (rows - 1)
    )
    return replace_row(data, 0, [radius, 0.0, -label])


def _remark(mu: float, epsilon: float, rows: int, eta: float) -> Evidence:
    found = exact_claim(PracticalDPRR(mu, eta, release="statistics"), epsilon, _keeping(rows, eta))
    return dataclasses.replace(found, at="so the pair is 2-GDP")


def _remark_fixed(mu: float, epsilon: float, rows: int, eta: float) -> Evidence:
    return exact_claim(_public(mu, eta, TRACE, LABEL_MOMENT), epsilon, _keeping(rows, eta))


def _public(mu: float, eta: float, trace: float, label_moment: float) -> PracticalDPRR:
    return PracticalDPRR(
        mu, eta, trace=trace, label_moment=label_moment, variant="corrected", release="statistics"
    )


def _private_radii(mu: float, epsilon: float, data: str) -> Evidence:
    """Radii read off the rows, and σ₂ with its factor 2/μ, so that nothing else is at fault."""
    mechanism, pair = PracticalDPRR(mu, release="statistics"), PAIRS[data]()
    laws = [_with_factor(mechanism, side) for side in (pair.left, pair.right)]
    moments = [(law.mean, np.diag(law.deviation**2)) for law in laws]
    exact = float(max(gaussian_pair(*moments[0], *moments[1], epsilon)))
    return claimed(float(mechanism.claim.delta_at(epsilon)), exact)


def _with_factor(mechanism: PracticalDPRR, data: Any) -> Any:
    moments = mechanism.moments(data)
    first, second = moments.sigmas
    return dataclasses.replace(moments, sigmas=(first, 2.0 * second / mechanism.mu)).law


def _public_radii(mu: float, epsilon: float, data: str) -> Evidence:
    """The moments of the first database as numbers that are public."""
    pair = PAIRS[data]()
    squares = np.mean(pair.left**2, axis=0)
    mechanism = _public(mu, 0.05, float(squares[:-1].sum()), float(squares[-1]))
    return exact_claim(mechanism, epsilon, pair)


def _long_row() -> NeighbourPair:
    return PracticalDPRR(1.0).pair()


@lru_cache(maxsize=1)
def _flights() -> NeighbourPair:
    """FLIGHT in raw units, and the same with its longest row replaced by zeros."""
    data = datasets.load("flight").database
    longest = int(np.argmax(np.linalg.norm(data, axis=1)))
    return replace_row(data, longest, np.zeros(data.shape[1]))


PAIRS: dict[str, Callable[[], NeighbourPair]] = {"a long row": _long_row, "FLIGHT": _flights}
REMARK = Swept(
    _remark,
    {"mu": 0.5, "epsilon": 1.0, "rows": 1000, "eta": 0.05},
    {
        "mu": (0.1, 0.5, 1.0, 1.4),
        "epsilon": (0.0, 0.5),
        "rows": (100, 1000),
        "eta": (0.05, 0.5),
    },
)
RADII = Swept(
    _private_radii,
    {"mu": 0.5, "epsilon": 1.0, "data": "a long row"},
    MUS | {"data": tuple(PAIRS)},
    more=({"mu": 0.5, "epsilon": 1.0, "data": "FLIGHT"},),
)
STATEMENTS = (
    Statement(
        "2-remark-4-4",
        2,
        "remark 4.4, σ₂",
        "section 4.2",
        "Then the DP parameter σ₂ = √((Tr(Σ) + d log(n_A/η))(σ̂² + log(n/η)))/n",
        "the √2μ-GDP of theorem 4.3, any μ > 0; " + REPLACED + ". On a pair with the same Tr(Σ̂) "
        "and σ̂² on both sides",
        test=REMARK,
        fails=PRIVACY,
        fault="the factor 2/μ of theorem 4.3 is lost, so that the noise does not depend on μ",
        corrected="σ₂ = 2√((Tr(Σ) + d log(n_A/η))(σ̂² + log(n/η)))/(μn)",
        fixed=dataclasses.replace(REMARK, test=_remark_fixed),
    ),
    Statement(
        "2-remark-4-4-radii",
        2,
        "remark 4.4, radii",
        "section 4.2",
        "we can replace the Σ with the empirical estimation Σ̂. For the private responses y_i s, "
        "the bound can be replaced by the empirical second-moment estimation σ̂²",
        "the √2μ-GDP of theorem 4.3; " + REPLACED + ". Here with the factor 2/μ put back",
        test=RADII,
        fails=PRIVACY,
        fault="Tr(Σ̂) and σ̂² come from the private rows: one long row that is replaced changes the "
        "radii, and with them the noise and all other rows that are cut, as on FLIGHT",
        corrected="Tr(Σ) and σ² public, or private estimates of them",
        fixed=dataclasses.replace(RADII, test=_public_radii),
    ),
)
