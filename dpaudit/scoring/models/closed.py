"""Closed-form scores: log-ratios of two Gaussians, and logistic corrections of them.

In coordinates where the average covariance of the sides is I, P has mean gap/2 and covariance I −
excess/2, Q has −gap/2 and I + excess/2. With n draws a side the entries of the estimated gap have
variance 2/n, those of the excess 2/n off the diagonal and 4/n on it. In k columns the noise of some
k²/2 entries hides a difference that lies in one direction, as that of one row does. A structure
assumes where the difference lies, and keeps that part of the estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, rows_at_once
from dpaudit.scoring.models.logistic import Terms, fit_correction
from dpaudit.scoring.shrink import shrink_normal, shrink_regression
from dpaudit.scoring.whiten import Whitener

# added to each variance, in units of the whitened scale, since a side may be constant
RIDGE = 1e-9
FLAT = 1e-12  # excess along an axis below which only its gap counts
START = 1e-6  # relative error of the eigenvalue at which a search for a direction starts


@value_class
class Coordinates:
    """The map x ↦ (x − centre)·matrix − shift, (m, k) → (m, k').

    matrix : (k, k'), or (k,) for a diagonal matrix.
    """

    centre: Array
    matrix: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        """The coordinates of rows (m, k)."""
        z = x - self.centre
        z = np.multiply(z, self.matrix, out=z) if self.matrix.ndim == 1 else z @ self.matrix
        return np.subtract(z, self.shift, out=z)

    def along(self, axes: Array) -> Coordinates:
        """The map to these coordinates' components along the columns of `axes`."""
        diagonal = self.matrix.ndim == 1
        matrix = self.matrix[:, None] * axes if diagonal else self.matrix @ axes
        return replace(self, matrix=matrix, shift=self.shift @ axes)


@value_class
class MomentDifference:
    """The gap and the excess defined at the head of this file, from `draws` draws a side.

    coordinates : where the average covariance is I and the means are ±gap/2. gap : (k,). excess :
    (k, k).
    """

    coordinates: Coordinates
    gap: Array
    excess: Array
    draws: int

    @classmethod
    def fit(cls, *sets: Sides) -> MomentDifference:
        """Compute both from all draws, of one set or of several.

        Wide rows are whitened last, which saves a matrix product for each draw, unless columns are
        nearly collinear.
        """
        P, Q = [each.P for each in sets], [each.Q for each in sets]
        size, draws = P[0].shape[1], sum(map(len, P))
        if size > constants.WIDE:
            (mean_p, cov_p), (mean_q, cov_q) = _sums(P), _sums(Q)
            inner = 0.5 * (cov_p + cov_q)
            scale = np.sqrt(np.diag(inner))
            scale[scale == 0.0] = 1.0
            root, failed = dpotrf(inner / np.outer(scale, scale), lower=1)
            if not failed and dpocon(root, size, uplo="L")[0] > constants.WELL_CONDITIONED:
                axes = dtrtri(root, lower=1)[0].T / scale[:, None]
                middle = Coordinates(0.5 * (mean_p + mean_q), axes, np.zeros(size))
                excess = axes.T @ (cov_q - cov_p) @ axes
                return cls(middle, (mean_p - mean_q) @ axes, excess, draws)
        whiten = Whitener.fit(P[0], Q[0])  # approximate; the coordinates below are exact
        (mean_p, cov_p), (mean_q, cov_q) = _sums(P, whiten.rounded), _sums(Q, whiten.rounded)
        inner, size = 0.5 * (cov_p + cov_q), len(mean_p)
        root = np.linalg.cholesky(inner + RIDGE * (1.0 + np.trace(inner) / size) * np.eye(size))
        axes = solve_triangular(root, np.eye(size), lower=True).T
        middle = Coordinates(whiten.centre, whiten.matrix, 0.5 * (mean_p + mean_q))
        gap, excess = (mean_p - mean_q) @ axes, axes.T @ (cov_q - cov_p) @ axes
        return cls(middle.along(axes), gap, excess, draws)

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues (k,) and eigenvectors (columns) of the excess."""
        value, axes = np.linalg.eigh(self.excess)
        return value, axes


def _sums(
    parts: Sequence[Array],
    coordinates: Callable[[Array], Array] | None = None,
    diagonal: bool = False,
) -> tuple[Array, Array]:
    """Mean and covariance of the draws in all parts, or of their coordinates, or its diagonal
    alone, a chunk at a time: joining the parts would copy them.

    Sums are taken about the mean of the first chunk, so that squares do not cancel.
    """
    step, count = rows_at_once(parts[0]), sum(map(len, parts))
    chunks = (x[start : start + step] for x in parts for start in range(0, len(x), step))
    of_rows = coordinates or (lambda rows: rows)
    guess = of_rows(parts[0][:step]).mean(axis=0)
    first, second = np.zeros_like(guess), np.zeros(guess.shape * (1 if diagonal else 2))
    for rows in chunks:
        rows = of_rows(rows) - guess
        first += rows.sum(axis=0)
        second += np.einsum("ij,ij->j", rows, rows) if diagonal else rows.T @ rows
    mean = first / count
    return guess + mean, second / count - (mean**2 if diagonal else np.outer(mean, mean))


def full(moments: MomentDifference) -> MomentDifference:
    """Keep the whole gap and excess: quadratic discriminant analysis."""
    return moments


def shift(moments: MomentDifference) -> MomentDifference:
    """Keep a gap between the means, and one ratio of scales common to all directions."""
    size = len(moments.gap)
    level = _shrunk(np.trace(moments.excess) / size, 4.0 / (moments.draws * size))
    return replace(moments, gap=_stein(moments.gap, moments.draws), excess=level * np.eye(size))


def sparse(moments: MomentDifference) -> MomentDifference:
    """Keep the gap of a score that weighs few columns, and one ratio of scales.

    One item's count may differ given all others, though all of their means do. A gap that gains
    less than one weight must (Schwarz 1978) is 0: it would rank draws of equal sides by noise.
    """
    matrix = moments.coordinates.matrix
    invert = np.linalg.inv if matrix.shape[0] == matrix.shape[1] else np.linalg.pinv
    inverse = np.asarray(invert(matrix), dtype=np.float64)
    gap = shrink_regression(inverse, moments.gap, 2.0 / moments.draws)
    gain = 0.25 * moments.draws * (2.0 * moments.gap - gap) @ gap  # of log-likelihood, nats
    return replace(shift(moments), gap=gap if gain > 0.5 * np.log(moments.draws) else 0.0 * gap)


def directions(moments: MomentDifference) -> MomentDifference:
    """Keep the few directions in which gap and excess together stand out of the noise.

    The other directions keep one common ratio of scales, and the shrunken gap. A row's influence on
    a mean and on a covariance lies in one direction; either influence alone may be too weak to be
    seen.
    """
    axes = _directions(moments)
    rest = np.eye(len(moments.gap)) - axes @ axes.T
    size = max(len(rest) - axes.shape[1], 1)
    level = _shrunk(np.sum(rest * moments.excess) / size, 4.0 / (moments.draws * size))
    inside = axes.T @ moments.excess @ axes
    gap = axes @ (axes.T @ moments.gap) + _stein(rest @ moments.gap, moments.draws)
    if len(rest) <= constants.WIDE:
        return replace(moments, gap=gap, excess=axes @ inside @ axes.T + level * rest)
    # the eigenvectors are known, and an eigendecomposition of wide rows takes long
    value, turn = np.linalg.eigh(inside)
    basis = np.linalg.qr(axes @ turn, mode="complete")[0]
    value = np.append(value, np.full(len(rest) - len(value), level))
    along = moments.coordinates.along(basis)
    return replace(moments, coordinates=along, gap=basis.T @ gap, excess=np.diag(value))


def _directions(moments: MomentDifference) -> Array:
    """Orthonormal columns (k, j), found one by one until the remainder resembles noise."""
    size = len(moments.gap)
    left, axes = moments, np.zeros((size, 0))
    # evidence that noise may have: ½·χ² of the gap, and the excess at the edge of the semicircle
    noise = 1.5 * size + np.log(moments.draws)
    while axes.shape[1] < min(constants.MOST_DIRECTIONS, size):
        axis, gain = _strongest(left, axes)
        if gain < noise:
            break
        axes = np.column_stack([axes, axis])
        rest = np.eye(size) - axes @ axes.T
        left = replace(moments, gap=rest @ moments.gap, excess=rest @ moments.excess @ rest)
    return axes


def _strongest(moments: MomentDifference, others: Array) -> tuple[Array, float]:
    """The unit vector u orthogonal to `others`, (k, j), with the most evidence, and the evidence,
    nats.

    With g the gap, E the excess and c the bulk of E, the evidence n(gᵀu)²/4 + n(uᵀEu − c)²/8 is, to
    second order, the gain in log-likelihood from a gap and a variance of its own along u.
    """
    size, draws = len(moments.gap), moments.draws
    rest = np.eye(size) - others @ others.T
    bulk = np.trace(moments.excess) / max(size - others.shape[1], 1)
    excess = moments.excess - bulk * rest

    def negative_evidence(v: Array) -> tuple[float, Array]:
        """Minus the evidence of the direction of v, and the gradient in v."""
        length = np.linalg.norm(v)
        u = v / length
        image, along = excess @ u, moments.gap @ u
        value = u @ image
        slope = 0.5 * along * moments.gap + 0.5 * value * image
        evidence = draws * (0.25 * along**2 + 0.125 * value**2)
        return -evidence, -draws * (slope - (slope @ u) * u) / length

    from scipy.optimize import minimize  # here: slow to import

    if size > constants.WIDE and excess.any():  # Lanczos's method needs a matrix that is not 0
        from scipy.sparse.linalg import eigsh  # here: slow to import

        random = np.random.default_rng(0).standard_normal(size)
        # with fewer draws than columns many eigenvalues are 2 or −2, and to all digits Lanczos's
        # method may not find one vector among them
        starts = [eigsh(excess, 1, v0=random, tol=START)[1][:, 0]]
    else:
        value, axes = moments.eigen
        starts = [axes[:, np.argmax(np.abs(value - bulk))]]
    if np.linalg.norm(moments.gap) > 0.0:
        starts.append(moments.gap / np.linalg.norm(moments.gap))
    ends = [minimize(negative_evidence, start, jac=True, method="L-BFGS-B") for start in starts]
    best = min(ends, key=lambda end: float(end.fun))
    axis = rest @ best.x
    return axis / np.linalg.norm(axis), -float(best.fun)


def _stein(gap: Array, draws: int) -> Array:
    """The gap, of entry variance 2/draws, shrunk by James and Stein's positive-part rule."""
    spare = max(len(gap) - 2, 0) * 2.0 / draws
    return gap * max(0.0, 1.0 - spare / max(float(gap @ gap), 1e-300))


def _shrunk(level: float, variance: float) -> float:
    """An estimate with this variance, shrunk towards 0; it is 0 within one standard error of 0."""
    return level * max(0.0, 1.0 - variance / max(level**2, 1e-300))


Structure = Callable[[MomentDifference], MomentDifference]
STRUCTURES: dict[str, Structure] = {
    "directions": directions,
    "shift": shift,
    "sparse": sparse,
    "full": full,
}


@value_class
class Quadratic:
    """The score log N(x; gap/2, 1 − excess/2) − log N(x; −gap/2, 1 + excess/2), summed over axes.

    coordinates : along the eigenvectors of the excess. gap, excess : (k,), along these axes.
    """

    coordinates: Coordinates
    gap: Array
    excess: Array  # inside (−2, 2), where both variances are positive

    @classmethod
    def of(cls, moments: MomentDifference) -> Quadratic:
        """The score of the two Gaussians with these moments."""
        coordinates, gap, value = moments.coordinates, moments.gap, np.diag(moments.excess)
        if np.count_nonzero(moments.excess) > np.count_nonzero(value):
            value, axes = moments.eigen
            coordinates, gap = coordinates.along(axes), axes.T @ gap
        return cls(coordinates, gap, np.clip(value, -2.0 + RIDGE, 2.0 - RIDGE))

    def distances(self, z: Array) -> tuple[Array, Array]:
        """The squared Mahalanobis distances, (m,) each, of coordinates (m, k) from P's and Q's
        mean.
        """
        return (
            (z - 0.5 * self.gap) ** 2 @ (1.0 / (1.0 - 0.5 * self.excess)),
            (z + 0.5 * self.gap) ** 2 @ (1.0 / (1.0 + 0.5 * self.excess)),
        )

    def of_coordinates(self, z: Array) -> Array:
        """The score ½(d_Q − d_P) + ½ ln(det Σ_Q/det Σ_P) of coordinates, with d as in `distances`.

        The squares are multiplied out, so the coordinates are read only once.
        """
        p, q = 1.0 / (1.0 - 0.5 * self.excess), 1.0 / (1.0 + 0.5 * self.excess)
        constant = 0.125 * (q - p) @ self.gap**2 + np.sum(np.arctanh(0.5 * self.excess))
        return z**2 @ (0.5 * (q - p)) + z @ (0.5 * (p + q) * self.gap) + constant

    def __call__(self, x: Array) -> Array:
        """The score of rows (m, k)."""
        if 2 * np.sum(np.abs(self.excess) < FLAT) > len(self.gap) > constants.WIDE:
            return self._short(x)
        return self.of_coordinates(self.coordinates(x))

    @cached_property
    def _short(self) -> Quadratic:
        """The same score on fewer axes: those with an excess, and one for all other gaps."""
        flat = np.abs(self.excess) < FLAT
        rest = np.where(flat, self.gap, 0.0)
        length = max(float(np.linalg.norm(rest)), np.finfo(float).tiny)
        axes = np.column_stack([np.eye(len(self.gap))[:, ~flat], rest / length])
        gap, excess = np.append(self.gap[~flat], length), np.append(self.excess[~flat], 0.0)
        return Quadratic(self.coordinates.along(axes), gap, excess)


def fit_quadratic(train: Sides, structure: Structure = full) -> Quadratic:
    """Fit the Gaussian log-ratio by all draws' moments, or by the part that `structure` keeps."""
    return Quadratic.of(structure(MomentDifference.fit(train)))


def fit_by_column(*sets: Sides) -> Quadratic:
    """Fit the Gaussian log-ratio of independent columns, with sparse gaps and ratios of variances.

    Each column's gap and excess are shrunk by empirical Bayes on those of all columns
    (`shrink_normal`), which suits few columns that differ among many.
    """
    P, Q = [each.P for each in sets], [each.Q for each in sets]
    (mean_p, var_p), (mean_q, var_q) = _sums(P, diagonal=True), _sums(Q, diagonal=True)
    draws = sum(map(len, P))
    apart, inner = mean_p - mean_q, 0.5 * (var_p + var_q)
    spread = inner + (0.5 * apart) ** 2  # of both sides together; 0 where a column is constant
    variance = inner + RIDGE * np.where(spread > 0.0, spread, 1.0)
    unit = np.where(spread > 0.0, 1.0 / np.sqrt(variance), 0.0)
    gap = shrink_normal(apart * unit, 2.0 / draws)
    excess = shrink_normal((var_q - var_p) * unit**2, 4.0 / draws)
    coordinates = Coordinates(0.5 * (mean_p + mean_q), unit, np.zeros_like(unit))
    return Quadratic(coordinates, gap, np.clip(excess, -2.0 + RIDGE, 2.0 - RIDGE))


def fit_elliptical(train: Sides, choose: Sides, base: Quadratic) -> Score:
    """Correct `base` by the two squared Mahalanobis distances d² and logarithms of them.

    A pair of multivariate t laws has the loss c + a·ln(1 + d_Q²/ν) − a·ln(1 + d_P²/ν); a few ν
    approximate any other. Gaussian pairs are linear in d².
    """

    def terms(x: Array) -> Terms:
        z = base.coordinates(x)
        d_p, d_q = np.minimum(base.distances(z), constants.FARTHEST_DISTANCE)
        scales = len(base.gap) * np.array([0.3, 3.0, 30.0])
        logs = np.log1p(np.stack([d_p, d_q], axis=1)[:, :, None] / scales)
        features = np.column_stack([d_q - d_p, logs.reshape(len(x), -1), d_p])
        return base.of_coordinates(z), features

    draws = min(constants.CORRECTION_DRAWS, constants.CORRECTION_NUMBERS // len(base.gap))
    return fit_correction(base, terms, train.head(draws), choose)


def fit_logistic(train: Sides, choose: Sides, base: Quadratic) -> Score | None:
    """Correct `base` by its coordinates, their squares and products; None with too few draws."""
    size = len(base.gap)
    rows, columns = np.triu_indices(size)
    affordable = int(constants.CORRECTION_WORK / (size + len(rows)) ** 2)
    draws = min(len(train.P), constants.CORRECTION_DRAWS, affordable)
    if 2 * draws < constants.DRAWS_A_FEATURE * (size + len(rows)):
        return None

    def terms(x: Array) -> Terms:
        z = base.coordinates(x)
        features = np.concatenate([z, z[:, rows] * z[:, columns]], axis=1)
        return base.of_coordinates(z), features

    return fit_correction(base, terms, train.head(draws), choose)
