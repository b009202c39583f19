"""What audits cost beside the work that no audit can avoid, in CPU seconds of one thread.

Each work runs in a process of its own, once to warm up and then a few times, of which the fastest
counts. Beside it stand drawing alone, and drawing with one pass of the winning score and one
histogram of the scores. Other tables have the share of the work that stays in one process when
others draw and score, and the answers and seconds of other tools.
"""

from __future__ import annotations

import compileall
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

import dpaudit as dp
from dpaudit import datasets, exact, mechanisms
from dpaudit._core.types import Array
from dpaudit.cli import main
from dpaudit.scoring.base import evaluate
from reports.make.audits.rates import CORES
from reports.make.page import REPORTS, heads, number, render, table, write
from reports.make.timing import clock, memory

REPEATS, LONG = 3, 2.0  # calls of which the fastest counts; CPU s from which one is enough
BINS = 1000
EPSILON = np.linspace(0.0, 1.0, 10)  # nats
CANDIDATES = 20  # rows that replace a row
TEST = "test_privacy.py"
RUN = "cold `dpaudit run` of the scenario of `dpaudit init`"
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


def reading(draw: Callable[[], Draws]) -> Cost:
    """`result.spectrum`, which is made, and its interval simulated, when it is first read."""
    result = dp.audit_samples(*draw(), rng=1)
    return Cost(fastest(lambda: replace(result).spectrum))  # a copy has not been read


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


def zeroed(share: int, points: int, new: bool = False) -> Cost:
    """`worst_case` of ALS over one of `share` rows of FLIGHT, at `points` values of ε.

    new : each call has other data; else all but the first find the decomposition of them kept.
    """
    data, curve = datasets.load("flight").database[::share], np.linspace(0.0, 1.0, points)
    mechanism = mechanisms.ALS(rows=1200)
    calls = count()

    def work() -> None:
        rows = data * (1.0 + 1e-9 * next(calls)) if new else data
        exact.worst_case(mechanism, rows, curve)

    return Cost(fastest(work))


def replaced(compute: Callable[..., object], *target: Any) -> Cost:
    """A function of `exact` for ALS over all rows of FLIGHT, each replaced by any of 20 of them.

    target : the arguments after mechanism and data.
    """
    data, mechanism = datasets.load("flight").database, mechanisms.ALS(rows=1200)
    chosen = np.random.default_rng(0).choice(len(data), CANDIDATES, replace=False)
    case = partial(compute, mechanism, data, *target, relation="replace")
    return Cost(fastest(lambda: case(candidates=data[chosen])))


