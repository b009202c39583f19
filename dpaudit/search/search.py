"""The search itself: which neighbours, in what order, at what cost; then the audit of the one that
it chose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit import scoring
from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.seeds import Purpose, below, generator, root
from dpaudit.auditing.api import audit_subject
from dpaudit.auditing.result import AuditResult, Subject
from dpaudit.curves.claims import as_claim
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import Progress
from dpaudit.search.changes import RELATIONS, Pool, incoming_rows, pool
from dpaudit.search.halving import Bench, Schedule, halve, schedule
from dpaudit.search.memory import Memory
from dpaudit.search.quick import DEFAULT
from dpaudit.search.ranking import RANKS, Rank, heaviest, ranking
from dpaudit.search.tried import Selection

SHORTLIST, BUDGET = 48, 10.0
OUTLIER_KEY = 1 << 20  # key below the search's seed that is no rung

NOTE = (
    "A search is an attack, not a proof. It compares the neighbours that it thought of, by what a quick score sees in "
    "few draws, at one ε and on these data: the mechanism may leak more about another row, on other data, at other ε, "
    "or in a way that such a score does not see. Its estimates, the largest of many, are too high; only the final "
    "audit, whose draws the search has not seen, certifies, and that for the chosen pair alone. Where nothing was "
    "found, nothing has been shown."
)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """selection : what was tried. pair : the neighbours that were chosen. audit : their
    `AuditResult`, from draws that no selection saw. note : what this does not show."""

    selection: Selection
    pair: NeighbourPair
    audit: AuditResult
    note: str = NOTE

    @property
    def draws(self) -> int:
        """Of search and audit together, both sides."""
        return self.selection.draws + 2 * self.audit.sizes.total

    def table(self, most: int | None = 20) -> str:
        """What was tried, as lines of text."""
        return self.selection.table(most)


def search_neighbours(
    mechanism: Any,
    data: Any,
    *,
    at: float | None = None,
    relations: Any = ("zero-out",),
    candidates: Any = None,
    row_bound: float | None = None,
    bounds: Any = None,
    rank: Rank = "auto",
    shortlist: int = SHORTLIST,
    budget: float = BUDGET,
    quick: Any = DEFAULT,
    samples: int = 100_000,
    claim: Any = None,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> SearchResult:
    """Find the neighbour on which a mechanism leaks most, without theory, and audit it.

    Parameters
    ----------
    mechanism : `mech(data, size, *, rng) -> (size, k)`, any callable of that form.
    data : (n, d), label last (where there is one: ranks by least squares are of use for others,
        too).
    at : ε ≥ 0, nats, at which neighbours are compared; by default the claim's own, else 0.
    relations : any of "zero-out" (a row set to zero), "remove" (a row left out), "replace" (a row
        by another one) and "add" (one row more).
    candidates : (m, d) rows that may come in ("replace", "add").
    row_bound, bounds : a PUBLIC bound inside which extreme rows may come in, too: the largest
        Euclidean norm of a row, or (d, 2), the least and the largest value of each column. Not to
        be read off the data.
    rank : which neighbours are tried first. "linear", leverage × residual and other measures of
        least squares in turn; "influence", how far a few draws move with the row, common random
        numbers (of the first 4,096 by least squares, or as many as 15 % of the draws allow);
        "auto", both in turn (of the first 512); "random"; or a function score(data, out, into) →
        (m,) of rows that leave and come, (m, d) each, zeros where none, larger first.
    shortlist : neighbours that get a cheap audit.
    budget : draws of search and final audit together, in audits of 2·samples draws.
    quick : classifier of the cheap audits, "quadratic" or what `dpaudit.audit` takes.
    samples, claim, rng, n_jobs, progress, and further `settings` : of the final audit, as in
    `dpaudit.audit`.

    Returns
    -------
    SearchResult. With one rng the result is the same whatever `n_jobs`, and the final audit is
    `dpaudit.audit(mechanism, result.pair, rng=rng, ...)`.

    Raises `InvalidInput`, `DegenerateData`, `MechanismError` (also where it fails on every
    neighbour tried).

    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.column_stack([np.ones(40), np.linspace(-1.0, 1.0, 40), np.linspace(0.0, 1.0, 40)])
    >>> data[7, 1:] = 8.0, -5.0  # an outlier
    >>> def release(data, size, *, rng):
    ...     solution = np.linalg.lstsq(data[:, :-1], data[:, -1], rcond=None)[0]
    ...     return solution + 0.1 * rng.normal(size=(size, 2))
    >>> found = dp.search_neighbours(release, data, claim=(1.0, 0.01), samples=2_000, rng=1)
    >>> found.pair.index, found.audit.verdict
    (7, 'violated')
    """
    seed = root(rng)
    selection = select(
        mechanism,
        data,
        at=at,
        relations=relations,
        candidates=candidates,
        row_bound=row_bound,
        bounds=bounds,
        rank=rank,
        shortlist=shortlist,
        budget=budget,
        quick=quick,
        samples=samples,
        claim=claim,
        rng=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    pair = selection.best.change.pair(check.matrix("data", data))
    options = {
        "samples": samples,
        "claim": claim,
        "rng": seed,
        "n_jobs": n_jobs,
        "progress": progress,
        **settings,
    }
    found = audit_subject(Subject(mechanism, pair, rule=selection.rule), **options)
    return SearchResult(selection, pair, found)


def select(
    mechanism: Any,
    data: Any,
    *,
    at: float | None = None,
    relations: Any = ("zero-out",),
    candidates: Any = None,
    row_bound: float | None = None,
    bounds: Any = None,
    rank: Rank = "auto",
    shortlist: int = SHORTLIST,
    budget: float = BUDGET,
    quick: Any = DEFAULT,
    samples: int = 100_000,
    claim: Any = None,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    memory: Memory | None = None,
) -> Selection:
    """The search without the final audit, whose 2·samples draws `budget` leaves; as
    `search_neighbours`.

    memory : keeps what is found, so that a search that was interrupted goes on where it was.
    """
    if isinstance(mechanism, type) or not callable(mechanism):
        fail("mechanism", mechanism, "a callable mechanism(data, size, *, rng)")
    data, relations = check.matrix("data", data), _relations(relations)
    rank = rank if callable(rank) else check.choice("rank", rank, RANKS)
    check.integer("shortlist", shortlist, 1)
    classifier = quick if isinstance(quick, str) and quick == DEFAULT else scoring.known(quick)
    seed = below(root(rng), int(Purpose.SEARCH))
    incoming = incoming_rows(
        data, relations, candidates, row_bound, bounds, generator(seed, OUTLIER_KEY)
    )
    # only replacements need to know
    rows = heaviest(data) if "replace" in relations else np.arange(len(data))
    changes = pool(data, relations, incoming, rows)
    plan = _schedule(samples, budget, len(changes), shortlist, rank)
    bench = Bench(
        mechanism,
        data,
        _at(at, claim),
        classifier,
        seed,
        n_jobs,
        progress or (lambda *_: None),
        memory,
    )
    return _select(bench, changes, rank, plan)


def _relations(relations: Any) -> tuple[str, ...]:
    words = (relations,) if isinstance(relations, str) else tuple(relations)
    if not words:
        fail("relations", relations, "at least one of " + ", ".join(map(repr, RELATIONS)))
    return tuple(check.choice("relations", word, RELATIONS) for word in words)


def _at(at: float | None, claim: Any) -> float:
    if at is not None:
        return check.real("at", at, 0.0, 500.0)
    claim = as_claim(claim)
    return 0.0 if claim is None or claim.epsilon is None else float(claim.epsilon)


def _schedule(samples: int, budget: float, pool_size: int, shortlist: int, rank: Rank) -> Schedule:
    samples, budget = check.integer("samples", samples, 1), check.real("budget", budget, 1.0)
    try:
        draws = int((budget - 1.0) * 2 * samples)
        return schedule(draws, pool_size, shortlist, samples, rank if isinstance(rank, str) else "")
    except ValueError as error:
        raise InvalidInput(
            f"budget must leave draws to search with, got {budget:g} x {2 * samples:,}: {error}"
        ) from None


def _select(bench: Bench, changes: Pool, rank: Rank, plan: Schedule) -> Selection:
    ranked = ranking(bench, changes, rank, plan.screened, plan.rungs[0][0])
    tried, made = halve(bench, ranked.tried, plan.rungs)
    name = rank if isinstance(rank, str) else getattr(rank, "__name__", "a user's score")
    return Selection(
        (*tried, *ranked.failed),
        len(changes),
        plan.screened,
        bench.epsilon,
        ranked.draws + made,
        f"rank {name}",
        plan.rungs,
    )
