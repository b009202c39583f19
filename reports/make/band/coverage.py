"""How often the certified band exceeds the truth: simulated audits on pairs of known spectrum.

Everything from the choice of sets to the band is what an audit runs. The choosing scores are drawn;
the certifying counts come straight from their multinomial law, so that 2,000 audits of 10⁶ draws
are cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from dpaudit import exact
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate
from dpaudit.certify.binomial import upper
from dpaudit.certify.scores import SortedScores
from dpaudit.certify.sets import CandidateSets, choose_sets
from dpaudit.curves import readings
from reports.make import page
from reports.make.band.score_laws import PAIRS, ScoreLaw, SimulatedCounts

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])  # sets are chosen for these; the band is checked on DENSE
DENSE = np.unique(np.concatenate([EPSILON, np.linspace(0.0, 6.0, 121), [8.0, 10.0, 14.0]]))
SIZES = (200, 5_000, 100_000, 1_000_000)
CHOOSING = 5_000  # at most; a fifth of the certifying draws where that is less
LEVEL, ERROR = 0.95, 0.05
UNLIKELY = 1.2  # standard errors; a p-value of 0.11
SLACK, PURE_SLACK = 1e-12, 1e-3  # above the truth by less is rounding; the step of `_pure`
FAR = ("blurred", "folded", "ALS", "T2")  # scores whose band stays far below the truth
READINGS = ("the band at any ε", "forward", "backward", "ε at δ = 0", "Gaussian μ")


@dataclass(frozen=True)
class Truth:
    """What a band on one pair must not exceed.

    forward, backward : δ(ε) on DENSE. pure : the ε from which on δ is 0. gaussian : δ on DENSE of
    the largest Gaussian shift that the larger direction implies.
    """

    forward: Array
    backward: Array
    pure: float
    gaussian: Array

    @classmethod
    def of(cls, pair: ScoreLaw) -> Truth:
        """The truth about a pair."""
        forward, backward = (np.asarray(one) for one in pair.truth(DENSE))
        mu = float(np.max(readings.gdp_mu(DENSE, np.maximum(forward, backward))))
        gaussian = exact.gaussian_shift(mu, DENSE) if mu > 0.0 else 0.0 * DENSE
        return cls(forward, backward, _pure(pair), gaussian)

    def exceeded(self, band: Certificate) -> list[bool]:
        """Whether each of READINGS of a band exceeds it.

        The band is also read between and beyond the ε that its sets were chosen for. Its μ is
        larger than the truth's exactly where its δ exceeds the Gaussian curve of the truth.
        """
        forward, backward = (band.direction(way).delta_at(DENSE) for way in (True, False))
        low = np.maximum(forward, backward)
        limits = np.maximum(self.forward, self.backward), self.forward, self.backward
        checked = zip((low, forward, backward), limits, strict=True)
        return [
            *(bool(np.any(found > limit + SLACK)) for found, limit in checked),
            float(band.epsilon_at(0.0)) > self.pure + PURE_SLACK,
            bool(np.any(low > self.gaussian + SLACK)),
        ]


def _pure(pair: ScoreLaw) -> float:
    """The least ε of a fine ladder with δ ≤ 1e-13, which no number of draws here can reach."""
    ladder = np.linspace(0.0, 40.0, 40_001)
    gone = pair.delta(ladder) <= 1e-13
    return float(ladder[np.argmax(gone)]) if gone.any() else np.inf


def exceedances(pair: ScoreLaw, size: int, audits: int, seed: int, n_jobs: int = 2) -> np.ndarray:
    """In how many of `audits` each of READINGS exceeds the truth, (5,); `size` draws certify."""
    truth, key = Truth.of(pair), (PAIRS.index(pair), size)
    wrong = Parallel(n_jobs=n_jobs)(
        delayed(_exceeds)(*key, truth, seed, number) for number in range(audits)
    )
    return np.sum(wrong, axis=0)


def _exceeds(place: int, size: int, truth: Truth, seed: int, number: int) -> list[bool]:
    """Whether each of READINGS of one audit exceeds the truth."""
    rng = generator(np.random.SeedSequence(seed), place, size, number)
    pair = PAIRS[place]
    choose = SortedScores.of(*pair.sides(rng, max(min(size // 5, CHOOSING), 20)))
    return truth.exceeded(_band(pair, choose, SimulatedCounts(pair, size, rng)))


def _band(
    pair: ScoreLaw, choose: SortedScores, certify: SimulatedCounts, unlikely: float = UNLIKELY
) -> Certificate:
    """What `estimate.certify` certifies, without the regions that cannot exceed the truth.

    A region exceeds the truth only if it misses the true (P(S), Q(S)). It cannot where P̂(S) −
    γQ̂(S) is above the truth by less than `unlikely` of its standard errors at every γ: the p-value
    is then above the share of any set.
    """
    sets = choose_sets(CandidateSets.of(choose, EPSILON, min(certify.sizes), ERROR))
    threshold = np.array([one.threshold for one in sets])
    (n, m), (x, y) = certify.sizes, certify.above(threshold)
    p, q = pair.tail(threshold, True), pair.tail(threshold, False)
    error_p, error_q = np.sqrt(p * (1.0 - p) / n), np.sqrt(q * (1.0 - q) / m)
    off = np.stack([x / n - p, q - y / m])
    gamma = np.exp(np.linspace(-12.0, 12.0, 97))[:, None]  # of either direction, and of ratios
    error = np.maximum(np.hypot(error_p, gamma * error_q), 1e-300)
    kept = np.flatnonzero(np.max((off[0] + gamma * off[1]) / error, axis=0) >= unlikely)
    regions = [sets[i].region(int(x[i]), n, int(y[i]), m) for i in kept]
    return Certificate.of(regions, [sets[i].forward for i in kept], LEVEL)


def _simulated(pair: ScoreLaw, size: int) -> bool:
    """Whether to simulate the pair at this size.

    The band of a score in FAR never comes near the truth, with more draws even less.
    """
    return size <= 5_000 or not any(word in pair.name for word in FAR)


def rate(count: int, audits: int) -> str:
    """A percentage with its Clopper–Pearson 95 % upper limit; "" where `count` is negative."""
    return f"{count / audits:.2%} [{upper(count, audits, 0.05):.2%}]" if count >= 0 else ""


def count(audits: int, sizes: tuple[int, ...]) -> np.ndarray:
    """`exceedances` of every pair and size, (pairs, sizes, 5); −1 where none are simulated."""
    nothing = np.full(len(READINGS), -1)
    cells = [
        exceedances(pair, size, audits, seed=2026) if _simulated(pair, size) else nothing
        for pair in PAIRS
        for size in sizes
    ]
    return np.array(cells).reshape(len(PAIRS), len(sizes), len(READINGS))


def render(counts: np.ndarray, audits: int, sizes: tuple[int, ...]) -> str:
    """The page: rates of every pair and size with upper limits, and each reading's largest."""
    heads = [f"{size:,} certify" for size in sizes]
    rows = [
        [pair.name, *(rate(one, audits) for one in row)]
        for pair, row in zip(PAIRS, counts[..., 0], strict=True)
    ]
    worst = [
        [reading, *(f"{one / audits:.2%}" for one in counts[:, :, number].max(axis=0))]
        for number, reading in enumerate(READINGS)
    ]
    return page.render(
        "coverage.md",
        audits=f"{audits:,}",
        level=LEVEL,
        rates=page.table(["pair", *heads], rows),
        largest=page.table(["reading", *heads], worst),
    )


def report(audits: int = 2000, sizes: tuple[int, ...] = SIZES) -> None:
    """Print the tables and write reports/coverage.md."""
    text = render(count(audits, sizes), audits, sizes)
    print(text)
    page.write(page.REPORTS / "coverage.md", text)
