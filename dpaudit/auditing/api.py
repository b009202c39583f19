"""The entry points `audit` and `audit_samples`: arguments in, a result out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import outcomes
from dpaudit._core import check
from dpaudit._core.types import ArrayLike, Mechanism, RngLike
from dpaudit.adapters import read_draws
from dpaudit.auditing.engine import audit_draws, audit_mechanism
from dpaudit.auditing.result import AuditResult, Subject
from dpaudit.auditing.settings import Drawing, Settings, silent
from dpaudit.curves.claims import ClaimLike
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import BlockStore, Progress
from dpaudit.scoring import ClassifierLike


def audit(
    mechanism: Mechanism,
    pair: NeighbourPair,
    *,
    epsilon: ArrayLike | None = None,
    samples: int = 1_000_000,
    claim: ClaimLike = None,
    level: float = 0.95,
    classifier: ClassifierLike = "auto",
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
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
    mechanism : `mech(data, size, *, rng) -> (size, k)` float array, or `size` outputs of any type
        (`outcomes`); any callable of that form. `dpaudit.adapters` makes one of other functions,
        estimators and programs.
    pair : the two databases.
    epsilon : scalar or (m,), nats; where δ(ε) is reported (default 0, 0.1, …, 4). A claim's own ε
        is added.
    samples : draws a side, training, choosing and certifying together. Those that certify are made
        after the score, counted as they come and not kept, so memory grows as √samples.
    claim : `Claim`, (ε, δ) pair or None (then the exact spectrum, where there is one, is what is
        tested).
    level : joint confidence of the band over all ε and both directions.
    classifier : alias (`dpaudit list classifiers`), any scikit-learn classifier, or a score that is
        known, a function or `scoring.KnownScore`, for which no draws are spent on training.
    rng : anything `numpy.random.default_rng` takes. Same rng and versions, same result, whatever
        `n_jobs`.
    n_jobs : parallel draws, as in joblib: threads, or what `joblib.parallel_config` names ("loky"
        processes, "dask").
    progress : called as progress(step, done, wanted).
    detect : excess in δ that the audit must have been able to show; otherwise "inconclusive".
    train_share, choose_share : shares of the draws, the rest certifies; by default 0.4 and 0.1,
        smaller shares of many draws, and to train for outputs of one or two numbers.
    bits : let the score read the bits of floats (grid, exponent, low bits), where careless samplers
        leak.
    focus : what 1 − level is spent on, "spectrum" (all ε) or "pure": nine tenths on ε at δ = 0,
        which few small sets decide; more draws then choose. The band holds as a whole in either
        case.
    store : keeps blocks of draws so that an interrupted audit resumes to the same bytes.
    stop : "verdict" draws in growing batches and stops once the claim (without one: the exact
        spectrum) is rejected, at the latest after `samples`; verdict and bound hold whenever that
        is. The shares are then not used (`dpaudit.auditing.sequential`). Before "violated" come 256
        further draws a side, which only show whether draws are independent.
    unit : "draw", where the draws of a call are independent of each other, or "call", where they
        may share state: the mechanism is then called once for each draw, with size 1.

    Returns
    -------
    AuditResult

    The certificate holds for draws that are independent of each other. Draws that are not are
    refused, as far as they show it (`dpaudit.auditing.independence`); independent ones are refused
    with probability 1e-6 at most.

    Raises `InvalidInput`, `DegenerateData`, `MechanismError`.

    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)
    >>> def noisy_sum(data, size, *, rng):
    ...     return data.sum() + rng.laplace(scale=1.0, size=(size, 1))
    >>> dp.audit(noisy_sum, pair, samples=20_000, claim=(1.0, 0.0), rng=1).verdict
    'not violated'
    >>> found = dp.audit(noisy_sum, pair, samples=20_000, claim=(0.5, 0.0), rng=1)
    >>> print(found.reason)
    At 95% confidence δ(0.5) is at least 0.199, above the 0 that the claim of (0.5, 0)-DP allows.
    >>> round(float(found.certified.epsilon_at(0.0)), 2)
    0.94
    """
    return audit_subject(
        Subject(mechanism, pair),
        samples=samples,
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
    samples: int = 1_000_000,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
    **options: Any,
) -> AuditResult:
    """`audit` of a `Subject`, which may also name scenario, data and rule; `options` are the other
    keywords of `audit`.
    """
    if not isinstance(subject.pair, NeighbourPair):
        check.fail("pair", type(subject.pair).__name__, "a dpaudit.NeighbourPair")
    if isinstance(subject.mechanism, type) or not callable(subject.mechanism):
        check.fail("mechanism", subject.mechanism, "a callable mechanism(data, size, *, rng)")
    drawing = Drawing(n_jobs, progress or silent, store)
    return audit_mechanism(subject, Settings.of(samples, **options), drawing)


def audit_samples(
    P: Any,
    Q: Any,
    *,
    epsilon: ArrayLike | None = None,
    claim: ClaimLike = None,
    level: float = 0.95,
    classifier: ClassifierLike = "auto",
    rng: RngLike = None,
    progress: Progress | None = None,
    detect: float | None = None,
    train_share: float | None = None,
    choose_share: float | None = None,
    bits: bool = False,
    focus: str = "spectrum",
    stop: str | None = None,
) -> AuditResult:
    """Audit draws made elsewhere: independent ones, P from M(D) and Q from M(D'), in random order.

    P, Q : (n, k) or (n,) each. Independent means that no draw is made from another one or from the
    same random numbers, of P and Q together; random order, that a draw's place says nothing about
    it. Draws that show otherwise are refused.

    NaN and infinities are outcomes like others; n lists, texts, dicts, ... may stand for the array
    (`outcomes`), and the path of a .npy, .csv or .parquet file for either (`adapters.read_draws`).
    If one has more draws, the rest is left out. Other parameters as in `audit`. Raises
    `InvalidInput`, `DataNotFound`.

    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(size=20_000), rng.normal(1.0, 1.0, size=20_000)
    >>> found = dp.audit_samples(P, Q, epsilon=[0.0, 1.0], rng=1)
    >>> print(found.spectrum.low.round(2), found.spectrum.delta.round(2))
    [0.36 0.11] [0.37 0.13]
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
    P: Any, Q: Any, subject: Subject, *, progress: Progress | None = None, **options: Any
) -> AuditResult:
    """`audit_samples` of draws that `subject` describes; `options` are its keywords."""
    P, Q = _draws("P", P), _draws("Q", Q)
    settings = Settings.of(min(len(P), len(Q)), **options)
    return audit_draws(P, Q, subject, settings, Drawing(progress=progress or silent))


def _draws(name: str, value: Any) -> np.ndarray:
    if isinstance(value, (str, Path)):
        return read_draws(value)
    try:
        return outcomes.joined([outcomes.rows(value)])
    except outcomes.NotOutcomes as error:
        expected = "a non-empty (n,) or (n, k) array of numbers or text, or n draws"
        check.fail(name, error.got, expected)
