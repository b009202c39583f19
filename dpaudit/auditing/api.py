"""The audit itself: exact spectrum, draws, score, band, verdict, in that order."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import exact, outcomes, scoring
from dpaudit._core import check
from dpaudit._core.check import Array
from dpaudit._core.seeds import root
from dpaudit.adapters import read_draws
from dpaudit.auditing import sequential
from dpaudit.auditing.verdict import Verdict, verdict
from dpaudit.certify.band import Certificate
from dpaudit.certify.counting import Counted, refuse_nan
from dpaudit.certify.estimate import Counter, Estimate, certify
from dpaudit.certify.sets import FOCUS, Tails
from dpaudit.certify.split import SMALLEST, Split, split
from dpaudit.curves.claims import Claim, as_claim
from dpaudit.curves.spectrum import Spectrum
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.neighbours import NeighbourPair
from dpaudit.sampling import BlockStore, Draws, Given, Progress, Stream, randomness
from dpaudit.scoring import Fitted, Sides

DEFAULT_EPSILON = np.linspace(0.0, 4.0, 41)
# share of the draws that choose where ε at δ = 0 is what matters, whose sets are small; more
# without any that train
PURE_CHOOSE, PURE_CHOOSE_KNOWN = 0.1, 0.2
LARGEST_EPSILON = 500.0


@dataclass(frozen=True, eq=False)
class About:
    """What was audited; `source` and `rule` are a scenario's words for its data and its choice of
    neighbour.
    """

    mechanism: Any = None
    pair: NeighbourPair | None = None
    scenario: str | None = None
    dataset: dict[str, Any] | None = None
    rule: str | None = None


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What an audit found.

    spectrum : Spectrum with delta (point estimate), low (certified), forward and backward point
        estimates.
    exact : Spectrum or None. claim : Claim or None.
    verdict : "violated", "not violated" or "inconclusive"; reason : one sentence for people.
    detectable : smallest excess that the audit would have certified, {"epsilon", "excess",
        "power"}, or None.
    estimate : both directions by themselves, point estimates and certified.
    plan, fitted, about, timings, peak_memory_mb : how it was found.
    sequential : how the e-value went in an audit with stop="verdict", else None.
    """

    spectrum: Spectrum
    exact: Spectrum | None
    claim: Claim | None
    verdict: str
    reason: str
    detectable: dict[str, float] | None
    estimate: Estimate
    plan: Plan
    fitted: Fitted
    about: About
    timings: dict[str, float]
    peak_memory_mb: float
    sequential: sequential.Sequential | None = None

    @property
    def certified(self) -> Certificate:
        """The certified band at any ε, and as ε at a given δ, trade-off curve and Gaussian μ."""
        return self.estimate.certified

    def to_dict(self) -> dict[str, Any]:
        """The content of result.json: JSON types only, no NaN, infinity as the string "inf"."""
        from dpaudit.auditing.record import to_dict

        return to_dict(self)

    def save(self, folder: str | Path) -> Path:
        """Write result.json, report.html and spectrum.png into `folder` (made if need be); returns
        it.
        """
        from dpaudit.auditing.record import save

        return save(self.to_dict(), Path(folder))


