"""The entry points `audit` and `audit_samples`: arguments in, a result out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core import check
from dpaudit._core.keywords import known_keywords
from dpaudit._core.source import source_of
from dpaudit._core.types import ArrayLike, Count, Mechanism, RngLike
from dpaudit.adapters import read_draws
from dpaudit.auditing.engine import audit_draws, audit_mechanism
from dpaudit.auditing.progress import ProgressLike, shown
from dpaudit.auditing.result import AuditResult
from dpaudit.auditing.settings import Drawing, Settings
from dpaudit.auditing.subject import Subject
from dpaudit.curves.claims import ClaimLike
from dpaudit.errors import InvalidInput
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import BlockStore, check_mechanism
from dpaudit.scoring import ClassifierLike


@known_keywords()
def audit(
    mechanism: Mechanism,
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
        (`outcomes`); any callable of that form. `dpaudit.adapters` makes one of other functions,
        estimators and programs.
    pair : NeighbourPair
        The two databases.
    epsilon : float or array of shape (m,), nats, optional
        Where δ(ε) is reported (default 0, 0.1, …, 4; for a claim that is a curve, as μ-GDP, up to
        where its δ is 1e-9). A claim's own ε is added.
    draws : int ≥ 20, default 1,000,000
        Draws a side, training, choosing and certifying together; 1e5 may stand for 100_000. Up to
        500 are spent as `auditing.fixed` says. Of more, those that certify are made after the
        score, counted as they come and not kept, so memory grows as √draws.
    claim : Claim, (ε, δ), MetricClaim or None
        What the mechanism is said to keep. `Claim.metric(...)` is resolved by the pair. Without a
        claim the exact spectrum, where there is one, is what is tested.
    level : float in (0, 1), default 0.95
        Joint confidence of the band over all ε and both directions.
    classifier : str, classifier or score, default "auto"
        Alias (`dpaudit list classifiers`), any scikit-learn classifier, or a score that is known, a
        callable or `scoring.KnownScore`, for which no draws are spent on training.
    rng : seed or Generator, optional
        Anything `numpy.random.default_rng` takes. Same rng and versions, same result, whatever
        `n_jobs`.
    n_jobs : int, optional
        Parallel draws, as in joblib: threads, or what `joblib.parallel_config` names ("loky"
        processes, "dask").
    progress : bool or callable, optional
        True for progress bars (`tqdm.auto`), False for none, None for bars in a notebook and none
        elsewhere; or a function, called as progress(step, done, wanted).
    detect : float, optional
        Excess in δ that the audit must show with probability 0.8 whatever the leak's shape, by a
        score as good as the true privacy loss; otherwise "inconclusive".
    train_share : float, optional
        Share of the draws that trains, by default 0.4; a smaller share of many draws, and for
        outputs of one or two numbers. With either share, few draws are spent as more are.
    choose_share : float, optional
        Share of the draws that chooses, by default 0.1; a smaller share of many draws. The rest
        certifies.
    bits : bool, default False
        Let the score read the bits of floats (grid, exponent, low bits), where careless samplers
        leak. The result then has no exact spectrum: known laws are those of real numbers.
    focus : {"spectrum", "pure"}, default "spectrum"
        What 1 − level is spent on: all ε, or "pure": nine tenths on ε at δ = 0, which few small
        sets decide; more draws then choose. The band holds as a whole in either case.
    store : BlockStore, optional
        Keeps blocks of draws so that an interrupted audit resumes to the same bytes.
    stop : "verdict", optional
        Draw in growing batches and stop once the claim (without one: the exact spectrum) is
        rejected, at the latest after `draws`; verdict and bound hold whenever that is. The shares
        are then not used (`dpaudit.auditing.bettor`).
    unit : {"draw", "call"}, default "draw"
        "draw", where the draws of a call are independent of each other, or "call", where they may
        share state: the mechanism is then called once for each draw, with size 1.

    Returns
    -------
    AuditResult

    Raises
    ------
    InvalidInput
        When an argument is not as described.
    DegenerateData
        When the data leave the exact spectrum undefined.
    MechanismError
        When the mechanism raises, returns what cannot be audited, or makes draws that show that
        they are not independent.
    TypeError
        For unknown keywords.

    Notes
    -----
    The certificate holds for draws that are independent of each other. Draws that are not are
    refused, as far as they show it (`dpaudit.auditing.independence`); independent ones are refused
    with probability 1e-6 at most. To show it, the draws come from 256 calls a side, or from one
    call each where they are fewer, and up to 256 further ones a side are made before "violated".

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)
    >>> def noisy_sum(data, size, *, rng):
    ...     return data.sum() + rng.laplace(scale=1.0, size=(size, 1))
    >>> dp.audit(noisy_sum, pair, draws=20_000, claim=(1.0, 0.0), rng=1).verdict
    'not violated'
    >>> found = dp.audit(noisy_sum, pair, draws=20_000, claim=(0.5, 0.0), rng=1)
    >>> print(found.headline.text)
    Claimed ε = 0.5 at δ = 0. At 95 % confidence at least 0.937 (row 2 zeroed).
    >>> round(float(found.certified.epsilon_at(0.0)), 2)
    0.94
    """
    return audit_subject(
        Subject(mechanism, pair),
        draws=draws,
        epsilon=epsilon,
        claim=claim,
        level=level,
        classifier=classifier,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
        detect=detect,
        train_share=train_share,
        choose_share=choose_share,
        bits=bits,
        focus=focus,
        store=store,
        stop=stop,
        unit=unit,
    )


