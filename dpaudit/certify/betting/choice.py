"""Picking the next bet from earlier draws: by what the score itself predicts, or by how bets would
have fared.

A bet that loses on average costs more than the same edge unseen, so estimates are discounted by
CAUTION standard errors; where no bet then grows, none is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import expit, log_expit

from dpaudit._core.check import Array
from dpaudit.certify.betting.bets import NOTHING, Bet, Side, gain
from dpaudit.certify.betting.null import Null

# stop − start, nats: at most 1 − e⁻⁴ of the wealth is at risk, at least 1/2000
WIDTHS = 4.0 * 0.5 ** np.arange(14)
CAUTION = 1.0
CUTS = 32  # candidate sets a side, at quantiles of the pooled scores
MOST = 1 << 16  # draws a side that bets are picked by


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores with the weight that each has as a draw of P and as a draw of Q; weights sum to 1.
    `size`: draws a side, infinite where the weights are a model's."""

    score: Array
    p: Array
    q: Array
    size: float

    def mirrored(self) -> Sample:
        return Sample(-self.score, self.q, self.p, self.size)

    def value(self, up: Array, down: Array) -> Array:
        """Mean of log U + log V less CAUTION standard errors, for payoffs (…, n)."""
        mean = up @ self.p, down @ self.q
        spread = (up**2) @ self.p - mean[0] ** 2 + (down**2) @ self.q - mean[1] ** 2
        return np.asarray(
            mean[0] + mean[1] - CAUTION * np.sqrt(np.maximum(spread, 0.0) / self.size)
        )


@dataclass(frozen=True, eq=False)
class Ranked:
    """Sides in one direction, (k,): growth before the price, and cut. All steps or all slopes."""

    value: Array
    cut: Array
    step: bool


class Menu:
    """The bets that may be made against one null. Prices do not depend on draws and are worked out
    once.

    epsilon : (m,), nats, where sides may start: the claim's own ε, or a few along its curve.
    """

    def __init__(self, null: Null, epsilon: Array) -> None:
        self.null = null
        self.joint: dict[tuple[int, int], float] = {}
        start, width = (axis.ravel() for axis in np.meshgrid(epsilon, WIDTHS, indexing="ij"))
        self.start, self.stop = start, start + width
        self.up, self.down = gain(self.stop, start, 1.0), gain(self.stop, start, -1.0)
        up, down, one = np.exp(self.up), np.exp(self.down), np.ones_like(start)
        self.single = null.ceiling(np.stack([up, one], -1), np.stack([down, one], -1))
        self.double = null.ceiling(np.stack([up, down, one], -1), np.stack([down, up, one], -1))

    def by_model(self, score: Array) -> Bet:
        """The bet that grows most if earlier draws' scores (n,) are their true log-odds, draws
        equally of P and Q.

        For few draws: the predictions of a cautious score vary less than counts.
        """
        return self.by_law(score, expit(score), expit(-score))

    def by_law(self, score: Array, p: Array, q: Array) -> Bet:
        """The bet that grows most where scores (n,) have probabilities in proportion to p under P
        and to q under Q.
        """
        sample = Sample(score, p / p.sum(), q / q.sum(), np.inf)
        return self._best(sample, [(self._slopes(sample), self._slopes(sample.mirrored()))])

    def by_draws(self, x: Array, y: Array) -> Bet:
        """The bet that would have grown most on scores x (n,) of P and y (n,) of Q that trained
        nothing.
        """
        sample = sample_of(x[:MOST], y[:MOST])
        ways = sample, sample.mirrored()
        slopes, steps = ([make(way) for way in ways] for make in (self._slopes, self._steps))
        return self._best(sample, [(slopes[0], slopes[1]), (steps[0], steps[1])])

    def _slopes(self, sample: Sample) -> Ranked:
        values = []
        for block in np.split(
            np.arange(len(self.start)), len(self.start) // len(WIDTHS)
        ):  # a start at a time
            start, stop = self.start[block][:, None], self.stop[block][:, None]
            reach = np.clip(sample.score, start, stop)
            up = log_expit(reach) - log_expit(start)
            values.append(sample.value(up, up - reach + start))  # log σ(−r) = log σ(r) − r
        return Ranked(np.concatenate(values), self.start, False)

    def _steps(self, sample: Sample) -> Ranked:
        """Bets on sets. A count of 0 is not taken for a probability of 0: half a draw is added on
        either side.
        """
        cut = grid(sample)
        p, q = above(sample, cut)
        up, down = self.up[:, None], self.down[:, None]
        spread = up**2 * p * (1.0 - p) + down**2 * q * (1.0 - q)
        value = up * p + down * q - CAUTION * np.sqrt(spread / sample.size)
        best = np.argmax(value, axis=1)  # the price is the same for all cuts
        return Ranked(value[np.arange(len(best)), best], cut[best], True)

    def _best(self, sample: Sample, pairs: list[tuple[Ranked, Ranked]]) -> Bet:
        """The best of one side, of equal sides, and of the best sides of both directions together."""
        bets, front, back = [NOTHING], [], []
        for ahead, behind in pairs:
            i, j = (int(np.argmax(ranked.value - self.single)) for ranked in (ahead, behind))
            front.append((i, self._side(ahead, i)))
            back.append((j, self._side(behind, j)))
            bets += [
                Bet(front[-1][1], None, float(self.single[i])),
                Bet(None, back[-1][1], float(self.single[j])),
            ]
            bets += self._equal(ahead, behind)
        for (i, f), (j, b) in product(front, back):
            if f.cut + b.cut >= 0.0:
                bets.append(Bet(f, b, self._price(i, j)))
        return max(
            bets,
            key=lambda bet: (
                float(sample.value(bet.up(sample.score), bet.down(sample.score))) - bet.cost
            ),
        )

    def _equal(self, front: Ranked, back: Ranked) -> list[Bet]:
        """The best bet whose sides start and stop alike in both directions; none where scores would
        count twice.
        """
        apart = front.cut + back.cut >= 0.0
        at = int(np.argmax(np.where(apart, front.value + back.value - self.double, -np.inf)))
        return (
            [Bet(self._side(front, at), self._side(back, at), float(self.double[at]))]
            if apart[at]
            else []
        )

    def _side(self, ranked: Ranked, at: int) -> Side:
        return Side(float(self.start[at]), float(self.stop[at]), float(ranked.cut[at]), ranked.step)

    def _price(self, front: int, back: int) -> float:
        """Of a front side and a back side together; it does not depend on their cuts."""
        if front == back:
            return float(self.double[front])
        if (front, back) not in self.joint:
            ends = [Side(float(self.start[at]), float(self.stop[at]), 0.0) for at in (front, back)]
            self.joint[front, back] = Bet.against(self.null, *ends).cost
        return self.joint[front, back]


