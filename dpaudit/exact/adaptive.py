"""A release with a parameter set by an earlier release: the exact spectrum of both together.

The first release is one number x, with densities p and q on the two databases; the second depends
on x. Together they have δ(ε) = ∫ p(x) δ_x(ε − log p(x)/q(x)) dx, by quadrature. Here δ_x is the
curve of the second release at that x, and δ_x(−e) = 1 − e^{−e} + e^{−e}·(other direction at e) for
e > 0. All terms are positive. If x is not released, this is an upper bound for the second release
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.curves.spectrum import Curve
from dpaudit.exact.pairs.discrete import Atoms, BranchCurve
from dpaudit.laws.density import gauss_legendre, panel_edges
from dpaudit.laws.vectors import laplace_log_density

# natural-log units below the peak beyond which the first release is left out
TAIL_LAPLACE, TAIL_GAUSSIAN = (45.0, 60.0)
WIDTH_LAPLACE, WIDTH_GAUSSIAN = 4.0, 1.5  # of a panel, in scales of the noise


@value_class
class FirstRelease:
    """One released number x, by its log densities on D and on D'.

    log_p, log_q : vectorised (m,) → (m,), smooth between neighbouring `edges`, outside of which the
    mass is negligible. Made by `FirstRelease.laplace`, `FirstRelease.gaussian`, or directly.
    """

    log_p: Callable[[Array], Array]
    log_q: Callable[[Array], Array]
    edges: Array

    @classmethod
    def laplace(cls, left: float, right: float, scale: float) -> FirstRelease:
        """`left` on D, `right` on D', plus Laplace noise of density e^{−|x|/scale}/(2·scale)."""
        left, right = check.real("left", left), check.real("right", right)
        scale = check.real("scale", scale, 0.0, open_=True)
        return cls(
            lambda x: laplace_log_density((x - left) / scale) - np.log(scale),
            lambda x: laplace_log_density((x - right) / scale) - np.log(scale),
            _panels(left, right, TAIL_LAPLACE * scale, WIDTH_LAPLACE * scale),
        )

    @classmethod
    def gaussian(cls, left: float, right: float, sigma: float) -> FirstRelease:
        """`left` on D, `right` on D', plus N(0, σ²), σ > 0."""
        left, right = check.real("left", left), check.real("right", right)
        sigma = check.real("sigma", sigma, 0.0, open_=True)

        constant, reach = 0.5 * np.log(2.0 * np.pi), np.sqrt(2.0 * TAIL_GAUSSIAN) * sigma
        return cls(
            lambda x: -0.5 * ((x - left) / sigma) ** 2 - constant - np.log(sigma),
            lambda x: -0.5 * ((x - right) / sigma) ** 2 - constant - np.log(sigma),
            _panels(left, right, reach, WIDTH_GAUSSIAN * sigma),
        )


def adaptive_curve(
    first: FirstRelease, curves: Callable[[float], Curve], breaks: Sequence[float] = ()
) -> BranchCurve:
    """The curve of the number x and the second release together, by 16 Gauss nodes a panel.

    first : the law of x on the two databases. curves : x ↦ the curve of the second release on them,
    asked once at every node; nodes at which it returns the SAME object are summed together.
    breaks : the x at which that curve is not smooth in x, such as the end of a clipped range.

    The error is some 1e-9 of δ, and 1e-19 absolute, if the curve varies with x as slowly as the
    noise's density does.
    """
    nodes, weights = gauss_legendre(*_ends(first.edges, breaks))
    x, log_weight = nodes.ravel(), np.log(weights.ravel())
    p, q = (np.asarray(log(x)) + log_weight for log in (first.log_p, first.log_q))
    return BranchCurve(Atoms(p, q), tuple(curves(float(value)) for value in x))


def _ends(edges: Array, breaks: Sequence[float]) -> tuple[Array, Array]:
    edges = np.asarray(edges, dtype=np.float64)
    ascending = edges.ndim == 1 and len(edges) > 1 and np.all(np.diff(edges) > 0.0)
    if not ascending or not np.all(np.isfinite(edges)):
        fail("edges", edges, "at least two finite numbers, ascending")
    marks = np.array([check.real("breaks", mark) for mark in breaks])
    edges = np.union1d(edges, marks[(marks > edges[0]) & (marks < edges[-1])])
    return edges[:-1], edges[1:]


def _panels(left: float, right: float, reach: float, width: float) -> Array:
    """Edges of panels of at most `width` through both centres, up to `reach` beyond them."""
    low, high = min(left, right) - reach, max(left, right) + reach
    return panel_edges(np.array([left, right]), width, low=low, high=high, width=1.0)