def audit_subject(
    subject: Subject,
    *,
    draws: Count = 1_000_000,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
    store: BlockStore | None = None,
    **options: Any,
) -> AuditResult:
    """`audit` of a `Subject`, which may also name scenario, data and rule; `options` are the other
    keywords of `audit`.
    """
    check_pair(subject.pair)
    check_mechanism(subject.mechanism)
    settings = Settings.of(draws, **options)
    subject = replace(subject, source=subject.source or source_of(subject.mechanism))
    with shown(progress) as callback:
        return audit_mechanism(subject, settings, Drawing(n_jobs, callback, store))


def check_pair(pair: object) -> None:
    """Raise `InvalidInput` for what is no `NeighbourPair`; the error says how to make one."""
    if not isinstance(pair, NeighbourPair):
        raise InvalidInput(
            f"pair must be a dpaudit.NeighbourPair, got {_described(pair)}; make one with "
            "dpaudit.neighbours.zero_row(data, index), or let "
            "dpaudit.search_neighbours(mechanism, data, ...) find the worst one",
            argument="pair",
        )


def _described(value: object) -> str:
    """ "a 60 × 4 array", without its values."""
    kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
    shape = getattr(value, "shape", None)
    return f"a {' × '.join(map(str, shape))} {kind}" if isinstance(shape, tuple) else kind


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
    """Audit draws made elsewhere: independent ones, P from M(D) and Q from M(D'), in random order.

    Parameters
    ----------
    P : array of shape (n, k) or (n,), list or path
        Draws of M(D). NaN and infinities are outcomes like others; n lists, texts, dicts, ... may
        stand for the array (`outcomes`), and so may the path of a .npy, .csv or .parquet file
        (`adapters.read_draws`).
    Q : array of shape (n, k) or (n,), list or path
        Draws of M(D'), in the same form. If one of P and Q has more draws, the rest is left out,
        and the reason says so, unless the other has at most 500: few draws (`auditing.fixed`)
        all count. Tables of different width are lists of different length, which the reason says.
    epsilon : float or array of shape (m,), nats, optional
        As in `audit`.
    claim : Claim, (ε, δ), MetricClaim or None
        As in `audit`.
    level : float in (0, 1), default 0.95
        As in `audit`.
    classifier : str, classifier or score, default "auto"
        As in `audit`.
    rng : seed or Generator, optional
        As in `audit`.
    progress : bool or callable, optional
        As in `audit`.
    detect : float, optional
        As in `audit`.
    train_share : float, optional
        As in `audit`.
    choose_share : float, optional
        As in `audit`.
    bits : bool, default False
        As in `audit`.
    focus : {"spectrum", "pure"}, default "spectrum"
        As in `audit`.
    stop : "verdict", optional
        As in `audit`.

    Returns
    -------
    AuditResult

    Raises
    ------
    InvalidInput
        When an argument is not as described, or draws show that they are not independent.
    DataNotFound
        When there is no file at a path.
    TypeError
        For unknown keywords.

    Notes
    -----
    Independent means that no draw is made from another one or from the same random numbers, of P
    and Q together; random order, that a draw's place says nothing about it. Draws that show
    otherwise are refused. Scores of canaries that went into the data of ONE run, or draws of one
    fitted model, share that run: they are not independent, the bounds here do not hold for them,
    and no test of the values can see it. `dpaudit.audit_one_run` is for those.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(size=20_000), rng.normal(1.0, 1.0, size=20_000)
    >>> found = dp.audit_samples(P, Q, epsilon=[0.0, 1.0], rng=1)
    >>> print(found.spectrum.low.round(2), found.spectrum.delta.round(2))
    [0.36 0.11] [0.38 0.13]
    >>> print(dp.exact.gaussian_shift(1.0, [0.0, 1.0]).round(2))
    [0.38 0.13]
    """
    return audit_samples_of(
        P,
        Q,
        Subject(),
        epsilon=epsilon,
        claim=claim,
        level=level,
        classifier=classifier,
        rng=rng,
        progress=progress,
        detect=detect,
        train_share=train_share,
        choose_share=choose_share,
        bits=bits,
        focus=focus,
        stop=stop,
    )


def audit_samples_of(
    P: Any, Q: Any, subject: Subject, *, progress: ProgressLike = None, **options: Any
) -> AuditResult:
    """`audit_samples` of draws that `subject` describes; `options` are its keywords."""
    left, right = _draws("P", P), _draws("Q", Q)
    if _same_source(P, Q):
        check.fail(
            "Q", check.Words("those of P again"), "other draws than P", "nothing would be audited"
        )
    settings = Settings.of(min(len(left), len(right)), **options)
    with shown(progress) as callback:
        return audit_draws(left, right, subject, settings, Drawing(progress=callback))


def _same_source(P: Any, Q: Any) -> bool:
    """Whether both are one object, or one file."""
    files = isinstance(P, (str, Path)) and isinstance(Q, (str, Path))
    return Path(P).samefile(Q) if files else P is Q


def _draws(name: str, value: Any) -> np.ndarray:
    if isinstance(value, (str, Path)):
        return read_draws(value)
    try:
        return outcomes.joined([outcomes.rows(value)])
    except outcomes.NotOutcomes as error:
        expected = "a non-empty (n,) or (n, k) array of numbers or text, or n draws"
        check.fail(name, error.got, expected)
