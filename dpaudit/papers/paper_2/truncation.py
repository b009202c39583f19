"""Paper 2, algorithm 1 and theorem 3.2: the noisy second moment of truncated ("cut") rows.

Rows are whitened by a public second moment and shrunk to a radius. The first `public_rows` rows of
the data are public, or else a second moment alone, `public_moment`. Neighbours have one private row
replaced, so the entries of `replaced_rows` for public rows are 0.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.linalg import EPS, upper_triangle
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.claims import Claim
from dpaudit.errors import DegenerateData
from dpaudit.laws import GaussianNoise, ShiftRows
from dpaudit.mechanisms.base import Sampler
from dpaudit.mechanisms.parameters import BelowOne, Positive, at_least, one_of
from dpaudit.mechanisms.second_moment import AnalyzeGauss
from dpaudit.neighbours import NeighbourPair, replace_row
from dpaudit.papers.algorithm import Algorithm, ReplacementAlgorithm, shrunk
from dpaudit.papers.printed import algorithm_1_radius, theorem_3_2_sigma

Moment = tuple[tuple[float, ...], ...]  # a symmetric matrix, (d, d)
PublicRows = Annotated[int, at_least(0)]
CoefRelease = Annotated[str, one_of("coef", "statistics")]


class CutRegression(Algorithm):
    """A regression of paper 2 on cut rows, computed from two noisy statistics that are μ-GDP each.

    mu : μ > 0 of each; √2·μ-GDP is claimed for both together. eta, ridge : η in (0, 1), 0.05 by
    default, and the penalty λ ≥ 0, 0 by default. release : "coef" to release the coefficient, or
    "statistics" for the noisy moments, or Hessians and gradients, from which it is computed.
    """

    regression = True
    paper = 2
    claimed = "√2·μ-GDP"
    relation = "replace"

    mu: float
    eta: float
    ridge: float
    release: str

    @property
    def claim(self) -> Claim:
        return Claim.gdp(math.sqrt(2.0) * self.mu)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        return self.prepare(data)(size, rng)


class PublicAlgorithm(Algorithm):
    """An algorithm of paper 2 that uses public data.

    public_rows : the number of first rows of the data that are public; 0 if `public_moment` is
    passed, the public second moment of the columns, a symmetric matrix.
    """

    paper = 2
    relation = "replace"

    mu: float
    eta: float
    public_rows: int
    public_moment: Moment | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.public_moment is None) == (self.public_rows == 0):
            expected = "at least 1, or else public_moment given (not both)"
            fail("public_rows", self.public_rows, expected)
        if self.public_moment is None:
            return
        matrix = check.matrix("public_moment", self.public_moment)
        n, d = matrix.shape
        if n != d or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
            fail("public_moment", Words(f"shape {(n, d)}"), "a symmetric matrix")
        object.__setattr__(self, "public_moment", tuple(map(tuple, matrix.tolist())))

    def parts(self, data: Array) -> tuple[Array, Array]:
        """The public second moment of the columns, (k, k), and the private rows, at least one."""
        count = self.public_rows
        data = check.matrix("data", data, min_rows=count + 1)
        if self.public_moment is not None:
            return np.array(self.public_moment), data
        return data[:count].T @ data[:count] / count, data[count:]

    def among_all(self, family: ShiftRows, candidates: Array) -> ShiftRows:
        """Put shifts of 0 for the public rows before the shifts of the private rows."""
        return ShiftRows(np.concatenate([np.zeros(self.public_rows * len(candidates)), family.mu]))

    def frame(self, labelled: bool = False) -> tuple[Array, Array]:
        """Public rows (k, d) and the symmetric root (d, d) of their second moment, for `pair`.

        Without a `public_moment`, d is at most 2 and the root is I. If `labelled`, the last column
        of `public_moment` is the label and is left out.
        """
        if self.public_moment is not None:
            size = len(self.public_moment) - labelled
            values, axes = np.linalg.eigh(np.array(self.public_moment)[:size, :size])
            return np.empty((0, len(values))), np.asarray(axes * np.sqrt(values) @ axes.T)
        dim = min(2, self.public_rows)
        axis = np.arange(self.public_rows) % dim
        length = np.sqrt(self.public_rows / np.bincount(axis))
        return np.eye(dim)[axis] * length[axis, None], np.eye(dim)


@value_class(show_numbers=True, eq=True)
class PMT(PublicAlgorithm, ReplacementAlgorithm):
    """Release the noisy second moment of rows whitened by a public one and cut at radius R.

    Source: paper 2, algorithm 1 and theorem 3.2. R = √(d(1 + ln(2n/η))). The release is Σ̃ + G,
    where Σ̃ is the moment of the cut rows and G is symmetric with N(0, σ²) on each entry on and
    above the diagonal. A replaced row changes this triangle by at most √2·R²/n, so the release is
    really μ/√2-GDP (μ/2-GDP for one column). The parameters are `mu` > 0, `eta` in (0, 1), and the
    public rows or moment (d, d) of `PublicAlgorithm`; a call raises `DegenerateData` for a singular
    moment. Output: (size, d(d+1)/2), upper triangles.
    """

    mu: Positive
    eta: BelowOne = 0.05
    public_rows: PublicRows = 0
    public_moment: Moment | None = None
    summary = (
        "second moment of rows whitened by public data and cut (paper 2, algorithm 1, theorem 3.2)"
    )
    statement = "algorithm 1, theorem 3.2"
    claimed = "μ-GDP"

    @property
    def claim(self) -> Claim:
        return Claim.gdp(self.mu)

    def truncated(self, data: Array) -> Array:
        """The private rows after algorithm 1 has whitened and cut them, (n, d)."""
        moment, private = self.parts(data)
        return whitened(private, inverse_root(moment), len(private), self.eta)

    def law(self, data: Array) -> GaussianNoise:
        rows = self.truncated(data)
        mean = upper_triangle(rows.T @ rows / len(rows))
        return GaussianNoise(mean, np.full_like(mean, self._sigma(rows)))

    def prepare(self, data: Array) -> Sampler:
        return self.law(data).sample

    def replaced_rows(self, data: Array, candidates: Array) -> ShiftRows:
        moment, private = self.parts(data)
        root = inverse_root(moment)
        old, new = (whitened(rows, root, len(private), self.eta) for rows in (private, candidates))
        noisy = AnalyzeGauss(sigma=len(private) * self._sigma(old))
        return self.among_all(noisy.replaced_rows(old, new), candidates)

    def _sigma(self, rows: Array) -> float:
        return theorem_3_2_sigma(rows.shape[1], len(rows), self.eta, self.mu)

    def pair(self) -> NeighbourPair:
        """A row of norm R along one axis is replaced by one along another: the largest shift."""
        public, root = self.frame()
        dim = len(root)
        rows = np.vstack([np.eye(dim), np.eye(dim)[:1]])
        reach = algorithm_1_radius(dim, len(rows), self.eta)
        rows[-1] *= reach
        new = reach * np.eye(dim)[1] if dim > 1 else np.zeros(1)
        return replace_row(np.vstack([public, rows @ root]), len(public) + dim, new @ root)


def inverse_root(moment: Array) -> Array:
    """The symmetric root Σ^{−1/2} of Σ = `moment`. Raises `DegenerateData` for a singular Σ."""
    scale = np.sqrt(np.diag(moment))
    least = np.linalg.eigvalsh(moment / np.outer(scale, scale))[0] if np.all(scale > 0.0) else 0.0
    if least <= 4.0 * len(moment) * EPS:
        raise DegenerateData(
            "the public second moment must be positive definite, got linearly dependent columns"
        )
    values, axes = np.linalg.eigh(moment)
    return np.asarray(axes / np.sqrt(values) @ axes.T)


def whitened(rows: Array, root: Array, count: int, eta: float) -> Array:
    """The rows times Σ^{−1/2} = `root`, cut at algorithm 1's radius for `count` private rows."""
    columns = np.shape(rows)[1]
    if columns != len(root):
        fail("public_moment", Words(f"{len(root)} columns"), f"of {columns} columns, as the rows")
    return shrunk(rows @ root, algorithm_1_radius(len(root), count, eta))


