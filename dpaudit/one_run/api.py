"""`audit_one_run` turns scores and coins of one run into a certified ε, a verdict and a report."""

from __future__ import annotations

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.keywords import known_keywords
from dpaudit._core.types import Array, ArrayLike
from dpaudit.certify.one_run.bound import CANARIES, METHODS
from dpaudit.certify.one_run.guesses import Guesses
from dpaudit.certify.one_run.independent import GAUSSIAN, Family, log_odds
from dpaudit.curves.claims import ClaimLike, as_claim, refuse_unbreakable
from dpaudit.one_run.canaries import chances, coins_of
from dpaudit.one_run.result import OneRunResult
from dpaudit.verdict.one_run import Question, judge

FamilyLike = str | tuple[float, int] | None
EPSILON = np.linspace(0.0, 20.0, 41)  # nats; at one of these a claim must allow less than δ = 1
UNLIKELY = 1e-9  # coins with a p-value below this were not flipped with the stated probability
AGAIN = 20  # equal scores; the coins of fewer may agree by chance


@known_keywords()
def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    claim: ClaimLike = None,
    inclusion: ArrayLike = 0.5,
    level: float = 0.95,
    delta: float = 0.0,
    method: str = "auto",
    canaries: str = "any",
    family: FamilyLike = None,
) -> OneRunResult:
    """Audit a mechanism that ran once, on data into which m canaries went by independent coins.

    Each canary was put into the data or not by a coin of its own, the mechanism ran, and a score
    says of each canary how much it seems to be in. What the scores tell about the coins bounds ε
    from below. Canaries may disturb each other; the bound holds for any mechanism, since the coins
    are the only randomness that it rests on. What is assumed beyond that has a name: `canaries` and
    `family`.

    Parameters
    ----------
    scores : array of shape (m,)
        Finite, larger where a canary seems to be in. A score may depend on the output and on all
        canaries; it must not depend on the coins.
    included : array of shape (m,), bool, or 0 and 1
        Which canaries were in.
    claim : Claim, (ε, δ) or None
        The claim, about the change of one canary.
    inclusion : float or array of shape (m,), default 0.5
        P(in) of each coin, in (0, 1). Exactly half of the canaries chosen at random are no
        independent coins, and no bound is known to hold for them.
    level : float in (0, 1), default 0.95
        The confidence of the bound.
    delta : float in [0, 1), default 0
        The δ at which ε is bounded if the claim is not (ε, δ).
    method : {"auto", "likelihood", "f-dp"}, default "auto"
        The method of the bound on ε, see `dpaudit.certify.one_run`. It is part of the audit's
        design: choose it before you see the scores.
    canaries : {"any", "independent"}, default "any"
        "independent" assumes that each score depends on the canary's own coin and on noise of its
        own, as for orthogonal gradients with Gaussian noise. It makes `gdp_mu`, claims that are
        curves, and ε of a `family` much stronger, and false where canaries share an event of the
        run. It needs one `inclusion` for all.
    family : None, "gaussian" or (sample_rate, steps), default None
        "gaussian" assumes that the change of one canary is that of N(0, 1) to N(μ, 1), and bounds ε
        by the μ that the scores certify. (sample_rate, steps) is the same at each step of a
        training that samples it; it needs canaries="independent".

    Notes
    -----
    The verdict is "violated" if the claim is refuted at `level`. It is "inconclusive" without a
    claim, if even scores that tell every coin would not have refuted it, or if far fewer guesses
    are right than by chance. Else it is "not violated": these canaries and this score did not
    refute the claim, which proves nothing about others.

    References
    ----------
    `dpaudit.certify.one_run`'s modules, each with its proof; Steinke, Nasr & Jagielski 2023 (the
    design); Mahloujifar, Melis & Chaudhuri 2024 (claims that are curves); Xiang et al. 2025, arXiv
    2501.17750 (independent canaries).

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(1000) < 0.5
    >>> scores = included + 0.3 * rng.normal(size=1000)  # a run that remembers its canaries
    >>> result = dp.audit_one_run(scores, included, claim=(1.0, 1e-5))
    >>> result.verdict
    'violated'
    >>> print(result.headline.text)
    Claimed ε = 1 at δ = 10⁻⁵. At 95 % confidence at least 5.07 (one run, 1,000 canaries).
    """
    values = check.vector("scores", scores, "a 1-D array of finite numbers, one a canary")
    coins, chance = coins_of(included, len(values)), chances(inclusion, len(values))
    away = abs(float(coins.sum() - chance.sum()))
    if 2.0 * np.exp(-2.0 * away**2 / len(coins)) < UNLIKELY:  # Hoeffding
        fail(
            "inclusion",
            Words(f"{chance.mean():.3g}, where {int(coins.sum())} of {len(coins)} canaries are in"),
            "the probability with which the canaries were put in",
            "pass the one that your coins had",
        )
    if _listed_again(values, coins):
        again = "each score several times, with the same coin"
        fail("scores", Words(again), "those of different canaries", "list each canary once")
    question = question_of(
        claim=claim, level=level, delta=delta, method=method, canaries=canaries, family=family
    )
    if canaries == "independent" and np.ptp(chance) > 0.0:
        fail("inclusion", Words("different probabilities"), "one number if canaries='independent'")
    middle = None
    if canaries == "independent" and question.family is not None and question.family != GAUSSIAN:
        values, middle = log_odds(values, float(chance[0]), question.family), 0.0
    guesses, level = Guesses.of(values, coins, chance, middle), float(level)
    return OneRunResult(guesses, question, int(coins.sum()), level, judge(guesses, coins, question))


