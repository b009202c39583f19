"""Paper 3, appendices H to K: the algorithms it compares with, and how its experiments were run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.types import Array
from dpaudit.exact import gaussian_shift, spectrum
from dpaudit.laws.vectors import laplace_log_cdf
from dpaudit.mechanisms import RPLS
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import LinearMixing, ObjectivePerturbation, SheffetOLS, SheffetRenyiOLS, printed
from dpaudit.papers.paper_3.mixing import SheffetAlgorithm
from dpaudit.papers.paper_3.sketches import SketchedFit, axis_pair
from dpaudit.papers.printed import mixing_delta
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED
from reports.make.findings.paper_3.algorithm_1 import output_leak
from reports.make.findings.statement import Searched, Tested

# Appendices H and I: the algorithms that the paper compares with

Box = Callable[..., SheffetAlgorithm]


def _solution_leak(
    row_bound: float, mixtures: int, epsilon: float, delta: float, box: Box
) -> float:
    """δ of what the box returns, θ̃, on its own pair, at least.

    λ_min is so small there that noise is added except for a probability p: the Student t laws' δ
    with that noise, less (1 + e^ε)p.
    """
    mechanism = box(mixtures, epsilon, delta, row_bound, row_bound)
    pair = mechanism.pair()
    lowest = max(float(np.linalg.eigvalsh(one.T @ one)[0]) for one in (pair.left, pair.right))
    missed = math.exp(float(laplace_log_cdf(np.array(mechanism.margin(lowest)))))
    curve = SketchedFit.of(pair.left).curve(0, mixtures, mechanism.sigma)
    leak = max(float(one) for one in curve.delta(np.array(epsilon)))
    return leak - (1.0 + math.exp(epsilon)) * missed


def _corrected_leak(
    row_bound: float, mixtures: int, epsilon: float, delta: float, box: Box
) -> float:
    """δ of the branch taken and θ̃ together, by the corrected lines, on the same pair."""
    mechanism = box(mixtures, epsilon, delta, row_bound, row_bound, variant="corrected")
    return float(mechanism.joint_spectrum(mechanism.pair(), epsilon).delta)


def _ada_ssp(epsilon: float, delta: float) -> float:
    """Three releases that all move by their sensitivity: together a shift of √3/s."""
    mu = math.sqrt(3.0) / printed.ada_ssp_deviation(epsilon, delta)
    return float(gaussian_shift(mu, epsilon))


def _objective(epsilon: float, delta: float) -> float:
    """The corrected algorithm 6 on its own pair of one feature, exactly."""
    mechanism = ObjectivePerturbation(epsilon, delta, variant="corrected")
    pair = mechanism.pair()
    return float(spectrum(mechanism, NeighbourPair(pair.left, pair.right), epsilon).delta)


def _sheffet(box: Box, low: float, high: float, at: float) -> Searched:
    """θ̃ of a box for rows of norm `low` to `high`, first shown at the row bound `at`."""
    return Searched(
        lambda delta: delta,
        partial(_solution_leak, box=box),
        {
            "row_bound": reals(low, high),
            "mixtures": integers(2, 1000),
            "epsilon": reals(0.1, 10.0),
            "delta": reals(1e-8, 0.01),
        },
        kind=CERTIFIED,
        tries=60,
        at={"row_bound": at, "mixtures": 10, "epsilon": 5.0, "delta": 1e-5},
        fixed={"exact": partial(_corrected_leak, box=box)},
    )


# Appendices J and K: how the experiments were run

RATIO = 2.5  # k/d in the public code
BUDGET = 1e-6  # its δ


@lru_cache(maxsize=1024)
def _code_gamma(mixtures: int, epsilon: float) -> float:
    """γ of the public code, in units of C² = 2; theorem 1's first term has γC²/√k for η there."""
    share = math.sqrt(2.0 * mixtures * math.log(3.75 / BUDGET)) / 2.0

    def excess(place: float) -> float:
        left = epsilon - share / math.exp(place)
        delta = mixing_delta(mixtures, math.exp(place), left) if left > 0.0 else 1.0
        return math.log(max(delta, 1e-300) * 3.0 / BUDGET)

    return math.exp(brentq(excess, 0.01, 40.0))


