"""Exact confidence bounds on P(S) − γQ(S) and P(S)/Q(S) for a fixed set S, from two binomial
counts.

A lower bound on p − γq makes δ(ε) ≥ p − e^ε q a certificate. Separate bounds on p and q
(Clopper–Pearson twice) share α; one test of (p, q) has all of it, and a margin up to √2 smaller.
Outcomes are ordered by an approximate lower limit of p − γq and the order's exact tail probability
is inverted (Buehler 1957; Kabaila & Lloyd 1997), which keeps the p-value nearly free of the
nuisance. For each q of a Clopper–Pearson interval, whose error is added to the p-value (Berger &
Boos 1994), the smallest p that is not rejected is found; these points bound a `Region` of (p, q),
and one region bounds p − γq at EVERY γ, and p/q, at once.

What a region promises: with probability 1 − α it contains (p, q), or it contains a point with p ≤ q
and certifies nothing. For p − γq > 0 with γ ≥ 1, and (1 − q) − γ(1 − p) > 0 of the complement of S,
both need p > q in the whole region. So all that is read off is true with probability 1 − α.

Why it holds. A region with p > q throughout misses (p, q) in one of two ways. (i) q is outside its
Clopper–Pearson interval: probability at most NUISANCE_SHARE·α. (ii) q is inside and p is below the
polygon at q. Let E be the event of an outcome as extreme as the observed one, in the order at q,
which does not depend on p. P(E) grows with p, as E grows with X. So if P(E) at the polygon's point
above q is at most (1 − NUISANCE_SHARE)·α, it is so at p, and that an observation is so extreme has
at most that probability. The two sum to α.

What (ii) needs numerically: the search for p stops at a p with P(E) ≤ (1 − NUISANCE_SHARE −
RESERVE)·α, at a few q. RESERVE·α covers the numerical error of the sum P(E), and the error of the
polygon between those q, which is the curve's chord less an allowance. Neither error is bounded by a
theorem. The slow suite of `tests/certify/test_binomial.py` measures both together: at points (p, q)
of the polygons of some hundred outcomes, the least favourable points, it computes the chance of all
outcomes whose region misses (p, q) and certifies anything, and finds it to be at most α. For small
n and m it counts all outcomes.

Where the region contains a point with p ≤ q, (ii) may fail. Near q = 1 the least p that is not
rejected jumps from 0 to 1, as P(Y ≤ y) falls below α, and the chord over the jump cuts off points
with p near 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    ndtri,
    xlog1py,
    xlogy,
)

from dpaudit._core.types import Array
from dpaudit.certify.band import Region
from dpaudit.certify.constants import (
    AT_CLAIM,
    BLUR,
    CORNER_STRIDE,
    EXACT_TERMS,
    FAR_ALPHA,
    FEW_HITS,
    LOWER_SHARE,
    MARGIN,
    MORE_POINTS,
    MOST_TERMS,
    NUISANCE_POINTS,
    NUISANCE_SHARE,
    REACH,
    RESERVE,
    STEP_STRIDE,
    STEPS,
    STRIDE,
    TOLERANCE,
)


def upper(count: int, n: int, alpha: float) -> float:
    """The Clopper–Pearson upper confidence bound of a binomial probability at level 1 − alpha, for
    alpha in (0, 1) however small.
    """
    return 1.0 if count >= n else float(betainccinv(count + 1, n - count, alpha))


def lower(count: int, n: int, alpha: float) -> float:
    """The Clopper–Pearson lower confidence bound of a binomial probability at level 1 − alpha."""
    return 0.0 if count <= 0 else float(betaincinv(count, n - count + 1, alpha))


def region(x: int, n: int, y: int, m: int, gammas: Sequence[float] | Array, alpha: float) -> Region:
    """A region from the hits of one fixed set S that, with probability at least 1 − alpha, contains
    (p, q), or contains a point with p ≤ q and so certifies nothing.

    x of n draws from P and y of m draws from Q fell in S, so x ~ Bin(n, p) and y ~ Bin(m, q) are
    independent. The region is aimed at p − γq for a few γ = e^ε > 0 (one γ, or two close ones),
    which must be fixed without these counts. At two γ the outcomes are ordered by the larger excess
    of the two limits over their bounds, so that two γ cost little more width than one.
    """
    return _ExactTest(x, n, y, m, np.asarray(gammas, dtype=np.float64), alpha).region()


def refutes(
    x: int, n: int, y: int, m: int, gammas: tuple[float, float], allowed: float, alpha: float
) -> bool:
    """Whether the region aimed at the first γ refutes p − γq ≤ allowed at the second one.

    The counts are those of `region`. The test is made at p = allowed + γq alone, which takes a
    seventh of the time, and at `AT_CLAIM`·α in place of α, which makes up for the allowance of the
    polygon. It may differ from the region's only at the least x that refutes, in one of ten cases,
    and then says no in nine of ten.
    """
    return _ExactTest(x, n, y, m, np.array(gammas[:1]), alpha).refutes(gammas[1], allowed)


def ratio_region(x: int, n: int, y: int, m: int, alpha: float) -> Region:
    """A region as from `region`, aimed at p/q: outcomes are ordered by `ratio_limit`, the γ at
    which the approximate lower limit of p − γq is 0.
    """
    gamma = float(ratio_limit(float(x), n, float(y), m, standard_errors(alpha)))
    if gamma <= 0.0:
        return Region(np.array([0.0, 1.0]), np.zeros(2))
    return region(x, n, y, m, (gamma,), alpha)


def ratio_limit(
    x: Array | float, n: Array | float, y: Array | float, m: Array | float, z: float
) -> Array:
    """The γ at which the approximate lower limit of p − γq is 0, from x of n hits and y of m hits;
    0 where no γ has this property. It has the shape of the counts.

    z : the limit lies z standard errors below the estimate. z²/2 is added to both counts, which
    fits small ones (a Poisson count's score limits are x + z²/2 ∓ z√(x + z²/4)). γ is the smaller
    root of (u − γv)² = z²(V_x + γ²V_y), with u and v the enlarged proportions and V the
    `score_variance`.
    """
    u, v = (x + 0.5 * z**2) / n, (y + 0.5 * z**2) / m
    square, rest = v**2 - z**2 * score_variance(y, m, z), u**2 - z**2 * score_variance(x, n, z)
    inside = np.maximum(u**2 * v**2 - square * rest, 0.0)
    return np.asarray(np.where(rest > 0.0, rest / (u * v + np.sqrt(inside)), 0.0))


def standard_errors(alpha: float) -> float:
    """The z of the approximate limits that order the outcomes; any positive z is valid."""
    return max(-float(ndtri(alpha)), 0.1)


def score_variance(count: Array | float, n: Array | float, z: float) -> Array | float:
    """The variance of count/n, with z²/4 added to hits and misses, which makes the approximate
    limits monotone in both counts.
    """
    cube = n**3 if isinstance(n, np.ndarray) else float(n**3)  # NumPy before 2: no int over 2⁶⁴
    return (count + 0.25 * z**2) * (n - count + 0.25 * z**2) / cube


class _ExactTest:
    """Tests of (p, q) that reject where X/n − γY/m − z√V is large at one of the γ.

    limit : (g,), the observed value of that statistic at each of g γ, with V from `score_variance`.
    far : the factor ≥ 1 by which sums go farther at a small α. Bennett's bound e^{−σ²h(t/σ²)} of
    P(X > mean + t) has `far` times the exponent, at every variance, where t = REACH·σ + MARGIN
    becomes REACH·√far·σ + MARGIN·far; so it falls as a power of α. stride : standard deviations
    between the terms of a long sum.
    """

    def __init__(self, x: int, n: int, y: int, m: int, gammas: Array, alpha: float) -> None:
        self.x, self.n, self.y, self.m, self.gammas, self.alpha = x, n, y, m, gammas, alpha
        self.z = standard_errors(alpha)
        self.far = max(1.0, float(np.log(alpha) / np.log(FAR_ALPHA)))
        self.stride = STRIDE if len(gammas) == 1 else CORNER_STRIDE
        self.target = (1.0 - NUISANCE_SHARE - RESERVE) * alpha
        variance = score_variance(x, n, self.z) + gammas**2 * score_variance(y, m, self.z)
        self.limit = x / n - gammas * y / m - self.z * np.sqrt(variance)

    def region(self) -> Region:
        """The region above the polygon through the least p that is not rejected, at a few q.

        Between these q the curve, straight but for the slow change of the variances, is replaced by
        its chord less half of the second differences around it: this covers a kink halfway, and is
        four times what a parabola needs. With two γ there is a known kink where both limits exceed
        their bounds alike; it becomes one of the points. Values of q at which even p = 1 is
        rejected are left out.
        """
        parts = self._nuisance()
        q = np.unique(np.concatenate(parts))
        p = self._least(q)
        allowance = np.zeros_like(p)
        for part in parts:
            inside = np.isin(q, part)
            bends = np.abs(np.diff(p[inside], 2))
            bends = bends.take(np.arange(-2, len(bends) + 2), mode="clip")  # `np.pad` is slow
            around = np.max([bends[:-2], bends[1:-1], bends[2:]], axis=0)
            allowance[inside] = np.maximum(allowance[inside], 0.5 * around)
        return Region(q, np.maximum(p - allowance, 0.0))

    def refutes(self, gamma: float, allowed: float) -> bool:
        """Whether every p ≤ allowed + γq is rejected at the q of the region; see `refutes`."""
        q = np.concatenate(self._nuisance())
        p = np.minimum(allowed + gamma * q, 1.0)
        probability = self._event(q, self._first_guess(q))(p, np.arange(len(q)))
        return bool(np.all(probability <= AT_CLAIM * self.target))

    def _nuisance(self) -> list[Array]:
        """The q of the vertices: ascending, in a part for each stretch between two kinks."""
        share = NUISANCE_SHARE * self.alpha
        first = lower(self.y, self.m, LOWER_SHARE * share)
        last = upper(self.y, self.m, (1.0 - LOWER_SHARE) * share)
        kinks = -np.diff(self.limit) / np.diff(self.gammas)
        threshold = self._threshold(np.array([first, *kinks, last]))
        most = self._most(np.array([float(self.n)]), threshold, True).max()
        last = min(last, max(upper(int(most), self.m, self.target), self.y / self.m))
        ends = [first, *np.sort(kinks[(first < kinks) & (kinks < last)]), last]
        points = NUISANCE_POINTS * (MORE_POINTS if self.y < FEW_HITS else 1)
        points = max(4, points // (len(ends) - 1))
        return [np.linspace(*part, points) for part in pairwise(ends)]

    def _first_guess(self, q: Array) -> Array:
        """The p at which the approximate limit of each q is the observed one, (k,)."""
        return np.clip(np.max(self.limit + self.gammas * q[:, None], axis=1), 1e-3 / self.n, 1.0)

    def _threshold(self, q: Array) -> Array:
        """The limit at each γ from which on an outcome is as extreme as observed; (g, k)."""
        shift = self.gammas[:, None, None] - self.gammas[:, None]
        return np.asarray(np.max(self.limit[:, None, None] + shift * q, axis=0))

    def _least(self, q: Array) -> Array:
        """For each q, (k,), a rejected p within TOLERANCE standard errors of the largest rejected
        p, (k,).

        At a fixed q the event of an outcome as extreme as the observed one is fixed and its
        probability increases with p. The search brackets p by steps of z standard errors, doubled
        each turn, then closes in by false position on the normal scale, with bisection every third
        turn. It leaves out the q whose p is found.
        """
        guess = self._first_guess(q)
        probability = self._event(q, guess)
        spread = np.sqrt(np.maximum(guess * (1.0 - guess), 1.0 / self.n) / self.n)
        spread = np.hypot(spread, self.gammas[-1] * np.sqrt(q * (1.0 - q) / self.m))
        goal = -ndtri(self.target) + 0.5 * TOLERANCE
        edge = 0.5 * TOLERANCE * spread  # so near to 0 or 1 that one look decides
        rejected, accepted = np.zeros_like(q), np.ones_like(q)
        over, under = np.full_like(q, np.inf), np.full_like(q, np.inf)
        left, z = np.arange(len(q)), np.empty_like(q)
        for turn in range(STEPS):
            tails = np.clip(probability(guess[left], left), 1e-300, 1.0 - 1e-15)
            z[left] = -ndtri(tails) - goal
            good = z >= -0.5 * TOLERANCE
            rejected = np.where(good, guess, rejected)
            over = np.where(good, np.maximum(z, 0.0), over)
            accepted, under = np.where(good, accepted, guess), np.where(good, under, -z)
            close = accepted - rejected < TOLERANCE * spread
            done = (good & (z < 0.5 * TOLERANCE)) | close
            left = np.flatnonzero(~done)
            if len(left) == 0:
                break
            step = guess + np.clip(z, -5.0, 5.0) * spread * 2.0 ** min(turn, 20)
            step = np.clip(step, edge, 1.0 - edge)
            with np.errstate(invalid="ignore"):
                share = over / (over + under) if turn % 3 else 0.5
            between = rejected + share * (accepted - rejected)
            guess = np.where(np.isfinite(over + under), between, step)
            outside = (guess <= rejected) | (accepted <= guess)
            guess = np.where(outside, 0.5 * (rejected + accepted), guess)
            guess = np.where(done, rejected, guess)
        return rejected

    def _event(self, q: Array, p: Array) -> Callable[[Array, np.ndarray], Array]:
        """The function (p, at) ↦ P(an outcome as extreme as the observed one) at the q of these
        places, (j,) and (j,) → (j,).

        p : (k,), a first guess of the arguments, which fixes the terms of the sum.

        The probability is a sum over the counts of one variable: of X where one hit of Q outweighs
        the spread of X. A variable that spans at most EXACT_TERMS values is summed over all of
        them; otherwise the variable with the smaller spread is summed at every `stride`-th value,
        where the terms are as smooth as a normal density, so that this sum is almost exact.

        The bound on the other variable is rounded up to an integer where every value is summed. It
        is left unrounded, which can only enlarge the tail, where terms must be smooth: in strided
        sums, at two γ (the bound moves with q), and where one hit of Q outweighs the spread of X. A
        sum over x begins at the least x that is extreme without any hit of Q, where the terms are a
        step, if that step is likely enough to matter.
        """
        spans = []  # how many values each variable takes within the reach of the sums, over all k
        for probability, size in ((p, self.n), (q, self.m)):
            low, high = float(np.min(probability)), float(np.max(probability))
            spread = np.sqrt(size * max(low * (1.0 - low), high * (1.0 - high)))
            reach = REACH * np.sqrt(self.far) * spread + MARGIN * self.far
            spans.append(min(size * (high - low) + 2.0 * reach, float(size + 1)))
        wide_p, wide_q = spans
        step = self.gammas[-1] * self.n / self.m  # how far one hit of Q moves the bound on x
        few = min(wide_p, wide_q) <= EXACT_TERMS
        sharp = float(np.sqrt(self.n * np.min(p * (1.0 - p)))) < BLUR * step
        over_y = not sharp and (wide_q <= wide_p if few else step * wide_q <= wide_p)
        whole = few and len(self.gammas) == 1 and not sharp
        threshold = self._threshold(q)
        likely = self.m * float(np.min(q)) < -np.log(1e-3 * self.target)  # no hit of Q is likely
        if not over_y and (sharp or (likely and not few)):
            return lambda p, at: self._beyond_step(p, q[at], threshold[:, at])
        if not over_y:
            return lambda p, at: self._over_x(p, q[at], threshold[:, at], whole)
        y, stride = self._terms(q, self.m)
        need = self._need(y, threshold, whole)
        weight, outside = stride * mass(y, self.m, q), _outside(y, self.m, q)
        return lambda p, at: (
            np.sum(weight[at] * at_least(need[at], self.n, p), axis=1) + outside[at]
        )

    def _over_x(self, p: Array, q: Array, threshold: Array, whole: bool) -> Array:
        """The event's probability at each (p, q), (k,), as a sum over x. The p are split into
        halves where they are too far apart for one sum.
        """
        x, stride = self._terms(p, self.n)
        if len(x) > MOST_TERMS and len(p) > 1:
            parts = slice(0, len(p) // 2), slice(len(p) // 2, None)
            return np.concatenate(
                [self._over_x(p[part], q[part], threshold[:, part], whole) for part in parts]
            )
        tail = at_least(self.m - self._most(x, threshold, whole), self.m, 1.0 - q)
        inside = stride * np.sum(mass(x, self.n, p) * tail, axis=1)
        return np.asarray(inside + _outside(x, self.n, p))

    def _beyond_step(self, p: Array, q: Array, threshold: Array) -> Array:
        """The event's probability as a sum from the least x that is extreme with no hit of Q.

        The terms are 0 before it and smooth after it, where X is mostly in its upper tail. There
        the trapezoidal sum of a convex function is too large, so that P(E) is at most overstated.
        """
        least = np.ceil(self._need(np.zeros(1), threshold, False)[:, 0])
        spread = np.sqrt(self.n * p * (1.0 - p))
        reach = REACH * np.sqrt(self.far) * spread + MARGIN * self.far
        low = np.floor(self.n * p - reach)
        first = np.clip(np.maximum(least, low), 0.0, self.n)
        distance = np.maximum(1.0, np.floor(STEP_STRIDE * spread))
        last = np.clip(np.ceil(self.n * p + reach), first, self.n)
        steps = np.arange(int(np.max((last - first) / distance)) + 2)
        x = first[:, None] + distance[:, None] * steps
        weight = np.where(x <= self.n, distance[:, None], 0.0)
        weight[:, 0] -= 0.5 * (distance - 1.0)
        x = np.minimum(x, self.n)
        most = self._most(x, threshold, False)
        tail = at_least(self.m - most, self.m, 1.0 - q)
        inside = np.sum(weight * mass(x, self.n, p) * tail, axis=1)
        below, end = betaincc(first, self.n - first + 1.0, p), x[:, -1]
        below = np.where(low > np.maximum(least, 0.0), below, 0.0)
        above = np.where(end < self.n, betainc(end + 1.0, np.maximum(self.n - end, 1.0), p), 0.0)
        return np.asarray(np.where(least > self.n, 0.0, inside + below + above))

    def _terms(self, probability: Array, n: int) -> tuple[Array, int]:
        """Counts to sum over for all these probabilities, and the distance between them."""
        low, high = float(np.min(probability)), float(np.max(probability))
        narrow, wide = np.sqrt(n * low * (1.0 - low)), np.sqrt(n * high * (1.0 - high))
        reach, margin = REACH * np.sqrt(self.far), int(MARGIN * self.far)
        first = max(0, int(n * low - reach * narrow) - margin)
        last = min(n, int(n * high + reach * wide) + margin)
        stride = 1 if last - first <= EXACT_TERMS else max(1, int(self.stride * min(narrow, wide)))
        return np.arange(first, last + stride, stride, dtype=np.float64).clip(max=n), stride

    def _need(self, y: Array, threshold: Array, whole: bool) -> Array:
        """The least x, (k, terms), whose approximate limit reaches `threshold` at some γ."""
        gamma, threshold = self.gammas[:, None, None], threshold[:, :, None]
        rest = gamma**2 * score_variance(y, self.m, self.z)
        root = self._root(gamma * y / self.m + threshold, 1.0 / self.n, self.n, rest, 1.0)
        need = np.min(root, axis=0)
        return np.ceil(need - 1e-7) if whole else need - 1e-7

    def _most(self, x: Array, threshold: Array, whole: bool) -> Array:
        """The largest y, (k, terms), whose approximate limit reaches `threshold` at some γ."""
        gamma, threshold = self.gammas[:, None, None], threshold[:, :, None]
        rest = np.asarray(score_variance(x, self.n, self.z))
        root = self._root(x / self.n - threshold, gamma / self.m, self.m, rest, -1.0)
        most = np.max(root, axis=0)
        return np.floor(most + 1e-7) if whole else most + 1e-7

    def _root(
        self, level: Array, scale: Array | float, size: int, rest: Array, side: float
    ) -> Array:
        """The count c with (scale·c − level)² = z²(scale² size² V(c) + rest), where V is the
        `score_variance` and scale·c lies on the given side of `level`.

        side : 1.0 for above `level`, −1.0 for below. The result is below 0 or above `size` where
        every count is on one side.
        """
        z2, noise = self.z**2, 0.25 * self.z**2
        square = scale**2 * (1.0 + z2 / size)
        half = scale * level + 0.5 * z2 * scale**2
        constant = level**2 - z2 * (rest + scale**2 * noise * (1.0 + noise / size))
        inside = half**2 - square * constant
        root = (half + side * np.sqrt(np.maximum(inside, 0.0))) / square
        return np.where(inside >= 0.0, root, np.where(level < 0.0, -1.0, size + 1.0))


def mass(count: Array, n: int, probability: Array) -> Array:
    """Binomial probabilities of counts, (k, terms); `scipy.stats.binom` imports 20 times slower."""
    p = probability[:, None]
    size = betaln(count + 1.0, n - count + 1.0) + np.log(n + 1.0)
    return np.asarray(np.exp(xlogy(count, p) + xlog1py(n - count, -p) - size))


def _outside(count: Array, n: int, probability: Array) -> Array:
    """The probability, (k,), of a count below the first or above the last of these counts."""
    first, last = count[0], count[-1]
    none = np.zeros_like(probability)
    below = betaincc(first, n - first + 1.0, probability) if first > 0 else none
    above = betainc(last + 1.0, n - last, probability) if last < n else none
    return np.asarray(below + above)


def at_least(need: Array, n: int, probability: Array) -> Array:
    """P(Bin(n, p) ≥ need) at each probability p, (k,) → (k, terms), by the beta integral also where
    `need` is not an integer.
    """
    sure, never = need <= 0.0, need > n
    inner = np.where(sure | never, 1.0, need)
    tail = betainc(inner, n - inner + 1.0, probability[:, None])
    return np.where(sure, 1.0, np.where(never, 0.0, tail))
