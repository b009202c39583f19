"""Paper 2: second moments and ridge regression of rows truncated by public second moments."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import chdtrc
from scipy.stats import binomtest

from dpaudit import datasets
from dpaudit._core.types import Array
from dpaudit.exact import gaussian_pair, gaussian_shift, spectrum
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers import DPRR, PMT, PracticalDPRR, printed
from reports.make.findings.finding import CERTIFIED, Evidence, Finding, claimed
from reports.make.findings.measures import exact_claim

TRIALS, SEED = 2_000, 2
TRACE, LABEL_MOMENT = 2.0, 1.0


def _norm(longer: float) -> Callable[[int, int, float, float], Evidence]:
    """P(‖G‖₂ > `longer` times the printed bound) by draws, a lower limit at level 1 − 10⁻⁶."""

    def test(dim: int, rows: int, eta: float, mu: float) -> Evidence:
        sigma, bound = (
            printed.theorem_3_2_sigma(dim, rows, eta, mu),
            printed.theorem_3_2_norm(dim, rows, eta, mu),
        )
        noise = sigma * np.random.default_rng(SEED).standard_normal((TRIALS, dim, dim))
        upper = np.triu(noise) + np.triu(noise, 1).transpose(0, 2, 1)
        outside = np.linalg.norm(upper, 2, axis=(1, 2)) > longer * bound
        low = (
            binomtest(int(outside.sum()), TRIALS, alternative="greater")
            .proportion_ci(1.0 - 1e-6)
            .low
        )
        return claimed(eta, float(low), kind=CERTIFIED, quantity="P(‖G‖₂ > …)")

    return test


def _added(mu: float, epsilon: float, dim: int, rows: int, eta: float) -> Evidence:
    """n rows of zeros, and the same with a row at the radius.

    n + 1 stands for n in the average, the radius and the noise.
    """
    mechanism = PMT(mu, eta, public_moment=tuple(map(tuple, np.eye(dim).tolist())))
    few = np.zeros((rows, dim))
    row = printed.algorithm_1_radius(dim, rows + 1, eta) * np.eye(dim)[:1]
    pair = NeighbourPair(few, np.vstack([few, row]))
    return claimed(
        float(mechanism.claim.delta_at(epsilon)), float(spectrum(mechanism, pair, epsilon).delta)
    )


def _replaced(mu: float, epsilon: float, dim: int, rows: int, eta: float) -> Evidence:
    """The same where the row stands in the place of one of the zeros."""
    mechanism = PMT(mu, eta, public_moment=tuple(map(tuple, np.eye(dim).tolist())))
    row = printed.algorithm_1_radius(dim, rows, eta) * np.eye(dim)[0]
    return exact_claim(mechanism, epsilon, replace_row(np.zeros((rows, dim)), 0, row))


def _cut(wider: bool) -> Callable[[int, int, float], Evidence]:
    """The probability that one of n standard normal rows is cut.

    wider : cut at lemma A.2's radius of χ²_d, not at algorithm 1's.
    """

    def test(rows: int, dim: int, eta: float) -> Evidence:
        log = math.log(rows / eta)
        square = printed.algorithm_1_radius(dim, rows, eta) ** 2
        if wider:
            square = dim + 2.0 * math.sqrt(dim * log) + 2.0 * log
        chance = -math.expm1(rows * math.log1p(-float(chdtrc(dim, square))))
        return claimed(eta, chance, quantity="P(a row is cut)")

    return test


def _one_side(depth: float, mu: float, epsilon: float) -> Evidence:
    """The row (R, 0) with label R‖β‖ replaced by one with −`depth` times that label.

    The theorem does not cut it.
    """
    radius, count = printed.theorem_4_3_radius(TRACE, 2, 3, 0.05), 3
    _, sigma = printed.theorem_4_3_sigmas(TRACE, 1.0, 2, count, 0.05, mu)
    moved = radius * (1.0 + depth) * radius / (count * sigma)
    return claimed(
        float(gaussian_shift(math.sqrt(2.0) * mu, epsilon)), float(gaussian_shift(moved, epsilon))
    )


def _both_sides(depth: float, mu: float, epsilon: float) -> Evidence:
    mechanism = DPRR(mu, TRACE, 1.0, release="statistics")
    radius = printed.theorem_4_3_radius(TRACE, 2, 3, mechanism.eta)
    data = np.array([[radius, 0.0, radius], [0.0, 1.0, 1.0], [1.0, 0.0, -1.0]])
    return exact_claim(mechanism, epsilon, replace_row(data, 0, [radius, 0.0, -depth * radius]))


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


def _remark_4_4(mu: float, epsilon: float, rows: int, eta: float) -> Evidence:
    found = exact_claim(PracticalDPRR(mu, eta, release="statistics"), epsilon, _keeping(rows, eta))
    return dataclasses.replace(found, at="so the pair is 2-GDP")


def _remark_4_4_fixed(mu: float, epsilon: float, rows: int, eta: float) -> Evidence:
    return exact_claim(_public(mu, eta, TRACE, LABEL_MOMENT), epsilon, _keeping(rows, eta))


def _public(mu: float, eta: float, trace: float, label_moment: float) -> PracticalDPRR:
    return PracticalDPRR(
        mu, eta, trace=trace, label_moment=label_moment, variant="corrected", release="statistics"
    )


def _private_radii(pair: Callable[[], NeighbourPair]) -> Callable[[float, float], Evidence]:
    """Radii read off the rows, and σ₂ with its factor 2/μ, so that nothing else is at fault."""

    def test(mu: float, epsilon: float) -> Evidence:
        mechanism, databases = PracticalDPRR(mu, release="statistics"), pair()
        laws = [_with_factor(mechanism, side) for side in (databases.left, databases.right)]
        moments = [(law.mean, np.diag(law.deviation**2)) for law in laws]
        curves = gaussian_pair(*moments[0], *moments[1], epsilon)
        return claimed(float(mechanism.claim.delta_at(epsilon)), float(max(curves)))

    return test


def _with_factor(mechanism: PracticalDPRR, data: Array) -> Any:
    moments = mechanism.moments(data)
    first, second = moments.sigmas
    return dataclasses.replace(moments, sigmas=(first, 2.0 * second / mechanism.mu)).law


def _public_radii(pair: Callable[[], NeighbourPair]) -> Callable[[float, float], Evidence]:
    """The moments of the first database as numbers that are public."""

    def test(mu: float, epsilon: float) -> Evidence:
        data = pair().left
        squares = np.mean(data**2, axis=0)
        return exact_claim(
            _public(mu, 0.05, float(squares[:-1].sum()), float(squares[-1])), epsilon, pair()
        )

    return test


def _long_row() -> NeighbourPair:
    return PracticalDPRR(1.0).pair()


@lru_cache(maxsize=1)
def _flights() -> NeighbourPair:
    """FLIGHT in raw units, and the same with its longest row replaced by zeros."""
    data = datasets.load("flight").database
    longest = int(np.argmax(np.linalg.norm(data, axis=1)))
    return replace_row(data, longest, np.zeros(data.shape[1]))


MUS = {"mu": (0.3, 0.5, 1.0), "epsilon": (0.0, 0.5, 1.0)}
FINDINGS = (
    Finding(
        key="2-theorem-3-2-norm",
        paper=2,
        place="theorem 3.2, inequality (1)",
        claim="the norm of the noise is below this except with probability O(η)",
        formula="‖G‖₂ ≤ √(d³ ln(2d/η)) (1 + ln(2n/η))/(μn)",
        fault="a factor 2√2 is lost between lemma A.1 and the theorem: the noise passes the bound "
        "nearly always",
        corrected="‖G‖₂ ≤ 2√2 √(d³ ln(2d/η)) (1 + ln(2n/η))/(μn), which is σ√(2d ln(2d/η))",
        setting={"dim": 10, "rows": 1000, "eta": 0.05, "mu": 1.0},
        test=_norm(1.0),
        grid={"dim": (1, 3, 10, 20), "eta": (0.2, 0.05, 0.01)},
        fixed=_norm(2.0 * math.sqrt(2.0)),
    ),
    Finding(
        key="2-theorem-3-2-added",
        paper=2,
        place="theorem 3.2, one row added",
        claim="μ-GDP for datasets that “differ in only one sample” (read as: one of them has a row "
        "more)",
        formula="σ = 2d(1 + ln(2n/η))/(μn), rows cut at √(d(1 + ln(2n/η)))",
        fault="n is in the average, in the radius and in the noise, whose size tells n from n + 1 "
        "at any μ; the proof is about a row replaced",
        corrected="for a row replaced, n being public",
        setting={"mu": 0.1, "epsilon": 0.5, "dim": 10, "rows": 10, "eta": 0.05},
        test=_added,
        grid={
            "mu": (0.1, 0.3, 1.0),
            "epsilon": (0.0, 0.5),
            "dim": (1, 3, 10),
            "rows": (1, 10, 100),
        },
        fixed=_replaced,
    ),
    Finding(
        key="2-theorem-4-1",
        paper=2,
        place="theorem 4.1 (and 3.3, 1): equality with the estimator of uncut rows",
        claim="with probability 1 − O(η) no row, and no label, is cut (here normal ones, whitened "
        "exactly)",
        formula="algorithm 1 cuts at √(d(1 + ln(2n/η)))",
        fault="for d = 1, as labels have, half of the logarithm that n normal numbers need: from "
        "many rows one is cut nearly surely, whatever the constant in O(η); rows with longer tails "
        "are cut in any dimension",
        corrected="√(d + 2√(d ln(n/η)) + 2 ln(n/η)) for normal rows; the equality holds where no "
        "row is cut",
        setting={"rows": 1_000_000, "dim": 1, "eta": 0.05},
        test=_cut(False),
        grid={"rows": (100, 10_000, 1_000_000), "dim": (1, 2, 10), "eta": (0.1, 0.05, 0.001)},
        fixed=_cut(True),
    ),
    Finding(
        key="2-theorem-4-3-labels",
        paper=2,
        place="theorem 4.3, bound on the labels",
        claim="√2·μ-GDP for labels that are bounded by this",
        formula="y ≤ √(Tr(Σ) + d ln(n/η)) ‖β‖",
        fault="from above only: a label far below 0 moves the cross moment without bound",
        corrected="|y| ≤ √(Tr(Σ) + d ln(n/η)) ‖β‖, as the proof has it",
        setting={"depth": 10.0, "mu": 0.5, "epsilon": 1.0},
        test=_one_side,
        grid=MUS | {"depth": (1.0, 3.0, 10.0, 100.0)},
        fixed=_both_sides,
    ),
    Finding(
        key="2-remark-4-4",
        paper=2,
        place="remark 4.4, noise on the cross moment",
        claim="√2·μ-GDP for any μ",
        formula="σ₂ = R·R_y/n",
        fault="the factor 2/μ of theorem 4.3 is lost: the noise does not depend on μ, and two "
        "databases with the same Tr(Σ̂) and σ̂² are exactly 2-GDP apart",
        corrected="σ₂ = 2R·R_y/(μn)",
        setting={"mu": 0.5, "epsilon": 1.0, "rows": 1000, "eta": 0.05},
        test=_remark_4_4,
        grid={
            "mu": (0.1, 0.5, 1.0, 1.4),
            "epsilon": (0.0, 0.5),
            "rows": (100, 1000),
            "eta": (0.05, 0.5),
        },
        fixed=_remark_4_4_fixed,
    ),
    *(
        Finding(
            key=key,
            paper=2,
            place=place,
            claim="√2·μ-GDP with the radii from Tr(Σ̂) and σ̂² of the private rows",
            formula="R = √(Tr(Σ̂) + d ln(n/η)), R_y = √(σ̂² + ln(n/η))",
            fault=fault,
            corrected="Tr(Σ) and σ² public numbers",
            setting={"mu": 0.5, "epsilon": 1.0},
            test=_private_radii(pair),
            grid=MUS,
            fixed=_public_radii(pair),
        )
        for key, place, pair, fault in (
            (
                "2-remark-4-4-radii",
                "remark 4.4, radii read off the data",
                _long_row,
                "one replaced row changes the radii, so the noise, and its size tells the two "
                "apart (here with the factor 2/μ put back)",
            ),
            (
                "2-remark-4-4-flight",
                "remark 4.4, radii read off real data",
                _flights,
                "the same on FLIGHT in its own units, its longest row replaced by zeros: the radii "
                "shrink, and with them every row that is cut",
            ),
        )
    ),
)
