"""What very many draws cost: CPU time a draw by step, bytes sent by the workers of a Dask cluster,
the parent's own time; and what 10⁹ draws a side take, reckoned from these.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import parallel_config

import dpaudit as dp
from dpaudit import outcomes, scoring
from dpaudit._core.seeds import root
from dpaudit._core.types import Array
from dpaudit.auditing.clock import peak_memory_mb
from dpaudit.certify.constants import STORED
from dpaudit.certify.counting import CellCount
from dpaudit.certify.split import Split, split
from dpaudit.mechanisms.textbook import Laplace
from dpaudit.neighbours import zero_row
from dpaudit.sampling.block import both_sides
from dpaudit.sampling.counting import group_size
from dpaudit.sampling.draws import LARGEST_BLOCK
from dpaudit.scoring import KnownScore, Sides
from reports.make.audits.large import EPSILON
from reports.make.timing import memory

LAPLACE = Laplace(epsilon=0.1)
ROUNDS = 20  # of which the fastest counts
COLUMNS = 12
CORES = (2, 100)  # on which the times of shared work are planned
IDLE = 5.0  # seconds
TRAFFIC = (50_000, 500_000, 2_000_000)  # draws a side


def true_loss(x: Array) -> Array:
    """log dP/dQ of the Laplace answers 1 and 2, ε = 0.1."""
    return np.asarray(0.1 * (np.abs(x[:, 0] - 2.0) - np.abs(x[:, 0] - 1.0)))


def wide(data: Array, size: int, *, rng: np.random.Generator) -> Array:
    """12 normals a draw, whose mean is an entry of the data."""
    return np.asarray(data[0, 0] + rng.standard_normal((size, COLUMNS)))


def report(size: int = 10**9, tried: int = 10**7) -> None:
    """Laplace, ε = 0.1: `tried` draws a side on a cluster, `size` on paper."""
    known = KnownScore(true_loss, "true loss")
    auto = audited("auto")
    for result in (auto, audited(known)):
        print(f"one core, ns a draw, score {result.fitted.name}: {rate(result)}")
    learning = learn(size)
    print(
        f"learning from {size:,} draws a side: {learning}, peak memory {memory(peak_memory_mb())}"
    )
    with cluster() as client:
        there = client.submit(rate_of_auto).result()
        print(f"in a worker of Dask, ns a draw, score {auto.fitted.name}: {there}")
        for classifier in (known, "auto"):
            for draws in TRAFFIC:
                sent_by = traffic(client, classifier, draws)
                print(f"{draws:,} draws a side of {COLUMNS} numbers, score {sent_by}")
        parent = parent_ms(tried)
    print(f"{tried:,} draws a side on a cluster: the parent takes {parent:.1f} CPU ms a group")
    for cores in CORES:
        seconds = plan(cores, there, learning, parent)
        print(f"{size:,} draws a side on {cores} cores: {seconds}")


def audited(classifier: Any, draws: int = 10**6) -> dp.AuditResult:
    """An audit of Laplace answers whose draws are made here."""
    pair = LAPLACE.pair()
    return dp.audit(LAPLACE, pair, draws=draws, rng=1, epsilon=EPSILON, classifier=classifier)


@dataclass(frozen=True)
class Rate:
    """CPU nanoseconds that a draw takes on one core."""

    draw: float
    checksum: float
    count: float

    @property
    def total(self) -> float:
        """What a worker takes that draws and counts."""
        return self.draw + self.checksum + self.count

    def __str__(self) -> str:
        return (
            f"{self.draw:.0f} drawn, {self.checksum:.0f} for the checksum, {self.count:.0f} scored "
            f"and counted"
        )


def rate(result: dp.AuditResult) -> Rate:
    """The rate for a pair of blocks, by the score and the cells of an audit."""
    assert result.estimate.cells is not None
    pair = LAPLACE.pair()
    sides = both_sides(LAPLACE, (pair.left, pair.right), root(2))
    P, Q = (side(0, LARGEST_BLOCK) for side in sides)
    edges = result.estimate.cells.threshold
    columns = outcomes.described(P, Q).columns
    count = CellCount(result.fitted.name, result.fitted.score, columns, edges)
    return Rate(
        least_ns(lambda: [side(0, LARGEST_BLOCK) for side in sides]),
        least_ns(lambda: [hashlib.sha256(part.tobytes()) for part in (P, Q)]),
        least_ns(lambda: count(P, Q, STORED)),
    )


def rate_of_auto() -> Rate:
    """The rate with the score "auto", in whichever process this runs."""
    return rate(audited("auto"))


def least_ns(work: Callable[[], object]) -> float:
    """Least CPU nanoseconds a draw, for work on a pair of blocks."""
    return min(_cpu(work) for _ in range(ROUNDS)) / (2 * LARGEST_BLOCK) * 1e9


def _cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


@dataclass(frozen=True)
class Learning:
    """CPU seconds, in one process, of the draws that do not certify."""

    sizes: Split
    draw: float
    fit: float

    def __str__(self) -> str:
        return (
            f"{self.sizes.train:,} train and {self.sizes.choose:,} choose, {self.draw:.1f} CPU s "
            f"to draw, {self.fit:.0f} to fit"
        )


def learn(size: int) -> Learning:
    """Draw and fit "auto" as an audit of `size` draws a side does."""
    sizes, pair, begin = split(size, columns=1), LAPLACE.pair(), time.process_time()
    laws = LAPLACE.law(pair.left), LAPLACE.law(pair.right)
    drawn = [law.sample(sizes.train + sizes.choose, np.random.default_rng(3)) for law in laws]
    middle = time.process_time()
    train, choose, _ = zip(*(sizes.parts(side) for side in drawn), strict=True)
    scoring.fit("auto", Sides(*train), Sides(*choose), root(3))
    return Learning(sizes, middle - begin, time.process_time() - middle)


@contextmanager
def cluster() -> Iterator[Any]:
    """A client of two workers with one thread each, in processes of their own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local, set_as_default=False) as client,
        parallel_config(backend="dask", client=client),
    ):
        yield client


