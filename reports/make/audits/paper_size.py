"""An audit of the sample sizes of paper 1, the whole curve: its seconds and its memory."""

from __future__ import annotations

from dpaudit.auditing import api
from reports.make.tasks import cancer_pair
from reports.make.timing import memory, steps

CHOOSE = 100_000  # of the training draws


def report(train: int = 10_000_000, certify: int = 1_000_000) -> None:
    """`train` draws a side train and choose, `certify` certify."""
    mechanism, pair = cancer_pair(rows=200)
    samples = train + certify
    result = api.audit(
        mechanism,
        pair,
        samples=samples,
        rng=1,
        train_share=(train - CHOOSE) / samples,
        choose_share=CHOOSE / samples,
    )
    print(
        f"cancer, ALS r = 200, {train:,} + {certify:,} draws a side, "
        f"{len(result.spectrum.epsilon)} ε, both directions"
    )
    print(
        f"  {steps(result.timings)}, peak memory {memory(result.peak_memory_mb)}, score "
        f"{result.fitted.name}"
    )
