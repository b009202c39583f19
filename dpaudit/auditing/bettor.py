"""The bettor of an audit that may stop early: past draws, choice of score and bet, the e-process.

A batch is scored by a score that was trained on earlier draws alone. So the product of the payoffs
is an e-process, which may be looked at after every draw. The claim is rejected the first time that
it reaches 1/(1 − level); if the claim is true, that happens with probability at most 1 − level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from dpaudit import outcomes, scoring
from dpaudit._core.seeds import Purpose, below
from dpaudit._core.value import value_class
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.settings import Settings
from dpaudit.certify.bet_choice import Menu, cuts_by_draws
from dpaudit.certify.betting import Bet, Cuts, PairCounts, null_of
from dpaudit.curves.claims import Claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.power import FIRST
from dpaudit.sampling import SIDES, Pair, joined
from dpaudit.scoring import Fitted, Sides
from dpaudit.scoring.base import nan_count, refuse_nan, without_nan
from dpaudit.scoring.few import fit_few_draws
from dpaudit.scoring.models.logistic import calibrated
from dpaudit.verdict.evidence import Sequential

# Up to FEW draws a side batches grow by an eighth, up to MANY by a third; then they double.
FEW, MANY = (200, 2_000)
LARGEST = 1 << 20  # draws a side of a batch, which bounds memory
FULL = 1 << 20  # after this many draws a side, score and bet are final and draws are not kept
CHOOSE = 0.25  # share of the past that chooses among scores, calibrates, and chooses bets
HIGHEST = 40.0  # nats; scores are clipped to ±HIGHEST
PLAIN = (0.0, 1.0)  # intercept and slope for a score that needs no calibration
SMALL = "small"


def batch_sizes(draws: int) -> Iterator[int]:
    """Yield the batch sizes, which add up to `draws` a side; the first batch only trains."""
    done = 0
    while done < draws:
        growth = done
        if done == 0:
            growth = FIRST
        elif done < MANY:
            growth //= 8 if done < FEW else 3
        size = min(max(growth, 1), LARGEST, draws - done)
        yield size
        done += size


@value_class
class Batch:
    """Fresh draws of both sides. calls : sizes of the calls that made a side, None if unknown."""

    draws: Pair
    calls: np.ndarray | None

    @property
    def size(self) -> int:
        return len(self.draws[0])


class Past:
    """All draws so far, as the mechanism returned them, and the columns of their float64 rows."""

    def __init__(self) -> None:
        self.draws: Pair | None = None
        self.calls: list[np.ndarray | None] = []
        self.columns: outcomes.Columns | None = None

    def add(self, fresh: Batch) -> None:
        """Add a batch. Raises `MechanismError` if its draws differ in form from earlier ones."""
        self.draws = self._with(fresh.draws)
        self.calls.append(fresh.calls)

    @property
    def size(self) -> int:
        return 0 if self.draws is None else len(self.draws[0])

    def call_sizes(self) -> np.ndarray | None:
        """Sizes of all calls so far, or None if those of a batch are unknown."""
        known = [sizes for sizes in self.calls if sizes is not None]
        return np.concatenate(known) if len(known) == len(self.calls) else None

    def rows(self) -> Sides:
        """All draws as float64 rows, with the columns that distinguish any two of the draws."""
        assert self.draws is not None
        self.columns, *rows, _ = outcomes.described(*self.draws)
        return Sides(*rows)

    def like(self, fresh: Batch) -> Sides:
        """Fresh draws as float64 rows with the columns that the last call of `rows` chose."""
        assert self.columns is not None
        self._with((fresh.draws[0][:1], fresh.draws[1][:1]), rows=1)  # raises where they do not fit
        return Sides(*map(self.columns, fresh.draws))

    def _with(self, fresh: Pair, rows: int | None = None) -> Pair:
        """The past draws (the first `rows` of them) and the fresh ones."""
        past = [] if self.draws is None else [tuple(side[:rows] for side in self.draws)]
        P, Q = (
            joined([pair[side] for pair in (*past, fresh)], name) for side, name in enumerate(SIDES)
        )
        return P, Q


@lru_cache(maxsize=16)
def menu_of(claim: Claim | None, theory: Spectrum | None) -> Menu:
    """The bets against the claim or, without a claim, against the exact spectrum `theory`.
    Raises `InvalidInput` if there is nothing to bet against.
    """
    return Menu(*null_of(claim, theory))


@dataclass(repr=False)
class Bettor:
    """The past, the e-process and the counts.

    odds : log-odds of each batch, given before the batch joined `past`.
    judge : the score and the bet for the next batch.
    learned, judged_by, drawn : draws a side in `past`, in `past` when `judge` was made, and in all.
    draws, log_e, largest, rejected_at : as in `Sequential`; `largest` is a logarithm here.
    undefined : how many of the scores that were bet on were NaN.
    """

    settings: Settings
    menu: Menu
    clock: Clock
    past: Past = field(default_factory=Past)
    odds: list[Sides] = field(default_factory=list)
    judge: Judge | None = None
    learned: int = 0
    judged_by: int = 0
    draws: list[int] = field(default_factory=list)
    log_e: list[float] = field(default_factory=list)
    largest: float = 0.0
    drawn: int = 0
    rejected_at: int | None = None
    fitted: Fitted | None = None
    undefined: int = 0

    def __post_init__(self) -> None:
        self.counts = PairCounts(self.settings.epsilon)

    def take(self, number: int, fresh: Batch) -> None:
        """Bet on each pair of batch `number` in turn, with a score and a bet chosen from the past.

        The batch is then added to the past, unless that has `FULL` draws. The first batch only
        trains.
        """
        if number > 0:
            if self.judge is None or self.judged_by < self.learned:
                with self.clock.step("fit_s"):
                    self.judge = self._new_judge(number, self.past.rows(), fresh.size)
                    self.judged_by = self.learned
            with self.clock.step("certify_s"):
                scores = scoring.scores(self.judge.fitted.score, self.past.like(fresh))
                self.undefined += nan_count(scores)
                self._settle(self.judge, odds(scores, self.judge.line))
        if self.learned < FULL:
            self.past.add(fresh)
            self.learned += fresh.size
        self.drawn += fresh.size

    def record(self) -> Sequential:
        return Sequential(
            level=self.settings.level,
            alpha=self.settings.alpha,
            draws=tuple(self.draws),
            log_e=tuple(self.log_e),
            rejected_at=self.rejected_at,
            drawn=self.drawn,
            tested=int(self.counts.pairs[0, 0].sum()),
            largest=float(np.exp(self.largest)),
        )

    def _settle(self, judge: Judge, odds: Sides) -> None:
        path = (self.log_e[-1] if self.log_e else 0.0) + np.cumsum(judge.bet.payoff(odds.P, odds.Q))
        over = np.flatnonzero(path >= -np.log(self.settings.alpha))
        if len(over):
            path = path[: over[0] + 1]
            self.rejected_at = self.drawn + len(path)
        self.draws.append(self.drawn + len(path))
        self.log_e.append(float(path[-1]))
        self.largest = max(self.largest, float(path.max()))
        if self.learned < FULL:
            self.odds.append(odds)
        self.counts.add(judge.cuts, odds.P, odds.Q)
        self.fitted = judge.fitted

    def _new_judge(self, number: int, past: Sides, upcoming: int) -> Judge:
        seed = below(self.settings.seed, Purpose.BATCH, number)
        if len(past.P) < FEW:
            return judge_by_few(self.settings, self.menu, past, seed)
        earlier = [np.concatenate([getattr(batch, side) for batch in self.odds]) for side in "PQ"]
        return judge_by_many(self.settings, self.menu, past, Sides(*earlier), seed, upcoming)


@value_class
class Judge:
    """A score with the `line` that calibrates it (`odds`), the bet that it places, and the sets for
    which lower bounds are counted.
    """

    fitted: Fitted
    line: tuple[float, float]
    bet: Bet
    cuts: Cuts


def odds(scores: scoring.Scores, line: tuple[float, float]) -> Sides:
    """Log-odds line[0] + line[1]·score, clipped to ±HIGHEST; a NaN score counts as 0."""
    P, Q = (line[0] + line[1] * np.clip(without_nan(s), -HIGHEST, HIGHEST) for s in scores)
    return Sides(np.clip(P, -HIGHEST, HIGHEST), np.clip(Q, -HIGHEST, HIGHEST))


def judge_by_few(
    settings: Settings, menu: Menu, past: Sides, seed: np.random.SeedSequence
) -> Judge:
    """A judge from few draws, whose score is averaged over its own uncertainty and needs no
    calibration. A known score is calibrated on all of them. Raises `InvalidInput` if that is NaN.
    """
    known = not scoring.is_trained(settings.classifier)
    if known:
        fitted = scoring.fit(settings.classifier, past, past, seed, settings.bits)
    else:
        fitted = Fitted(SMALL, fit_few_draws(past, settings.bits))
    scores = scoring.scores(fitted.score, past)
    refuse_nan(scores, fitted.name)
    plain, line = odds(scores, PLAIN), PLAIN
    if known:
        line = calibrated(plain.P, plain.Q)
        plain = odds(scores, line)
    bet = menu.by_model(np.concatenate([plain.P, plain.Q]))
    return Judge(fitted, line, bet, Cuts(settings.epsilon, settings.epsilon))


def judge_by_many(
    settings: Settings,
    menu: Menu,
    past: Sides,
    history: Sides,
    seed: np.random.SeedSequence,
    upcoming: int,
) -> Judge:
    """A judge whose score is trained on a part of the past. The other part chooses, together with
    the log-odds that earlier judges gave to draws that they had not seen.

    history : these log-odds, (n,) a side, each batch by its own judge.
    upcoming : size of the next batch.
    """
    cut = int((1.0 - CHOOSE) * len(past.P)) if scoring.is_trained(settings.classifier) else 0
    choose = Sides(past.P[cut:], past.Q[cut:])
    fitted = _contest(settings, past.head(cut), choose, seed)
    scores = scoring.scores(fitted.score, choose)
    plain = odds(scores, PLAIN)
    line = calibrated(plain.P, plain.Q)
    fresh = odds(scores, line)
    first, last = len(history.P) // 3, len(history.P) - len(choose.P)
    earlier = slice(first, max(first, last))
    x = np.concatenate([fresh.P, history.P[earlier]])
    y = np.concatenate([fresh.Q, history.Q[earlier]])
    forward = cuts_by_draws(x, y, settings.epsilon, upcoming)
    cuts = Cuts(forward, cuts_by_draws(-y, -x, settings.epsilon, upcoming))
    return Judge(fitted, line, menu.by_draws(x, y), cuts)


def _contest(
    settings: Settings, train: Sides, choose: Sides, seed: np.random.SeedSequence
) -> Fitted:
    """Fit the classifier of the settings. "auto" takes the better in log loss of the score for few
    draws and a closed form (from MANY draws on: the best of the whole portfolio).
    """
    if not isinstance(settings.classifier, str) or settings.classifier != "auto":
        return scoring.fit(settings.classifier, train, choose, seed, settings.bits)
    many = len(train.P) + len(choose.P) >= MANY
    rival = scoring.fit("auto" if many else "qda", train, choose, seed, settings.bits)
    small = Fitted(SMALL, fit_few_draws(train.head(MANY), settings.bits))
    losses = {fit.name: scoring.log_loss(fit.score, choose) for fit in (small, rival)}
    chosen = rival if losses[rival.name] < losses[SMALL] else small
    return replace(chosen, portfolio={**rival.portfolio, **losses}, notes=rival.notes)
