"""Choosing the next bet: by the outcome that the score predicts, or by the gains on earlier draws.

A bad bet loses more than a good bet of the same size gains, so estimated gains are reduced by
`CAUTION` standard errors. Where no bet then has a positive gain, the choice is `NO_BET`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import expit, log_expit

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.betting import NO_BET, Bet, Null, Side, gain
from dpaudit.certify.constants import CAUTION, CUTS, MOST_TO_CHOOSE, WIDTHS


@value_class
class Sample:
    """Scores (n,) with the weight of each as a draw of P and as a draw of Q.

    p, q : (n,) weights, which sum to 1. size : draws a side, infinite where a model gives weights.
    """

    score: Array
    p: Array
    q: Array
    size: float

    def mirrored(self) -> Sample:
        """The same sample with P and Q exchanged."""
        return Sample(-self.score, self.q, self.p, self.size)

    def value(self, up: Array, down: Array) -> Array:
        """The mean of log U + log V less `CAUTION` standard errors, shape (…).

        up, down : log U and log V of each score, (…, n).
        """
        mean = up @ self.p, down @ self.q
        variance = (up**2) @ self.p - mean[0] ** 2 + (down**2) @ self.q - mean[1] ** 2
        error = np.sqrt(np.maximum(variance, 0.0) / self.size)
        return np.asarray(mean[0] + mean[1] - CAUTION * error)


@value_class
class Ranked:
    """Candidate sides in one direction, (k,), one for each pair (start, stop) of a `Menu`.

    value : the mean log payoff less its standard errors and before its price. cut, step : as in
    `Side`.
    """

    value: Array
    cut: Array
    step: bool


class Menu:
    """The bets that may be made against one null hypothesis, with their prices, which depend on no
    draws.

    epsilon : (m,), nats, the values at which sides may start: the claim's own ε, or a few along its
    curve.
    """

    def __init__(self, null: Null, epsilon: Array) -> None:
        self.null = null
        self.joint: dict[tuple[int, int], float] = {}
        start, width = (axis.ravel() for axis in np.meshgrid(epsilon, WIDTHS, indexing="ij"))
        self.start, self.stop = start, start + width
        self.up, self.down = gain(self.stop, start, 1.0), gain(self.stop, start, -1.0)
        up, down, none = np.exp(self.up), np.exp(self.down), np.ones_like(start)
        self.single = null.ceiling(np.stack([up, none], -1), np.stack([down, none], -1))
        self.double = null.ceiling(np.stack([up, down, none], -1), np.stack([down, up, none], -1))

    def by_model(self, score: Array) -> Bet:
        """The bet with the largest expected gain if scores (n,) are the true log-odds of their
        draws, half of which P gives. This suits few draws.
        """
        return self.by_law(score, expit(score), expit(-score))

    def by_law(self, score: Array, p: Array, q: Array) -> Bet:
        """The bet of largest expected gain if score i has probability ∝ p[i] or q[i], (n,) each."""
        sample = Sample(score, p / p.sum(), q / q.sum(), np.inf)
        return self._best(sample, [(self._slopes(sample), self._slopes(sample.mirrored()))])

    def by_draws(self, x: Array, y: Array) -> Bet:
        """The bet that would have gained most on scores x (n,) of P and y (n,) of Q, which must not
        have trained the score.
        """
        sample = sample_of(x[:MOST_TO_CHOOSE], y[:MOST_TO_CHOOSE])
        slopes = self._slopes(sample), self._slopes(sample.mirrored())
        steps = self._steps(sample), self._steps(sample.mirrored())
        return self._best(sample, [slopes, steps])

    def _slopes(self, sample: Sample) -> Ranked:
        """The candidates that count scores as they are, computed one start at a time."""
        values = []
        for block in np.split(np.arange(len(self.start)), len(self.start) // len(WIDTHS)):
            start, stop = self.start[block][:, None], self.stop[block][:, None]
            reach = np.clip(sample.score, start, stop)
            up = log_expit(reach) - log_expit(start)
            values.append(sample.value(up, up - reach + start))  # log σ(−r) = log σ(r) − r
        return Ranked(np.concatenate(values), self.start, False)

    def _steps(self, sample: Sample) -> Ranked:
        """The candidates that bet on a set, each at its best cut."""
        cut = grid(sample)
        p, q = above(sample, cut)
        up, down = self.up[:, None], self.down[:, None]
        variance = up**2 * p * (1.0 - p) + down**2 * q * (1.0 - q)
        value = up * p + down * q - CAUTION * np.sqrt(variance / sample.size)
        best = np.argmax(value, axis=1)  # the price is the same for all cuts
        return Ranked(value[np.arange(len(best)), best], cut[best], True)

    def _best(self, sample: Sample, pairs: list[tuple[Ranked, Ranked]]) -> Bet:
        """The best bet with one side, two equal sides, or the best side of each direction.

        pairs : (forward, backward) candidates, one pair for slopes and one for steps.
        """
        bets, forward, backward = [NO_BET], [], []
        for ahead, behind in pairs:
            i, j = (int(np.argmax(ranked.value - self.single)) for ranked in (ahead, behind))
            forward.append((i, self._side(ahead, i)))
            backward.append((j, self._side(behind, j)))
            bets.append(Bet(forward[-1][1], None, float(self.single[i])))
            bets.append(Bet(None, backward[-1][1], float(self.single[j])))
            bets += self._equal(ahead, behind)
        for (i, near), (j, far) in product(forward, backward):
            if near.cut + far.cut >= 0.0:
                bets.append(Bet(near, far, self._price(i, j)))

        def gain_of(bet: Bet) -> float:
            return float(sample.value(bet.up(sample.score), bet.down(sample.score))) - bet.cost

        return max(bets, key=gain_of)

    def _equal(self, forward: Ranked, backward: Ranked) -> list[Bet]:
        """The best bet with equal start and stop in both directions, in a list; [] if all cuts
        overlap, since a score may count on one side only.
        """
        apart = forward.cut + backward.cut >= 0.0
        value = np.where(apart, forward.value + backward.value - self.double, -np.inf)
        at = int(np.argmax(value))
        if not apart[at]:
            return []
        sides = self._side(forward, at), self._side(backward, at)
        return [Bet(*sides, float(self.double[at]))]

    def _side(self, ranked: Ranked, at: int) -> Side:
        return Side(float(self.start[at]), float(self.stop[at]), float(ranked.cut[at]), ranked.step)

    def _price(self, forward: int, backward: int) -> float:
        """The log price of the forward and the backward side at two positions, for any cuts."""
        if forward == backward:
            return float(self.double[forward])
        key = forward, backward
        if key not in self.joint:
            ends = [Side(float(self.start[at]), float(self.stop[at]), 0.0) for at in key]
            self.joint[key] = Bet.against(self.null, *ends).cost
        return self.joint[key]


def cuts_by_draws(x: Array, y: Array, epsilon: Array, upcoming: int) -> Array:
    """For each ε, (m,), the cut with the largest lower estimate of P(s > cut) − e^ε Q(s > cut),
    (m,): the frequency less two standard errors of `upcoming` further draws. x, y : scores (n,) of
    draws of P and of Q.
    """
    sample = sample_of(x, y)
    cut = grid(sample)
    p, q = above(sample, cut)
    gamma = np.exp(np.minimum(epsilon, 350.0))[:, None]  # γ² is finite
    error = np.sqrt((p * (1.0 - p) + gamma**2 * q * (1.0 - q)) / upcoming)
    return np.asarray(cut[np.argmax(p - gamma * q - 2.0 * error, axis=1)])


def sample_of(x: Array, y: Array) -> Sample:
    """Scores x (n,) of P and y (n,) of Q as a `Sample` with weight 1/n on each draw's side."""
    zero = np.zeros(len(x))
    weight = np.full(len(x), 1.0 / len(x))
    return Sample(
        np.concatenate([x, y]),
        np.concatenate([weight, zero]),
        np.concatenate([zero, weight]),
        len(x),
    )


def grid(sample: Sample) -> Array:
    """Candidate cuts, each in the middle between two neighbouring quantiles of the scores, since
    many draws may share a quantile.
    """
    values = np.unique(np.quantile(sample.score, np.linspace(0.0, 1.0, CUTS + 1), method="lower"))
    between = 0.5 * (values[:-1] + values[1:])
    return np.asarray(between if len(between) else values)


def above(sample: Sample, cut: Array) -> tuple[Array, Array]:
    """The probabilities under P and under Q of a score above each cut, (c,) each, with half a draw
    added above and below each cut.
    """
    beyond = sample.score > cut[:, None]
    size = sample.size
    p, q = ((beyond @ weight * size + 0.5) / (size + 1.0) for weight in (sample.p, sample.q))
    return p, q