def _listed_again(scores: Array, coins: np.ndarray) -> bool:
    """Whether each score occurs several times and always with one coin, as in a file that was
    joined to itself. False if a threshold tells all coins: a run that gives them away may have two
    scores.
    """
    ordered = np.sort(scores)  # most scores differ, and sorting them takes little time
    if np.count_nonzero(ordered[1:] == ordered[:-1]) < AGAIN:
        return False
    order = np.argsort(scores)
    scores, coins = scores[order], coins[order]
    same, turn = scores[1:] == scores[:-1], coins[1:] != coins[:-1]  # as the score before
    once = ~(np.append(same, False) | np.append(False, same))
    return not np.any(once) and not np.any(same & turn) and int(np.count_nonzero(turn)) > 1


def question_of(
    *,
    claim: ClaimLike = None,
    level: float = 0.95,
    delta: float = 0.0,
    method: str = "auto",
    canaries: str = "any",
    family: FamilyLike = None,
) -> Question:
    """What an audit asks, with arguments of `audit_one_run`: checked before a mechanism runs.

    Raises `InvalidInput`.
    """
    level = check.real("level", level, 0.0, 1.0, open_=True)
    method = check.choice("method", method, METHODS)
    claimed = as_claim(claim)
    if claimed is not None:
        refuse_unbreakable(claimed, EPSILON)
    read_at = check.real("delta", delta, 0.0, 1.0)
    if read_at == 1.0:
        fail("delta", delta, "a number in [0, 1)")
    if claimed is not None and claimed.epsilon is not None:
        if read_at not in (0.0, claimed.delta):
            fail("delta", delta, f"left out, or {claimed.delta:g} as in the claim")
        read_at = claimed.delta
    if method not in ("auto", "f-dp") and claimed is not None and claimed.epsilon is None:
        fail("method", method, "'f-dp' for a claim that is a curve", "leave it out")
    assumed = check.choice("canaries", canaries, CANARIES)
    if (pairs := _family(family)) is not None:
        if pairs != GAUSSIAN and assumed == "any":
            fail("family", family, "'gaussian' or None unless canaries are assumed independent")
        if claimed is not None and claimed.epsilon is None:
            fail("family", family, "None for a claim that is a curve", "leave it out")
        if read_at == 0.0:
            fail("delta", read_at, "above 0 with a family, whose pairs have no finite ε at δ = 0")
    return Question(claimed, read_at, 1.0 - level, method, assumed, pairs)


def _family(family: FamilyLike) -> Family | None:
    expected = 'None, "gaussian" or (sample_rate, steps)'
    if family is None:
        return None
    if isinstance(family, str):
        check.choice("family", family, ("gaussian",))
        return GAUSSIAN
    if not isinstance(family, tuple | list) or len(family) != 2:
        fail("family", family, expected)
    rate, steps = family
    return Family(
        check.real("family's sample_rate", rate, float(np.nextafter(0.0, 1.0)), 1.0),
        check.integer("family's steps", steps, 1),
    )
