"""The exact curves of two LAWS, dispatched on their types; knows nothing of mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, eigvalsh, solve_triangular

from dpaudit._check import Array
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.axes import Axes
from dpaudit.laws import Gaussian, GaussianRows, Law, StudentT

Curves = tuple[Array, Array, str]


def curves(left: Law, right: Law, epsilon: Any) -> Curves:
    """(forward, backward, name) of two laws of one kind. Raises `NoExactSpectrum`."""
    if isinstance(left, Gaussian) and isinstance(right, Gaussian) and left.dim == right.dim:
        return _gaussian(left, right, epsilon)
    if isinstance(left, GaussianRows) and isinstance(right, GaussianRows) and left.rows == right.rows:
        return _gaussian_rows(left, right, epsilon)
    if isinstance(left, StudentT) and isinstance(right, StudentT) and left.dof == right.dof:
        from dpaudit.exact.student_pair import student_pair

        return (*student_pair(left, right, epsilon), "Student t pair (finite rows)")
    raise NoExactSpectrum(
        f"no exact spectrum for {type(left).__name__} against {type(right).__name__} of these sizes; "
        "use dpaudit.audit, which needs only draws"
    )


def limit(law: Law) -> Law:
    """The law for many sketch rows: N(x_opt, ‖w‖²M⁻¹/r) for an ALS output (paper 1, lemma 1), else the law itself."""
    if not isinstance(law, StudentT):
        return law
    return Gaussian(law.mean, law.root * np.sqrt(law.dof + law.dim - 1.0))


def white_axes(left_root: Array, right_root: Array) -> tuple[Array, Array]:
    """Axes on which both covariances are diagonal, in coordinates where the left one is I.

    Roots are of the PRECISION (upper triangular). Returns (variance − 1 of the right law, axes as columns).
    """
    turn = solve_triangular(right_root, np.eye(len(left_root)))
    white = left_root @ turn
    excess, axes = eigh(white @ white.T - np.eye(len(white)))
    return excess, axes


def _gaussian(left: Gaussian, right: Gaussian, epsilon: Any) -> Curves:
    gap = right.mean - left.mean
    if np.array_equal(left.root, right.root):
        shift = np.array([np.linalg.norm(left.root @ gap)])
        return (*Axes.of_excess(shift, np.zeros(1), np.ones(1)).delta(epsilon), "Gaussian shift")
    excess, axes = white_axes(left.root, right.root)
    shift = axes.T @ (left.root @ gap)
    return (*Axes.of_excess(shift, excess, np.ones_like(excess)).delta(epsilon), "Gaussian pair")


def _gaussian_rows(left: GaussianRows, right: GaussianRows, epsilon: Any) -> Curves:
    white = solve_triangular(left.root, right.root.T, trans="T").T  # right.root · left.root⁻¹
    excess = eigvalsh(white.T @ white - np.eye(len(white)))
    count = np.full(len(excess), float(left.rows))
    return (*Axes.of_excess(np.zeros_like(excess), excess, count).delta(epsilon), "Gaussian rows pair")
