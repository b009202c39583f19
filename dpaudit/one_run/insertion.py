"""One run of a mechanism on a database with canaries: flip coins, run, score, and audit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.keywords import known_keywords
from dpaudit._core.raised import Raised, with_cause
from dpaudit._core.seeds import Purpose, describe, generator, root
from dpaudit._core.types import Array, ArrayLike, Mechanism, RngLike
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import as_mechanism
from dpaudit.curves.claims import ClaimLike
from dpaudit.errors import InvalidInput, MechanismError
from dpaudit.one_run.api import FamilyLike, audit_one_run, question_of
from dpaudit.one_run.canaries import Canaries, chances
from dpaudit.one_run.result import OneRunResult
from dpaudit.one_run.scores import Score, named
from dpaudit.sampling.block import outputs, sampler_of


@value_class(show_numbers=True)
class Observed:
    """The observations of one run: the score of each canary, (m,), and whether it was in, (m,)."""

    scores: Array
    included: np.ndarray


CHANGES = {
    "add": "each canary is added or left out, so the number of rows tells how many are in",
    "zero-out": "each canary is in or a row of zeros in its place, so the number of rows is public",
}
IGNORED = (
    "Under the same random numbers all scores are the same if every coin is turned over: what they "
    "read does not depend on the canaries. Look for a slip in the mechanism or in the score."
)


@known_keywords()
def audit_canaries(
    mechanism: Mechanism | Callable[..., Any],
    data: ArrayLike,
    inserted: Canaries,
    score: str | Score = "gradient",
    *,
    claim: ClaimLike = None,
    level: float = 0.95,
    delta: float = 0.0,
    inclusion: ArrayLike = 0.5,
    relation: str = "add",
    canaries: str = "any",
    family: FamilyLike = None,
    rng: RngLike = None,
) -> OneRunResult:
    """Audit a mechanism by one run on a database into which canaries went by coins.

    Each canary is put into the data or not by a coin of its own. The mechanism runs once, the score
    says of each canary how much it seems to be in, and `dpaudit.audit_one_run` turns scores and
    coins into a lower bound on ε. The bound holds for the mechanism's change of one row on
    databases like this one, canaries included; it is valid however canaries disturb each other,
    unless `canaries` says otherwise.

    Where nothing is certified, the mechanism runs once more before the verdict "not violated", with
    the same random numbers and every coin turned over. If that changes no score, the canaries are
    ignored, and the verdict is "inconclusive".

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng)`, called with size 1; or a function ``f(data, *, rng)``,
        ``f(data, rng)`` or ``f(data)`` that gives one output, of any type: a vector, a fitted
        model, a table. The score gets the output as it is.
    data : array of shape (n, b)
        The database without canaries.
    inserted : Canaries
        `dpaudit.canaries(data, m)`, or `dpaudit.Canaries(rows)` of your own.
    score : {"gradient", "loss", "nearest"} or callable, default "gradient"
        "gradient": coefficients of a linear or logistic model. "loss": a fitted model with
        `predict_proba` or `predict`. "nearest": a synthetic table. Or a function
        score(output, rows) → (m,), larger where a canary seems to be in. It must not see the coins.
    claim, level, delta : optional
        As in `dpaudit.audit_one_run`.
    inclusion : float or array of shape (m,), default 0.5
        The chance that a canary goes in, in (0, 1).
    relation : {"add", "zero-out"}, default "add"
        The neighbours that the claim is about. "add": a canary that is out is left out. "zero-out":
        a row of zeros stands for it, for mechanisms whose number of rows is public.
    canaries : {"any", "independent"}, default "any"
        What is assumed of the canaries, as in `dpaudit.audit_one_run`.
    family : None, "gaussian" or (sample_rate, steps), default None
        As in `dpaudit.audit_one_run`.
    rng : seed or Generator, optional
        The same rng, versions and mechanism give the same result. The coins do not depend on how
        the mechanism draws.

    Raises
    ------
    MechanismError
        When the mechanism raises, or its output cannot be scored.

    References
    ----------
    Steinke, Nasr & Jagielski 2023 ("Privacy Auditing with One (1) Training Run"), algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.zeros((5, 40))
    >>> forty = dp.canaries(data, 40, label=False, row_bound=1.0, rng=1)
    >>> def total(data, *, rng):
    ...     return data.sum(axis=0) + 0.1 * rng.normal(size=40)
    >>> score = dp.one_run.SumAlignment(lambda rows: rows, data)
    >>> dp.audit_canaries(total, data, forty, score, claim=dp.Claim.gdp(0.5), rng=1).verdict
    'violated'
    """
    options: dict[str, Any] = {"claim": claim, "level": level, "delta": delta}
    options |= {"canaries": canaries, "family": family}
    question_of(**options)
    how: dict[str, Any] = {"inclusion": inclusion, "relation": relation, "rng": root(rng)}
    seen = observe(mechanism, data, inserted, score, **how)
    result = audit_one_run(seen.scores, seen.included, inclusion=inclusion, **options)
    judged = result.judged
    if judged.verdict == "not violated" and judged.headline.certified == 0.0:
        with suppress(MechanismError):  # which it has raised for these canaries alone
            turned = observe(mechanism, data, inserted, score, turned=True, **how)
            if np.array_equal(turned.scores, seen.scores):
                reason = f"{IGNORED} {judged.reason}"
                judged = replace(judged, verdict="inconclusive", reason=reason)
    return replace(result, judged=judged, note=f"Here {CHANGES[relation]}.")


def observe(
    mechanism: Mechanism | Callable[..., Any],
    data: ArrayLike,
    canaries: Canaries,
    score: str | Score = "gradient",
    *,
    inclusion: ArrayLike = 0.5,
    relation: str = "add",
    turned: bool = False,
    rng: RngLike = None,
) -> Observed:
    """Flip coins, insert canaries, run the mechanism once, and score, as `audit_canaries` does.

    Coins, and what the mechanism draws, have keys of their own below `rng`, so that a score that
    takes random numbers elsewhere changes neither. turned : whether every coin is turned over after
    it fell.
    """
    if not isinstance(canaries, Canaries):
        fail("canaries", canaries, "dpaudit.Canaries", "make them with dpaudit.canaries(data, m)")
    database = check.matrix("data", data)
    known = named(score, database, canaries.rows, chances(inclusion, len(canaries)))
    seed, once = root(rng), as_mechanism(mechanism)
    included = canaries.flip(inclusion, rng=seed) ^ turned
    inserted = canaries.inserted(database, included, relation=relation)
    where = f"the data with canaries (seed {describe(seed)}, key {int(Purpose.DRAW), 0})"
    drawn = outputs(sampler_of(once, inserted), 1, generator(seed, Purpose.DRAW, 0), where)
    size = len(drawn) if hasattr(drawn, "__len__") else 0
    if size != 1:
        raise MechanismError(
            f"the mechanism must return 1 output where size is 1, got {type(drawn).__name__} "
            f"of {size}; a function f(data, *, rng) returns its output as it is"
        )
    return Observed(scored(known, drawn[0], canaries.rows, inserted), included)


def scored(score: Score, output: Any, rows: Array, data: Array) -> Array:
    """The scores of the canaries `rows`, (m,). Raises `MechanismError`, without values of the data,
    if the score function fails.
    """
    try:
        values = score(output, rows.copy())
    except InvalidInput:
        raise
    except Exception as error:
        raised = Raised.of(error, data)
    else:
        expected = f"a function that gives {len(rows)} numbers, one a canary"
        return check.vector("score", values, expected, len(rows))
    raise with_cause(MechanismError(f"the score raised {raised.line}", raised=raised))
