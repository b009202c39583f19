"""Paper 1: δ of random projections, noise of proposition 2 and padding of figure 4."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc, gammaincc

from dpaudit._core.linalg import least_squares
from dpaudit.exact import gaussian_pair, gaussian_shift, spectrum
from dpaudit.mechanisms import RPLS, RandomProjection
from dpaudit.neighbours import NeighbourPair, zero_row
from dpaudit.papers import printed
from reports.make.findings.finding import Evidence, Finding, asked, claimed
from reports.make.findings.measures import SMALL_DELTAS, least, least_noise, outlying_line, sketch

SHARES = {
    "leverage": (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8),
    "epsilon": (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0),
}
CHI_SQUARE = (
    "the larger of F̄(s) − e^ε F̄(s/(1−q)) and F(s′/(1−q)) − e^ε F(s′), F the cdf of χ²_r, s = 2(ε "
    "− (r/2) ln(1−q))(1−q)/q, s′ = 2 max(0, −ε − (r/2) ln(1−q))(1−q)/q"
)
ROUNDING = 1e-13


def _lemma_10(leverage: float, rows: int, epsilon: float) -> Evidence:
    return claimed(float(printed.lemma_10(leverage, epsilon)), sketch(leverage, rows, epsilon))


def _lemma_11(leverage: float, rows: int, epsilon: float) -> Evidence:
    return claimed(
        float(printed.lemma_11(leverage, rows, epsilon)), sketch(leverage, rows, epsilon)
    )


def _chi_square(leverage: float, rows: int, epsilon: float) -> Evidence:
    """The corrected line by the incomplete gamma functions.

    ROUNDING is that of a difference of two of them.
    """
    room, half = (1.0 - leverage) / leverage, 0.5 * rows
    above, below = (
        epsilon - half * math.log1p(-leverage),
        max(0.0, -epsilon - half * math.log1p(-leverage)),
    )
    s, other, scale = above * room, below * room, 1.0 / (1.0 - leverage)
    forward = gammaincc(half, s) - math.exp(epsilon) * gammaincc(half, s * scale)
    backward = gammainc(half, other * scale) - math.exp(epsilon) * gammainc(half, other)
    return claimed(
        max(forward, backward) + ROUNDING * math.exp(epsilon), sketch(leverage, rows, epsilon)
    )


def _noise_leak(epsilon: float, delta: float) -> Evidence:
    sigma = printed.proposition_2_sigma(1.0, epsilon, delta)
    return claimed(delta, float(gaussian_shift(1.0 / sigma, epsilon)), at=f"so σ = {sigma:.4g} Δ")


def _noise_asked(epsilon: float, delta: float) -> Evidence:
    return asked(
        "σ/Δ", printed.proposition_2_sigma(1.0, epsilon, delta), least_noise(epsilon, delta)
    )


def _analytic(epsilon: float, delta: float) -> Evidence:
    """σ = Δ/μ with μ the largest Gaussian shift that keeps (ε, δ), less what rounding may add."""
    return claimed(
        delta, float(gaussian_shift((1.0 - 1e-9) / least_noise(epsilon, delta), epsilon))
    )


def _local_noise(epsilon: float, delta: float, outlier: float) -> Evidence:
    """Noise σ = s(D) times a constant.

    Without its one outlying row D′ has a far smaller s, so far less noise.
    """
    data = outlying_line(outlier)
    pair, scale = zero_row(data, 0), printed.proposition_2_sigma(1.0, epsilon, delta)
    fits = [least_squares(side) for side in (pair.left, pair.right)]
    covariances = [np.eye(1) * (float(fit.displacement.max()) * scale) ** 2 for fit in fits]
    curves = gaussian_pair(fits[0].coef, covariances[0], fits[1].coef, covariances[1], epsilon)
    return claimed(delta, float(max(curves)))


def _public_noise(epsilon: float, delta: float, outlier: float) -> Evidence:
    data = outlying_line(outlier)
    moved = float(least_squares(data).displacement[0])
    return claimed(
        delta,
        float(
            gaussian_shift(
                1.0 / printed.proposition_2_sigma(moved, epsilon, delta) * moved, epsilon
            )
        ),
    )


def _figure_4(rows: int, epsilon: float, delta: float, outlier: float) -> Evidence:
    """20,000 rows of norm 1, and one of norm `outlier` that sets c₁.

    Without that row the padding is smaller by the factor `outlier`.
    """
    return claimed(
        delta, float(spectrum(RPLS(rows, epsilon, delta), _outlying(outlier), epsilon).delta)
    )


def _figure_4_public(rows: int, epsilon: float, delta: float, outlier: float) -> Evidence:
    mechanism = RPLS(rows, epsilon, delta, row_bound=outlier)
    return claimed(delta, float(spectrum(mechanism, _outlying(outlier), epsilon).delta))


def _outlying(outlier: float) -> NeighbourPair:
    angle = np.linspace(0.3, 1.2, 20_000)
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    return zero_row(np.vstack([[outlier, 0.0], rows]), 0)


def _figure_4_asked(rows: int, epsilon: float, delta: float) -> Evidence:
    return asked(
        "w/B",
        printed.figure_4_padding(1.0, rows, epsilon, delta),
        least(RandomProjection(rows), epsilon, delta),
    )


FINDINGS = (
    Finding(
        key="1-lemma-10",
        paper=1,
        place="lemma 10",
        claim="δ of a random linear combination",
        formula="δ(D, D′) if ε ≥ −½ ln(1 − q), else δ(D′, D)",
        fault="below its split the smaller of the two directions is taken",
        corrected=f"{CHI_SQUARE}, with r = 1",
        setting={"leverage": 0.2, "rows": 1, "epsilon": 0.1},
        test=_lemma_10,
        grid=SHARES,
        fixed=_chi_square,
    ),
    Finding(
        key="1-lemma-11",
        paper=1,
        place="lemma 11",
        claim="δ of a random projection of r rows",
        formula="lemma 10 with c = ε ∓ (r/2) ln(1 − q)",
        fault="one squared normal scaled by r stands where a χ² of r degrees of freedom belongs; ½ "
        "for 1",
        corrected=CHI_SQUARE,
        setting={"leverage": 0.2, "rows": 3, "epsilon": 0.5},
        test=_lemma_11,
        grid=SHARES | {"rows": (2, 3, 10, 60, 500)},
        fixed=_chi_square,
        more=(
            {"leverage": 0.5, "rows": 10, "epsilon": 0.5},
            {"leverage": 0.05, "rows": 60, "epsilon": 0.05},
        ),
    ),
    Finding(
        key="1-proposition-2",
        paper=1,
        place="proposition 2, noise",
        claim="the Gaussian mechanism M_{ε,δ} of [5], named by its (ε, δ), at any ε",
        formula="σ² = 2 ln(1.25/δ) s²/ε²",
        fault="the source states it for ε < 1; beyond, the noise falls below what (ε, δ) takes",
        corrected="σ = s/μ with μ the root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ, at any ε",
        setting={"epsilon": 10.0, "delta": 1e-5},
        test=_noise_leak,
        grid={"epsilon": (0.01, 0.1, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 20.0), "delta": SMALL_DELTAS},
        fixed=_analytic,
    ),
    Finding(
        key="1-proposition-2-loose",
        paper=1,
        place="proposition 2, noise",
        claim="the same noise, where its source states it",
        formula="σ² = 2 ln(1.25/δ) s²/ε²",
        fault="more noise than (ε, δ) takes",
        corrected="",
        setting={"epsilon": 1.0, "delta": 1e-5},
        test=_noise_asked,
        grid={"epsilon": (0.01, 0.1, 0.5, 1.0), "delta": SMALL_DELTAS},
    ),
    Finding(
        key="1-proposition-2-local",
        paper=1,
        place="proposition 2, sensitivity",
        claim="noise in proportion to s = ‖x_opt − x′_opt‖ of the database at hand",
        formula="σ = s √(2 ln(1.25/δ))/ε, s read off D",
        fault="s is a function of the private rows: the neighbour without the outlying row gets "
        "far less noise, and the size of the noise tells the two apart",
        corrected="s a public bound on the move, over all databases that the claim is about",
        setting={"epsilon": 1.0, "delta": 1e-5, "outlier": 100.0},
        test=_local_noise,
        grid={"epsilon": (0.1, 0.5, 1.0), "outlier": (1.0, 10.0, 100.0, 1e4)},
        fixed=_public_noise,
    ),
    Finding(
        key="1-figure-4-c1",
        paper=1,
        place="figure 4, c₁",
        claim="RP LS is (ε, δ)-DP with c₁ the largest row norm of D",
        formula="c₁ = max_i ‖D_(i)‖, c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε",
        fault="c₁ is read off the private data: zeroing the largest row shrinks the padding",
        corrected="c₁ a public bound on the row norms",
        setting={"rows": 2, "epsilon": 1.0, "delta": 1e-3, "outlier": 1000.0},
        test=_figure_4,
        grid={"rows": (2, 10), "outlier": (10.0, 100.0, 1000.0), "delta": (1e-2, 1e-3, 1e-5)},
        fixed=_figure_4_public,
    ),
    Finding(
        key="1-figure-4-c2",
        paper=1,
        place="figure 4, padding c₂",
        claim="the padding of RP LS, after [14]",
        formula="c₂² = 4c₁²(2r ln(4/δ) + ln(4/δ))/ε",
        fault="the source (paper 4, theorem 3.1) has √(2r ln(4/δ)): without the root it pads far "
        "more than it needs",
        corrected="c₂² = 4c₁²(√(2r ln(4/δ)) + ln(4/δ))/ε for ε ≤ ln(4/δ)",
        setting={"rows": 1000, "epsilon": 1.0, "delta": 1e-5},
        test=_figure_4_asked,
        grid={
            "rows": (1, 10, 100, 1000),
            "epsilon": (0.1, 1.0, 5.0, 20.0),
            "delta": (1e-2, 1e-5, 1e-10),
        },
    ),
)
