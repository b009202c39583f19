"""Paper 4: the settings of its experiments, and comments on how to draw its noise."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from reports.make.findings.finding import Evidence, Finding, claimed, stated

DRAWS, SEED = 20_000, 4


def _comment(epsilon: float) -> Evidence:
    """Entries multiplied by B/√ε have V = (B²/ε)I, where the example has V = B²I."""
    return stated("standard deviation/B", 1.0 / math.sqrt(epsilon), 1.0)


def _product(dof: int, dim: int) -> Evidence:
    """N is d × d, so NᵀN has d rows; N′ has ν."""
    sample, scatter = np.zeros((dof, dim)), np.zeros((dim, dim))
    return stated("rows of N′", float(len(scatter.T @ scatter)), float(len(sample)))


def _right_product(dof: int, dim: int) -> Evidence:
    sample, scatter = np.zeros((dof, dim)), np.zeros((dim, dim))
    return stated("rows of N", float(len(sample.T @ sample)), float(len(scatter)))


def _power_of_two(exponent: int) -> Evidence:
    return stated(f"2^{exponent}", 4096.0, 2.0**exponent)


def _label_noise(deviation: float) -> Evidence:
    """The variance of section 3.1 against σ² of section 6.2.

    N(0, 0.5) names the variance, as paper 4 writes N(0, σ²).
    """
    return stated("variance of the noise", 0.5, deviation**2)


def _diagonal(dim: int) -> Evidence:
    """The variance of an entry on the diagonal of (N + Nᵀ)/√2 over σ², N of independent entries."""
    parts = np.zeros((dim, dim))
    parts[0, 0] = 1.0
    return stated(
        "variance on the diagonal/σ²", 1.0, float(np.sum(((parts + parts.T) / math.sqrt(2.0)) ** 2))
    )


def _row_bound(features: int, labels: int, bound: float) -> Evidence:
    """B² = `bound`·d against E‖A_i‖² for A_i = (x, 1, y).

    y_j = (x, 1)ᵀβ_j + N(0, ¼), β uniform in [−1, 1]^(p+1), so E‖A_i‖² = p + 1 + m((p + 1)/3 + ¼).
    The share of rows that are longer is found by draws.
    """
    dim, regressors = features + 1 + labels, features + 1
    mean = regressors + labels * (regressors / 3.0 + 0.25)
    rng = np.random.default_rng(SEED)
    x = np.column_stack([rng.standard_normal((DRAWS, features)), np.ones(DRAWS)])
    y = x @ rng.uniform(-1.0, 1.0, (regressors, labels)) + 0.5 * rng.standard_normal(
        (DRAWS, labels)
    )
    share = np.mean(np.sum(x**2, axis=1) + np.sum(y**2, axis=1) > bound * dim)
    found = claimed(bound * dim, mean, quantity="‖A_i‖² (B², mean)")
    return dataclasses.replace(
        found, at=f"so {100.0 * share:.0f} % of {DRAWS:,} rows drawn are shrunk"
    )


FINDINGS = (
    Finding(
        key="4-comment-b-3",
        paper=4,
        place="comment after theorem B.3, scale",
        claim="to sample such an N multiply normal entries by this",
        formula="B/√ε",
        fault="V = B²I, as in the example and in algorithm 3, takes B; B/√ε makes V = (B²/ε)I, "
        "which goes with C₁ = B²/ε and C₂ = 14, for which far fewer degrees of freedom would do",
        corrected="B (with ν = ⌊d + 28 ln(4/δ)/ε²⌋), or B/√ε with ν = ⌊d + 28 ln(4/δ)⌋",
        setting={"epsilon": 0.1},
        test=_comment,
        grid={"epsilon": (0.01, 0.1, 0.5)},
    ),
    Finding(
        key="4-comment-b-3-product",
        paper=4,
        place="comment after theorem B.3, product",
        claim="N′ of ν × d normal entries makes N",
        formula="N′ = NᵀN",
        fault="the wrong way round",
        corrected="N = N′ᵀN′",
        setting={"dof": 7, "dim": 3},
        test=_product,
        fixed=_right_product,
    ),
    Finding(
        key="4-power",
        paper=4,
        place="section 3.1, sizes of the data",
        claim="n runs from 2^14",
        formula="2^14 = 4,096",
        fault="4,096 is 2^12",
        corrected="2^12 = 4,096, or 2^14 = 16,384",
        setting={"exponent": 14},
        test=_power_of_two,
    ),
    Finding(
        key="4-label-noise",
        paper=4,
        place="sections 3.1 and 6.2, noise of the labels",
        claim="N(0, 0.5) in one, N(0, σ²) with σ = 0.5 in the other",
        formula="N(0, 0.5)",
        fault="if the second argument is the variance, as everywhere else, the two experiments "
        "differ by a factor 2",
        corrected="N(0, 0.25) in section 3.1, if the same noise is meant",
        setting={"deviation": 0.5},
        test=_label_noise,
    ),
    Finding(
        key="4-row-bound",
        paper=4,
        place="sections 3.1 and 6.2, B",
        claim="longer rows are shrunk to B (one label in section 3.1, m = 20 in section 6.2, where "
        "B is not said)",
        formula="B = √(2.5d)",
        fault="with 20 labels B² is below the mean of ‖A_i‖², so that most rows are shrunk and not "
        "a few",
        corrected="B² some 2 times the mean of ‖A_i‖², as for one label",
        setting={"features": 20, "labels": 20, "bound": 2.5},
        test=_row_bound,
        grid={"labels": (1, 5, 20)},
    ),
    Finding(
        key="4-appendix-c",
        paper=4,
        place="appendix C, comment after theorem C.1",
        claim="a symmetric M of N(0, σ²) on and above the diagonal is this, N of independent N(0, "
        "σ²)",
        formula="M = (N + Nᵀ)/√2",
        fault="the diagonal of the right side has the variance 2σ²",
        corrected="M = (N + Nᵀ)/√2 − (1 − 1/√2)·diag(M); the factor √2 of the comment is untouched",
        setting={"dim": 3},
        test=_diagonal,
    ),
)
