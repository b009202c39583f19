"""Bets against an upper curve of δ(ε): the e-process by which a sequential audit stops.

A pair of fresh draws x ~ P, y ~ Q is scored by estimated log-odds s of P against Q. The bet on it
pays e = U(s(x))·V(s(y))/C. U grows and V falls with s, and C bounds E U · E V over all pairs of
laws that keep the curve. So under the claim the product of the payoffs is an e-process, however
score and bet were chosen from earlier draws. By Ville's inequality it ever exceeds 1/α with
probability at most α (Ramdas, Grünwald, Vovk & Shafer 2023).

`Null` is the null hypothesis and gives the price C of a `Bet`; `certify.bet_choice` chooses the
next bet. `PairCounts` gives lower bounds on δ(ε) that hold at any stopping time. `Hits` is the
evidence of an audit that is pooled with others. This module sees scores as numbers; it knows
neither draws nor mechanisms. σ(r) = 1/(1 + e^{−r}) throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import log_expit, logsumexp

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.certify.constants import (
    CURVE,
    LOW_HALVINGS,
    SEQUENCE_BETS,
    STARTS,
    TILT_REACH,
    TILT_STEPS,
    VISIBLE,
    WIDTHS,
)
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
ROUNDING = 1e-13  # nats, added to the log price C, which rounding must not make too low
SLACK = 1e-12  # added to an exact δ(ε), which rounding may have made too low


@value_class
class Null:
    """The null hypothesis: all pairs of laws whose δ(ε) is below an upper curve in both directions.

    They are the post-processings of one dominating pair (Blackwell; Kairouz, Oh & Viswanath 2015;
    Dong, Roth & Su, theorem 2), so that expectations over the whole null are sums over that pair's
    atoms. p, q : (m,) probabilities of these atoms under either law.
    """

    p: Array
    q: Array

    @classmethod
    def of(cls, epsilon: Array, delta: Array) -> Null:
        """The null hypothesis that δ(ε_j) ≤ δ_j in both directions, for each j.

        epsilon : (m,) nats, in any order. delta : (m,) in [0, 1].

        Events of Q-probability b have P-probability at most the least of δ + e^ε b and 1 − e^{−ε}(1
        − b − δ). That envelope of lines is concave and piecewise linear; its pieces are the atoms.
        """
        epsilon = np.asarray(epsilon, dtype=np.float64)
        delta = np.asarray(delta, dtype=np.float64)
        slope = np.concatenate([np.exp(epsilon), np.exp(-epsilon), [0.0]])
        height = np.concatenate([delta, 1.0 - np.exp(-epsilon) * (1.0 - delta), [1.0]])
        b, a = _envelope(slope, np.clip(height, 0.0, 1.0))
        return cls(np.diff(a, prepend=0.0), np.diff(b, prepend=0.0))

    def ceiling(self, up: Array, down: Array) -> Array:
        """The smallest log C with E_P' U · E_Q' V ≤ C for all (P', Q') of the null, (…).

        up, down : (…, k), k points whose hull contains the payoffs (U, V).

        A post-processing sends each atom to a point of the hull, so for t in (0, 1)
            t E U + (1 − t) E V ≤ h(t) = Σ_j max_k [t p_j U_k + (1 − t) q_j V_k],
        and by the inequality of the means E U · E V ≤ h(t)² / (4 t (1 − t)). Every t gives a bound.
        With t = 1/(1 + e^{−θ}) its logarithm is convex in θ, as a supremum of log-sums of
        exponentials. The least bound is attained, because log E U + log E V is concave on a convex
        set.
        """
        low, high = np.full(up.shape[:-1], -TILT_REACH), np.full(up.shape[:-1], TILT_REACH)
        for _ in range(TILT_STEPS):
            inner = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            left = self._bound(inner[0], up, down) <= self._bound(inner[1], up, down)
            low, high = np.where(left, low, inner[0]), np.where(left, inner[1], high)
        return self._bound(0.5 * (low + high), up, down) + ROUNDING

    def _bound(self, tilt: Array, up: Array, down: Array) -> Array:
        """log of h(t)²/(4t(1 − t)) = log of (Σ_j max_k [e^{θ/2} p_j U_k + e^{−θ/2} q_j V_k])²/4."""
        half = np.exp(0.5 * tilt)[..., None]
        best = np.zeros(1)  # no payoff is negative
        for k in range(up.shape[-1]):
            gain = half * up[..., k, None] * self.p + down[..., k, None] / half * self.q
            best = np.maximum(best, gain)
        return np.asarray(2.0 * np.log(0.5 * best.sum(axis=-1)))


def null_of(claim: Claim | None, theory: Spectrum | None) -> tuple[Null, Array]:
    """The null hypothesis of a claim, or else of the curve `theory`; and ε where bets may start."""
    if claim is not None and claim.epsilon is not None:
        own = np.array([claim.epsilon])
        return Null.of(own, np.array([claim.delta])), own
    if claim is not None:
        epsilon, delta = CURVE, claim.delta_at(CURVE)
    elif theory is not None:
        epsilon, delta = theory.epsilon, np.minimum(theory.delta + SLACK, 1.0)
    else:
        raise InvalidInput(
            'stop="verdict" needs a claim or a known exact spectrum: '
            "there is nothing to bet against"
        )
    last = float(epsilon[delta >= VISIBLE * delta.max()].max())
    return Null.of(epsilon, delta), np.unique(np.linspace(0.0, last, STARTS))


def _envelope(slope: Array, height: Array) -> tuple[Array, Array]:
    """Vertices (b, a) of the minimum of the lines height + slope·b on [0, 1], b ascending."""
    lines: list[tuple[float, float, float]] = []  # slope, height, b from which the line is least
    for at in np.lexsort((height, -slope)):
        start = 0.0
        while lines:
            last = lines[-1]
            falls = last[0] > slope[at]
            start = (height[at] - last[1]) / (last[0] - slope[at]) if falls else np.inf
            if start > last[2]:
                break
            lines.pop()
            start = 0.0
        if start < 1.0:
            lines.append((float(slope[at]), float(height[at]), float(start)))
    slopes, heights, starts = np.array(lines).T
    a = np.append(heights + slopes * starts, heights[-1] + slopes[-1])
    return np.append(starts, 1.0), np.minimum(a, 1.0)


@dataclass(frozen=True)
class Side:
    """One direction of a bet: which scores count, and as which log-odds.

    start : ≥ 0, nats. stop : > start. A score counts as itself, clipped to [start, stop].
    cut, step : with `step` a score counts as `stop` above the cut and as `start` below it, which
        makes the bet one on a set. Without it the cut is `start`.
    """

    start: float
    stop: float
    cut: float
    step: bool = False

    def reach(self, score: Array) -> Array:
        """The log-odds in [start, stop] as which scores count."""
        if self.step:
            return np.where(score > self.cut, self.stop, self.start)
        return np.asarray(np.clip(score, self.start, self.stop))

    def gain(self, score: Array, sign: float) -> Array:
        """log σ(±r) − log σ(±start) for scores with reach r: log U if `sign` is 1, log V if −1."""
        return gain(self.reach(score), self.start, sign)


@value_class(eq=True)
class Bet:
    """A payoff e = U(s(x))·V(s(y))/C on a draw x of M(D) and a draw y of M(D').

    U(s) = σ(r)/σ(start) and V(s) = σ(−r)/σ(−start), with r the reach of s.

    forward : the side on which P is likelier, for scores s. backward : the side on which Q is
    likelier, for scores −s, with U and V exchanged. cost : log C.

    If δ(ε) = 0 is claimed, s = log dP/dQ and start = ε, then U = dP/dP' and V = dQ/dQ'. Here (P',
    Q') is the pair of the null that is nearest to (P, Q) in relative entropy, if the two sides
    balance: where s > ε, p' = e^ε q' pointwise, and p' + q' = p + q leaves q' = (p + q)/(1 + e^ε).
    No bet then grows faster (Grünwald, de Heide & Koolen 2024). For ε = 0 it is the two-sample
    e-variable 4σ(s(x))σ(−s(y)) of Turner, Ly & Grünwald (2024). For a small w = stop − start it is
    1 + w(1 − σ(ε)) 1[x in S] on P and 1 − wσ(ε) 1[y in S] on Q, a tangent of P(S) − e^ε Q(S) ≤ δ.
    """

    forward: Side | None
    backward: Side | None
    cost: float

    @classmethod
    def against(cls, null: Null, forward: Side | None, backward: Side | None) -> Bet:
        """The bet at its fair price under the null.

        U and V are affine in σ(r) on each side, so three points span the hull of (U, V): no score
        counts, the forward side counts in full, the backward side counts in full.
        """
        corners = np.zeros((3, 2))  # log U and log V
        for row, side, sign in ((0, forward, 1.0), (1, backward, -1.0)):
            if side is not None:
                corners[row] = [gain(side.stop, side.start, way) for way in (sign, -sign)]
        up, down = np.exp(corners).T
        return cls(forward, backward, float(null.ceiling(up, down)))

    def up(self, score: Array) -> Array:
        """log U, (n,), of scores (n,) of draws from M(D)."""
        return self._log(score, 1.0)

    def down(self, score: Array) -> Array:
        """log V, (n,), of scores (n,) of draws from M(D')."""
        return self._log(score, -1.0)

    def payoff(self, x: Array, y: Array) -> Array:
        """log e of each pair of draws, (n,), from scores x (n,) of M(D) and y (n,) of M(D')."""
        return self.up(x) + self.down(y) - self.cost

    def _log(self, score: Array, sign: float) -> Array:
        """The log payoff of one draw with each score: log U for sign 1.0, log V for sign −1.0."""
        ahead = 0.0 if self.forward is None else self.forward.gain(score, sign)
        behind = 0.0 if self.backward is None else self.backward.gain(-score, -sign)
        return np.asarray(ahead + behind + np.zeros_like(score))


NO_BET = Bet(None, None, 0.0)


def gain(reach: Array | float, start: Array | float, sign: float) -> Array:
    """log σ(±r) − log σ(±start) for r = `reach`; `sign` is 1.0 or −1.0."""
    return np.asarray(log_expit(sign * reach) - log_expit(sign * start))


@dataclass(frozen=True)
class Hits:
    """How many of `draws` draws a side fell into a set S that was chosen before they were made:
    evidence against a claim that several audits pool.

    A pair of these draws pays U^{1[x in S]} V^{1[y in S]}/C, with U, V and C of a `Bet` on a set;
    under the claim its mean is at most 1. So the product over all pairs of all audits is a
    supermartingale, whatever sets were chosen, if the bet's width stays the same. Its mean over a
    few widths is one too. By Ville's inequality that mean ever reaches 1/α with probability at most
    α, at whichever audit one stops.

    forward : True where M(D) is likelier in S, False where M(D') is. epsilon : nats, where the bet
    starts. ahead, behind : hits of the likelier side, and of the other side.
    """

    forward: bool
    epsilon: float
    ahead: int
    behind: int
    draws: int

    def log_e(self, null: Null) -> Array:
        """The log payoff of all draws for each of `WIDTHS`, (k,), at the price under `null`."""
        start, stop = self.epsilon, self.epsilon + WIDTHS
        up, down = gain(stop, start, 1.0), gain(stop, start, -1.0)
        none = np.ones_like(up)
        U, V = np.stack([np.exp(up), none], axis=-1), np.stack([np.exp(down), none], axis=-1)
        return np.asarray(self.ahead * up + self.behind * down - self.draws * null.ceiling(U, V))


def log_mean(log_e: Array) -> Array:
    """The log of the mean over k widths, (…), of log payoffs (…, k) summed over audits."""
    return np.asarray(logsumexp(log_e, axis=-1) - np.log(log_e.shape[-1]))


@value_class
class Cuts:
    """Sets {s > forward_j} for M(D) and {s < −backward_j} for M(D') at each of m values of ε.

    forward, backward : (m,), thresholds on the scores s and −s.
    """

    forward: Array
    backward: Array


@dataclass(repr=False)
class PairCounts:
    """Counts of pairs of fresh draws by which of the two draws fell into the set of each ε.

    epsilon : (m,), nats. pairs : (2, m, 4), by direction and ε: the number of pairs with both draws
    in the set, with only the draw of the side that is likelier there, with only the draw of the
    less likely side, and with neither.
    """

    epsilon: Array
    pairs: Array = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = np.zeros((2, len(self.epsilon), 4))

    def add(self, cuts: Cuts, x: Array, y: Array) -> None:
        """Count pairs of draws by their scores x (n,) of M(D) and y (n,) of M(D').

        cuts : sets that were chosen without these draws.
        """
        for j in range(len(self.epsilon)):
            for way, near, far in (
                (0, x > cuts.forward[j], y > cuts.forward[j]),
                (1, -y > cuts.backward[j], -x > cuts.backward[j]),
            ):
                both = np.count_nonzero(near & far)
                first, second = np.count_nonzero(near) - both, np.count_nonzero(far) - both
                self.pairs[way, j] += both, first, second, len(x) - both - first - second

    @property
    def delta(self) -> Array:
        """Plug-in estimates of δ(ε) in both directions, (2, m), in [0, 1]: the frequency p of the
        likelier side in its set less e^ε times the frequency q of the other side.
        """
        size = np.maximum(self.pairs.sum(axis=2), 1.0)
        p, q = self.pairs[..., :2].sum(axis=2) / size, self.pairs[..., [0, 2]].sum(axis=2) / size
        return np.asarray(np.clip(p - np.exp(self.epsilon) * q, 0.0, 1.0))

    def low(self, share: float) -> Array:
        """Lower bounds of δ(ε) in both directions, (2, m), each wrong at any time with probability
        at most `share`.

        For a set S, E[1[x in S] − e^ε 1[y in S]] ≤ δ(ε). So if δ(ε) ≤ d, then Π(1 + λ(1[x in S] −
        e^ε 1[y in S] − d)) is a supermartingale for λ in [0, 1/(e^ε + d)), whatever set is chosen
        before each pair, and so is the mean over a few λ. It decreases in d: the bound is the
        largest d at which it has reached 1/share (Waudby-Smith & Ramdas 2024). The sets may change
        from pair to pair but λ may not, so counts suffice.
        """
        low, high = np.zeros(self.pairs.shape[:2]), np.ones(self.pairs.shape[:2])
        for _ in range(LOW_HALVINGS):
            middle = 0.5 * (low + high)
            refuted = self._log_wealth(middle) >= -np.log(share)
            low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
        return np.where(self._log_wealth(np.zeros_like(low)) >= -np.log(share), low, 0.0)

    def _log_wealth(self, allowed: Array) -> Array:
        """The log of the supermartingale of `low`, the mean over λ, at d = `allowed`, (2, m)."""
        gamma = np.exp(self.epsilon)[:, None]
        most = 1.0 / (gamma + 1.0)
        bets = most * 0.5 ** np.arange(1, SEQUENCE_BETS + 1)
        edge = np.stack([1.0 - gamma, np.ones_like(gamma), -gamma, np.zeros_like(gamma)], axis=-1)
        terms = np.log1p(bets[..., None] * (edge - allowed[..., None, None]))
        return np.asarray(
            logsumexp(np.einsum("dmc,dmbc->dmb", self.pairs, terms), axis=-1)
            - np.log(SEQUENCE_BETS)
        )
