"""What each candidate and view of `auto` is worth: the share of the true loss's certified δ that is
lost without it, on T1 to T14 and on outputs as people release them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import dpaudit as dp
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.scoring import KnownScore, classifier, portfolio
from reports.make import page
from reports.make.families import FAMILIES
from reports.make.tasks import every_task, structured_tasks

EPSILON = np.array([0.0, 0.5, 1.0])
SIZES, SEED, FLOOR = (5_000, 30_000), 1, 0.05  # certified δ from which a share means something
HEAD = page.heads("without | draws a side | largest loss of a share | on | tasks that it changes")
VIEWS = (
    "pairs",
    "sorted parts",
    "scores of parts",
    "differences",
    "the likeliest patch",
    "independent components",
)
Draws = tuple[Any, Any, Array, Array]  # of P and of Q, and their losses


def report() -> None:
    """Measure, and print each row as it comes."""
    print(page.table(HEAD, []))
    for size in SIZES:
        tasks = drawn(size)
        whole = {name: certified(*draws[:2]) for name, draws in tasks.items()}
        known = {name: best(*draws[2:]) for name, draws in tasks.items()}
        for part in [*(candidate.name for candidate in portfolio.CANDIDATES), *VIEWS]:
            losses = {}
            with without(part):
                for name, draws in tasks.items():
                    if took_part(part, whole[name][1]):
                        low = certified(*draws[:2])[0]
                        lost = (whole[name][0] - low) / np.maximum(known[name], 1e-12)
                        losses[name] = float(np.where(known[name] >= FLOOR, lost, 0.0).max())
            most = max(losses, key=losses.__getitem__, default="")
            worth = losses.get(most, 0.0)
            cells = [part, f"{size:,}", f"{worth:+.3f}", most, str(len(losses))]
            print(page.row(cells), flush=True)


def drawn(size: int) -> dict[str, Draws]:
    """The draws of each task."""
    made: dict[str, Draws] = {}
    for task in [*every_task(), *structured_tasks()]:
        sides = task.drawn(size, SEED)
        made[task.name] = sides.P, sides.Q, task.loss(sides.P), task.loss(sides.Q)
    for number, (name, family) in enumerate(FAMILIES.items()):
        rng = generator(np.random.SeedSequence(SEED), number, size)
        (P, loss_p), (Q, loss_q) = family(rng, size)
        made[name] = P, Q, loss_p, loss_q
    return made


def certified(P: Any, Q: Any) -> tuple[Array, set[str]]:
    """Certified δ on EPSILON, and the names of all scores that were better than those before."""
    result = dp.audit_samples(P, Q, epsilon=EPSILON, rng=SEED)
    return np.asarray(result.spectrum.low), set(result.fitted.portfolio)


def best(loss_p: Array, loss_q: Array) -> Array:
    """Certified δ on EPSILON by the true loss."""
    score = KnownScore(lambda x: x[:, 0])
    result = dp.audit_samples(loss_p, loss_q, epsilon=EPSILON, classifier=score, rng=SEED)
    return np.asarray(result.spectrum.low)


def took_part(part: str, scores: set[str]) -> bool:
    """Whether a candidate or view is in the names of these scores."""
    word = part.replace("{boosting}", "lightgbm").split("{")[0].strip()
    if part in VIEWS:
        return any(score.endswith(f" of {part}") for score in scores)
    return any(score.startswith(word) for score in scores)


@contextmanager
def without(part: str) -> Iterator[None]:
    """Leave a candidate or a view out."""
    left = tuple(one for one in portfolio.CANDIDATES if one.name != part)
    every = classifier.views_of

    def some(*arguments: Any) -> Any:
        return ((name, view) for name, view in every(*arguments) if name != part)

    with patch.object(portfolio, "CANDIDATES", left), patch.object(classifier, "views_of", some):
        yield
