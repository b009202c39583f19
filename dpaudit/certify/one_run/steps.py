"""Bets on the steps of one run of DP-SGD: an e-process, arrays in and wealth out.

What is bet on. The sum of step t, in units of the clip norm and projected on the unit direction of
a canary's gradient, less a part that is known beforehand, is

    r = c + a·s + σz,    s ~ Bernoulli(q),   z ~ N(0, 1),   |a| ≤ 1,

with s the coin of the canary, q the sampling rate and σ the noise multiplier. An honest step has,
given all that was seen of earlier steps: (i) s and the coins of other canaries are independent with
probability q; (ii) c, the rest of the batch, is independent of s, and may otherwise have any law;
(iii) z is independent of c and of all coins. Neither c nor a need be known. So the null hypothesis
holds for any data, any model and any training loop that makes honest steps; for fixed c it says
that the laws of r with and without the canary are those of a 1/σ-GDP mechanism.

    `CoinBets`      bets on s after r is seen: (i) and that the two laws are 1/σ-GDP apart
    `NoiseBets`     bets that r is nearer to a predicted value than the noise allows: (iii)
    `DividedBets`   bets that r was divided by the size of its batch: (iii)
    `SamplingBets`  bets on s given earlier coins: (i)
    `SizeBets`      bets on the size of the batch given earlier sizes: (i) for all rows

Each payoff has a mean of at most 1 under the null given the past, so each wealth is a
supermartingale in the one filtration of all coins and projections, and so is a mean of wealths. By
Ville's inequality it ever reaches 1/α with probability at most α.

Several canaries. Let their directions be orthogonal. Then canary j adds nothing to the projections
of the others, and the noises of the projections are independent, since a Gaussian vector has
independent coordinates on orthogonal axes. So (i) to (iii) hold for canary j also given r and s of
the canaries before it in the same step, and their payoffs multiply. Where directions are not
orthogonal, r of another canary contains s, and noises depend on each other. Each canary's payoff
still has a mean of at most 1 given the past alone, and so has the MEAN of the payoffs of a step.
The coins stay independent either way, so payoffs of `SamplingBets` always multiply.

The rounding of projections to multiples of h adds about h/σ, the probability that the noise is less
than that, per step and canary to the probability of a false alarm, because of the narrowest bets.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from dpaudit._core.types import Array
from dpaudit.certify.constants import (
    DEVIATIONS,
    DOUBT,
    EPSILONS,
    HALVINGS,
    MEMORY,
    NOT_RISKED,
    PRIOR,
    STAKE_SIDES,
    STAKES,
)
from dpaudit.certify.one_run.step_mu import log_mean
from dpaudit.curves.gaussian_shift import gaussian_shift

LARGEST = 50.0  # nats; e^ε stays finite
FAR = 600.0  # nats; a rarer size of a batch counts as this rare
BETTORS = "privacy", "noise", "fresh noise", "sampling"


class StepWealth:
    """Four bettors on m canaries, each with a quarter of the wealth, which begins at 1.

    "privacy": `CoinBets`. "noise": `NoiseBets` about the canary's own share s and about the mean of
    earlier steps, with half of the quarter each. "fresh noise": `NoiseBets` about the projection of
    the step before, moved by the canary's share; this predicts noise that is used twice exactly.
    "sampling": `SamplingBets`. Where the sizes of batches are known, half of the quarter of
    "sampling" is for `SizeBets`, and a third of that of "noise" for `DividedBets`.

    Parameters
    ----------
    rate : in (0, 1), the sampling rate q. sigma : > 0, the noise multiplier, in clip norms.
    orthogonal : whether the canaries' directions are orthogonal. canaries : m ≥ 1. rows : how many
    other rows there are, if the sizes of batches are known.
    """

    def __init__(
        self, rate: float, sigma: float, orthogonal: bool, canaries: int, rows: int | None = None
    ) -> None:
        self._forecast = Forecast(canaries, sigma)
        self._coins, self._ideal = (CoinBets(rate, sigma, orthogonal) for _ in range(2))
        self._expected, self._learned, self._again = (
            NoiseBets(sigma, orthogonal) for _ in range(3)
        )
        self._sampling = SamplingBets(rate)
        self._sizes = self._divided = None
        if rows is not None:
            self._sizes = SizeBets(rate, rows)
            self._divided = DividedBets(rate * rows, sigma, orthogonal)
        self._noise_before: Array | None = None

    def standardised(self, residual: Array) -> Array:
        """Residuals (m,) of a step, centred and scaled as earlier steps without the canary were."""
        return (residual - self._forecast.centre) / self._forecast.deviation

    def bet(
        self,
        residual: Array,
        included: Array,
        known: Array | float = 0.0,
        size: int | None = None,
    ) -> None:
        """Update the wealth by one step.

        residual : (m,), r in clip norms. included : (m,), coins, 0. or 1. known : (m,), what was
        subtracted from the projections. size : of the batch without canaries, if `rows` was given.
        """
        if self._sizes is not None and self._divided is not None and size is not None:
            self._divided.bet(residual, known, included, size)
            self._sizes.bet(size)
        self._coins.bet(self._forecast.log_odds(residual), included)
        self._ideal.bet(np.where(included > 0.0, np.inf, -np.inf), included)
        self._expected.bet(residual - included)
        self._learned.bet(residual - self._forecast.value(included))
        if self._noise_before is not None:
            self._again.bet(residual - included - self._noise_before)
        self._sampling.bet(included)
        self._noise_before = residual - included
        self._forecast.learn(residual, included)

    @property
    def logs(self) -> dict[str, float]:
        """The log wealth of each bettor, as if it had begun at 1."""
        noise = [self._expected.log_wealth, self._learned.log_wealth]
        sampling = [self._sampling.log_wealth]
        if self._sizes is not None and self._divided is not None:
            noise.append(self._divided.log_wealth)
            sampling.append(self._sizes.log_wealth)
        wealths = (
            self._coins.log_wealth,
            float(log_mean(np.array(noise))),
            self._again.log_wealth,
            float(log_mean(np.array(sampling))),
        )
        return dict(zip(BETTORS, wealths, strict=True))

    @property
    def log_total(self) -> float:
        """The log of the mean of the four wealths: the e-process."""
        return float(log_mean(np.array(list(self.logs.values()))))

    @property
    def log_largest(self) -> float:
        """The log of a quarter of what "privacy" would have if projections revealed every coin."""
        return self._ideal.log_wealth - float(np.log(len(BETTORS)))


class CoinBets:
    """The wealth of bets on coins: a mean over k bets, each with a fixed ε, stake and side.

    At the start, the bet that would gain most if projections revealed every coin has half of the
    wealth, and the other bets share the rest.

    Laws P₁, P₀ of the projection with and without the canary that are μ-GDP apart, μ = 1/σ, have
    P₁(A) ≤ e^ε P₀(A) + δ(ε) for every set A and ε, where δ(ε) is that of N(μ, 1) against N(0, 1);
    so do P₀ and P₁ exchanged (Dong, Roth & Su 2022, corollary 1). With a coin s of probability q,

        g = 1[r in A]·(s/q − e^ε (1 − s)/(1 − q)) − δ(ε)

    has mean P₁(A) − e^ε P₀(A) − δ(ε) ≤ 0, whatever set A was chosen from earlier steps, and so has
    h, with the coin's sides exchanged, for a set B. So 1 + λg + κh has mean ≤ 1. A is {score > ε}
    and B is {score < −ε}. They are disjoint, so only one of g and h can be at its least, −e^ε/(1 −
    q) − δ or −e^ε/q − δ, where the other is −δ, which is at most half as far from 0. So with the
    shares of `STAKES` and `STAKE_SIDES` a payoff is at least 1 − 0.9 or 1 − 0.9·0.6·3/2, above 0.
    The rest of the batch does not matter: for each fixed c the pair is 1/σ-GDP apart, and P₁(A) −
    e^ε P₀(A) ≤ δ(ε) stays true averaged over c, which does not depend on s.

    epsilon : (k, 1), ε of each bet, nats.
    """

    def __init__(self, rate: float, sigma: float, orthogonal: bool) -> None:
        mu = 1.0 / sigma
        most = min(mu * (0.5 * mu + DEVIATIONS), LARGEST)
        epsilon = np.linspace(0.0, most, EPSILONS)
        delta = gaussian_shift(mu, epsilon)
        stakes = np.multiply.outer(STAKES, STAKE_SIDES).reshape(-1, 1, 2)
        loss = np.exp(epsilon)[:, None] / [1.0 - rate, rate] + delta[:, None]
        self._stake = (stakes / loss).reshape(-1, 2, 1)  # (k, 2, 1)
        self.epsilon = np.tile(epsilon, len(STAKES) * len(STAKE_SIDES))[:, None]
        self._delta = np.tile(delta, len(STAKES) * len(STAKE_SIDES))[:, None]
        self._gamma = np.exp(self.epsilon)
        self._rate, self._orthogonal = rate, orthogonal
        ideal = self.payoff(np.array([-np.inf, np.inf]), np.array([0.0, 1.0]))
        count = len(ideal)
        shares = np.full(count, 0.5 * count / (count - 1))  # with mean 1
        shares[np.argmax(ideal @ [1.0 - rate, rate])] = 0.5 * count
        self._log = np.log(shares)

    @property
    def log_wealth(self) -> float:
        return float(log_mean(self._log))

    def bet(self, score: Array, included: Array) -> None:
        """Update the wealth by one step.

        score : (m,) log-odds of "in" from the projections, predicted from earlier steps. included :
        (m,) coins, 0 or 1.
        """
        self._log += _joined(self.payoff(score, included), self._orthogonal)

    def payoff(self, score: Array, included: Array) -> Array:
        """The log payoff of each bet on each canary, (k, m)."""
        heads, tails = included / self._rate, (1.0 - included) / (1.0 - self._rate)
        forward = (score > self.epsilon) * (heads - self._gamma * tails) - self._delta
        backward = (-score > self.epsilon) * (tails - self._gamma * heads) - self._delta
        gain = self._stake[:, 0] * forward + self._stake[:, 1] * backward
        return np.asarray(np.log1p(gain))


class NoiseBets:
    """The wealth of bets that noise is smaller than claimed, which may begin at any step.

    The projection is r = c + σz with z ~ N(0, 1) independent of c. For a value b that is chosen
    before z is drawn and a width τ < σ, the density ratio of N(b, τ²) and N(b, σ²),

        e(r) = (σ/τ) exp(−(r − b)²/2 · (1/τ² − 1/σ²)),

    has mean 1 if c = b, and less for any other c: it is symmetric and unimodal about b, and so is
    the density of the noise (Anderson 1955). So E e ≤ 1 whatever c is, known or not. This is why a
    bet on noise needs no knowledge of the rest of the batch; knowledge only makes it gain.

    A bet that begins at step k has wealth Π (0.1 + 0.9 e) from there on. The mean over widths and
    over k, with weight π_k = 1/log₂(k + 1) − 1/log₂(k + 2) (their sum is 1), is a supermartingale
    as each bet is. What is put aside for later steps lets it see a single step without noise late
    in the run, when all earlier bets have lost.
    """

    def __init__(self, sigma: float, orthogonal: bool) -> None:
        self._log_ratio = HALVINGS[:, None] * np.log(2.0)
        self._slope = 0.5 * (4.0 ** HALVINGS[:, None] - 1.0) / sigma**2
        self._orthogonal = orthogonal
        self._begun = np.full(len(HALVINGS), -np.inf)
        self._steps = 0

    @property
    def log_wealth(self) -> float:
        """The log of the mean of the bets' wealths, with the wealth put aside for later bets."""
        return float(log_mean(np.logaddexp(self._begun, np.log(_aside(self._steps)))))

    def bet(self, distance: Array) -> None:
        """Update the wealth. distance : r − b, (m,), for values b chosen before the step."""
        self._steps += 1
        new = np.log(_aside(self._steps - 1) - _aside(self._steps))
        payoff = _joined(self.payoff(distance), self._orthogonal)
        self._begun = np.logaddexp(self._begun, new) + payoff

    def payoff(self, distance: Array) -> Array:
        """The log payoff of each width for each canary, (k, m)."""
        ratio = self._log_ratio - self._slope * distance**2
        return np.asarray(np.logaddexp(np.log(NOT_RISKED), np.log1p(-NOT_RISKED) + ratio))


