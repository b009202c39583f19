"""The search for the worst change within a budget of draws, and the audit of that change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit import scoring
from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.frame import frame
from dpaudit._core.keywords import known_keywords, refuse_unknown
from dpaudit._core.note import Note
from dpaudit._core.seeds import Purpose, below, root
from dpaudit._core.types import Array, ArrayLike, Count, Mechanism, RngLike
from dpaudit._core.value import html_repr, value_class
from dpaudit.adapters.functions import as_mechanism
from dpaudit.auditing.api import audit, audit_subject
from dpaudit.auditing.clock import SearchPlan, planned
from dpaudit.auditing.progress import ProgressLike, shown
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import ClaimLike, MetricClaim, as_claim, refuse_unbreakable
from dpaudit.neighbours import NeighbourPair
from dpaudit.scoring import ClassifierLike
from dpaudit.search.changes import (
    INCOMING,
    MOST_REPLACEMENTS,
    NOT_PUBLIC,
    RELATIONS,
    RESIZING,
    incoming_rows,
    is_of_data,
    pool,
)
from dpaudit.search.halving import calls, halve, schedule
from dpaudit.search.quick_audit import DEFAULT
from dpaudit.search.ranking import RANKS, Rank, heaviest, ranking
from dpaudit.search.runner import FARTHEST, Checkpoint, Level, Runner
from dpaudit.search.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORTLIST, BUDGET = 48, 10.0
OUTLIER_KEY = 1 << 20  # a key below the search's seed that no rung has

NOTE = (
    "A search is an attack, not a proof. It compares the neighbours that it thought of, by what "
    "a quick score sees in few draws, at one ε and on these data: the mechanism may leak more "
    "about another row, on other data, at other ε, or in a way that such a score does not see. "
    "Its estimates, the largest of many, are too high; only the final audit, whose draws the "
    "search has not seen, certifies, and that for the chosen pair alone. Where nothing was found, "
    "nothing has been shown."
)
UNNAMED = Note(
    "No relations were named: this audit is about one row zeroed, and takes a row of zeros for "
    "nobody."
)


@value_class(show_numbers=True)
class SearchSettings:
    """The settings of a search, checked; `search_neighbours` explains them."""

    at: float | None = None
    relations: str | Sequence[str] = ("zero-out",)
    candidates: ArrayLike | None = None
    row_bound: float | None = None
    bounds: ArrayLike | str | None = None
    rank: Rank = "auto"
    shortlist: int = SHORTLIST
    budget: float = BUDGET
    quick: ClassifierLike = DEFAULT
    draws: int = 100_000
    claim: ClaimLike = None

    def __post_init__(self) -> None:
        if not self.kinds:
            expected = "at least one of " + ", ".join(map(repr, RELATIONS))
            fail("relations", self.relations, expected)
        for kind in self.kinds:
            check.choice("relations", kind, RELATIONS)
        if not callable(self.rank):
            check.choice("rank", self.rank, RANKS)
        check.integer("shortlist", self.shortlist, 1)
        object.__setattr__(self, "draws", check.count("draws", self.draws, 1))
        check.real("budget", self.budget, 1.0)
        if isinstance(self.claim, MetricClaim):
            if resized := [kind for kind in self.kinds if kind in RESIZING]:
                expected = '"zero-out" or "replace" for a claim by distance, which takes two rows'
                fail("relations", resized, expected)
            return
        claim = as_claim(self.claim)
        if claim is not None and claim.epsilon is not None:
            refuse_unbreakable(claim, np.array([claim.epsilon]))

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.relations,) if isinstance(self.relations, str) else tuple(self.relations)

    def level(self, data: Array) -> Level:
        if self.at is not None:
            return Level(data, check.real("at", self.at, 0.0, FARTHEST))
        if isinstance(self.claim, MetricClaim):
            return Level(data, 0.0, self.claim)
        claim = as_claim(self.claim)
        own = 0.0 if claim is None or claim.epsilon is None else float(claim.epsilon)
        return Level(data, own)


@value_class
class SearchResult:
    """What a search found.

    Attributes
    ----------
    selection : Selection
        The neighbours that were tried, and their estimates.
    pair : NeighbourPair
        The database and the chosen neighbour.
    audit : AuditResult
        The audit of the pair, from draws that the search has not seen.
    note : str
        What the search does not show.
    """

    selection: Selection
    pair: NeighbourPair
    audit: AuditResult
    note: str = NOTE

    def _repr_html_(self) -> str:
        return html_repr(self) + self.audit._repr_html_()

    def __repr__(self) -> str:
        outcome = f"{self.audit.verdict}: {self.audit.headline.text}"
        return f"SearchResult({self.pair!r}\n  {outcome}\n  {self.selection.comparison})"

    @property
    def relation(self) -> str:
        """The relation of the pair: "zero-out", "remove", "replace" or "add"."""
        return self.pair.relation

    @property
    def index(self) -> int:
        """The number of the row that differs; an added row is the last of D', number n."""
        assert self.pair.index is not None
        return self.pair.index

    @property
    def draws(self) -> int:
        """Number of draws of search and audit together, on both sides."""
        return self.selection.draws + 2 * self.audit.sizes.total

    def table(self, most: int | None = 20) -> str:
        """The trials as lines of text, `most` of them, or all (None)."""
        return self.selection.table(most)

    def to_frame(self) -> Any:
        """The trials as a pandas DataFrame with the columns of search.csv, the worst first.
        `row_put_in` names the origin of a row, without a value of the data. Raises ImportError
        without pandas.
        """
        return frame(self.selection.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the δ estimates of the trials, the worst first, on `ax` or on a new figure of
        pyplot.
        """
        return self.selection.plot(ax)


@known_keywords(audit)
def search_neighbours(
    mechanism: Mechanism | Callable[..., Any],
    data: ArrayLike,
    *,
    at: float | None = None,
    relations: str | Sequence[str] | None = None,
    candidates: ArrayLike | None = None,
    row_bound: float | None = None,
    bounds: ArrayLike | str | None = None,
    rank: Rank = "auto",
    shortlist: int = SHORTLIST,
    budget: float = BUDGET,
    quick: ClassifierLike = DEFAULT,
    draws: Count = 100_000,
    claim: ClaimLike = None,
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
    seconds: float | None = None,
    **settings: Any,
) -> SearchResult:
    """Search for the neighbour on which a mechanism leaks most, without theory, and audit it.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng) -> (size, k)`, or a function of one output, as in `dpaudit.audit`.
    data : array of shape (n, d)
        The database, with the label last if it has one; `rank` also works without a label.
    at : float ≥ 0, nats, optional
        The ε at which neighbours are compared; by default that of an (ε, δ) claim, else 0. Under a
        claim by distance (`Claim.metric`) each neighbour is compared at the ε of its own pair.
    relations : str or sequence of str, optional
        Any of "zero-out" (a row set to zero), "remove" (a row left out), "replace" (a row replaced
        by another one) and "add" (one row more). By default "zero-out"; the verdict on a claim then
        begins with a note that says so.
    candidates : array of shape (m, d), optional
        Rows that may come in ("replace", "add").
    row_bound : float, optional
        A PUBLIC bound, inside which extreme rows may come in too: the largest Euclidean norm of a
        row. It must not be computed from the data.
    bounds : array of shape (d, 2) or "data", optional
        A PUBLIC bound for the same purpose: the least and the largest value of each column. "data"
        takes these values from the data instead, and the verdict begins with a note that says so.
    rank : {"auto", "linear", "influence", "random"} or callable, default "auto"
        Which neighbours are tried first. "linear": leverage × residual and other measures of least
        squares, in turn. "influence": how far a few draws with common random numbers move with the
        row, for the first 4,096 changes by least squares, or as many as 15 % of the draws allow.
        "auto": both in turn, the influence for the first 512. "random": in random order. Or a
        function score(data, out, into) → (m,), of rows that leave and come in, (m, d) each, zeros
        where none does; the largest is tried first.
    shortlist : int
        The number of neighbours that get a quick audit.
    budget : float
        The draws of search and final audit together, in units of the final audit's 2·draws.
    quick : str, classifier or score
        Classifier of the quick audits, "quadratic" or what `dpaudit.audit` takes.
    draws : int, default 100,000
        Draws a side of the final audit, as in `dpaudit.audit`.
    claim, rng, n_jobs, progress : optional
        What `dpaudit.audit` takes. The same rng gives the same result whatever `n_jobs`.
    seconds : float, optional
        The time that search and audit may take together, as in `dpaudit.audit`. Where it is short
        the search gets less than `budget`, and at worst takes the first neighbour by its rank.
    **settings
        Further settings of the final audit, as in `dpaudit.audit`.

    Returns
    -------
    SearchResult
        The final audit is `dpaudit.audit(mechanism, result.pair, rng=rng, ...)`.

    Raises
    ------
    DegenerateData
        When least squares or the mechanism are undefined on the data.
    MechanismError
        When the mechanism fails on the chosen pair, or on every neighbour that is tried.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> data = np.column_stack([np.ones(40), np.linspace(-1.0, 1.0, 40), np.linspace(0.0, 1.0, 40)])
    >>> data[7, 1:] = 8.0, -5.0  # an outlier
    >>> def release(data, size, *, rng):
    ...     solution = np.linalg.lstsq(data[:, :-1], data[:, -1], rcond=None)[0]
    ...     return solution + 0.1 * rng.normal(size=(size, 2))
    >>> found = dp.search_neighbours(release, data, claim=(1.0, 0.01), draws=2_000, rng=1)
    >>> found.pair.index, found.audit.verdict
    (7, 'violated')
    """
    both: dict[str, Any] = {"draws": draws, "claim": claim, "rng": root(rng)}
    size: dict[str, Any] = {"shortlist": shortlist, "budget": budget, "rank": rank}
    mechanism, database = as_mechanism(mechanism), check.matrix("data", data)
    unnamed = (UNNAMED,) if relations is None and claim is not None else ()
    relations = SearchSettings.relations if relations is None else relations
    plan = search_plan(len(database), SearchSettings(**size, relations=relations))
    final = Settings.of(**both, **{name: settings[name] for name in settings if name != "store"})
    with shown(progress) as callback:
        look = getattr(callback, "look", None)
        final, changes = planned(mechanism, database, final, seconds, look, plan)
        both |= {"draws": final.draws, "n_jobs": n_jobs, "progress": callback}
        selection = select(
            mechanism,
            database,
            at=at,
            relations=relations,
            candidates=candidates,
            row_bound=row_bound,
            bounds=bounds,
            quick=quick,
            **{**size, **changes},
            **both,
        )
        pair = selection.best.change.pair(database)
        public = (NOT_PUBLIC,) if is_of_data(bounds) else ()
        notes = (*unnamed, *public, *selection.notes)
        record = selection.to_dict()
        subject = Subject(mechanism, pair, rule=selection.rule, search=record, notes=notes)
        return SearchResult(selection, pair, audit_subject(subject, **both, **settings))


def search_plan(rows: int, search: Any) -> SearchPlan:
    """What a search of a database of so many rows will make. search : an object with budget,
    shortlist, rank and relations.
    """
    kinds = np.atleast_1d(search.relations)
    changes = MOST_REPLACEMENTS if np.isin(kinds, INCOMING).any() else rows * len(kinds)
    return SearchPlan(search.budget, search.shortlist, search.rank, partial(calls, changes))


def select(
    mechanism: Mechanism | Callable[..., Any],
    data: ArrayLike,
    *,
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
    checkpoint: Checkpoint | None = None,
    **search: Any,
) -> Selection:
    """Do the search of `search_neighbours`, without the final audit, whose 2·draws `budget`
    includes. search : fields of `SearchSettings`. checkpoint : an interrupted search continues
    where it was.
    """
    __tracebackhide__ = True
    refuse_unknown("search_neighbours", search, [field.name for field in fields(SearchSettings)])
    settings = SearchSettings(**search)
    mechanism = as_mechanism(mechanism)
    database, classifier = check.matrix("data", data), settings.quick
    if classifier != DEFAULT:
        classifier = scoring.as_classifier(classifier)
    seed, kinds = below(root(rng), int(Purpose.SEARCH)), settings.kinds
    sources = settings.candidates, settings.row_bound, settings.bounds
    incoming = incoming_rows(database, kinds, *sources, below(seed, OUTLIER_KEY))
    # the order of the rows matters to replacements only
    order = heaviest(database) if "replace" in kinds else np.arange(len(database))
    changes, level = pool(database, kinds, incoming, order), settings.level(database)
    rank = settings.rank if isinstance(settings.rank, str) else ""
    screened, rungs = schedule(
        settings.budget, settings.draws, len(changes), settings.shortlist, rank
    )
    own_name = getattr(settings.rank, "__name__", "a user's score")
    with shown(progress) as callback:
        runner = Runner(mechanism, database, level, classifier, seed, n_jobs, callback, checkpoint)
        shortlist, failed, ranked = ranking(runner, changes, settings.rank, screened, rungs[0][0])
        tried, drawn = halve(runner, shortlist, rungs)
    return Selection(
        tried=(*tried, *failed),
        pool=len(changes),
        ranked=screened,
        epsilon=level.of(tried[0].change.pair(database).right),
        level=level.text,
        draws=ranked + drawn,
        rank=f"rank {rank or own_name}",
        rungs=rungs[: max(trial.rung for trial in tried)],
    )
