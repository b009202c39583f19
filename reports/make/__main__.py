"""python -m reports.make [NAME ...]: print the figures of the README; cancer data are looked up in
DPAUDIT_DATA.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from dpaudit import datasets, exact, laws, mechanisms, neighbours, scoring
from dpaudit.auditing import api
from dpaudit.certify.split import split
from dpaudit.errors import DpauditError
from reports.make.auditors import page
from reports.make.audits import (
    anytime,
    bands,
    coverage,
    many_draws,
    oracle,
    power,
    search,
    sniper,
    zoo,
)
from reports.make.exact import every_law, pair_speed, peers, printed

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])
CURVE = np.linspace(0.0, 2.0, 50)


def _cancer_task() -> tuple[mechanisms.ALS, neighbours.NeighbourPair]:
    data = datasets.load("cancer").database
    return mechanisms.ALS(rows=200), neighbours.zero_row(data, 186)


def _oracle(mechanism: mechanisms.ALS, pair: neighbours.NeighbourPair) -> scoring.KnownScore:
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    return scoring.KnownScore(lambda x: laws.log_ratio(left, right, x), "true likelihood ratio")


def oracle_ratio(samples: int = 1_000_000) -> None:
    """Certified δ against what the true likelihood ratio certifies from the same draws through the
    same band.
    """
    mechanism, pair = _cancer_task()
    train = split(samples).train / samples  # what certifies is the same
    both = _oracle(mechanism, pair), "auto"
    runs = [
        api.audit(
            mechanism,
            pair,
            samples=samples,
            rng=1,
            epsilon=EPSILON,
            classifier=one,
            train_share=train,
        )
        for one in both
    ]
    truth = runs[0].exact
    assert truth is not None
    print(
        f"cancer, ALS r = 200, p = 12, row 186, {samples:,} draws a side, level 0.95, simultaneous"
    )
    print(f"  ε                                    {_row(EPSILON)}")
    print(f"  exact δ                              {_row(truth.delta)}")
    for run in runs:
        print(
            f"  certified, {run.fitted.name:<26}{_row(np.asarray(run.spectrum.low))}   {_seconds(run.timings)}"
        )
    oracle, auto = (np.asarray(run.spectrum.low) for run in runs)
    print(f"  ratio to the oracle                  {_row(auto / oracle)}")
    print(f"  oracle's share of exact              {_row(oracle / truth.delta)}")


def paper_size(train: int = 10_000_000, test: int = 1_000_000) -> None:
    """The paper's sample sizes on the whole curve: 10⁷ draws a side to train (and choose), 10⁶ to
    certify.
    """
    mechanism, pair = _cancer_task()
    samples = train + test
    result = api.audit(
        mechanism,
        pair,
        samples=samples,
        rng=1,
        train_share=(train - 100_000) / samples,
        choose_share=100_000 / samples,
    )
    print(
        f"cancer, ALS r = 200, {train:,} + {test:,} draws a side, {len(result.spectrum.epsilon)} ε, both directions"
    )
    print(
        f"  {_seconds(result.timings)}, peak memory {result.peak_memory_mb / 1024:.2f} GiB, score {result.fitted.name}"
    )


def worst_case() -> None:
    """All rows of FLIGHT and of cancer, 50 ε, against evaluating row by row (a sample of rows,
    extrapolated).
    """
    for name, rows in (("flight", 1200), ("flight", 1_000_000), ("cancer", 50), ("cancer", 200)):
        data = datasets.load(name).database
        mechanism = mechanisms.ALS(rows=rows)
        factor = _time(lambda: mechanism.zeroed_rows(data))  # noqa: B023
        for law in ("finite", "asymptotic"):
            total = _time(lambda: exact.worst_case(mechanism, data, CURVE, law=law))  # noqa: B023
            one = _row_by_row(mechanism, data, law)
            print(
                f"worst_case {name:<7} r = {rows:<8} {law:<10} {len(data):,} rows x {len(CURVE)} ε: "
                f"{max(total - factor, 0):.3f} s after the QR ({factor:.3f} s); row by row {one * len(data):.0f} s, "
                f"ratio {one * len(data) / max(total - factor, 1e-9):.2g}"
            )


def _row_by_row(mechanism: mechanisms.ALS, data: np.ndarray, law: str, sample: int = 20) -> float:
    """Seconds a row."""
    family = mechanism.zeroed_rows(data)
    picked = np.linspace(0, len(data) - 1, sample).astype(int)

    def each() -> None:
        for i in picked:
            exact.als(
                family.leverage[i],
                family.residual_share[i],
                family.features,
                family.rows,
                CURVE,
                law,
            )

    return _time(each) / sample


def draws(size: int = 10_000_000) -> None:
    """10⁷ × 12 ALS outputs against as many raw normals from the same generator, each into fresh
    memory.
    """
    mechanism, pair = _cancer_task()
    law = mechanism.law(pair.left)
    pairs = []
    for repeat in range(3):
        normal = _time(lambda: np.random.default_rng(repeat).standard_normal((size, 12)), 1)  # noqa: B023
        output = _time(lambda: law.sample(size, np.random.default_rng(repeat)), 1)  # noqa: B023
        pairs.append((normal, output))
    ratio = sorted(normal / output for normal, output in pairs)
    print(
        f"drawing {size:,} x 12 ALS outputs: {ratio[1]:.2f} x the speed of raw normals (median of 3: {ratio})"
    )


def _time(work: Callable[[], object], repeats: int = 3) -> float:
    """Least wall seconds of a few calls."""
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def _row(values: np.ndarray) -> str:
    return "  ".join(f"{value:8.5f}" for value in values)


def _seconds(timings: dict[str, float]) -> str:
    return ", ".join(f"{name.removesuffix('_s')} {value:.1f} s" for name, value in timings.items())


BENCHMARKS: dict[str, Callable[[], object]] = {
    "oracle": oracle.report,
    "oracle-ratio": oracle_ratio,
    "worst-case": worst_case,
    "every-law": every_law.report,
    "draws": draws,
    "many-draws": many_draws.report,
    "paper-size": paper_size,
    "printed": printed.report,
    "coverage": coverage.report,
    "pair-speed": pair_speed.report,
    "peers": peers.report,
    "auditors": page.report,
    "bands": bands.report,
    "anytime": anytime.report,
    "power": power.report,
    "zoo": zoo.report,
    "sniper": sniper.report,
    "search": search.report,
}


def main(names: list[str]) -> int:
    """Run the benchmarks named, all if none."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    try:
        for name in names or BENCHMARKS:
            BENCHMARKS[name]()
    except DpauditError as error:
        print(f"reports.make: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
