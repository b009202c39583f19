"""An algorithm box of a paper: the steps as printed, what they claim, and the law of what they
release.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Array, fail
from dpaudit._core.linalg import shrinkage
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows
from dpaudit.mechanisms.base import LawMechanism, Sampler

VARIANTS = ("printed", "corrected")
SAMPLERS = ("sufficient", "literal")


class Algorithm(LawMechanism):
    """A printed algorithm: subclasses give `run`, `claim` and, where there is one, `law` with its
    families of rows.

    paper, box : where it is printed. claimed : the claim in words. relation : the neighbours that
        the claim is about.
    unknown : why there is no exact spectrum, where there is none. correction : what
    `variant="corrected"` changes, "" where nothing needs it.
    """

    paper: ClassVar[int]
    box: ClassVar[str]
    claimed: ClassVar[str]
    relation: ClassVar[str]
    unknown: ClassVar[str] = "its output law is not known in closed form"
    correction: ClassVar[str] = ""

    variant: str
    sampler: str

    def check_variant(self) -> None:
        """Raises `InvalidInput` for a variant or a sampler that the algorithm does not have."""
        if hasattr(self, "sampler"):
            check.choice("sampler", self.sampler, SAMPLERS)
        if hasattr(self, "variant"):
            check.choice("variant", self.variant, VARIANTS)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The box, line by line: (size, k) independent draws."""
        raise NotImplementedError

    def prepare(self, data: Array) -> Sampler:
        data = check.matrix("data", data)
        return lambda size, rng: self.run(data, size, rng)

    def law(self, data: Array) -> Law:
        raise self._without()

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        raise self._without()

    def _without(self) -> NoExactSpectrum:
        return NoExactSpectrum(
            f"{self.name} has no exact spectrum: {self.unknown}; use dpaudit.audit"
        )


def within(data: Array, row_bound: float) -> Array:
    """The data, if no row is longer than the public bound. Raises `InvalidInput` naming row_bound
    otherwise.
    """
    largest = float(np.linalg.norm(data, axis=1).max())
    if row_bound < largest * (1.0 - 1e-12):
        fail("row_bound", row_bound, f"at least the largest row norm, {largest:g}")
    return data


def shrunk(data: Array, row_bound: float) -> Array:
    """Rows longer than `row_bound` shrunk to it, as the papers prepare their data (paper 4, section
    3.1).
    """
    return np.asarray(data * shrinkage(data, row_bound)[:, None])