def audit(
    mechanism: Any,
    pair: NeighbourPair,
    *,
    epsilon: Any = None,
    samples: int = 1_000_000,
    claim: Any = None,
    level: float = 0.95,
    classifier: Any = "auto",
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    detect: float | None = None,
    train_share: float | None = None,
    choose_share: float | None = None,
    bits: bool = False,
    focus: str = "spectrum",
    store: BlockStore | None = None,
    stop: str | None = None,
) -> AuditResult:
    """Audit a mechanism on a pair of neighbouring databases.

    Parameters
    ----------
    mechanism : `mech(data, size, *, rng) -> (size, k)` float array, or `size` outputs of any build
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
        less of many draws and for outputs of one or two numbers.
    bits : let the score read the bits of floats (grid, exponent, low bits), where careless samplers
        leak.
    focus : what 1 − level is spent on, "spectrum" (all ε) or "pure": nine tenths on ε at δ = 0,
        which few small sets decide; more draws then choose. The band holds as a whole in either
        case.
    store : keeps blocks of draws so that an interrupted audit resumes to the same bytes.
    stop : "verdict" draws in growing waves and stops once the claim (without one: the exact
        spectrum) is rejected, at the latest after `samples`; verdict and bound hold whenever that
        is. The shares are then not used (`waves`).

    Returns
    -------
    AuditResult

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
    clock = _Clock()
    if not isinstance(pair, NeighbourPair):
        check.fail("pair", type(pair).__name__, "a dpaudit.NeighbourPair")
    if isinstance(mechanism, type) or not callable(mechanism):
        check.fail("mechanism", mechanism, "a callable mechanism(data, size, *, rng)")
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0
    ):
        check.fail("n_jobs", n_jobs, "None or a whole number other than 0")
    plan = _plan(
        epsilon,
        samples,
        claim,
        level,
        classifier,
        rng,
        progress,
        detect,
        (train_share, choose_share),
        bits,
        focus,
    )
    theory = _theory(mechanism, pair, plan.epsilon)
    if _stops(stop):
        source = sequential.of_mechanism(mechanism, pair, plan.seed, n_jobs, store)
        return _in_waves(plan, theory, source, clock, About(mechanism, pair))
    with clock.step("sample_s"):
        sources = [
            Stream(
                mechanism,
                side,
                samples,
                plan.seed,
                number,
                n_jobs=n_jobs,
                progress=progress,
                store=store,
            )
            for number, side in enumerate((pair.left, pair.right))
        ]
    return _judge(plan, sources, theory, clock, About(mechanism, pair))


def audit_samples(
    P: Any,
    Q: Any,
    *,
    epsilon: Any = None,
    claim: Any = None,
    level: float = 0.95,
    classifier: Any = "auto",
    rng: Any = None,
    progress: Progress | None = None,
    detect: float | None = None,
    train_share: float | None = None,
    choose_share: float | None = None,
    bits: bool = False,
    focus: str = "spectrum",
    stop: str | None = None,
) -> AuditResult:
    """Audit draws made elsewhere: P from M(D) and Q from M(D'), (n, k) or (n,) each, in random
    order.

    NaN and infinities are outcomes like others; n lists, texts, dicts, ... may stand for the array
    (`outcomes`), and the path of a .npy, .csv or .parquet file for either (`adapters.read_draws`).
    If one has more draws, the rest is left out. Other parameters as in `audit`. Raises
    `InvalidInput`, `DataNotFound`.

    >>> import numpy as np
    >>> import dpaudit as dp
    >>> rng = np.random.default_rng(0)
    >>> found = dp.audit_samples(rng.normal(size=20_000), rng.normal(1.0, 1.0, size=20_000), epsilon=[0.0, 1.0], rng=1)
    >>> print(found.spectrum.low.round(2), found.spectrum.delta.round(2))
    [0.36 0.11] [0.37 0.13]
    >>> print(dp.exact.gaussian_shift(1.0, [0.0, 1.0]).round(2))
    [0.38 0.13]
    """
    clock = _Clock()
    P, Q = _draws("P", P), _draws("Q", Q)
    if not any(map(outcomes.are_lists, (P, Q))) and P.shape[1] != Q.shape[1]:
        check.fail("Q", f"{Q.shape[1]} columns", f"as many columns as P, {P.shape[1]}")
    samples = min(len(P), len(Q))
    plan = _plan(
        epsilon,
        samples,
        claim,
        level,
        classifier,
        rng,
        progress,
        detect,
        (train_share, choose_share),
        bits,
        focus,
    )
    if _stops(stop):
        return _in_waves(plan, None, sequential.of_arrays(P, Q), clock, About())
    return _judge(plan, [Given(P[:samples]), Given(Q[:samples])], None, clock, About())


@dataclass(frozen=True, eq=False)
class Plan:
    """An audit's settings, checked."""

    epsilon: Array
    sizes: Split
    claim: Claim | None
    level: float
    classifier: Any
    seed: np.random.SeedSequence
    progress: Progress
    detect: float | None
    bits: bool = False
    shares: tuple[float | None, float | None] = (None, None)
    focus: str = "spectrum"

    def for_columns(self, columns: int) -> Plan:
        """The same, split as outputs of so many numbers are."""
        samples = self.sizes.train + self.sizes.choose + self.sizes.test
        return replace(
            self,
            sizes=split(
                samples, *self.shares, columns, trained=scoring.is_trained(self.classifier)
            ),
        )


def _plan(
    epsilon: Any,
    samples: int,
    claim: Any,
    level: float,
    classifier: Any,
    rng: Any,
    progress: Progress | None,
    detect: float | None,
    shares: tuple[float | None, float | None],
    bits: bool,
    focus: str,
) -> Plan:
    claim, classifier = as_claim(claim), scoring.known(classifier)
    if check.choice("focus", focus, FOCUS) == "pure" and shares[1] is None:
        shares = shares[0], PURE_CHOOSE if scoring.is_trained(classifier) else PURE_CHOOSE_KNOWN
    points = grid(epsilon, claim)
    if claim is not None:
        claim.delta_at(points)  # a user's curve may be wrong: better said before the draws
    return Plan(
        points,
        split(samples, *shares, trained=scoring.is_trained(classifier)),
        claim,
        check.real("level", level, 0.0, 1.0, open_=True),
        classifier,
        root(rng),
        progress or (lambda step, done, wanted: None),
        None if detect is None else check.real("detect", detect, 0.0, 1.0),
        check.boolean("bits", bits),
        shares,
        focus,
    )


def grid(epsilon: Any, claim: Claim | None) -> Array:
    """Distinct ascending ε, the claim's own among them."""
    grid = np.atleast_1d(check.epsilon(DEFAULT_EPSILON if epsilon is None else epsilon))
    if grid.max() > LARGEST_EPSILON:
        check.fail(
            "epsilon",
            float(grid.max()),
            f"at most {LARGEST_EPSILON:g}: no number of draws shows more",
        )
    own = [] if claim is None or claim.epsilon is None else [claim.epsilon]
    return np.unique(np.concatenate([grid, own]))


def _theory(mechanism: Any, pair: NeighbourPair, epsilon: Array) -> Spectrum | None:
    try:
        return exact.spectrum(mechanism, pair, epsilon)
    except NoExactSpectrum:
        return None


def _draws(name: str, value: Any) -> np.ndarray:
    if isinstance(value, (str, Path)):
        return read_draws(value)
    try:
        return outcomes.joined([outcomes.rows(value)])
    except outcomes.NotOutcomes as error:
        check.fail(
            name, error.got, "a non-empty (n,) or (n, k) array of numbers or text, or n draws"
        )


def _stops(stop: str | None) -> bool:
    return stop is not None and bool(check.choice("stop", stop, ("verdict",)))


def _in_waves(
    plan: Plan, theory: Spectrum | None, source: sequential.Source, clock: _Clock, about: About
) -> AuditResult:
    """Draw, train and bet in turn until the verdict stands."""
    found = sequential.audit_in_waves(plan, theory, source, clock.step)
    judged = Verdict(found.verdict, found.reason, found.detectable)
    plan = replace(plan, sizes=found.sizes)
    return _result(
        plan, theory, judged, found.estimate, found.fitted, about, clock, found.sequential
    )


def _judge(
    plan: Plan, sources: Sequence[Draws], theory: Spectrum | None, clock: _Clock, about: About
) -> AuditResult:
    """Train, score, certify, compare."""
    with clock.step("sample_s"):
        plan, columns, train, choose, note = _learned(plan, sources)
    with clock.step("fit_s"):
        plan.progress("fitting the score", 0, 1)
        fitted = scoring.fit(plan.classifier, train, choose, plan.seed, plan.bits)
        plan.progress("fitting the score", 1, 1)
    with clock.step("certify_s"):
        counter = Counted(fitted, columns, sources, plan.sizes.test, lambda: clock.step("sample_s"))
        found = _certify(plan, fitted, train, choose, counter)
        plan.progress("certifying", 1, 1)
    judged = verdict(found, plan.level, plan.claim, theory, plan.detect)
    if note is not None:
        judged = replace(judged, reason=f"{note} {judged.reason}")
    return _result(plan, theory, judged, found, fitted, about, clock)


def _result(
    plan: Plan,
    theory: Spectrum | None,
    judged: Verdict,
    found: Estimate,
    fitted: Fitted,
    about: About,
    clock: _Clock,
    sequential: sequential.Sequential | None = None,
) -> AuditResult:
    return AuditResult(
        _spectrum(found, plan.level, fitted.name),
        theory,
        plan.claim,
        judged.verdict,
        judged.reason,
        judged.detectable,
        found,
        plan,
        fitted,
        about,
        clock.total(),
        peak_memory_mb(),
        sequential,
    )


def _learned(
    plan: Plan, sources: Sequence[Draws]
) -> tuple[Plan, outcomes.Columns, Sides, Sides, str | None]:
    """The draws that train and choose, and the columns that they have: those that certify have no
    say in either.

    How many columns decides the split, and a few draws tell. Last comes what there is to say of
    their randomness.
    """
    plan = plan.for_columns(_rows([source.peek(2 * SMALLEST) for source in sources])[1].P.shape[1])
    size = plan.sizes.train + plan.sizes.choose
    drawn = [source.take(size) for source in sources]
    columns, learned = _rows(drawn)
    for side, source in enumerate(sources):
        if isinstance(source, Stream):
            randomness.refuse_repeats(drawn[side], side)
    train, choose, _ = zip(
        *(plan.sizes.parts(side) for side in (learned.P, learned.Q)), strict=True
    )
    return plan, columns, Sides(*train), Sides(*choose), randomness.not_random(*drawn)


def _rows(drawn: list[np.ndarray]) -> tuple[outcomes.Columns, Sides]:
    P, Q = drawn
    if not any(map(outcomes.are_lists, drawn)) and P.shape[1] != Q.shape[1]:
        raise InvalidInput(
            f"M(D) has {P.shape[1]} columns and M(D') {Q.shape[1]}: the size gives it away"
        )
    columns = outcomes.columns(P, Q)
    return columns, Sides(columns(P), columns(Q))


def _certify(plan: Plan, fitted: Fitted, train: Sides, choose: Sides, counter: Counter) -> Estimate:
    """The choosing draws fix all sets before the first draw that certifies is made."""
    chosen = scoring.pooled(fitted.score, train, choose)
    for part in chosen:
        refuse_nan(part, fitted.name)
    keep = () if plan.claim is None or plan.claim.epsilon is None else (plan.claim.epsilon,)
    return certify(Tails.of(*chosen), counter, plan.epsilon, plan.level, keep, plan.focus)


def _spectrum(found: Estimate, level: float, score: str) -> Spectrum:
    return Spectrum(
        found.epsilon,
        found.delta,
        found.forward.delta,
        found.backward.delta,
        low=found.low,
        level=level,
        law=f"estimate ({score})",
    )


def peak_memory_mb() -> float:
    """Peak resident size of this process so far."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


class _Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.start, self.steps = (
            time.perf_counter(),
            {"sample_s": 0.0, "fit_s": 0.0, "certify_s": 0.0},
        )
        self.inside = 0.0  # seconds of steps within the one under way

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """What is timed inside another step counts for the inner one alone."""
        begin, inside = time.perf_counter(), self.inside
        self.inside = 0.0
        yield
        spent = time.perf_counter() - begin
        self.steps[name] += spent - self.inside
        self.inside = inside + spent

    def total(self) -> dict[str, float]:
        return {**self.steps, "total_s": time.perf_counter() - self.start}
