"""Lower bounds on ε for the mechanisms of DP-Sniper's table, with a tenth of its draws.

Its figures (Bichsel et al. 2021; 90 %, ε = 0.1, the better of its logistic and MLP classifiers)
come from 10.7 million draws of search and 200 million of certification. Here 10 million draws a
side do everything, with the level spent on ε at δ = 0 (`focus="pure"`); the band of δ(ε) in both
directions comes with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

import dpaudit as dp
from dpaudit import exact, mechanisms
from dpaudit.certify.binomial import ratio_region
from dpaudit.errors import NoExactSpectrum
from dpaudit.neighbours import NeighbourPair
from reports.make import page
from reports.make.timing import clock

LEVEL = 0.9
SEEDS, MORE = (1, 2, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9)
HEAD = page.heads(
    "mechanism | true ε of our pair | most that the draws can show | certified | seeds | "
    "least to most | on the published inputs | DP-Sniper | CPU seconds"
)
LARGEST = 14.0  # ε up to which sets are looked at where the loss is unbounded
# Share of the published value: a median of few seeds that is as near does not say which is larger.
CLOSE = 0.1
EPSILON = np.concatenate([np.linspace(0.0, 0.6, 25), np.linspace(0.7, 6.0, 16)])
DOWN_THEN_UP = NeighbourPair(np.array([[1.0]] * 8 + [[0.0]]), np.array([[0.0]] * 8 + [[1.0]]))
PAIRS = {  # where more queries than the published five, or others, show more of the same mechanism
    "ReportNoisyMax3": NeighbourPair(np.zeros((8, 1)), np.ones((8, 1))),
    "SparseVector1": DOWN_THEN_UP,
    "SparseVector2": DOWN_THEN_UP,
    "SparseVector3": DOWN_THEN_UP,
    "SparseVector4": DOWN_THEN_UP,
}
PUBLISHED = {
    "Laplace": 0.0976,
    "NaturalLogGeometric": 0.1156,
    "NoisyHistogram1": 0.0978,
    "NoisyHistogram2": 4.602,
    "ReportNoisyMax1": 0.0925,
    "ReportNoisyMax2": 0.0979,
    "ReportNoisyMax3": 0.249,
    "ReportNoisyMax4": 0.353,
    "SparseVector1": 0.0859,
    "SparseVector2": 0.0859,
    "SparseVector3": 0.182,
    "SparseVector4": 0.170,
    "SparseVector5": 1.761,
    "SparseVector6": 0.272,
    "Rappor": 0.301,
    "OneTimeRappor": 0.600,
    "LaplaceParallel": 0.0350,
    "SVT34Parallel": 0.262,
    "PrefixSum": 0.577,
    "NumericalSVT": 0.0345,
}


def certified(
    mechanism: mechanisms.ExampleMechanism, pair: NeighbourPair, draws: int, seeds: Sequence[int]
) -> list[float]:
    """The bound on ε at δ = 0, by seed."""
    results = (
        dp.audit(mechanism, pair, draws=draws, epsilon=EPSILON, level=LEVEL, rng=seed, focus="pure")
        for seed in seeds
    )
    return [float(result.certified.epsilon_at(0.0)) for result in results]


def truth(mechanism: mechanisms.ExampleMechanism, pair: NeighbourPair) -> float:
    """The pure ε of the pair; infinite where the loss is unbounded, NaN where it is not known."""
    try:
        return exact.spectrum(mechanism, pair, [0.0]).pure_epsilon
    except NoExactSpectrum:
        return float("nan")


def attainable(mechanism: mechanisms.ExampleMechanism, pair: NeighbourPair, samples: int) -> float:
    """The bound on ε when the best set of the exact law is known and counts are their expectations.

    All draws and all of 1 − level are spent on that set; a larger bound is chance. NaN where the
    law is not known. δ(γ) = p − γq is tangent to P(L > ln γ) − γ Q(L > ln γ), so that its
    chords over γ = e^ε give the sets' (p, q).
    """
    largest = truth(mechanism, pair)
    if np.isnan(largest):
        return largest
    epsilon = np.linspace(0.0, min(largest, LARGEST), 3001)
    spectrum, gamma = exact.spectrum(mechanism, pair, epsilon), np.exp(epsilon)
    delta = np.stack([np.asarray(side) for side in (spectrum.forward, spectrum.backward)])
    q = -np.diff(delta) / np.diff(gamma)
    p = ((delta[:, :-1] + gamma[:-1] * q) * samples).round().ravel()
    q = (q * samples).round().ravel()
    spread = np.sqrt(1.0 / (p + 0.5) + 1.0 / (q + 0.5))
    best = np.argsort(np.log((p + 0.5) / (q + 0.5)) + ndtri(1.0 - LEVEL) * spread)[-3:]
    regions = [ratio_region(int(p[i]), samples, int(q[i]), samples, 1.0 - LEVEL) for i in best]
    return float(np.log(max(region.ratio() for region in regions)))


def report(samples: int = 10_000_000, names: tuple[str, ...] = tuple(PUBLISHED)) -> None:
    """Print the table and write reports/sniper.md."""
    text = render([row(name, samples) for name in names], samples)
    print(text)
    page.write(page.REPORTS / "sniper.md", text)


def render(rows: Sequence[Sequence[str]], samples: int) -> str:
    """The page: the table and what its columns mean."""
    return page.render(
        "sniper.md",
        samples=f"{samples:,}",
        level=f"{LEVEL:g}",
        seeds=len(SEEDS),
        more=len(MORE),
        close=f"{CLOSE:.0%}",
        rows=page.table(HEAD, rows),
    )


def row(name: str, samples: int) -> list[str]:
    """The cells of one mechanism."""
    mechanism = mechanisms.ZOO[name]
    own, published = PAIRS.get(name, mechanism.pair()), mechanism.published_pair()
    with clock() as spent:
        bounds = certified(mechanism, own, samples, SEEDS)
        if abs(np.median(bounds) - PUBLISHED[name]) < CLOSE * PUBLISHED[name]:
            bounds += certified(mechanism, own, samples, MORE[len(SEEDS) :])
    ours = float(np.median(bounds))
    values = truth(mechanism, own), attainable(mechanism, own, samples), ours
    same = all(map(np.array_equal, (own.left, own.right), (published.left, published.right)))
    theirs = ours if same else certified(mechanism, published, samples, SEEDS[:1])[0]
    cells = [
        name,
        *map(page.number, values),
        str(len(bounds)),
        f"{min(bounds):.4g} to {max(bounds):.4g}",
        page.number(theirs),
        page.number(PUBLISHED[name]),
        f"{spent.cpu / len(bounds):.0f}",
    ]
    print(*cells, flush=True)
    return cells
