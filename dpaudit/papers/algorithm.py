"""A paper's algorithm: its steps as printed, the privacy claimed for it, and its output law."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.curves.claims import Claim
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows
from dpaudit.mechanisms.base import LawMechanism, Sampler
from dpaudit.neighbours import NeighbourPair
from dpaudit.papers.data import added_bound, within

VARIANTS = ("printed", "corrected")
SAMPLERS = ("sufficient", "literal")


class Algorithm(LawMechanism):
    """A printed algorithm.

    Subclasses give `run`, `pair` and, where one is known, `law` with its families of rows.

    Attributes
    ----------
    paper : int
        The number of the paper where it is printed.
    statement : str
        The statement there, with its name.
    claimed : str
        The claim in words.
    relation : str
        The neighbours that the claim is about.
    unknown : str
        Why there is no exact spectrum, where there is none.
    correction : str
        What `variant="corrected"` changes, "" where nothing needs it.
    variant : str
        Of an algorithm that has variants: "printed" or "corrected".
    sampler : str
        Of an algorithm that has samplers: "sufficient" or "literal".
    """

    paper: ClassVar[int]
    statement: ClassVar[str]
    claimed: ClassVar[str]
    relation: ClassVar[str]
    unknown: ClassVar[str] = "its output law is not known in closed form"
    correction: ClassVar[str] = ""

    variant: str
    sampler: str
    epsilon: float
    delta: float

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP at the parameters `epsilon` and `delta`, unless the paper claims otherwise."""
        return Claim(self.epsilon, self.delta)

    def check_variant(self) -> None:
        """Raises `InvalidInput` for a variant or a sampler that the algorithm does not have."""
        if hasattr(self, "sampler"):
            check.choice("sampler", self.sampler, SAMPLERS)
        if hasattr(self, "variant"):
            check.choice("variant", self.variant, VARIANTS)

    def check_budget(self, limit: float = 1.0) -> None:
        """Raises `InvalidInput` unless ε > 0, δ in (0, limit) and the public bounds on rows and
        labels are > 0; checks the variant too.
        """
        self.check_variant()
        check.real("epsilon", self.epsilon, 0.0, open_=True)
        check.real("delta", self.delta, 0.0, limit, open_=True)
        for bound in ("row_bound", "label_bound"):
            if hasattr(self, bound):
                check.real(bound, getattr(self, bound), 0.0, open_=True)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The algorithm, line by line: (size, k) independent draws."""
        raise NotImplementedError

    def pair(self) -> NeighbourPair:
        """Two neighbouring databases that use up the claimed privacy, or break the claim.

        A scenario with `relation = "pair"` audits the algorithm on them.
        """
        raise NotImplementedError

    def prepare(self, data: Array) -> Sampler:
        """`run` on these data, as a function of size and rng."""
        data = check.matrix("data", data)
        return lambda size, rng: self.run(data, size, rng)

    def law(self, data: Array) -> Law:
        """The output's law. Raises `NoExactSpectrum` where none is known, as here."""
        raise self.no_exact_spectrum()

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The pairs with one row zeroed. Raises `NoExactSpectrum` where none is known, as here."""
        raise self.no_exact_spectrum()

    def no_exact_spectrum(self) -> NoExactSpectrum:
        """The error to raise where the output law is not known; its text gives the reason."""
        return NoExactSpectrum(
            f"{self.name} has no exact spectrum: {self.unknown}; use dpaudit.audit"
        )


class KnownAlgorithm(Algorithm):
    """An algorithm whose output has the law of a mechanism of `dpaudit.mechanisms`.

    Subclasses give `known`.
    """

    def known(self, data: Array) -> LawMechanism:
        """That mechanism. Raises `InvalidInput` for data that break what is public of them.

        Raises `NoExactSpectrum` where the law is not known.
        """
        raise NotImplementedError

    def law(self, data: Array) -> Law:
        """The mechanism's law."""
        return self.known(data).law(data)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The mechanism's pairs with one row zeroed."""
        return self.known(data).zeroed_rows(data)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """The mechanism's exceptional rows."""
        return self.known(data).exceptional_rows(data)


class KnownReplacedRows(KnownAlgorithm):
    """A known algorithm with the mechanism's closed form for replaced rows."""

    row_bound: float

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        """The mechanism's pairs, of candidates within the bound."""
        return self.known(data).replaced_rows(data, within(candidates, self.row_bound))


class KnownAddedRow(KnownAlgorithm):
    """A known algorithm with the mechanism's worst added row; rows of zeros do not matter to it."""

    row_bound: float
    zero_rows_matter = False

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The mechanism's worst row within `row_bound`."""
        return self.known(data).added_row(data, added_bound(row_bound, self.row_bound))


class ReplacementAlgorithm(Algorithm):
    """An algorithm with a closed form for replaced rows: a zeroed row is one replaced by zeros."""

    relation: ClassVar[str] = "replace"

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """`replaced_rows` with a row of zeros."""
        return self.replaced_rows(data, np.zeros((1, np.shape(data)[1])))
