"""How many draws show an excess over a claim, at worst, whatever the shape of the leak.

Let d be δ(ε), the larger of both directions, γ = e^ε, and S the best set: p = P(S) and q = Q(S)
have p − γq = d. Its complement, as a set for Q against P, attains (1 − q) − γ(1 − p) ≤ d, so that q
≤ (1 − d)/(1 + γ). The variance of the two counts,

    p(1 − p) + γ²q(1 − q) = d(1 − d) + γ(1 + γ − 2d)q − 2γ²q²,

grows with q up to this bound: its vertex (1 + γ − 2d)/4γ is not below the bound, as (γ − 1)² + 2d(γ
− 1) ≥ 0. So of all pairs with that δ(ε) a coin needs most draws: randomised response, with P(yes) =
(d + γ)/(1 + γ) and Q(yes) = 1 − P(yes). Laplace noise comes close to it; Gaussian noise and rare
values need fewer.

The numbers are for a score as good as the true likelihood ratio: no number of draws suffices for a
score that sees nothing. For few draws (`certify.few`) the probability that a set refutes the claim
is summed exactly over its two binomial counts, for the coin and for smaller q; for more draws it
comes from normal limits. An audit has other sets, too: where the claimed δ is tiny, the set with
the largest P(S)/Q(S) refutes more often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtri

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit.certify.bet_choice import Menu
from dpaudit.certify.betting import Null
from dpaudit.certify.constants import FEW, FEW_CLAIM_SHARE, FEW_COLUMNS, FEWEST, LARGEST_CLAIM
from dpaudit.certify.few import few_split
from dpaudit.certify.refuting import RefutingCounts
from dpaudit.certify.split import samples_for, split
from dpaudit.curves.bracketing import crossing

__all__ = [
    "draws_to_detect",
    "excess_of",
    "excess_shown",
    "hardest_sets",
    "least_epsilon",
    "least_excess",
    "separating_bets",
    "separating_draws",
    "smallest_excess",
]

POWER = 0.8
# The numbers below were set by simulation or are numerical. `python -m reports.make power` measures
# how often audits showed the excesses promised here: too small a CHOICE or LEARNING promises more
# than audits keep. No certificate depends on them.
# a whole audit spends a fifth of 1 − level on the claim's own ε (`certify.constants.CLAIM_SHARE`)
AUDIT_STATEMENTS = 5
FEW_STATEMENTS = round(1.0 / FEW_CLAIM_SHARE)  # the same for an audit of few draws
MOST = 1e15  # draws, beyond which the number counts as infinite
LEAST = 1e-12  # an excess below this is rounding
NEARLY = 1e-6  # 1 − δ of the largest δ that is tried
ROUNDING = 1e-3  # relative error of an excess that few draws show
WEIGHTS = np.linspace(1.0, 0.0, 9)  # shares of the coin's q tried for few draws, the hardest first
# Choosing a set from k draws loses the share CHOICE · (1 − δ(ε)) · k^(−2/3) of the excess. The
# largest of many counts is at a threshold that misses the best threshold by about k^(−1/3) (Kim &
# Pollard 1990), and the excess is flat there; where outputs hardly overlap nothing is lost.
CHOICE = 0.8
NORMAL_ERROR = 1.5  # the largest factor by which normal limits miss the number of few draws
# the draws of a sequential audit over those that it would need with the best bet from the start
LEARNING = 3.0
FIRST = 8  # draws a side of a sequential audit before its first bet


def draws_to_detect(
    epsilon: float,
    delta: float,
    excess: float,
    power: float = POWER,
    level: float = 0.95,
    stop: str | None = None,
    *,
    statements: int = AUDIT_STATEMENTS,
) -> float:
    """The draws a side, training included, that show an excess over (ε, δ) with this `power`.

    They suffice whatever the shape of the leak, for a score as good as the true privacy loss.
    `dpaudit plan` prints them as a table; `excess_of` inverts the function.

    Parameters
    ----------
    epsilon : float ≥ 0, nats
        ε of the claim.
    delta : float in [0, 1]
        δ that is claimed.
    excess : float in [0, 1]
        δ(ε) − delta. The sum of the two is below 1.
    power : float in (0, 1), default 0.8
        The probability.
    level : float in (0, 1), default 0.95
        The confidence level of the audit.
    stop : "verdict", optional
        None for an audit of fixed size, its draws split as by default; "verdict" for a sequential
        audit.
    statements : int ≥ 1, default `AUDIT_STATEMENTS`
        How many bounds an audit of fixed size shares 1 − level among. The default matches the
        share of `dpaudit.audit` at the ε of an (ε, δ) claim; with few draws that is 2, and larger
        numbers count as 2.

    Returns
    -------
    float
        The number of draws; infinite from 1e15 draws on. A result of at most 500 is the least
        number for an audit of few draws, by exact sums.

    Examples
    --------
    >>> f"{draws_to_detect(1.0, 1e-5, 0.1):.2g}"  # δ(1) = 0.10001 where 1e-5 is claimed
    '3.1e+03'
    >>> draws_to_detect(1.0, 1e-5, 1e-3) > 50 * draws_to_detect(1.0, 1e-5, 0.01)
    True
    """
    _check(epsilon, delta, power, level)
    excess = check.real("excess", excess, 0.0, 1.0 - delta, open_=True)
    if stop is None:
        share = (1.0 - level) / check.integer("statements", statements, 1)
        certifying = _certifying_draws(epsilon, delta, excess, power=power, share=share)
        few_share = (1.0 - level) / min(statements, FEW_STATEMENTS)
        few = _few_draws(epsilon, delta, excess, power, few_share)
        needed = few or MOST
        if not few and certifying < MOST:
            needed = float(samples_for(int(np.ceil(certifying))))  # training included
    else:
        check.choice("stop", stop, ("verdict",))
        bets = _bet_draws(epsilon, delta, excess, power=power, alpha=1.0 - level)
        needed = FIRST + LEARNING * bets
    return needed if needed < MOST else np.inf


def excess_of(
    epsilon: float,
    delta: float,
    draws: int,
    power: float = POWER,
    level: float = 0.95,
    *,
    statements: int = AUDIT_STATEMENTS,
) -> float:
    """The least excess over (ε, δ) that `draws` draws a side show with probability `power`, at
    worst.

    The function inverts `draws_to_detect` for an audit of fixed size.

    Parameters
    ----------
    epsilon, delta : float
        As for `draws_to_detect`.
    draws : int
        Draws a side, training included.
    power, level, statements : float and int
        As for `draws_to_detect`.

    Returns
    -------
    float
        The excess; infinite where no δ ≤ 1 would show. From 20 to 500 draws it is by exact sums.

    Examples
    --------
    >>> excess_of(1.0, 1e-5, 1_000_000) < excess_of(1.0, 1e-5, 10_000) < 0.1
    True
    """
    _check(epsilon, delta, power, level)
    share = (1.0 - level) / check.integer("statements", statements, 1)
    if FEWEST <= check.count("draws", draws, 1) <= FEW:
        sizes = few_split(int(draws), None, trained=True)
        sides, alpha = (
            (sizes.certify, sizes.certify),
            (1.0 - level) / min(statements, FEW_STATEMENTS),
        )
        return least_excess(sides, epsilon, delta, alpha, sizes.train, power)
    certifying = split(check.count("draws", draws, 1)).certify
    needed = partial(_certifying_draws, epsilon, delta, power=power, share=share)
    return _least(needed, certifying, delta)


@lru_cache(maxsize=256)
def least_excess(
    sizes: tuple[int, int],
    epsilon: float,
    allowed: float,
    alpha: float,
    choosing: int,
    power: float = POWER,
) -> float:
    """The least excess over `allowed` that few draws refute with probability `power`, at worst.

    sizes : few certifying draws of P and of Q. epsilon : nats. allowed : the δ claimed at ε. alpha
    : the error probability of the bound at ε. choosing : draws a side that choose the set. The
    result may exceed the exact excess by a relative 1e-2; it is infinite where no excess is refuted
    so often.
    """
    counts = RefutingCounts(sizes, epsilon, allowed, alpha)

    def detected(excess: float, numbers: Iterable[int] = range(len(WEIGHTS))) -> bool:
        return all(_refutes(counts, excess, choosing, power, number) for number in numbers)

    low, high = NEARLY, 1.0 - allowed - NEARLY
    if high <= low or not detected(high):
        return float("inf")
    while high - low > ROUNDING * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if detected(middle, [0]) else (middle, high)
    while not detected(high):  # counts are discrete: another set may need a little more
        high = min(high * (1.0 + ROUNDING), 1.0 - allowed - NEARLY)
    return high


def smallest_excess(epsilon: float, allowed: float, draws: int, share: float) -> float:
    """The excess over `allowed` that certifying draws show with probability `POWER`, at worst.

    epsilon : nats. allowed : the δ claimed at ε. draws : certifying draws a side. share : error
    probability of the bound at this ε. The result is infinite where no δ ≤ 1 would show.
    """
    needed = partial(_certifying_draws, epsilon, allowed, power=POWER, share=share)
    return _least(needed, draws, allowed)


def excess_shown(epsilon: float, allowed: float, draws: int, alpha: float) -> float:
    """The excess over `allowed` that a sequential audit shows with probability `POWER`, at worst.

    epsilon : nats. allowed : the δ claimed at ε. draws : draws a side on which the audit bets.
    alpha : 1 − the level of the audit. The result is infinite where no δ ≤ 1 would show.
    """
    needed = partial(_bet_draws, epsilon, allowed, power=POWER, alpha=alpha)
    return _least(needed, draws / LEARNING, allowed)


def separating_draws(epsilon: ArrayLike, allowed: ArrayLike, share: float) -> Array:
    """The fewest certifying draws a side with which any test can refute δ(ε) ≤ allowed.

    A test reaches this number only where every output reveals its database.

    Parameters
    ----------
    epsilon, allowed : arrays of shape (m,)
        The values of ε, nats, and the δ that is claimed at each.
    share : float in (0, 1)
        Error probability of the test.

    Returns
    -------
    array of shape (m,)
        The numbers of draws; infinite where `allowed` is 1.

    Notes
    -----
    The probability that all n draws of P and none of n draws of Q are in a set is (p(1 − q))ⁿ,
    where p ≤ δ + γq with γ = e^ε and δ = allowed. The largest p(1 − q) is (γ + δ)²/4γ, at
    q = (γ − δ)/2γ, if p ≤ 1 there; otherwise it is the value at p = 1.

    Examples
    --------
    >>> separating_draws([0.0, 5.0], [0.0, 1e-5], 0.01).round(1)
    array([  3.3, 681.2])
    """
    gamma, delta = np.exp(np.asarray(epsilon)), np.asarray(allowed, dtype=np.float64)
    inside = gamma <= 2.0 - delta
    with np.errstate(divide="ignore"):
        log_largest = np.where(
            inside,
            2.0 * np.log1p(-0.5 * (1.0 - delta) + 0.5 * (gamma - 1.0)) - np.log(gamma),
            np.log1p(-(1.0 - delta) / np.maximum(gamma, 1.0)),
        )
        return np.asarray(-np.log(share) / np.abs(log_largest))


def separating_bets(epsilon: float, allowed: float, alpha: float) -> float:
    """About how many draws a side a sequential audit needs to reject (ε, allowed) where every
    output reveals its database.

    epsilon : nats. allowed : the δ claimed at ε. alpha : 1 − the level of the audit. The result is
    infinite where `allowed` is 1.
    """
    if allowed >= 1.0 - NEARLY:
        return float("inf")
    excess = (1.0 - allowed) * (1.0 - NEARLY)
    return LEARNING * _bet_draws(epsilon, allowed, excess, power=POWER, alpha=alpha)


def hardest_sets(epsilon: float, delta: float) -> tuple[Array, Array]:
    """P(S) and Q(S), (9,) each, of the best sets S at ε in pairs of laws with δ(ε) = delta.

    The first set is the coin's: it has the largest Q(S), and its counts have the largest variance.
    The last set is a value that Q never takes.
    """
    gamma = np.exp(epsilon)
    q = WEIGHTS * (1.0 - delta) / (1.0 + gamma)
    return np.minimum(delta + gamma * q, 1.0), q


def least_epsilon(epsilon: float, delta: float, at: float) -> float:
    """The least ε, nats, that a pair of laws with δ(ε) = delta may have at a smaller δ, `at`.

    A set with p = delta + e^ε q needs e^x ≥ (p − at)/q, which falls with q: the coin's x is the
    least.
    """
    p, q = hardest_sets(epsilon, delta)
    return float(np.log((p[0] - at) / q[0]))


def _check(epsilon: float, delta: float, power: float, level: float) -> None:
    check.real("epsilon", epsilon, 0.0, LARGEST_CLAIM)
    check.real("delta", delta, 0.0, 1.0)
    check.real("power", power, 0.0, 1.0, open_=True)
    check.real("level", level, 0.0, 1.0, open_=True)


def _refutes(
    counts: RefutingCounts, excess: float, choosing: int, power: float, number: int
) -> bool:
    """Whether a set chosen from `choosing` draws refutes with probability `power` or more.

    number : the position in `hardest_sets` of the set's P(S) and Q(S).
    """
    lost = CHOICE * (1.0 - counts.allowed - excess) * choosing ** (-2.0 / 3.0)
    p, q = hardest_sets(counts.epsilon, counts.allowed + excess * (1.0 - lost))
    return counts.reaches(power, float(p[number]), float(q[number]))


def _few_draws(
    epsilon: float, delta: float, excess: float, power: float, alpha: float
) -> float | None:
    """The least number of draws a side, within 1 %, from which `few_split` audits show the excess;
    None if more than `FEW` draws are needed.
    """
    about = _certifying_draws(epsilon, delta, excess, power=power, share=alpha)
    about /= 1.0 - FEW_COLUMNS
    if about > NORMAL_ERROR * FEW:
        return None

    def detected(draws: int) -> bool:
        sizes = few_split(draws, None, trained=True)
        counts = RefutingCounts((sizes.certify, sizes.certify), epsilon, delta, alpha)
        every = range(len(WEIGHTS))
        return all(_refutes(counts, excess, sizes.train, power, number) for number in every)

    low, high = FEWEST - 1, min(max(int(about), FEWEST), FEW)
    while not detected(high):
        if high == FEW:
            return None
        low, high = high, min(high + high // 4, FEW)
    while high - low > max(1, high // 100):
        middle = max((low + high) // 2, int(0.9 * high))
        low, high = (low, middle) if detected(middle) else (middle, high)
    return float(high)


def _least(needed: Callable[[float], float], draws: float, allowed: float) -> float:
    """The excess at which the number of needed draws, which falls with the excess, equals `draws`;
    infinite where every excess needs more.
    """
    most = 1.0 - allowed - 1e-9
    if most <= LEAST or needed(most) > draws:
        return float("inf")
    ends = math.log(LEAST), math.log(most)
    return math.exp(crossing(lambda log: math.log(draws / needed(math.exp(log))), *ends, 1e-9))


def _certifying_draws(
    epsilon: float, delta: float, excess: float, *, power: float, share: float
) -> float:
    """Draws a side at which the excess is z = z_power − z_share standard errors of p − e^ε q, and
    at least as many as `separating_draws`.

    Limits of counts add z_share²/4 to hits and misses (`certify.binomial`), so that the variance of
    n draws is about v/n + r/n², with v = p(1 − p) + e^2ε q(1 − q) and r = (1 + e^2ε) z_share²/4.
    The n at which that is (excess/z)² is the larger root of a quadratic.
    """
    p, q = (side[0] for side in hardest_sets(epsilon, delta + excess))
    square = np.exp(min(2.0 * epsilon, 600.0))  # finite, and beyond `MOST` draws
    each = ((ndtri(power) - ndtri(share)) / excess) ** 2
    half = 0.5 * each * (p * (1.0 - p) + square * q * (1.0 - q))
    normal = half + np.hypot(half, 0.5 * ndtri(share) * np.sqrt(each * (1.0 + square)))
    return max(float(normal), float(separating_draws(epsilon, delta, share)))


def _bet_draws(epsilon: float, delta: float, excess: float, *, power: float, alpha: float) -> float:
    """Draws a side until the best bet wins with probability `power`: the n that solves n·growth −
    z_power·√(n·variance) = ln 1/alpha, with the moments of `_growth`.
    """
    growth, variance = _growth(epsilon, delta, excess)
    if growth <= 0.0:
        return MOST
    target, z = -np.log(alpha), max(float(ndtri(power)), 0.0)
    root = (z * np.sqrt(variance) + np.sqrt(z**2 * variance + 4.0 * growth * target)) / (
        2.0 * growth
    )
    return float(root**2)


@lru_cache(maxsize=256)
def _growth(epsilon: float, delta: float, excess: float) -> tuple[float, float]:
    """The mean and variance of the log payoff of a pair of draws for the best bet against (ε, δ),
    where outputs are those of a coin with an excess.
    """
    yes, no = (float(side[0]) for side in hardest_sets(epsilon, delta + excess))
    odds = np.log(yes / no)
    score, p = np.array([odds, -odds]), np.array([yes, no])
    bet = _menu(epsilon, delta).by_law(score, p, p[::-1])
    up, down = bet.up(score), bet.down(score)
    mean = float(up @ p), float(down @ p[::-1])
    variance = up**2 @ p - mean[0] ** 2 + down**2 @ p[::-1] - mean[1] ** 2
    return sum(mean) - bet.cost, float(variance)


@lru_cache(maxsize=16)
def _menu(epsilon: float, delta: float) -> Menu:
    return Menu(Null.of(np.array([epsilon]), np.array([delta])), np.array([epsilon]))
