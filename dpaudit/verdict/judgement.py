"""The verdict on a claim, for audits with a fixed number of draws and for sequential ones.

A certified band or an e-value is compared with a reference: the curve of the claim or, without a
claim, the exact spectrum. If the reference is not refuted, the reason says which excess these draws
could have shown; if they could have shown none, the verdict is "inconclusive".

A reason is notes, headline, and sentences. What the band or the e-value says is written here, after
the headline. Notes are on pair, claim or draws; `auditing.engine` joins them all, by `with_notes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import power
from dpaudit._core.note import Note
from dpaudit._core.text import percent
from dpaudit._core.value import value_class
from dpaudit.curves.claims import exceeds
from dpaudit.verdict.evidence import Sequential
from dpaudit.verdict.headline import Headline, Reference, read_headline, renyi_excess
from dpaudit.verdict.numbers import apart, count, enough, number

if TYPE_CHECKING:
    from dpaudit.certify.estimate import Estimate

# If `detect` is None, a larger share of outputs with parts that no score can read makes the verdict
# "inconclusive". A smaller share is added to the smallest excess that would have been shown.
MOST_UNREAD = 0.05
NONE_SHOWN = "With so few draws no excess in δ, however large, is found with probability 0.8."
UNREAD = (
    "No score can read {parts}: hardly any of them occurs twice, or they are too many. All else "
    "was read. In their place return numbers, in an array if there are many, or leave out what may "
    "be ignored, such as an identifier. If the values do come again, take more draws."
)
COUNTED = "This takes {share} of the outputs as unseen: no score can read {parts}."
WEAK = "An excess of {excess} over the allowed δ would have been shown, not the {asked} asked for."
TAKE = (
    "Take {draws} draws a side to find an excess of {excess} in δ({epsilon}) with probability 0.8."
)
PLANNED = 0.3  # the excess for which draws are named where none is asked for
SHARES = 200  # by which 1 − level is shared at most, where no ε of a claim has a share of its own
GIVEN = (
    "This assumes independent draws. Draws or scores of one run are not independent: "
    "dpaudit.audit_one_run is for those."
)
NOTHING = "There is no claim to judge by, and no exact spectrum is known."
NEVER = "No number of draws refutes {name}: not even outputs that give their database away."
TOO_FEW = "These draws would not have refuted {name} even if every output gave its database away."
ALL_READ: Mapping[str, float] = {}


@value_class(show_numbers=True, eq=True)
class Verdict:
    """The verdict of an audit on its reference, with the reason.

    verdict : "violated", "not violated" or "inconclusive". reason : sentences for people, the
        headline first.
    detectable : {"epsilon", "excess", "power"}: this audit would have certified an excess in
        δ(epsilon) of this size, for a leak of any shape, with probability `power`; no smaller one.
        None without a reference, or if no excess would show.
    """

    verdict: str
    reason: str
    detectable: dict[str, float] | None
    headline: Headline


def judge_band(
    estimate: Estimate,
    reference: Reference | None,
    level: float,
    detect: float | None = None,
    *,
    who: str = "",
    too_few: Callable[[], bool] | None = None,
    least: Callable[[int], float] | None = None,
    unread: Mapping[str, float] = ALL_READ,
) -> Verdict:
    """Judge a certified band.

    detect : the excess in δ that the user wants to be found, or None. who : what differs between
    the databases, in words. too_few : a function that returns whether the draws could have refuted
    nothing. least : a function that gives the smallest excess that would show at a position on the
    grid of ε; None for `power.smallest_excess`. unread : as in `Fitted`.
    """
    head = read_headline(estimate, reference, level, who)
    if reference is None:
        return Verdict("inconclusive", f"{head.text} {NOTHING}", None, head)

    def excess(at: int) -> float:
        epsilon, allowed = estimate.epsilon[at], reference.delta[at]
        return power.smallest_excess(epsilon, allowed, estimate.draws, estimate.share[at])

    grid = range(len(estimate.epsilon))
    detectable = _detectable(excess, grid, reference, least or excess, unread)
    if head.exceeded:
        sentences = [head.text, head.in_delta]
        if (divergence := renyi_excess(estimate, reference)) is not None:
            order, certified, allowed = divergence
            low, most = "infinite", number(allowed)
            if certified < np.inf:
                low, most = apart(certified, allowed)
                low = f"at least {low}"
            sentences.append(
                f"The Rényi divergence of order {number(order)} is {low}, where {most} is allowed."
            )
        return Verdict("violated", " ".join(filter(None, sentences)), detectable, head)
    passed = Verdict("not violated", head.text, detectable, head)
    return _not_refuted(passed, reference, detect, too_few, unread)


def judge_e_value(
    process: Sequential,
    estimate: Estimate,
    positions: Iterable[int],
    reference: Reference,
    detect: float | None = None,
    *,
    who: str = "",
    too_few: Callable[[], bool] | None = None,
    unread: Mapping[str, float] = ALL_READ,
) -> Verdict:
    """Judge a sequential audit by the largest e-value of its bets against the reference.

    positions : those on the grid of ε where lower bounds are kept. Others are as in `judge_band`.
    """

    def excess(at: int) -> float:
        epsilon, allowed = reference.epsilon[at], reference.delta[at]
        return power.excess_shown(epsilon, allowed, process.tested, process.alpha)

    others = positions if reference.claimed_at is None else ()
    detectable = _detectable(excess, others, reference, excess, unread)
    rejected = process.rejected_at
    head = read_headline(estimate, reference, process.level, who, rejected is not None)
    if rejected is not None:
        stopped = (
            f"Stopped after {count(rejected)} draws a side: the e-value against "
            f"{reference.name} is {number(process.e_value)}, at least the "
            f"{number(process.needed)} that rejects it."
        )
        reason = " ".join(filter(None, (head.text, head.in_delta, stopped)))
        return Verdict("violated", reason, detectable, head)
    reason = (
        f"{head.text} In {count(process.drawn)} draws a side the e-value against {reference.name} "
        f"rose to {number(process.largest, 3)} at most, below the {number(process.needed)} that "
        "rejects it."
    )
    passed = Verdict("not violated", reason, detectable, head)
    return _not_refuted(passed, reference, detect, too_few, unread, "verdict")


def _not_refuted(
    passed: Verdict,
    reference: Reference,
    detect: float | None,
    too_few: Callable[[], bool] | None,
    unread: Mapping[str, float],
    stop: str | None = None,
) -> Verdict:
    """The verdict if the draws do not refute the reference: `passed`, if they could have shown
    enough.
    """
    if broken := _broken_by_theory(reference):
        return replace(passed, verdict="inconclusive", reason=f"{broken} {passed.reason}")
    unseen = _unseen(unread)
    shares = [f"{kind} (in {percent(share)} of the outputs)" for kind, share in unread.items()]
    parts = " and ".join(shares)
    if unread and unseen >= (MOST_UNREAD if detect is None else detect):
        missing = UNREAD.format(parts=parts)
    else:
        missing = "" if passed.detectable else NONE_SHOWN
        if too_few is not None and too_few():
            missing = TOO_FEW
    if missing or passed.detectable is None:
        if missing in (TOO_FEW, NONE_SHOWN):
            needed, take = _more_draws(reference, detect, passed.headline.level, stop)
            missing = f"{missing} {take}" if np.isfinite(needed) else NEVER
            missing = missing.format(name=reference.name)
        reason = f"{passed.reason} {missing}"
        return replace(passed, verdict="inconclusive", reason=reason, detectable=None)
    excess, verdict = passed.detectable["excess"], passed.verdict
    could_show = would_show(passed.detectable)
    if detect is not None and excess > detect:
        _, take = _more_draws(reference, detect, passed.headline.level, stop)
        could_show = f"{WEAK.format(excess=number(excess, 3), asked=number(detect, 3))} {take}"
        verdict = "inconclusive"
    if unread:
        could_show += " " + COUNTED.format(share=percent(unseen), parts=parts)
    return replace(passed, verdict=verdict, reason=f"{passed.reason} {could_show}")


def _broken_by_theory(reference: Reference) -> str:
    claim, exact = reference.claim, reference.exact
    if claim is None or exact is None:
        return ""
    over = np.flatnonzero(exceeds(exact.delta, reference.delta))
    if len(over) == 0:
        return ""
    if claim.epsilon is not None and exact.curve is not None:
        epsilon = float(exact.epsilon_at(claim.delta))
        value = f"its ε at δ = {number(claim.delta)} is {number(epsilon, 3)}"
    else:  # state δ at the ε where it exceeds the claim most
        at = over[np.argmax((exact.delta - reference.delta)[over])]
        delta, allowed = number(exact.delta[at], 3), number(reference.delta[at], 3)
        value = f"its δ({number(reference.epsilon[at])}) is {delta}, where {allowed} is allowed"
    return f"The exact spectrum breaks {reference.name}: {value}. These draws did not certify it."


def _detectable(
    excess: Callable[[int], float],
    positions: Iterable[int],
    reference: Reference,
    exact: Callable[[int], float],
    unread: Mapping[str, float],
) -> dict[str, float] | None:
    """`Verdict.detectable`: the smallest excess over all outputs that would show; None without one.

    It is that at the ε of an (ε, δ) claim, else that at the ε where the smallest excess would show.
    excess : approximates the smallest excess that would show at a position on the grid of ε.
    exact : gives it exactly, for the position that `excess` chose.

    If no score can read some outputs, their share is added, by P(S) − e^ε Q(S) ≤
    P(S and read) − e^ε Q(S and read) + P(unread) for a set S of outputs under laws P and Q.
    """
    at = reference.claimed_at
    if at is not None:
        positions = [at] if np.isfinite(exact(at)) else positions
    best = min(positions, key=excess, default=None)
    if best is None or not np.isfinite(least := exact(best)):
        return None
    least = float(least)
    if unread:
        least += _unseen(unread)
        if least >= 1.0:
            return None
    return {"epsilon": float(reference.epsilon[best]), "excess": least, "power": power.POWER}


def _more_draws(
    reference: Reference, detect: float | None, level: float, stop: str | None
) -> tuple[float, str]:
    """What `draws_that_show` says of a reference, at the ε where the fewest draws can refute."""
    at, statements = reference.claimed_at, power.AUDIT_STATEMENTS
    if at is None:
        needed = power.separating_draws(reference.epsilon, reference.delta, 1.0 - level)
        at, statements = int(np.argmin(needed)), SHARES
    epsilon, allowed = float(reference.epsilon[at]), float(reference.delta[at])
    return draws_that_show(epsilon, allowed, detect, level, stop, statements)


def draws_that_show(
    epsilon: float,
    allowed: float,
    detect: float | None,
    level: float,
    stop: str | None,
    statements: int = power.AUDIT_STATEMENTS,
) -> tuple[float, str]:
    """How many draws a side find an excess (`detect`, at most `PLANNED` and half of what is left),
    as in `dpaudit plan`, and the sentence on them; infinite, and "", if no number of draws does.
    """
    excess = min(PLANNED if detect is None else detect, PLANNED, 0.5 * (1.0 - allowed))
    if excess < power.LEAST:
        return np.inf, ""
    draws = power.draws_to_detect(
        epsilon, allowed, excess, level=level, stop=stop, statements=statements
    )
    if np.isinf(draws):
        return draws, ""
    words = {"draws": enough(draws), "excess": number(excess, 3), "epsilon": number(epsilon)}
    return draws, TAKE.format(**words)


def _unseen(unread: Mapping[str, float]) -> float:
    return min(1.0, sum(unread.values()))


def would_show(detectable: Mapping[str, Any]) -> str:
    """The sentence on the excess that would have been found. detectable : as in result.json."""
    excess, at, chance = (number(detectable.get(key), 3) for key in ("excess", "epsilon", "power"))
    return (
        f"An excess of {excess} over the allowed δ({at}) would have been shown with probability "
        f"{chance} (whatever the shape of the leak, with a score as good as the true privacy loss)."
    )


def with_notes(judged: Verdict, notes: Sequence[Note]) -> Verdict:
    """The verdict with notes before its reason: "inconclusive" if one of them doubts it."""
    texts, verdict = [note.text for note in notes], judged.verdict
    if verdict != "violated":
        texts = [note.doubt or note.text for note in notes]
        verdict = "inconclusive" if any(note.doubt for note in notes) else verdict
    return replace(judged, verdict=verdict, reason=" ".join([*texts, judged.reason]))


def of_given_draws(judged: Verdict) -> Verdict:
    """The verdict on draws made elsewhere: if "violated", the reason ends with what it assumes."""
    if judged.verdict != "violated":
        return judged
    return replace(judged, reason=f"{judged.reason} {GIVEN}")
