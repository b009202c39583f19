"""The exact curve of any two laws: picks the file of this folder by their types."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from typing import Any

import numpy as np
from scipy.linalg import eigh, eigvalsh, solve_triangular

from dpaudit._core.types import Array
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.pairs.density import DensityPair
from dpaudit.exact.pairs.discrete import Atoms, branches_curve, product_curve
from dpaudit.exact.pairs.gaussian import Axes, without_rounding
from dpaudit.exact.pairs.integers import DiscreteGaussianShift, discrete_laplace_atoms
from dpaudit.exact.pairs.laplace import laplace_curve, shared_curve
from dpaudit.exact.pairs.replaced_wishart import ReplacedWishartCurve
from dpaudit.exact.pairs.sparse_vector import released_curve
from dpaudit.exact.pairs.student_t import StudentPairCurve
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve
from dpaudit.laws import (
    Branches,
    Density,
    Discrete,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianNoise,
    GaussianRows,
    InverseWishart,
    Laplace,
    Law,
    Product,
    ReleasedAnswers,
    SharedLaplace,
    ShiftedWishart,
    StudentT,
)

EPS = float(np.finfo(np.float64).eps)
JOINED: dict[type[Laplace] | type[DiscreteGaussian], tuple[str, str]] = {
    Laplace: ("loc", "scale"),
    DiscreteGaussian: ("centre", "sigma"),
}
RANK_ONE = 1e-9  # of the largest eigenvalue: a second one below this is rounding


def curve_of_laws(left: Law, right: Law) -> tuple[Curve, str]:
    """The curve of two laws of one kind, forward left → right, and its name.

    Raises `NoExactSpectrum`.
    """
    alike = type(left) is type(right) and left.dim == right.dim
    pair = _of_one_kind(left, right) if alike else None
    if pair is None:
        raise NoExactSpectrum(
            f"no exact spectrum for {type(left).__name__} against {type(right).__name__} of these "
            "sizes; use dpaudit.audit, which needs only draws"
        )
    return pair


def limit(law: Law) -> Law:
    """The law for many sketch rows of the output of ALS, N(x_opt, ‖w‖²M⁻¹/r) (paper 1, lemma 1)."""
    if isinstance(law, Product):
        return Product(tuple(limit(part) for part in law.parts))
    if not isinstance(law, StudentT):
        return law
    return Gaussian(law.mean, law.root * np.sqrt(law.dof + law.dim - 1.0))


def _of_one_kind(left: Law, right: Any) -> tuple[Curve, str] | None:
    """The curve and its name, None where none is known."""
    match left:
        case Product():
            return _product(left, right)
        case StudentT() if left.dof == right.dof:
            return StudentPairCurve(left, right), "Student t pair (finite rows)"
        case Discrete():
            return Atoms.of(left, right), "finitely many outcomes"
        case DiscreteLaplace():
            atoms = discrete_laplace_atoms(left, right)
            return None if atoms is None else (atoms, "discrete Laplace shift")
        case DiscreteGaussian():
            shift = DiscreteGaussianShift.of(left, right)
            return None if shift is None else (shift, "discrete Gaussian shift")
        case Laplace():
            return laplace_curve(left, right)
        case SharedLaplace():
            return shared_curve(left, right)
        case Density():
            return DensityPair(left, right), "densities of one number"
        case ReleasedAnswers():
            return released_curve(left, right), "answers above a noisy threshold"
        case Branches():
            return branches_curve(left, right, curve_of_laws), "several forms"
        case ShiftedWishart() if left.dof == right.dof and np.array_equal(left.root, right.root):
            return _wishart(left, right), "additive Wishart"
        case Gaussian() if np.array_equal(left.root, right.root):
            distance = np.linalg.norm(left.root @ (right.mean - left.mean))
            loss = PrivacyLoss.gaussian_shift(float(distance))
        case Gaussian():
            loss = _gaussian(left, right)
        case GaussianNoise():
            loss = _noise(left, right)
        case GaussianRows() if left.rows == right.rows:
            loss = _rows(left.root, right.root, left.rows)
        case InverseWishart() if left.dof == right.dof:
            # the precisions of X⁻¹ are the scales of X
            loss = _rows(left.root, right.root, left.dof).reversed()
        case _:
            return None
    return loss, loss.law


def _product(left: Product, right: Product) -> tuple[Curve, str]:
    pairs = _together(left, right)
    times = Counter((id(p), id(q)) for p, q in pairs)
    distinct = {(id(p), id(q)): (p, q) for p, q in pairs}
    named = [(*curve_of_laws(*parts), times[key]) for key, parts in distinct.items()]
    losses = [loss for loss, _, _ in named if isinstance(loss, PrivacyLoss)]
    if len(losses) == len(named):
        whole = compose(losses, [k for *_, k in named])
        return whole, whole.law
    curves = [part for part, _, k in named for _ in range(k)]
    names = [f"{k} × {name}" if k > 1 else name for _, name, k in named]
    return product_curve(curves), " + ".join(names)


def _together(left: Product, right: Product) -> list[tuple[Law, Law]]:
    """The parts in pairs, with all noise of one kind in `JOINED` in one part: coordinates with
    equal shifts, or with equal noise, have a closed form together.
    """
    pairs = list(zip(left.parts, right.parts, strict=True))
    for kind, names in JOINED.items():
        is_noise = [all(isinstance(part, kind) for part in pair) for pair in pairs]
        if sum(is_noise) > 1:
            left_noise, right_noise = (
                kind(*(np.concatenate([getattr(part, name) for part in side]) for name in names))
                for side in zip(*compress(pairs, is_noise), strict=True)
            )
            pairs = [*compress(pairs, np.logical_not(is_noise)), (left_noise, right_noise)]
    return pairs


def _gaussian(left: Gaussian, right: Gaussian) -> PrivacyLoss:
    gap = left.root @ (right.mean - left.mean)
    # roots are of the precision; in these coordinates the left covariance is I
    white = left.root @ solve_triangular(right.root, np.eye(len(gap)))
    excess, axes = eigh(white @ white.T - np.eye(len(gap)))
    shift, excess = axes.T @ gap, without_rounding(excess)
    return PrivacyLoss.of_axes(Axes.of_excess(shift, excess, np.ones_like(excess)), "Gaussian pair")


def _noise(left: GaussianNoise, right: GaussianNoise) -> PrivacyLoss:
    shift, ratio = (right.mean - left.mean) / left.deviation, right.deviation / left.deviation
    excess = (right.deviation - left.deviation) / left.deviation * (1.0 + ratio)
    return PrivacyLoss.of_axes(Axes(shift, excess, ratio**2, np.ones_like(shift)), "Gaussian pair")


def _rows(left_root: Array, right_root: Array, rows: int) -> PrivacyLoss:
    white = solve_triangular(left_root, right_root.T, trans="T").T  # right root · left root⁻¹
    excess = without_rounding(eigvalsh(white.T @ white - np.eye(len(white))))
    # singular values keep the digits of a small variance ratio, which 1 + excess may lose
    small = excess < -0.5
    ratio = np.where(small, np.linalg.svd(white, compute_uv=False)[::-1] ** 2, 1.0 + excess)
    excess = np.where(small, ratio - 1.0, excess)
    axes = Axes(np.zeros_like(excess), excess, ratio, np.full(len(excess), float(rows)))
    return PrivacyLoss.of_axes(axes, "Gaussian rows pair")


def _wishart(left: ShiftedWishart, right: ShiftedWishart) -> Curve:
    """One row more or less, or one replaced: the shifts differ by vvᵀ, −uuᵀ or both."""

    def white(matrix: Array) -> Array:
        half = solve_triangular(left.root, matrix, trans="T")
        return np.asarray(solve_triangular(left.root, half.T, trans="T"))

    size = eigvalsh(white(left.shift - right.shift))  # ascending
    largest = max(np.abs(white(law.shift)).max() for law in (left, right))
    rounding = max(16.0 * EPS * largest * len(size), RANK_ONE * np.abs(size).max())
    if np.any(np.abs(size[1:-1]) > rounding) or (
        len(size) > 1 and (size[0] > rounding or size[-1] < -rounding)
    ):
        raise NoExactSpectrum(
            "additive Wishart noise has an exact spectrum for one row zeroed, added or replaced, "
            "where two numbers decide; use dpaudit.audit, or bound it step by step"
        )
    up, down = max(float(size[-1]), 0.0), max(-float(size[0]), 0.0)
    if min(up, down) > rounding:
        return ReplacedWishartCurve(up, down, left.dof, len(size))
    curve = WishartCurve.of(max(up, down), left.dof, len(size))
    return curve if up >= down else curve.reversed()
