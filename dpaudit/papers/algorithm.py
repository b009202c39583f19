"""A paper's algorithm: its steps as printed, the privacy claimed for it, and its output law.

Below the classes stand the checks and preparations of data that algorithms of several papers share.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.linalg import shrinkage
from dpaudit._core.types import Array, ArrayLike
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows
from dpaudit.mechanisms.base import LawMechanism, PrintedMechanism
from dpaudit.mechanisms.parameters import one_of
from dpaudit.neighbours import NeighbourPair

VARIANTS = ("printed", "corrected")
Variant = Annotated[str, one_of(*VARIANTS)]
Sampling = Annotated[str, one_of("sufficient", "literal")]
ROUNDING = 1e-12  # relative; a bound that is passed by no more counts as kept


class Algorithm(PrintedMechanism):
    """A printed algorithm.

    Subclasses give `run`, `pair` and, where one is known, `law` with its families of rows. A call
    raises `InvalidInput` for data that break what is public of them, such as a row that is longer
    than `row_bound`.

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
        The form of the algorithm, "printed" (the default) or "corrected", where it has
        variants.
    sampler : str
        Where it has samplers: "sufficient" (the default) draws from the law with as few
        random numbers as it needs, "literal" line by line as printed.
    epsilon, delta : float
        ε > 0, in nats, and δ in (0, 1) of the claim.
    row_bound, label_bound : float
        Public bounds on ‖x_i‖ and ``|y_i|``, or on the norm of a whole row where the
        algorithm knows no label; 1 by default.
    """

    paper: ClassVar[int]
    statement: ClassVar[str]
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    unknown: ClassVar[str] = "its output law is not known in closed form"
    correction: ClassVar[str] = ""

    variant: str
    sampler: str
    row_bound: Any
    label_bound: float

    def bounded(self, data: Array) -> Array:
        """The data unchanged, if every row is within the public bounds of the algorithm.

        Raises `InvalidInput` for a row beyond `row_bound`, or a label beyond `label_bound` where
        the algorithm has one.
        """
        if not hasattr(self, "label_bound"):
            return within(data, self.row_bound)
        data = check.matrix("data", data, min_columns=2)
        within(data[:, :-1], self.row_bound)
        if self.label_bound < float(np.abs(data[:, -1]).max()) * (1.0 - ROUNDING):
            fail("label_bound", self.label_bound, "at least the largest label")
        return data

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

    Subclasses give `known`, and `literal` where the sampler may be "literal".
    """

    def known(self, data: Array) -> LawMechanism:
        """The mechanism of the same law on these data.

        Raises `InvalidInput` for data that break what is public of them, and `NoExactSpectrum`
        where the law is not known.
        """
        raise NotImplementedError

    def literal(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Draws by the steps as printed."""
        raise NotImplementedError

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        law = self.law(data)
        if getattr(self, "sampler", "sufficient") == "literal":
            return self.literal(data, size, rng)
        return law.sample(size, rng)

    def law(self, data: Array) -> Law:
        return self.known(data).law(data)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.known(data).zeroed_rows(data)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        return self.known(data).exceptional_rows(data)


class KnownReplacedRows(KnownAlgorithm):
    """A known algorithm with the mechanism's closed form for replaced rows."""

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        return self.known(data).replaced_rows(data, within(candidates, self.row_bound))


class KnownAddedRow(KnownAlgorithm):
    """A known algorithm with the mechanism's worst added row; rows of zeros do not matter to it."""

    zero_rows_matter = False

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The mechanism's worst row within `row_bound`.

        Raises `InvalidInput` where that is above the algorithm's own bound: the algorithm refuses a
        longer row, so no database would attain its δ.
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        if bound > self.row_bound * (1.0 + ROUNDING):
            expected = f"at most the mechanism's own bound on row norms, {self.row_bound:g}"
            fail("row_bound", row_bound, expected)
        return self.known(data).added_row(data, bound)


class ReplacementAlgorithm(Algorithm):
    """An algorithm with a closed form for replaced rows: a zeroed row is one replaced by zeros."""

    relation: ClassVar[str] = "replace"

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.replaced_rows(data, np.zeros((1, np.shape(data)[1])))


class JointSpectrumAlgorithm(Algorithm):
    """An algorithm that reads a private quantity which it does not release.

    The output alone has no known spectrum. The private quantity and the output together have one,
    `joint_spectrum`, which bounds the output's from above. Subclasses give `joint_curve`.
    """

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """Exact δ(ε) of the private quantity and the output together.

        It is an upper bound of the output's δ(ε). epsilon : scalar or (m,), nats.
        Raises `InvalidInput` for rows beyond the bounds, or a relation that it is not known for.
        """
        curve, law = self.joint_curve(pair)
        epsilon = check.epsilon(epsilon)
        return Spectrum.of_directions(epsilon, *curve.delta(epsilon), law).replace(curve=curve)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        """The curve of `joint_spectrum`, and the name of its law."""
        raise NotImplementedError


def zeroed_index(pair: NeighbourPair) -> int:
    """The row that a pair zeroes. Raises `InvalidInput` for another relation."""
    if pair.relation != "zero-out" or pair.index is None:
        fail("pair", pair.relation, "a pair with one row zeroed")
    return pair.index


def within(data: Array, row_bound: float) -> Array:
    """The data unchanged. Raises `InvalidInput`, naming row_bound, if a row is longer than it."""
    if row_bound < float(np.linalg.norm(data, axis=1).max()) * (1.0 - ROUNDING):
        fail("row_bound", row_bound, "at least the largest row norm")
    return data


def check_signs(data: Array) -> Array:
    """The data unchanged, if every label is −1 or 1 (a row of zeros may have 0).

    Raises `InvalidInput` otherwise.
    """
    data = check.matrix("data", data, min_columns=2)
    label = data[:, -1]
    unknown = ~np.isin(label, (-1.0, 1.0)) & np.any(data != 0.0, axis=1)
    if unknown.any():
        fail("data", float(label[unknown][0]), "labels of -1 and 1 in the last column")
    return data


def shrunk(data: Array, row_bound: float) -> Array:
    """Rows longer than `row_bound` shrunk to it, as in paper 4, section 3.1."""
    return np.asarray(data * shrinkage(data, row_bound)[:, None])


def smallest_eigenvalue(data: Array) -> float:
    """λ_min(DᵀD) ≥ 0."""
    if len(data) < data.shape[1]:
        return 0.0
    return float(np.linalg.svd(data, compute_uv=False)[-1] ** 2)


def singular_axes(data: Array) -> tuple[Array, Array]:
    """Singular values, (d,), descending, and right singular vectors as rows, (d, d).

    Fewer rows than columns give singular values 0.
    """
    n, d = data.shape
    full = np.vstack([data, np.zeros((max(0, d - n), d))])
    _, scale, axes = np.linalg.svd(full, full_matrices=False)
    return scale, axes
