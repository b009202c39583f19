"""What dpaudit itself spends on an audit and on a search, and what it announces before them."""

from __future__ import annotations

import time

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.auditing.clock import NUMBERS, Rate
from dpaudit.auditing.settings import Settings
from dpaudit.neighbours import zero_row
from dpaudit.search import select
from reports.make.page import number, table

DRAWS = {1: 100_000, 30: 20_000, 100: 20_000, 1000: 20_000}  # a side, by the numbers in an output
BUDGETS = {1: 10.0, 30: 10.0, 100: 5.0, 1000: 1.4}  # draws of search and audit over the audit's
FEW = 1_000  # draws a side of an audit whose time is nearly that of an audit of none
DATA = np.random.default_rng(0).random((50, 2))


class Timed:
    """A mechanism of `columns` numbers that counts the CPU seconds that it takes itself."""

    def __init__(self, columns: int) -> None:
        self.columns, self.seconds = columns, 0.0

    def __call__(self, data: Array, size: int, *, rng: np.random.Generator) -> Array:
        """A sum with noise, and noise."""
        began = time.process_time()
        drawn = rng.laplace(size=(size, self.columns))
        drawn[:, 0] += data[:, 0].sum()
        self.seconds += time.process_time() - began
        return drawn


def audited(columns: int, draws: int) -> float:
    """CPU seconds of an audit without those of the mechanism."""
    mechanism, began = Timed(columns), time.process_time()
    dp.audit(mechanism, zero_row(DATA, 3), draws=draws, claim=(1.0, 0.0), rng=0)
    return time.process_time() - began - mechanism.seconds


def report() -> None:
    """CPU seconds a draw of one thread, by the numbers in an output."""
    audited(1, FEW)  # imports
    rows = []
    for columns in NUMBERS:
        draws = DRAWS[columns]
        few, spent = audited(columns, FEW), audited(columns, draws)
        mechanism, began = Timed(columns), time.process_time()
        selection = select(mechanism, DATA, draws=draws, budget=BUDGETS[columns], rng=0)
        searched = time.process_time() - began - mechanism.seconds
        rate = Rate.of(Timed(columns), DATA, Settings.of(draws))
        seconds = (few, (spent - few) / 2.0 / (draws - FEW), rate.audit)
        search = searched / selection.draws, rate.search
        rows.append([f"{columns:,}", *(number(value, 2) for value in (*seconds, *search))])
    head = ["numbers", f"audit of {FEW:,} draws", "a draw", "taken", "a draw searched", "taken"]
    print(table(head, rows))
