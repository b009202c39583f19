"""Base classes of the papers' algorithms, and the checks of data that several papers share."""

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
ROUNDING = 1e-12  # relative: a value that exceeds a bound by no more is accepted


class Algorithm(PrintedMechanism):
    """A paper's algorithm: its steps as printed, the privacy claimed for it, and its output law.

    Subclasses define `run` and `pair`. If the output law is known they also define `law` and
    `zeroed_rows`, and perhaps `replaced_rows` or `added_row`. A call raises `InvalidInput` for data
    that violate a public assumption, such as a row that is longer than `row_bound`.

    paper, statement : the paper's number, and the number and name of the algorithm in it. claimed,
    relation : the claim in words, and its neighbouring relation. unknown : why there is no exact
    spectrum, if there is none. variant, correction : "printed" (the default) or "corrected", and
    what the latter changes; "" if there is none. epsilon, delta : the claim's ε > 0, in nats, and δ
    in (0, 1). row_bound, label_bound : public bounds on the features' norm ‖x_i‖ and on ``|y_i|``,
    or on the norm of a whole row if there is no label; 1 by default.
    """

    paper: ClassVar[int]
    statement: ClassVar[str]
    claimed: ClassVar[str] = "(ε, δ)-DP"
    relation: ClassVar[str] = "zero-out"
    unknown: ClassVar[str] = "its output law is not known in closed form"
    correction: ClassVar[str] = ""

    delta: float
    variant: str
    row_bound: Any
    label_bound: float

    def bounded(self, data: Array) -> Array:
        """The data; rows, and labels where there is a `label_bound`, must be within the bounds."""
        if not hasattr(self, "label_bound"):
            return within(data, self.row_bound)
        data = check.matrix("data", data, min_columns=2)
        within(data[:, :-1], self.row_bound)
        if self.label_bound < float(np.abs(data[:, -1]).max()) * (1.0 - ROUNDING):
            fail("label_bound", self.label_bound, "at least the largest label")
        return data

    def law(self, data: Array) -> Law:
        raise self.no_exact_spectrum()

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        raise self.no_exact_spectrum()

    def no_exact_spectrum(self) -> NoExactSpectrum:
        return NoExactSpectrum(
            f"{self.name} has no exact spectrum: {self.unknown}; use dpaudit.audit"
        )


class KnownAlgorithm(Algorithm):
    """An algorithm whose output has the same law as a mechanism of `dpaudit.mechanisms`."""

    def known(self, data: Array) -> LawMechanism:
        """The mechanism whose output on these data has the same law; it raises for other data."""
        raise NotImplementedError

    def law(self, data: Array) -> Law:
        return self.known(data).law(data)

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.known(data).zeroed_rows(data)

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        return self.known(data).exceptional_rows(data)


class KnownReplacedRows(KnownAlgorithm):
    """An algorithm of known law that inherits the mechanism's closed form for replaced rows."""

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        return self.known(data).replaced_rows(data, within(candidates, self.row_bound))


class KnownAddedRow(KnownAlgorithm):
    """An algorithm of known law with the worst added row; rows of zeros do not change its law."""

    zero_rows_matter = False

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The pair of laws for the mechanism's worst added row of norm ≤ `row_bound`.

        Raises `InvalidInput` if `row_bound` exceeds the algorithm's own bound: the algorithm
        refuses longer rows, so no database would attain the δ of such a row.
        """
        bound = check.real("row_bound", row_bound, 0.0, open_=True)
        if bound > self.row_bound * (1.0 + ROUNDING):
            expected = f"at most the mechanism's own bound on row norms, {self.row_bound:g}"
            fail("row_bound", row_bound, expected)
        return self.known(data).added_row(data, bound)


class ReplacementAlgorithm(Algorithm):
    """An algorithm with a closed form for replaced rows; zeroing a row is replacing it by zeros."""

    relation: ClassVar[str] = "replace"

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        return self.replaced_rows(data, np.zeros((1, np.shape(data)[1])))


class JointSpectrumAlgorithm(Algorithm):
    """An algorithm whose noise depends on a private quantity that it does not release.

    The spectrum of the output alone is not known; that of both together, an upper bound, is
    `joint_spectrum`. Subclasses define `joint_curve`.
    """

    def joint_spectrum(self, pair: NeighbourPair, epsilon: ArrayLike) -> Spectrum:
        """The exact δ(ε) of the private quantity and the output together, on a pair of databases.

        epsilon : scalar or (m,), nats. Raises `InvalidInput` for rows beyond the bounds, or a
        relation for which it is not known.
        """
        curve, law = self.joint_curve(pair)
        epsilon = check.epsilon(epsilon)
        return Spectrum.of_directions(epsilon, *curve.delta(epsilon), law).replace(curve=curve)

    def joint_curve(self, pair: NeighbourPair) -> tuple[Curve, str]:
        """The curve behind `joint_spectrum`, and the name of its law for reports."""
        raise NotImplementedError


def zeroed_index(pair: NeighbourPair) -> int:
    if pair.relation != "zero-out" or pair.index is None:
        fail("pair", pair.relation, "a pair with one row zeroed")
    return pair.index


def within(data: Array, row_bound: float) -> Array:
    """The data. Raises `InvalidInput` if a row is longer than `row_bound`."""
    if row_bound < float(np.linalg.norm(data, axis=1).max()) * (1.0 - ROUNDING):
        fail("row_bound", row_bound, "at least the largest row norm")
    return data


def check_signs(data: Array) -> Array:
    """The data, whose labels must be −1 or 1; a row of zeros may have the label 0."""
    data = check.matrix("data", data, min_columns=2)
    label = data[:, -1]
    unknown = ~np.isin(label, (-1.0, 1.0)) & np.any(data != 0.0, axis=1)
    if unknown.any():
        fail("data", float(label[unknown][0]), "labels of -1 and 1 in the last column")
    return data


def shrunk(data: Array, row_bound: float) -> Array:
    """The data, in which rows longer than `row_bound` are shrunk to it (paper 4, section 3.1)."""
    return np.asarray(data * shrinkage(data, row_bound)[:, None])


def smallest_eigenvalue(data: Array) -> float:
    """The smallest eigenvalue λ_min(DᵀD) ≥ 0 of the data's second moment."""
    if len(data) < data.shape[1]:
        return 0.0
    return float(np.linalg.svd(data, compute_uv=False)[-1] ** 2)


def singular_axes(data: Array) -> tuple[Array, Array]:
    """The singular values (d,), descending, and right singular vectors as rows; 0 beyond n rows."""
    n, d = data.shape
    full = np.vstack([data, np.zeros((max(0, d - n), d))])
    _, scale, axes = np.linalg.svd(full, full_matrices=False)
    return scale, axes
