"""Certified δ of one large audit as a share of what the true likelihood ratio certifies."""

from __future__ import annotations

import numpy as np

from dpaudit import laws, scoring
from dpaudit._core.types import Array
from dpaudit.auditing import api
from dpaudit.certify.split import split
from reports.make.page import decimals
from reports.make.tasks import cancer_pair
from reports.make.timing import steps

EPSILON = np.array([0.0, 0.5, 1.0, 2.0])


def report(samples: int = 1_000_000) -> None:
    """Both scores on the same draws through the same band; training draws certify in neither."""
    mechanism, pair = cancer_pair(rows=200)
    left, right = mechanism.law(pair.left), mechanism.law(pair.right)
    known = scoring.KnownScore(lambda x: laws.log_ratio(left, right, x), "true likelihood ratio")
    train = split(samples).train / samples
    runs = [
        api.audit(
            mechanism,
            pair,
            samples=samples,
            rng=1,
            epsilon=EPSILON,
            classifier=score,
            train_share=train,
        )
        for score in (known, "auto")
    ]
    truth = runs[0].exact
    assert truth is not None
    print(f"cancer, ALS r = 200, p = 12, row 186, {samples:,} draws a side, level 0.95")
    print(f"  {'ε':<37}{_row(EPSILON)}")
    print(f"  {'exact δ':<37}{_row(truth.delta)}")
    for run in runs:
        certified = _row(np.asarray(run.spectrum.low))
        print(f"  certified, {run.fitted.name:<26}{certified}   {steps(run.timings)}")
    oracle, auto = (np.asarray(run.spectrum.low) for run in runs)
    print(f"  {'ratio to the oracle':<37}{_row(auto / oracle)}")
    print(f"  {'share of exact that the oracle has':<37}{_row(oracle / truth.delta)}")


def _row(values: Array) -> str:
    return "  ".join(decimals(values, 5, 8))