def cold(*arguments: str) -> Cost:
    """A process of Python of its own in the folder that `dpaudit init` makes.

    dpaudit is compiled before, as pip does when it installs a package.
    """
    import subprocess

    compileall.compile_dir(Path(dp.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        init = [sys.executable, "-m", "dpaudit", "init", "audit"]
        subprocess.run(init, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds = []
        for _ in range(REPEATS):
            with clock() as spent:
                done = subprocess.run(
                    [sys.executable, *arguments],
                    cwd=Path(folder) / "audit",
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            if done.returncode:
                raise RuntimeError(f"{arguments} ended with status {done.returncode}")
            seconds.append(spent.cpu)
    return Cost(min(seconds))


def readme_example() -> Cost:
    """The example of the README in a process of its own."""
    text = (REPORTS.parent / "README.md").read_text(encoding="utf-8")
    return cold("-c", text.split("```python\n")[1].split("```")[0])


def noisy_mean(data: Array, size: int, *, rng: np.random.Generator) -> Array:
    """The mean of the first column of rows in [0, 1] with Laplace noise, ε = 1."""
    return np.asarray(data[:, :1].mean() + rng.laplace(scale=1.0 / len(data), size=(size, 1)))


def audit_mean(draws: int = 10**6) -> object:
    """An audit of `noisy_mean`, as many draws a side."""
    pair = dp.neighbours.zero_row(np.ones((500, 2)), 0)
    return dp.audit(noisy_mean, pair, draws=draws, rng=1)


def search_mean(size: int = 500) -> object:
    """A search among `size` rows for the worst neighbour of `noisy_mean`."""
    rows = np.random.default_rng(1).random((size, 2))
    return dp.search_neighbours(noisy_mean, rows, draws=10**5, rng=1)


def run_scenarios(scenarios: int = 1) -> object:
    """`dpaudit run` of as many scenarios, that of `dpaudit init` with seeds from 0 on.

    Each is a search, an audit and the report.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        main(["init", "audit"])
        text, paths = Path("audit/scenario.toml").read_text(), []
        for seed in range(scenarios):
            paths.append(Path(f"audit/{seed}.toml"))
            own = text.replace("seed = 0", f"seed = {seed}").replace('mean-hours"', f'{seed}"')
            paths[-1].write_text(own)
        return main(["run", *map(str, paths)])


def shared(work: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds of one process alone, and of the same process with two others that draw."""
    alone = fastest(work)
    with parallel_config(backend="loky", n_jobs=2):
        serial = fastest(work)
    get_reusable_executor().shutdown()  # else its workers keep this process from ending
    return alone, serial


def warm(work: Callable[[], object]) -> Cost:
    """Any work, without drawing alone beside it."""
    return Cost(fastest(work))


def fastest(work: Callable[[], object]) -> float:
    """Least CPU seconds of a few calls, or of one that is long, after a call to warm up."""
    work()
    spent = []
    for _ in range(REPEATS):
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
    "`result.spectrum` of Laplace, 10,000 draws a side": partial(reading, partial(laplace, 10**4)),
    **{
        f"30 numbers, {n:,} draws a side": partial(audit, partial(scaled, n))
        for n in (10**4, 10**6)
    },
    "100 columns, 100,000 draws a side": partial(audit, partial(columns, 100, 10**5)),
    "100 columns, 20,000 draws a side": partial(audit, partial(columns, 100, 20_000)),
    "1,000 columns, 20,000 draws a side": partial(audit, partial(columns, 1000, 20_000)),
    **{f"one run, {m:,} canaries": partial(one_run, m) for m in (10**3, 10**4, 10**5, 10**6)},
    "`worst_case`, ALS, 32,735 rows zeroed × 10 ε": partial(zeroed, 10, 10),
    "`worst_case`, ALS, 327,346 rows zeroed × 10 ε": partial(zeroed, 1, 10),
    "`worst_case`, ALS, 327,346 rows zeroed × 100 ε": partial(zeroed, 1, 100),
    "`worst_case`, ALS, 327,346 rows replaced by 20 × 10 ε": partial(
        replaced, exact.worst_case, EPSILON
    ),
    "`calibrate`, ALS, 327,346 rows replaced by 20": partial(replaced, exact.calibrate, 1.0, 1e-3),
    **{
        f"`worst_case`, ALS, {rows} rows zeroed × 10 ε, new data": partial(zeroed, share, 10, True)
        for rows, share in (("32,735", 10), ("327,346", 1))
    },
    "a search among 500 rows, 100,000 draws a side at the end": partial(warm, search_mean),
    "a search among 5,000 rows, 100,000 draws a side at the end": partial(
        warm, partial(search_mean, 5000)
    ),
    "a search among 1,000,000 rows, 100,000 draws a side at the end": partial(
        warm, partial(search_mean, 10**6)
    ),
    "an audit of a mean, 100,000 draws a side": partial(warm, partial(audit_mean, 10**5)),
    "an audit of a mean, 100,000,000 draws a side": partial(warm, partial(audit_mean, 10**8)),
    "10,000 columns, 5,000 draws a side": partial(audit, partial(columns, 10**4, 5000)),
    "`dpaudit run` of 1 scenario, warm": partial(warm, run_scenarios),
    "`dpaudit run` of 10 scenarios, warm": partial(warm, partial(run_scenarios, 10)),
    RUN: partial(cold, "-m", "dpaudit", "run", "scenario.toml"),
    "cold example of the README, 100,000 draws a side": readme_example,
    "cold `pytest` with the one test of `dpaudit init`": partial(cold, "-m", "pytest", "-q", TEST),
}
SHARED: dict[str, Callable[[], object]] = {
    "an audit, 1,000,000 draws a side": audit_mean,
    "a search among 500 rows, 100,000 draws a side at the end": search_mean,
    "`dpaudit run` of the scenario of `dpaudit init`, warm": run_scenarios,
}
GROWTH = {  # what grows, from the work of one name to that of another, by a factor
    "draws, one number": ("Laplace, 10,000 draws a side", "Laplace, 1,000,000 draws a side", 100),
    "draws, 30 numbers": (
        "30 numbers, 10,000 draws a side",
        "30 numbers, 1,000,000 draws a side",
        100,
    ),
    "canaries": ("one run, 1,000 canaries", "one run, 1,000,000 canaries", 1000),
    "columns": ("100 columns, 20,000 draws a side", "1,000 columns, 20,000 draws a side", 10),
    "zeroed rows": (
        "`worst_case`, ALS, 32,735 rows zeroed × 10 ε",
        "`worst_case`, ALS, 327,346 rows zeroed × 10 ε",
        10,
    ),
    "zeroed rows, new data": (
        "`worst_case`, ALS, 32,735 rows zeroed × 10 ε, new data",
        "`worst_case`, ALS, 327,346 rows zeroed × 10 ε, new data",
        10,
    ),
    "rows of a search": (
        "a search among 500 rows, 100,000 draws a side at the end",
        "a search among 5,000 rows, 100,000 draws a side at the end",
        10,
    ),
    "ε of a worst case": (
        "`worst_case`, ALS, 327,346 rows zeroed × 10 ε",
        "`worst_case`, ALS, 327,346 rows zeroed × 100 ε",
        10,
    ),
    "scenarios": ("`dpaudit run` of 1 scenario, warm", "`dpaudit run` of 10 scenarios, warm", 10),
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
        costs[name] = in_fresh_process(cost, name)
        print(f"{name}: {costs[name].whole:.3f} CPU s", flush=True)
    shares = {name: in_fresh_process(shared, work) for name, work in SHARED.items()}
    # Imported late: a new process is at least as large as the one that starts it.
    from reports.make.auditors import questions

    answers = {name: questions.asked_or_why_not(name) for name in questions.TOOLS}
    write(REPORTS / "time.md", page(costs, shares, questions.page(answers)))


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns in a process that did nothing before."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as process:
        return process.submit(function, *arguments).result()


def page(costs: dict[str, Cost], shares: dict[str, tuple[float, float]], others: str) -> str:
    """The page, from the cost of each work of `WORK`, the shared seconds of each of `SHARED`, and
    the table of other tools."""
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
    plans = [
        [name, *(number(x, 2) for x in (alone, one, one / alone, *planned(alone, one)))]
        for name, (alone, one) in shares.items()
    ]
    return render(
        "time.md",
        costs=table(head, rows),
        growth=table(heads("what grows | by | exponent"), growth),
        shares=table(
            heads(
                "work | CPU s in one process | of these not shared | serial share"
                " | s on 2 cores | on 100 cores | largest speed-up"
            ),
            plans,
        ),
        others=others,
        repeats=REPEATS,
        load=f"{os.getloadavg()[2]:.0f}",
        cores=os.cpu_count(),
    )


def planned(alone: float, serial: float) -> list[float]:
    """Seconds on each number of `CORES`, and the largest speed-up on any, by Amdahl's law.

    alone, serial : CPU seconds of the whole work, and of its part that is not shared.
    """
    return [*(serial + (alone - serial) / cores for cores in CORES), alone / serial]