def pair_at(
    others: Array, reach: float, root: Array, cosine: float, labels: tuple[float, float]
) -> NeighbourPair:
    """Beside `others` a row at the radius `reach`, replaced by one at the angle arccos(cosine).

    root : (d, d), the symmetric root of the rows' second moment. labels : of the two rows.
    """
    pairs = zip(apart(cosine, len(root)), labels, strict=True)
    u, v = (np.append(reach * unit @ root, label) for unit, label in pairs)
    return replace_row(np.vstack([others, u]), len(others), v)


def apart(cosine: float, dim: int) -> tuple[Array, Array]:
    """Unit vectors u and v with uᵀv = `cosine`, whose bisector is at 45° to the first two axes.

    uuᵀ − vvᵀ is then diagonal, so its upper triangle has the norm of the whole matrix,
    √(2(1 − cosine²)). In one dimension: 1, and 1 or −1 by the sign of the cosine.
    """
    if dim == 1:
        return np.ones(1), np.copysign(np.ones(1), cosine)
    half = 0.5 * math.acos(cosine)
    u, v = np.zeros(dim), np.zeros(dim)
    u[:2] = math.cos(0.25 * math.pi + half), math.sin(0.25 * math.pi + half)
    v[:2] = math.cos(0.25 * math.pi - half), math.sin(0.25 * math.pi - half)
    return u, v
