"""From the result of one run to result.json: JSON types only, and no score of a single canary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit._core.result_file import ONE_RUN, SCHEMA_VERSION
from dpaudit.auditing.record import plain, versions
from dpaudit.certify.one_run import bound
from dpaudit.certify.one_run.guesses import Guesses

if TYPE_CHECKING:
    from dpaudit.one_run.result import OneRunResult

POINTS = 120  # of the curve of right guesses


def to_dict(result: OneRunResult) -> dict[str, Any]:
    """The content of result.json. kind : "one run", which tells it from an audit of two samples."""
    asked, guesses = result.question, result.guesses
    claim = asked.claim
    record = {
        "schema_version": SCHEMA_VERSION,
        "kind": ONE_RUN,
        **result.subject,
        "level": result.level,
        "verdict": result.verdict,
        "reason": result.reason,
        "headline": result.headline.to_dict(),
        "claim": None if claim is None else {"text": claim.text, "epsilon": claim.epsilon},
        "certified": {
            "delta": asked.delta,
            "epsilon": result.epsilon_at(asked.delta),
            "gdp_mu": result.gdp_mu,
        },
        "method": {"requested": asked.method, "shares": _shares(result)},
        "canaries": {
            "count": guesses.canaries,
            "included": result.included,
            "inclusion": [guesses.inclusion.min(), guesses.inclusion.max()],
        },
        "guesses": _curve(guesses),
        "versions": versions(),
    }
    found = plain(record)
    assert isinstance(found, dict)
    return found


def _shares(result: OneRunResult) -> dict[str, float]:
    """Which bounds were used for ε at the question's δ, and their shares of 1 − level."""
    asked = result.question
    if asked.method != "auto":
        return {asked.method: 1.0}
    return bound.shares(result.guesses, asked.delta, asked.alpha)


def _curve(guesses: Guesses) -> dict[str, Any]:
    """How many of the strongest guesses are right, at up to `POINTS` numbers of them."""
    found = len(guesses.right)
    if found == 0:
        return {"count": [], "right": []}
    sizes = np.unique(np.geomspace(1, found, POINTS).round().astype(int))
    return {"count": sizes, "right": np.cumsum(guesses.right)[sizes - 1]}
