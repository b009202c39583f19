"""What audits cost beside the work that no audit can avoid, in CPU seconds of one thread.

Each work runs in a process of its own, once to warm up and then a few times, of which the fastest
counts. Beside it stand drawing alone, and drawing with one pass of the winning score and one
histogram of the scores.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import dpaudit as dp
from dpaudit import datasets, exact, mechanisms
from dpaudit._core.types import Array
from dpaudit.scoring.base import evaluate
from reports.make.page import REPORTS, heads, number, render, table, write
from reports.make.timing import clock, memory

OTHERS = ("dp_auditorium", "jax_privacy", "privacy_estimates", "opake")  # modules
REPEATS, LONG = 3, 2.0  # calls of which the fastest counts; CPU s from which one is enough
BINS = 1000
EPSILON = np.linspace(0.0, 1.0, 10)  # nats
CANDIDATES = 20  # rows that replace a row
TEST = "test_privacy.py"
Draws = tuple[Array, Array]


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a work, of drawing alone and of drawing with one pass; peak memory in MiB."""

    whole: float
    drawing: float = np.nan
    least: float = np.nan
    memory: float = np.nan


def laplace(size: int) -> Draws:
    """Laplace answers 0 and 1, ε = 1."""
    rng = np.random.default_rng(1)
    return rng.laplace(size=(size, 1)), rng.laplace(1.0, size=(size, 1))


def scaled(size: int) -> Draws:
    """N(0, I₃₀) and N(0, 0.8 I₃₀)."""
    rng = np.random.default_rng(1)
    return rng.standard_normal((size, 30)), rng.standard_normal((size, 30)) * np.sqrt(0.8)


def columns(count: int, size: int) -> Draws:
    """Normal columns, each shifted by as much as makes a distance of 1 of all."""
    rng = np.random.default_rng(1)
    return rng.standard_normal((size, count)), rng.standard_normal((size, count)) + count**-0.5


def audit(draw: Callable[[], Draws]) -> Cost:
    """An audit of draws, all ε and both directions."""
    P, Q = draw()
    result: Any = None

    def work() -> None:
        nonlocal result
        result = dp.audit_samples(P, Q, rng=1)

    whole = fastest(work)
    drawing = fastest(draw)

    def one_pass() -> None:
        for side in (P, Q):
            np.histogram(evaluate(result.fitted.score, side), BINS)

    return Cost(whole, drawing, drawing + fastest(one_pass))


def one_run(canaries: int) -> Cost:
    """ε of one run at δ = 10⁻⁵, of scores N(0, 1) and N(1.5, 1)."""
    rng = np.random.default_rng(1)

    def draw() -> tuple[np.ndarray, Array]:
        included = rng.random(canaries) < 0.5
        return included, rng.standard_normal(canaries) + 1.5 * included

    included, scores = draw()
    drawing = fastest(draw)
    whole = fastest(lambda: dp.audit_one_run(scores, included, delta=1e-5))
    return Cost(whole, drawing, drawing + fastest(lambda: np.sort(scores)))


def zeroed(share: int, points: int) -> Cost:
    """`worst_case` of ALS over one of `share` rows of FLIGHT, at `points` values of ε."""
    data, curve = datasets.load("flight").database[::share], np.linspace(0.0, 1.0, points)
    mechanism = mechanisms.ALS(rows=1200)
    return Cost(fastest(lambda: exact.worst_case(mechanism, data, curve)))


def replaced() -> Cost:
    """`worst_case` of ALS over all rows of FLIGHT, each replaced by any of 20 of them."""
    data = datasets.load("flight").database
    chosen = np.random.default_rng(0).choice(len(data), CANDIDATES, replace=False)
    case = partial(
        exact.worst_case,
        mechanisms.ALS(rows=1200),
        data,
        EPSILON,
        relation="replace",
        candidates=data[chosen],
    )
    return Cost(fastest(case))


def eureka(draw: Callable[[], Draws]) -> Cost:
    """Paper 1's estimator by nearest neighbours (`dpaudit.eureka`), at ε = 0 alone."""
    P, Q = draw()
    return Cost(fastest(lambda: dp.eureka(P, Q, 0.0, rng=1)), fastest(draw))


def cold(*arguments: str) -> Cost:
    """A process of its own in the folder that `dpaudit init` makes."""
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, "-m"]
        subprocess.run([*start, "dpaudit", "init", "audit"], cwd=folder, check=True, stdout=-3)
        seconds = []
        for _ in range(REPEATS):
            with clock() as spent:
                done = subprocess.run(
                    [*start, *arguments], cwd=Path(folder) / "audit", stdout=-3, stderr=-3
                )
            if done.returncode:
                raise RuntimeError(f"{arguments} ended with status {done.returncode}")
            seconds.append(spent.cpu)
    return Cost(min(seconds))


