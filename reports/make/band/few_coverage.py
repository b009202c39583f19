"""How often the certificate of few draws exceeds the truth: simulated audits on known pairs.

Split, score, sets and band are those of an audit of few draws. Only the tests that refuse draws
which depend on each other, and the estimate, are left out: neither changes what is certified.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.certify.band import Certificate
from dpaudit.certify.few import certify_few, few_split
from dpaudit.certify.scores import SortedScores
from dpaudit.scoring import Sides, scores
from dpaudit.scoring.few import fit_few
from reports.make import page
from reports.make.band.coverage import EPSILON, ERROR, Truth, rate
from reports.make.band.score_laws import PAIRS, ScoreLaw

SEED = 2027
SIZES = ((20, 20), (50, 50), (300, 300), (40, 300), (500, 60))  # draws of P and of Q
FITTED = 4  # audits whose score is known, for each one that fits a score, which costs more
HEAD = ("pair", "score", *(f"{n}, {m}" if n != m else f"{n}" for n, m in SIZES))


@dataclass(frozen=True)
class Way:
    """A pair, by the start of its name, and how it is audited.

    learned : whether the score is fitted, or is the output itself, in which the loss increases.
    asked : further arguments of `certify_few`. text : the same in words.
    """

    pair: str
    learned: bool
    asked: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    @property
    def law(self) -> ScoreLaw:
        """The pair itself."""
        return next(pair for pair in PAIRS if pair.name.startswith(self.pair))

    @property
    def score(self) -> str:
        """The score in words, and what is asked."""
        return ("`auto`" if self.learned else "known") + self.text


WAYS = (
    Way("Gaussian shift, true", False),
    Way("randomised", False),
    Way("infinite", False),
    Way("null (P = Q)", False),
    Way("null (P = Q), three", False),
    Way("randomised", False, {"focus": "pure"}, ', `focus="pure"`'),
    Way("randomised", False, {"claim": (0.9, 0.0)}, ", `claim=(0.9, 0)`"),
    Way("randomised", True),
    Way("null (P = Q)", True),
    Way("rare in Q", False),
    Way("null (P = Q), rare", False),
)


def exceeding(way: Way, n: int, m: int, audits: int) -> int:
    """How many of so many audits of n draws of P and m of Q certify more than is true.

    At any ε, in either direction, or as ε at δ = 0, or as Gaussian μ.
    """
    truth = Truth.of(way.law)
    return sum(_exceeds(way, n, m, truth, number) for number in range(audits))


def _exceeds(way: Way, n: int, m: int, truth: Truth, number: int) -> bool:
    rng = generator(np.random.SeedSequence(SEED), WAYS.index(way), n, m, number)
    p, q = way.law.draw(rng, n, True), way.law.draw(rng, m, False)
    return any(truth.exceeded(certified(way, p, q)))


def certified(way: Way, p: Array, q: Array) -> Certificate:
    """What an audit of these draws certifies, (n,) and (m,)."""
    sizes = few_split(min(len(p), len(q)), 1, trained=way.learned)
    learned = sizes.train + sizes.choose
    past, rest = (
        Sides(p[part, None], q[part, None]) for part in (slice(learned), slice(learned, None))
    )
    score = fit_few(past).score if way.learned else lambda x: x[:, 0]
    choose, certifying = (SortedScores.of(*scores(score, part)) for part in (past, rest))
    return certify_few(choose, certifying, EPSILON, ERROR, **way.asked).certified


def table(audits: int) -> str:
    """Rates of every way and size with their upper limits. audits : of a known score in a cell."""
    return page.table(
        HEAD, (_row(way, audits // FITTED if way.learned else audits) for way in WAYS)
    )


def _row(way: Way, audits: int) -> list[str]:
    rates = (rate(exceeding(way, n, m, audits), audits) for n, m in SIZES)
    return [way.law.name, way.score, *rates]