def cuts_by_draws(x: Array, y: Array, epsilon: Array, upcoming: int) -> Array:
    """For each ε (m,) the cut whose P(s > cut) − e^ε Q(s > cut) is largest, less two standard
    errors of `upcoming`.
    """
    sample = sample_of(x, y)
    cut = grid(sample)
    p, q = above(sample, cut)
    gamma = np.exp(epsilon)[:, None]
    error = np.sqrt((p * (1.0 - p) + gamma**2 * q * (1.0 - q)) / upcoming)
    return np.asarray(cut[np.argmax(p - gamma * q - 2.0 * error, axis=1)])


def sample_of(x: Array, y: Array) -> Sample:
    """Scores (n,) of draws whose side is known."""
    zero = np.zeros(len(x))
    weight = np.full(len(x), 1.0 / len(x))
    return Sample(
        np.concatenate([x, y]),
        np.concatenate([weight, zero]),
        np.concatenate([zero, weight]),
        len(x),
    )


def grid(sample: Sample) -> Array:
    """Candidate cuts, at quantiles of the scores."""
    values = np.unique(np.quantile(sample.score, np.linspace(0.0, 1.0, CUTS + 1), method="lower"))
    # in the middle of a gap, where fresh draws fall on the same side
    between = 0.5 * (values[:-1] + values[1:])
    return np.asarray(between if len(between) else values)


def above(sample: Sample, cut: Array) -> tuple[Array, Array]:
    """Probabilities of scores above each cut, with half a draw added on either side."""
    beyond = sample.score > cut[:, None]
    p, q = beyond @ sample.p, beyond @ sample.q
    return (p * sample.size + 0.5) / (sample.size + 1.0), (q * sample.size + 0.5) / (
        sample.size + 1.0
    )