def fastest(work: Callable[[], object]) -> float:
    """Least CPU seconds of a few calls; a first call that is not long is not counted."""
    spent = []
    for _ in range(1 + REPEATS):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
        if spent[-1] > LONG:
            break
    return min(spent)


WORK: dict[str, Callable[[], Cost]] = {
    **{
        f"Laplace, {n:,} draws a side": partial(audit, partial(laplace, n))
        for n in (10**4, 10**5, 10**6)
    },
    **{
        f"30 numbers, {n:,} draws a side": partial(audit, partial(scaled, n))
        for n in (10**4, 10**6)
    },
    "100 columns, 100,000 draws a side": partial(audit, partial(columns, 100, 10**5)),
    "1,000 columns, 20,000 draws a side": partial(audit, partial(columns, 1000, 20_000)),
    **{f"one run, {m:,} canaries": partial(one_run, m) for m in (10**3, 10**4, 10**5, 10**6)},
    "`worst_case`, ALS, 32,735 rows zeroed × 10 ε": partial(zeroed, 10, 10),
    "`worst_case`, ALS, 327,346 rows zeroed × 10 ε": partial(zeroed, 1, 10),
    "`worst_case`, ALS, 327,346 rows zeroed × 100 ε": partial(zeroed, 1, 100),
    "`worst_case`, ALS, 327,346 rows replaced by 20 × 10 ε": replaced,
    "Eureka's k-NN, Laplace, 10,000 draws a side, ε = 0": partial(eureka, partial(laplace, 10**4)),
    "Eureka's k-NN, 30 numbers, 10,000 draws a side, ε = 0": partial(
        eureka, partial(scaled, 10**4)
    ),
    "cold `dpaudit run` of the scenario of `dpaudit init`": partial(
        cold, "dpaudit", "run", "scenario.toml"
    ),
    "cold `pytest` with its one test": partial(cold, "pytest", "-q", TEST),
}
GROWTH = {  # what grows, from the work of one name to that of another, by a factor
    "draws, one number": ("Laplace, 10,000 draws a side", "Laplace, 1,000,000 draws a side", 100),
    "draws, 30 numbers": (
        "30 numbers, 10,000 draws a side",
        "30 numbers, 1,000,000 draws a side",
        100,
    ),
    "canaries": ("one run, 1,000 canaries", "one run, 1,000,000 canaries", 1000),
    "zeroed rows": (
        "`worst_case`, ALS, 32,735 rows zeroed × 10 ε",
        "`worst_case`, ALS, 327,346 rows zeroed × 10 ε",
        10,
    ),
    "ε of a worst case": (
        "`worst_case`, ALS, 327,346 rows zeroed × 10 ε",
        "`worst_case`, ALS, 327,346 rows zeroed × 100 ε",
        10,
    ),
}


def cost(name: str) -> Cost:
    """The cost of a work of `WORK`, with the peak memory of this process and its children."""
    with threadpool_limits(1):
        spent = WORK[name]()
    peaks = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = max(each.ru_maxrss for each in peaks) / 1024
    return Cost(spent.whole, spent.drawing, spent.least, peak)


def report() -> None:
    """Measure all and write reports/time.md."""
    costs = {}
    for name in WORK:
        fresh = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=fresh) as process:
            costs[name] = process.submit(cost, name).result()
        print(f"{name}: {costs[name].whole:.3f} CPU s", flush=True)
    write(REPORTS / "time.md", page(costs))


def page(costs: dict[str, Cost]) -> str:
    """The page, from the cost of each work of `WORK`."""
    rows = [
        [
            name,
            number(one.whole, 2),
            number(one.drawing, 2),
            number(one.whole / one.drawing, 2),
            number(one.whole / one.least, 2),
            memory(None if np.isnan(one.memory) else one.memory),
        ]
        for name, one in costs.items()
    ]
    head = heads(
        "work | CPU s | drawing alone | ratio | ratio to drawing and one pass | peak memory"
    )
    growth = [
        [
            what,
            f"× {factor:,}",
            f"{np.log(costs[last].whole / costs[first].whole) / np.log(factor):.2f}",
        ]
        for what, (first, last, factor) in GROWTH.items()
    ]
    missing = ", ".join(f"`{name}`" for name in OTHERS if find_spec(name) is None)
    return render(
        "time.md",
        costs=table(head, rows),
        growth=table(heads("what grows | by | exponent"), growth),
        missing=missing,
        repeats=REPEATS,
        load=f"{os.getloadavg()[2]:.0f}",
        cores=os.cpu_count(),
    )