def traffic(client: Any, classifier: Any, draws: int) -> str:
    """The score of an audit of `wide`, and the bytes that workers send in it, in words."""
    pair, before = zero_row(np.ones((5, 2)), 0), _sent(client)
    result = dp.audit(wide, pair, draws=draws, rng=1, classifier=classifier)
    here, between = _sent(client) - before
    learned = result.sizes.train + result.sizes.choose
    return (
        f"{result.fitted.name}: 2 x {learned:,} draws learn, 2 x {result.sizes.certify:,} are "
        f"counted, {here:,} bytes come to the parent, {between:,} go between workers"
    )


def _sent(client: Any) -> np.ndarray:
    """Bytes that the workers have sent so far to this process, and to each other."""

    def outgoing(dask_worker: Any) -> tuple[int, int]:
        log = list(dask_worker.transfer_outgoing_log)
        between = sum(one["total"] for one in log if one["who"] is not None)
        return sum(one["total"] for one in log) - between, between

    return np.sum(list(client.run(outgoing).values()), axis=0)


def parent_ms(draws: int) -> float:
    """CPU ms a group of this process, which also holds the scheduler, while workers count.

    What each audit takes once is left out: `draws` are compared with a tenth of them. So is what
    the scheduler takes while nothing is to be done.
    """
    idle = _cpu(lambda: time.sleep(IDLE)) / IDLE
    (few, less), (many, more) = (_counting(size, idle) for size in (draws // 10, draws))
    return 1e3 * (more - less) / (many - few)


def _counting(draws: int, idle: float) -> tuple[int, float]:
    """Groups that workers count, and the CPU seconds of this process from the fit on.

    `idle` for each second is taken off.
    """
    begun: list[float] = []

    def look(step: str, done: int, wanted: int) -> None:
        if step == "fitting the score" and done == 1:
            begun.extend([time.process_time(), time.perf_counter()])

    result = dp.audit(
        LAPLACE,
        LAPLACE.pair(),
        draws=draws,
        rng=1,
        epsilon=EPSILON,
        classifier="auto",
        progress=look,
    )
    cpu, wall = time.process_time() - begun[0], time.perf_counter() - begun[1]
    return groups(result.sizes.certify), cpu - idle * wall


def groups(certify: int) -> int:
    """Tasks in which so many draws a side are counted."""
    numbers = certify // LARGEST_BLOCK
    return -(-numbers // group_size(numbers))


def plan(cores: int, rate: Rate, learning: Learning, parent: float) -> str:
    """Seconds by step, in words. The parent receives counts while workers draw."""
    draw = learning.draw / cores
    workers = 2e-9 * learning.sizes.certify * rate.total / cores
    own = 1e-3 * parent * groups(learning.sizes.certify)
    return (
        f"{draw:.1f} s to draw what learns, {learning.fit:.0f} s to fit, {workers:.0f} s to draw "
        f"and count (the parent meanwhile {own:.0f} s)"
    )
