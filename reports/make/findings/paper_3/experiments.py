"""Paper 3, appendices J and K: how its experiments were run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit._core.types import Array
from dpaudit.exact import spectrum
from dpaudit.mechanisms import RPLS
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers import LinearMixing
from dpaudit.papers.paper_3.printed import mixing_delta
from dpaudit.papers.paper_3.sketches import axis_pair
from dpaudit.testing import choices, integers, reals
from reports.make.findings.evidence import CERTIFIED
from reports.make.findings.paper_3.algorithm_1 import shown
from reports.make.findings.statement import CORNER, Searched, Statement

RATIO = 2.5  # k/d in the public code
BUDGET = 1e-6  # its δ


@lru_cache(maxsize=1024)
def _code_gamma(mixtures: int, epsilon: float) -> float:
    """γ of the public code, in units of C² = 2; theorem 1's first term has γC²/√k for η there."""
    share = math.sqrt(2.0 * mixtures * math.log(3.75 / BUDGET)) / 2.0

    def excess(place: float) -> float:
        left = epsilon - share / math.exp(place)
        found = mixing_delta(mixtures, math.exp(place), left) if left > 0.0 else 1.0
        return math.log(max(found, 1e-300) * 3.0 / BUDGET)

    return math.exp(brentq(excess, 0.01, 40.0))


def _code(features: int, epsilon: float) -> float:
    """δ of [X̃, Ỹ] with the code's γ and deviation √(γC²/√k) of λ̃, at least, for XᵀX = λI."""
    mixtures = int(RATIO * features)
    gamma = _code_gamma(mixtures, epsilon)
    eta = math.sqrt(2.0 * gamma / math.sqrt(mixtures)) / 2.0
    return shown(mixtures, gamma, eta, BUDGET, features + 1, epsilon)


def _as_described(features: int, epsilon: float) -> float:
    """λ̃ and the sketch by the corrected line of algorithm 1, a row of norm C on the λ_min axis."""
    mixing = LinearMixing(int(RATIO * features), epsilon, BUDGET, variant="corrected").mixing
    pair = axis_pair(mixing.row_bound, 2.0 + mixing.spread * (mixing.tau + 6.0))
    return float(mixing.joint_spectrum(pair, epsilon).delta)


def _normalised(private: bool) -> Callable[[int, float, float, float, str], float]:
    """1000 rows (1, 1) and one of `outlier` times that, which is zeroed.

    All are divided by their largest norm if `private`, else by a bound. Where the features alone
    are divided the labels are the same numbers over `outlier`. The rank is 1, so λ_min = 0 and
    λ̃ = 0 except for z > τ, and θ is least squares on a sketch padded with √γ·C: a lower bound of δ
    if `private`, else an upper one.
    """

    def leak(mixtures: int, epsilon: float, delta: float, outlier: float, divided: str) -> float:
        mixing = LinearMixing(mixtures, epsilon, delta).mixing
        reads = mixing.reads_eigenvalue
        noise = float(mixing.noise_at(0.0)) if reads else mixing.gamma * mixing.row_bound
        left = _divided(np.append(outlier, np.ones(1000)), outlier, outlier, divided)
        right = _divided(
            np.append(0.0, np.ones(1000)), 1.0 if private else outlier, outlier, divided
        )
        pair = NeighbourPair(left, right)
        found = float(spectrum(RPLS(mixtures, padding=noise), pair, epsilon).delta)
        missed = (1.0 + math.exp(epsilon)) * float(ndtr(-mixing.tau)) if reads else 0.0
        return found - missed if private else found + missed

    return leak


def _divided(numbers: Array, norm: float, outlier: float, divided: str) -> Array:
    """Rows (x, y) of numbers, by what is taken for their largest norm."""
    return np.column_stack(
        [numbers / norm, numbers / (norm if divided == "whole rows" else outlier)]
    )


IMPLEMENTED = Searched(
    lambda: BUDGET,
    _code,
    {"features": integers(50, 1000), "epsilon": reals(0.1, 5.0)},
    kind=CERTIFIED,
    tries=30,
    at={"features": 512, "epsilon": 1.0},
)
NORMALISED = Searched(
    lambda delta: delta,
    _normalised(True),
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
)
STATEMENTS = (
    Statement(
        "3-appendix-j-1",
        3,
        "implementation",
        "appendix J.1.1",
        "Our algorithm was implemented as described in Algorithm 2",
        "the public code as we have it, k = 2.5·d, C_X = C_Y = 1, δ = 10⁻⁶; of [X̃, Ỹ] of line 3, "
        "which the proof of theorem 2 calls private (θ shows less)",
        test=IMPLEMENTED,
        fails=CORNER,
        fault="the code’s deviation of λ̃ is √(γC²/√k), the square root of the box’s ηC² = γC²/√k, "
        "and with many columns [X̃, Ỹ] shows it",
        corrected="as the box has it, with λ̃/C²",
        fixed=replace(IMPLEMENTED, exact=_as_described, at=None),
        code="np.sqrt(sigma_eigenval) in Code_LinearRegression.py and in the notebook for logistic "
        "regression",
    ),
    Statement(
        "3-section-j",
        3,
        "normalised data",
        "appendix J.1 and J.2",
        "In all cases, we normalized the training data so that the maximum ℓ₂-norm of any training "
        "sample was 1",
        "read as a part of what is (ε, δ)-DP; zero-out neighbours, 1001 rows, of which the longest "
        "is zeroed",
        test=NORMALISED,
        fails=CORNER,
        fault="the largest norm is read off the private rows: without the longest all others grow. "
        "The paper says that tuning k is not accounted for, but does not say so of this",
        corrected="divided by a public bound, longer rows cut to it",
        fixed=replace(NORMALISED, exact=_normalised(False), at=None),
        code="divides by the largest norm of the training rows, and labels by their largest size",
    ),
    Statement(
        "3-figures-2-and-4",
        3,
        "figures 2 and 4",
        "section 5.1, appendix K.1",
        "our method outperforms the baselines on the datasets we consider",
        "",
        untested="errors on single data sets. Studied again on five of them, six training sets "
        "each, with the units put right, k = 5·d and δ = 1/n² "
        "(scenarios/papers/paper-3-figure-2.toml and paper-3-figure-4.toml): algorithm 2 had the "
        "smallest error on none of them at ε = 0.5 or 10; algorithm 5, the authors’ own variant, "
        "or AdaSSP had",
        code="utils_linear_mixing.py draws 1024 features of rank 8 for the Gaussian data, where "
        "appendix J.1 has 512 of rank 4",
    ),
    Statement(
        "3-appendix-j-2",
        3,
        "hyperparameters",
        "appendix J.2",
        "The privacy cost of this hyperparameter tuning was not included in our accounting",
        "",
        untested="as the paper says itself: the ε of figure 3 is that of one run at the chosen k",
    ),
    Statement(
        "3-figures-3-and-5",
        3,
        "figures 3 and 5",
        "section 5.2, appendix K.2",
        "our approach offers computational improvement over the objective perturbation baseline, "
        "and also accuracy improvement",
        "",
        untested="image data and a privately trained network, which we have not run. On banknotes "
        "(scenarios/papers/paper-3-figure-3.toml) objective perturbation with the right sign was "
        "the more accurate one at every ε from 0.5 to 10",
        code="the ridge of the baseline is Δ/(4n)·‖w‖², half of algorithm 6’s Δ/(2n)·‖θ‖²",
    ),
)