def _leak_of_code(features: int, epsilon: float) -> float:
    """δ of [X̃, Ỹ] with the code's γ and deviation √(γC²/√k) of λ̃, at least, for XᵀX = λI."""
    mixtures = int(RATIO * features)
    gamma = _code_gamma(mixtures, epsilon)
    eta = math.sqrt(2.0 * gamma / math.sqrt(mixtures)) / 2.0
    return output_leak(mixtures, gamma, eta, BUDGET, features + 1, epsilon)


def _leak_as_described(features: int, epsilon: float) -> float:
    """λ̃ and the sketch by the corrected line of algorithm 1, a row of norm C on the λ_min axis."""
    mixing = LinearMixing(int(RATIO * features), epsilon, BUDGET, variant="corrected").mixing
    pair = axis_pair(mixing.row_bound, 2.0 + mixing.spread * (mixing.tau + 6.0))
    return float(mixing.joint_spectrum(pair, epsilon).delta)


def _normalised(
    mixtures: int,
    epsilon: float,
    delta: float,
    outlier: float,
    divided: str,
    private: bool = True,
) -> float:
    """1000 rows (1, 1) and one of `outlier` times that, which is zeroed.

    All are divided by their largest norm if `private`, else by a bound. Where the features alone
    are divided the labels are the same numbers over `outlier`. The rank is 1, so λ_min = 0 and
    λ̃ = 0 except for z > τ, and θ is least squares on a sketch padded with √γ·C: a lower bound of δ
    if `private`, else an upper one.
    """

    mixing = LinearMixing(mixtures, epsilon, delta).mixing
    reads = mixing.reads_eigenvalue
    noise = float(mixing.noise_at(0.0)) if reads else mixing.gamma * mixing.row_bound
    left = _divided(np.append(outlier, np.ones(1000)), outlier, outlier, divided)
    right = _divided(np.append(0.0, np.ones(1000)), 1.0 if private else outlier, outlier, divided)
    exact = spectrum(RPLS(mixtures, padding=noise), NeighbourPair(left, right), epsilon)
    missed = (1.0 + math.exp(epsilon)) * float(ndtr(-mixing.tau)) if reads else 0.0
    return float(exact.delta) - missed if private else float(exact.delta) + missed


def _divided(numbers: Array, norm: float, outlier: float, divided: str) -> Array:
    """Rows (x, y) of numbers, by what is taken for their largest norm."""
    other = norm if divided == "whole rows" else outlier
    return np.column_stack([numbers / norm, numbers / other])


TESTS: dict[str, Tested] = {
    "3-algorithm-3": Searched(
        lambda delta: delta,
        _ada_ssp,
        {"epsilon": reals(0.01, 100.0), "delta": reals(1e-10, 0.1)},
        at={"epsilon": 40.0, "delta": 1e-5},
        fixed={"hypotheses": lambda epsilon: epsilon <= 10.0},
    ),
    "3-h2-algorithm-4": _sheffet(SheffetOLS, 1e-3, 100.0, at=0.01),
    "3-h2-algorithm-5": _sheffet(SheffetRenyiOLS, 1.0, 1000.0, at=10.0),
    "3-algorithm-6-noise": Searched(
        lambda delta: delta,
        _objective,
        {"epsilon": reals(0.1, 10.0), "delta": reals(1e-6, 0.05)},
        tries=60,
    ),
    "3-appendix-j-1": Searched(
        lambda: BUDGET,
        _leak_of_code,
        {"features": integers(50, 1000), "epsilon": reals(0.1, 5.0)},
        kind=CERTIFIED,
        tries=30,
        at={"features": 512, "epsilon": 1.0},
        fixed={"exact": _leak_as_described},
    ),
    "3-section-j": Searched(
        lambda delta: delta,
        _normalised,
        {
            "mixtures": integers(10, 1000),
            "epsilon": reals(0.1, 1.0),
            "delta": reals(1e-6, 1e-3),
            "outlier": reals(2.0, 100.0),
            "divided": choices("features alone", "whole rows"),
        },
        kind=CERTIFIED,
        tries=60,
        at={
            "mixtures": 50,
            "epsilon": 1.0,
            "delta": 1e-5,
            "outlier": 10.0,
            "divided": "features alone",
        },
        fixed={"exact": partial(_normalised, private=False)},
    ),
}
