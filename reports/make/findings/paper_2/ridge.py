"""Paper 2, sections 4 and 6: ridge regression from noisy moments, remark 4.4, sizes of the data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpaudit import datasets
from dpaudit.exact import gaussian_pair
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import DPRR, PMTRR, PracticalDPRR, printed
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import Evidence, claimed, stated
from reports.make.findings.measures import exact_claim, gaussian_mu
from reports.make.findings.statement import Searched, Swept, Tested

TRACE, LABEL_MOMENT = 2.0, 1.0
CONSTANTS = choices(3.0, 10.0, 1e3, 1e6)  # for O(·); 2√2 and more is enough


def _moved_and_cut(depth: float, mu: float) -> float:
    """μ of a row (R, 0) with label R‖β‖ replaced by one with −depth times that label, then cut."""
    mechanism = DPRR(mu, TRACE, 1.0, release="statistics")
    radius = printed.theorem_4_3_radius(TRACE, 2, 3, mechanism.eta)
    data = np.array([[radius, 0.0, radius], [0.0, 1.0, 1.0], [1.0, 0.0, -1.0]])
    row = np.array([[radius, 0.0, -depth * radius]])
    return float(mechanism.replaced_rows(data, row).mu[0])


def _misses(
    eta: float, constant: float, signal: float = 1.0, ridge: float = 0.0, added: float = 0.0
) -> float:
    """The chance that the error of the estimate exceeds constant·(the printed bound).

    At d = 1 and in the limit of small noise the error is normal, g/(1 + λ) − sG/(1 + λ)², and the
    bound is X(s/(1 + λ²) + added/(1 + λ)), σ = 2X/√log(2/η) for both. signal : s, the cross moment
    Σ̃_Ay, which the bound takes as ‖Σ‖‖β‖; 1 for theorem 4.3 in units of ‖β‖, where s = ‖β‖ and
    σ₂ = σ₁‖β‖. added : 1 for the corrected bound, which has the noise of the cross moment.
    """
    deviation = math.hypot(1.0 / (1.0 + ridge), signal / (1.0 + ridge) ** 2)
    bound = signal / (1.0 + ridge**2) + added / (1.0 + ridge)
    return 2.0 * float(ndtr(-constant * bound * math.sqrt(math.log(2.0 / eta)) / (2.0 * deviation)))


ERROR = Searched(
    lambda eta: eta,
    _misses,
    {"signal": reals(0.0, 10.0), "eta": reals(1e-6, 0.5), "constant": CONSTANTS},
    quantity="P(the error exceeds the bound)",
    tries=300,
    at={"signal": 0.0, "eta": 0.05, "constant": 1e3},
    fixed={"exact": partial(_misses, added=1.0)},
)


# Remark 4.4: radii from the private rows themselves


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


@lru_cache(maxsize=1)
def _flights() -> NeighbourPair:
    """FLIGHT in raw units, and the same with its longest row replaced by zeros."""
    data = datasets.load("flight").database
    longest = int(np.argmax(np.linalg.norm(data, axis=1)))
    return replace_row(data, longest, np.zeros(data.shape[1]))


PAIRS: dict[str, Callable[[], NeighbourPair]] = {
    "a long row": PracticalDPRR(1.0).pair,
    "FLIGHT": _flights,
}


# Section 6


def _power_plant(part: str) -> Evidence:
    """All 9568 samples against n_A + n_B, and n_B as 2 % of them, rounded up."""
    shown, true = {"all": (9568, 9376 + 192), "public": (192, -(-9568 * 2 // 100))}[part]
    return stated(f"samples, {part}", shown, true)


TESTS: dict[str, Tested] = {
    "2-algorithm-2": Searched(
        lambda mu: math.sqrt(2.0) * mu,
        lambda mu, public_rows: gaussian_mu(
            PMTRR(mu, public_rows=public_rows, release="statistics")
        ),
        {"mu": reals(0.01, 10.0), "public_rows": integers(1, 20)},
        quantity="μ",
        tries=200,
    ),
    "2-theorem-4-2": ERROR,
    "2-theorem-4-3": Searched(
        lambda mu: math.sqrt(2.0) * mu,
        lambda mu, trace: gaussian_mu(DPRR(mu, trace, 1.0, release="statistics")),
        {"mu": reals(0.01, 10.0), "trace": reals(0.1, 100.0)},
        quantity="μ",
        tries=200,
    ),
    "2-theorem-4-3-labels": Searched(
        lambda mu: math.sqrt(2.0) * mu,
        _moved_and_cut,
        {"depth": reals(0.0, 1e3), "mu": reals(0.1, 3.0)},
        quantity="μ",
        tries=100,
        at={"depth": 10.0, "mu": 0.5},
    ),
    "2-theorem-4-3-error": dataclasses.replace(
        ERROR,
        domain={"ridge": reals(0.0, 1e9), "eta": reals(1e-6, 0.5), "constant": CONSTANTS},
        at={"ridge": 1e5, "eta": 0.05, "constant": 1e3},
    ),
    "2-remark-4-4": Swept(
        _remark,
        {"mu": 0.5, "epsilon": 1.0, "rows": 1000, "eta": 0.05},
        {
            "mu": (0.1, 0.5, 1.0, 1.4),
            "epsilon": (0.0, 0.5),
            "rows": (100, 1000),
            "eta": (0.05, 0.5),
        },
        fixed=lambda mu, epsilon, rows, eta: exact_claim(
            _public(mu, eta, TRACE, LABEL_MOMENT), epsilon, _keeping(rows, eta)
        ),
    ),
    "2-remark-4-4-radii": Swept(
        _private_radii,
        {"mu": 0.5, "epsilon": 1.0, "data": "a long row"},
        {"mu": (0.3, 0.5, 1.0), "epsilon": (0.0, 0.5, 1.0), "data": tuple(PAIRS)},
        more=({"mu": 0.5, "epsilon": 1.0, "data": "FLIGHT"},),
        fixed=_public_radii,
    ),
    "2-power-plant": Swept(_power_plant, {"part": "all"}, {"part": ("all", "public")}),
}