def _aside(steps: int) -> float:
    """The share of the wealth for bets that begin after this number of steps."""
    return float(1.0 / np.log2(steps + 2.0))


class DividedBets:
    """The wealth of bets that the sum was divided by the size B of its batch, not by N = qn.

    The noise of such a step, times N, has standard deviation σN/B about (N/B)(known + s). Where B
    is above N that is a bet of `NoiseBets`, and fair like it: B is known before the noise is drawn.
    """

    def __init__(self, expected: float, sigma: float, orthogonal: bool) -> None:
        self._expected, self._sigma, self._orthogonal = expected, sigma, orthogonal
        self.log_wealth = 0.0

    def bet(self, residual: Array, known: Array | float, included: Array, size: int) -> None:
        if size <= self._expected:
            return
        factor = size / self._expected
        distance = residual + known - (known + included) / factor
        ratio = np.log(factor) - 0.5 * (factor**2 - 1.0) * (distance / self._sigma) ** 2
        payoff = np.logaddexp(np.log(NOT_RISKED), np.log1p(-NOT_RISKED) + ratio)
        self.log_wealth += float(_joined(payoff[None], self._orthogonal)[0])


class SamplingBets:
    """The wealth of forecasts of coins that are claimed to be independent with probability q.

    A forecast p of the next coin, made from earlier coins, pays p/q if the coin is 1 and
    (1 − p)/(1 − q) if it is 0, which has mean 1. Its wealth is the likelihood ratio of the forecast
    law and the claimed one. Wealths of three forecasts are averaged.

    Two are of shuffled epochs of ⌊1/q⌋ and ⌈1/q⌉ steps, in each of which a canary comes exactly
    once: p = 1/(steps left) until it has come and 0 after that. They gain about one nat an epoch
    and canary. One is of a rate above the claimed one, as large as that of earlier coins. A lower
    rate is not bet on, because it weakens no claim of privacy.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._lengths = rate, _epochs(rate)
        self._come: Array | float = 0.0  # which canaries have come in the epoch of each length
        self._log = np.zeros(3)
        self._steps, self._seen, self._in = 0, 0, 0.0

    @property
    def log_wealth(self) -> float:
        return float(log_mean(self._log))

    def bet(self, included: Array) -> None:
        q = self._rate
        # the rate of earlier coins with one added "in" among 1/q added coins, at least q
        observed = max((self._in + 1.0) / (self._seen + 1.0 / q), q)
        position = self._steps % self._lengths
        come = np.where(position > 0, self._come, 0.0)
        by_epochs = np.where(come > 0.0, 0.0, 1.0 / (self._lengths - position))
        forecasts = np.broadcast_arrays(*by_epochs, np.full(len(included), observed))
        p = DOUBT * q + (1.0 - DOUBT) * np.stack(forecasts)
        ratio = np.where(included > 0.0, p / q, (1.0 - p) / (1.0 - q))
        self._log += np.log(ratio).sum(axis=1)
        self._come = np.maximum(come, included)
        self._steps += 1
        self._seen += len(included)
        self._in += float(included.sum())


class SizeBets:
    """The wealth of forecasts of batch sizes that are claimed to be Binomial(n, q), independent.

    Each forecast pays its own probability of the size over the claimed one. One is that the size of
    the step before comes again, as in batches of one size. Two are that epochs of ⌊1/q⌋ and ⌈1/q⌉
    steps have n rows each, so that their last size is told by the others, as in shuffled or
    partitioned data. One is of a rate above the claimed one, as large as that of earlier sizes.
    """

    def __init__(self, rate: float, rows: int) -> None:
        self._rate, self._rows = rate, rows
        self._epochs = _epochs(rate).ravel().tolist()
        self._sizes: list[int] = []
        self._total = 0
        self._log = np.zeros(4)

    @property
    def log_wealth(self) -> float:
        return float(log_mean(self._log))

    def bet(self, size: int) -> None:
        claimed, step = self._log_chance(size, self._rate), len(self._sizes)
        ratios = np.zeros(4)
        if step:
            ratios[0] = _certain(size == self._sizes[-1], claimed)
        for i, length in enumerate(self._epochs, start=1):
            if step % length == length - 1:
                rest = self._rows - sum(self._sizes[step - length + 1 :])
                if 0 <= rest <= self._rows:
                    ratios[i] = _certain(size == rest, claimed)
        # the rate of earlier rows with one added "in" among 1/q added rows, at least q
        seen = (self._total + 1.0) / (step * self._rows + 1.0 / self._rate)
        faster = self._log_chance(size, min(max(seen, self._rate), 1.0 - 1e-9)) - claimed
        ratios[3] = np.logaddexp(np.log(DOUBT), np.log1p(-DOUBT) + faster)
        self._log += np.minimum(ratios, FAR)
        self._sizes.append(size)
        self._total += size

    def _log_chance(self, size: int, rate: float) -> float:
        """The log of the Binomial(n, rate) probability of a size, at least −`FAR`."""
        if size > self._rows:
            return -FAR
        ways = gammaln(self._rows + 1) - gammaln(size + 1) - gammaln(self._rows - size + 1)
        log = ways + xlogy(size, rate) + xlog1py(self._rows - size, -rate)
        return max(float(log), -FAR)


def _certain(hit: bool, log_chance: float) -> float:
    """The log payoff of a forecast that puts all but `DOUBT` on one size."""
    return float(np.log(DOUBT + (1.0 - DOUBT) * np.exp(-log_chance) * hit))


def _epochs(rate: float) -> np.ndarray:
    """The lengths of epochs that have every row once at this rate, rounded both ways, (2, 1)."""
    return np.array([[int(1.0 / rate + 1e-9)], [int(np.ceil(1.0 / rate - 1e-9))]])


class Forecast:
    """The means with and without each canary, and the variance, of projections in earlier steps,
    (m,) each, in clip norms: by these bets are chosen, and no bet's validity depends on them.
    """

    def __init__(self, canaries: int, sigma: float) -> None:
        self._out, self._out_weight = np.zeros(canaries), np.ones(canaries)
        self._shift, self._in_weight = np.full(canaries, PRIOR), np.full(canaries, PRIOR)
        self._square = np.full(canaries, sigma**2)
        self._square_weight = np.ones(canaries)

    @property
    def centre(self) -> Array:
        """The mean of the projections without the canary, (m,)."""
        return np.asarray(self._out / self._out_weight)

    @property
    def shift(self) -> Array:
        """By how much the canary raises the mean of the projections, (m,)."""
        return np.asarray(self._shift / self._in_weight)

    @property
    def deviation(self) -> float:
        """The standard deviation of the projections without the canary, of all canaries."""
        return float(np.sqrt(np.mean(self._square / self._square_weight)))

    def value(self, included: Array) -> Array:
        """The mean of the projections given the coins, (m,)."""
        return np.asarray(self.centre + self.shift * included)

    def log_odds(self, projection: Array) -> Array:
        """The log-odds of "in" from projections (m,), for two normal laws of the same variance."""
        shift, variance = self.shift, self._square / self._square_weight
        return np.asarray(shift * (projection - self.centre - 0.5 * shift) / variance)

    def learn(self, projection: Array, included: Array) -> None:
        """Update the means and the variance by the projections and coins of one step, (m,) each.

        The variance comes from steps without the canary alone, so that gradients that were not
        clipped do not hide what they reveal.
        """
        out, error = 1.0 - included, projection - self.centre
        fade_out, fade_in = np.where(out > 0.0, MEMORY, 1.0), np.where(included > 0.0, MEMORY, 1.0)
        self._square = fade_out * self._square + out * error**2
        self._square_weight = fade_out * self._square_weight + out
        self._shift = fade_in * self._shift + included * error
        self._in_weight = fade_in * self._in_weight + included
        self._out = fade_out * self._out + out * projection
        self._out_weight = fade_out * self._out_weight + out


def _joined(log_payoff: Array, orthogonal: bool) -> Array:
    """The log payoff of one step, (k,), from those of its canaries, (k, m): of the product if the
    canaries' directions are orthogonal, of the mean otherwise.
    """
    if orthogonal or log_payoff.shape[1] == 1:
        return np.asarray(log_payoff.sum(axis=1))
    return log_mean(log_payoff)
