"""The entry points `audit` and `audit_samples`, which check arguments and return a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.types import ArrayLike, Count, Mechanism, RngLike
from dpaudit.adapters import read_draws
from dpaudit.adapters.draw_files import columns_of
from dpaudit.adapters.functions import as_mechanism, source_of
from dpaudit.auditing.clock import planned
from dpaudit.auditing.engine import audit_draws, audit_mechanism
from dpaudit.auditing.progress import ProgressLike, shown
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import ClaimLike
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import BlockStore
from dpaudit.scoring import ClassifierLike


@known_keywords()
def audit(
    mechanism: Mechanism | Callable[..., Any],
    pair: NeighbourPair,
    *,
    epsilon: ArrayLike | None = None,
    draws: Count = 1_000_000,
    claim: ClaimLike = None,
    level: float = 0.95,
    classifier: ClassifierLike = "auto",
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
    seconds: float | None = None,
    detect: float | None = None,
    train_share: float | None = None,
    choose_share: float | None = None,
    bits: bool = False,
    focus: str = "spectrum",
    store: BlockStore | None = None,
    stop: str | None = None,
    unit: str = "draw",
) -> AuditResult:
    """Audit a mechanism on a pair of neighbouring databases.

    Parameters
    ----------
    mechanism : callable
        `mech(data, size, *, rng) -> (size, k)` float array, or `size` outputs of any type
        (`outcomes`); or a function `f(data, rng)`, `f(data, *, rng)` or `f(data)` that gives one
        output. Further parameters are fixed by `functools.partial`. `dpaudit.adapters` turns
        functions of a data frame, estimators and programs into such a callable.
    pair : NeighbourPair
        The two databases.
    epsilon : float or array of shape (m,), nats, optional
        The grid on which δ(ε) is reported (default 0, 0.1, …, 4; for a claim that is a curve, such
        as μ-GDP, up to the ε where its δ is 1e-9). The ε of an (ε, δ) claim is added.
    draws : int ≥ 20, default 1,000,000
        Draws from each database, for training, choosing and certifying together; 1e5 may stand for
        100_000. `auditing.fixed` says how up to 500 are spent. With more, the certifying draws are
        made after the score, counted as they come and not kept, so memory grows as √draws.
    claim : Claim, (ε, δ), MetricClaim or None
        The guarantee that the mechanism claims. `Claim.metric(...)` takes its ε from the distance
        of the pair's records. Without a claim the audit tests the exact spectrum, if it is known.
    level : float in (0, 1), default 0.95
        Joint confidence of the band over all ε and both directions.
    classifier : str, classifier or score, default "auto"
        An alias (`dpaudit list classifiers`), any scikit-learn classifier, or a score that is known
        (a callable or `scoring.KnownScore`), for which no draws are spent on training.
    rng : seed or Generator, optional
        Anything `numpy.random.default_rng` takes. The same rng and versions give the same result,
        whatever `n_jobs` is.
    n_jobs : int, optional
        Number of workers that draw, as in joblib: threads, or the backend that
        `joblib.parallel_config` names ("loky" processes, "dask").
    progress : bool or callable, optional
        True for progress bars (`tqdm.auto`), False for none, None for bars in a notebook and none
        elsewhere; or a function, called as progress(step, done, wanted). Bars come after a line on
        what the audit will cost and can show, by the time of a few calls.
    seconds : float, optional
        The time that the audit may take: it makes as many draws as fit into it by the time of a
        few calls, `draws` at most, and other draws on another machine. It is a plan: an audit that
        takes longer is not stopped.
    detect : float, optional
        An excess over the claimed δ. Where an audit with a score as good as the true privacy loss
        would miss it with probability above 0.2, for a leak of any shape, "not violated" becomes
        "inconclusive".
    train_share : float, optional
        Share of the draws that train the score. The default is 0.4, and less for many draws and
        for outputs of one or two numbers. If this or `choose_share` is passed, up to 500 draws are
        spent by the same plan as more.
    choose_share : float, optional
        Share of the draws that choose the sets. The default is 0.1, and less for many draws. The
        rest certify.
    bits : bool, default False
        Let the score read the bits of floats (grid, exponent, low bits), where careless samplers
        leak. The result then has no exact spectrum: known laws are those of real numbers.
    focus : {"spectrum", "pure"}, default "spectrum"
        What the error probability 1 − level is spent on: all ε ("spectrum"), or nine tenths of it
        on ε at δ = 0 ("pure"), which few small sets decide; more draws then choose. The band holds
        as a whole in either case.
    store : BlockStore, optional
        Keeps blocks of draws so that an interrupted audit resumes to the same bytes.
    stop : "verdict", optional
        Draw in growing batches and stop once the claim (without one: the exact spectrum) is
        rejected, at the latest after `draws`; verdict and bounds hold at any stopping time. The
        two shares are then not used (`dpaudit.auditing.bettor`).
    unit : {"draw", "call"}, default "draw"
        "draw" if the draws of one call are independent of each other, "call" if they may share
        state: the mechanism is then called once for each draw, with size 1.

    Returns
    -------
    AuditResult

    Raises
    ------
    DegenerateData
        When the data leave the exact spectrum undefined.
    MechanismError
        When the mechanism raises, returns outputs that cannot be audited, or makes draws that show
        that they are not independent.

    Notes
    -----
    The certificate holds for draws that are independent of each other. Tests refuse draws that
    show dependence (`dpaudit.auditing.independence`), and refuse independent draws with
    probability 1e-6 at most. So that dependence can show, the draws come from 256 calls a side
    (one call for each draw if there are fewer draws), and up to 256 further draws a side are made
    before an audit says "violated".

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)
    >>> def noisy_sum(data, size, *, rng):
    ...     return data.sum() + rng.laplace(scale=1.0, size=(size, 1))
    >>> dp.audit(noisy_sum, pair, draws=20_000, claim=(1.0, 0.0), rng=1).verdict
    'not violated'
    >>> refuted = dp.audit(noisy_sum, pair, draws=20_000, claim=(0.5, 0.0), rng=1)
    >>> print(refuted.headline.text)
    Claimed ε = 0.5 at δ = 0. At 95 % confidence at least 0.937 (row 2 zeroed).
    >>> round(float(refuted.certified.epsilon_at(0.0)), 2)
    0.94
    """
    options = locals()  # all arguments by name
    return audit_subject(Subject(options.pop("mechanism"), options.pop("pair")), **options)


def audit_subject(
    subject: Subject,
    *,
    draws: Count = 1_000_000,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
    seconds: float | None = None,
    store: BlockStore | None = None,
    **options: Any,
) -> AuditResult:
    """Do what `audit` does, for a `Subject`. `options` are the other keywords of `audit`."""
    check_pair(subject.pair)
    mechanism = as_mechanism(subject.mechanism)
    settings = Settings.of(draws, **options)
    source = subject.source or source_of(mechanism)
    subject = replace(subject, mechanism=mechanism, source=source)
    assert subject.pair is not None
    with shown(progress) as callback:
        if subject.search is None:  # a search has said and planned it for both
            look = getattr(callback, "look", None)
            settings, _ = planned(mechanism, subject.pair.left, settings, seconds, look)
        return audit_mechanism(subject, settings, Drawing(n_jobs, callback, store))


def check_pair(pair: object) -> None:
    """Raise `InvalidInput` for anything but a `NeighbourPair`; the error says how to make one."""
    if not isinstance(pair, NeighbourPair):
        check.fail(
            "pair",
            pair,
            "a dpaudit.NeighbourPair",
            "make one with dpaudit.neighbours.zero_row(data, index), or let "
            "dpaudit.search_neighbours(mechanism, data, ...) find the worst one",
        )


@known_keywords()
def audit_samples(
    P: Any,
    Q: Any,
    *,
    epsilon: ArrayLike | None = None,
    claim: ClaimLike = None,
    level: float = 0.95,
    classifier: ClassifierLike = "auto",
    rng: RngLike = None,
    progress: ProgressLike = None,
    detect: float | None = None,
    train_share: float | None = None,
    choose_share: float | None = None,
    bits: bool = False,
    focus: str = "spectrum",
    stop: str | None = None,
) -> AuditResult:
    """Audit independent draws made elsewhere, P from M(D) and Q from M(D'), in random order.

    Parameters
    ----------
    P : array of shape (n, k) or (n,), list or path
        Draws of M(D). NaN and infinities are outcomes like others; n lists, texts, dicts, ... may
        stand for the array (`outcomes`), and so may the path of a .npy, .csv or .parquet file
        (`adapters.read_draws`).
    Q : array of shape (n, k) or (n,), list or path
        Draws of M(D'), in the same form. If one of P and Q has more draws, its surplus is left out,
        and the reason says so, unless the other has at most 500: then all draws are used
        (`auditing.fixed`). If the two tables differ in width, their rows are read as lists of
        different lengths, and the reason says so.
    epsilon, claim, level, classifier, rng, progress : optional
        As in `audit`.
    detect, train_share, choose_share, bits, focus, stop : optional
        As in `audit`.

    Returns
    -------
    AuditResult

    Raises
    ------
    InvalidInput
        When an argument is wrong, or the draws show that they are not independent.
    DataNotFound
        When there is no file at a path.

    Notes
    -----
    Independent means that no draw of P or Q is made from another draw or from its random numbers.
    Random order means that a draw's place says nothing about its value. Draws that show otherwise
    are refused. Scores of canaries that went into the data of ONE run, or draws of one fitted
    model, share that run: they are not independent, the bounds here do not hold for them, and no
    test of the values can detect this. `dpaudit.audit_one_run` audits such scores.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(size=20_000), rng.normal(1.0, 1.0, size=20_000)
    >>> result = dp.audit_samples(P, Q, epsilon=[0.0, 1.0], rng=1)
    >>> print(result.spectrum.low.round(2), result.spectrum.delta.round(2))
    [0.36 0.11] [0.38 0.13]
    >>> print(dp.exact.gaussian_shift(1.0, [0.0, 1.0]).round(2))
    [0.38 0.13]
    """
    options = locals()  # all arguments by name
    return audit_samples_of(options.pop("P"), options.pop("Q"), Subject(), **options)


def audit_samples_of(
    P: Any, Q: Any, subject: Subject, *, progress: ProgressLike = None, **options: Any
) -> AuditResult:
    """Do what `audit_samples` does, for draws that `subject` describes."""
    left, right = _draws("P", P), _draws("Q", Q)
    paths = isinstance(P, (str, Path)) and isinstance(Q, (str, Path))
    same = Path(P).samefile(Q) if paths else P is Q
    if same:
        check.fail(
            "Q", check.Words("those of P again"), "other draws than P", "nothing would be audited"
        )
    if paths and left.dtype.kind == right.dtype.kind == "f":
        ours, theirs = columns_of(P), columns_of(Q)
        if ours != theirs and sorted(ours) == sorted(theirs):
            got = check.Words("the same columns in another order")
            check.fail("Q", got, "the columns of P in their order")
    settings = Settings.of(min(len(left), len(right)), **options)
    with shown(progress) as callback:
        return audit_draws(left, right, subject, settings, Drawing(progress=callback))


def _draws(name: str, value: Any) -> np.ndarray:
    if isinstance(value, (str, Path)):
        return read_draws(value)
    try:
        return outcomes.joined([outcomes.rows(value)])
    except outcomes.NotOutcomes as error:
        expected = "a non-empty (n,) or (n, k) array of numbers or text, or n draws"
        check.fail(name, error.got, expected, error.cure)
