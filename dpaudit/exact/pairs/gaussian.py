"""Any two Gaussians: the axes on which both are diagonal, singular covariances included.

On one axis N(0, 1) against N(m, v) has L(z) = a z² + b z + c under z ~ N(0, 1), with
a = −(v − 1)/(2v), b = −m/v and c = m²/(2v) + ½ ln v. So
M(s) = (1 − 2as)^{−½} exp(cs + b²s²/(2(1 − 2as))), and independent axes multiply.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.gaussian_shift import gaussian_shift
from dpaudit.exact.numerics.contour import LossTransform, hockey_stick
from dpaudit.exact.numerics.sorted_epsilon import Curves, by_sorted_epsilon

EPS = float(np.finfo(np.float64).eps)
# ratios of variances beyond this or its inverse are read off the law that has the smaller one
UNEQUAL = 1.2345e-3
CLEAR = 1e-4  # of a pivot of Cholesky's factor, for variances of 1
ASTRAY = 1e-7  # part of a unit direction, or of a mean, outside a support: below is rounding
BLOCK = 1 << 17  # complex numbers at a time: stays in cache


def gaussian_pair(
    mean1: ArrayLike, cov1: ArrayLike, mean2: ArrayLike, cov2: ArrayLike, epsilon: ArrayLike
) -> Curves:
    """Exact δ(ε) of N(mean1, cov1) against N(mean2, cov2), (forward, backward) = (1 → 2, 2 → 1).

    Parameters
    ----------
    mean1, cov1 : arrays of shape (d,) and (d, d)
        The first law. A covariance is symmetric positive semi-definite. Unless both laws live on
        the same affine subspace they share no output and δ = 1.
    mean2, cov2 : arrays of shape (d,) and (d, d)
        The second law.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0; the results have its shape.

    References
    ----------
    Paper 1, lemma 2 (there as a Monte Carlo average); here by contour inversion,
    `dpaudit.exact.numerics.contour`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> first, second = ([0.0, 0.0], np.eye(2)), ([1.0, 0.0], np.diag([1.0, 2.0]))
    >>> forward, backward = dp.exact.gaussian_pair(*first, *second, [0.0, 3.0])
    >>> print(forward, backward)
    [0.41749657 0.00268131] [0.41749657 0.01627292]
    """
    axes = diagonalise(mean1, cov1, mean2, cov2)
    if axes is None:
        certain = np.ones_like(check.epsilon(epsilon))
        return certain, certain
    return axes.delta(epsilon)


def diagonalise(
    mean1: ArrayLike, cov1: ArrayLike, mean2: ArrayLike, cov2: ArrayLike
) -> Axes | None:
    """Axes of N(mean1, cov1) against N(mean2, cov2), or None if they share no output (δ = 1).

    Two Gaussians that do not live on one affine subspace are mutually singular: their subspaces
    meet in a set that at least one of them gives probability 0. On a common subspace both are
    regular. A covariance counts as singular when, scaled to unit variances, it has an eigenvalue
    below 8·d·2⁻⁵² of its largest. Raises `InvalidInput`.
    """
    mean1, mean2 = _mean("mean1", mean1), _mean("mean2", mean2)
    if mean1.shape != mean2.shape:
        fail(
            "mean2", Words(f"shape {mean2.shape}"), f"an array of the shape of mean1, {mean1.shape}"
        )
    cov1, cov2 = _covariance("cov1", cov1, len(mean1)), _covariance("cov2", cov2, len(mean1))
    scale = np.sqrt(np.diag(cov1) + np.diag(cov2))
    gap, moves = mean2 - mean1, scale > 0.0
    if np.any(gap[~moves]):
        return None  # a coordinate that is constant in both laws differs
    # a power of 2, so that scaling rounds nothing and differences stay exact
    scale = np.exp2(np.round(np.log2(scale, out=np.zeros_like(scale), where=moves)))
    gap, scale = gap[moves] / scale[moves], np.outer(scale, scale)[np.ix_(moves, moves)]
    cov1, cov2 = (cov[np.ix_(moves, moves)] / scale for cov in (cov1, cov2))
    support1, support2 = _support("cov1", cov1), _support("cov2", cov2)
    if support1.shape[1] == support2.shape[1] == len(gap):
        return _regular(gap, cov1, cov2)
    if support1.shape != support2.shape:
        return None
    outside = np.linalg.norm(support2 - support1 @ (support1.T @ support2), axis=0)
    off = np.linalg.norm(gap - support1 @ (support1.T @ gap))
    if np.any(outside > ASTRAY) or off > ASTRAY * np.linalg.norm(gap):
        return None
    return _regular(support1.T @ gap, support1.T @ cov1 @ support1, support1.T @ cov2 @ support1)


def _support(name: str, cov: Array) -> Array:
    """Orthonormal basis (d, rank) of the range of a covariance; the identity when it is regular."""
    deviation = np.sqrt(np.diag(cov))
    alive = deviation > 0.0
    unit = cov[np.ix_(alive, alive)] / np.outer(deviation[alive], deviation[alive])
    if alive.all():
        try:  # pivots of Cholesky's factor far from rounding; cheaper than eigenvalues
            if np.diag(np.linalg.cholesky(unit)).min(initial=1.0) > CLEAR:
                return np.eye(len(cov))
        except np.linalg.LinAlgError:
            pass
    value, axes = eigh(unit) if alive.any() else (np.zeros(0), unit)
    floor = 8.0 * len(cov) * EPS * value.max(initial=0.0)
    if np.any(value < -max(floor, 1e-10)):
        fail(
            name,
            Words(f"a matrix with the negative eigenvalue {value[0]:.3g} (variances scaled to 1)"),
            "a covariance",
        )
    if alive.all() and np.all(value > floor):
        return np.eye(len(cov))
    spread = np.zeros((len(cov), int(np.sum(value > floor))))
    spread[alive] = deviation[alive, None] * axes[:, value > floor]
    return np.asarray(qr(spread, mode="economic")[0])


def _regular(gap: Array, cov1: Array, cov2: Array) -> Axes:
    """Axes of two regular laws, from the pencil (C₂ − C₁, C₁ + C₂).

    It has the eigenvalues γ = (v − 1)/(v + 1) for variance ratios v. The difference is taken before
    whitening, so nearly equal laws keep their digits; a very large or small v is taken from
    (C₂ − C₁, C₁) or (C₁ − C₂, C₂), where it is the largest eigenvalue and accurate too.
    """
    gamma, shift = _pencil(cov2 - cov1, cov1 + cov2, gap)
    gamma = without_rounding(gamma)
    own = 1.0 - gamma
    tiny, huge = int(np.sum(gamma < UNEQUAL - 1.0)), int(np.sum(own < UNEQUAL))
    with np.errstate(divide="ignore", invalid="ignore"):
        excess, ratio, shift = 2.0 * gamma / own, (1.0 + gamma) / own, shift / np.sqrt(0.5 * own)
    if huge:
        excess[-huge:], shift[-huge:] = (part[-huge:] for part in _pencil(cov2 - cov1, cov1, gap))
        ratio[-huge:] = 1.0 + excess[-huge:]
    if tiny:
        other, far = (part[-tiny:] for part in _pencil(cov1 - cov2, cov2, gap))
        ratio[:tiny] = 1.0 / (1.0 + other)
        excess[:tiny], shift[:tiny] = -other * ratio[:tiny], far * np.sqrt(ratio[:tiny])
    return Axes(shift, excess, ratio, np.ones_like(shift))


def without_rounding(value: Array) -> Array:
    """The eigenvalues with mere rounding set to 0, so that equal axes can merge."""
    return np.where(
        np.abs(value) > 4.0 * len(value) * EPS * np.abs(value).max(initial=0.0), value, 0.0
    )


def _pencil(difference: Array, base: Array, gap: Array) -> tuple[Array, Array]:
    """Eigenvalues of base⁻¹·difference, ascending, and the gap there in deviations of `base`."""
    root = np.linalg.cholesky(base)
    half = solve_triangular(root, difference, lower=True)
    white = solve_triangular(root, half.T, lower=True)
    value, axes = eigh(0.5 * (white + white.T))
    return value, axes.T @ solve_triangular(root, gap, lower=True)


def _mean(name: str, value: ArrayLike) -> Array:
    expected = "finite numbers, shape (d,)"
    array = np.atleast_1d(_numbers(name, value, expected))
    if array.ndim != 1:
        fail(name, Words(f"shape {array.shape}"), expected)
    return array


def _covariance(name: str, value: ArrayLike, size: int) -> Array:
    expected = f"a finite symmetric ({size}, {size}) matrix"
    array = np.atleast_2d(_numbers(name, value, expected))
    if array.shape != (size, size):
        fail(name, Words(f"shape {array.shape}"), expected)
    if not np.allclose(array, array.T, rtol=1e-8, atol=1e-300):
        fail(name, Words("an asymmetric matrix"), expected)
    if np.any(np.diag(array) < 0.0):
        fail(name, Words("a negative one"), "variances >= 0")
    return 0.5 * (array + array.T)


def _numbers(name: str, value: ArrayLike, expected: str) -> Array:
    array = np.asarray(check.array_of_numbers(name, value, expected), dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = wrong[0].tolist()
        fail(name, Words(f"{array[tuple(place)]} at {place}"), expected)
    return array


@value_class
class Axes:
    """N(0, 1) against N(shift, ratio) on independent axes; arrays of shape (k,).

    count : copies of each axis. excess : ratio − 1, kept beside `ratio` so that neither
    nearly equal nor very unequal variances lose their digits.
    """

    shift: Array
    excess: Array
    ratio: Array
    count: Array

    @classmethod
    def of_excess(cls, shift: Array, excess: Array, count: Array) -> Axes:
        used = count > 0
        return cls(shift[used], excess[used], 1.0 + excess[used], count[used])

    def reversed(self) -> Axes:
        """The second law against the first, in coordinates where the second is N(0, 1)."""
        return Axes(
            -self.shift / np.sqrt(self.ratio),
            -self.excess / self.ratio,
            1.0 / self.ratio,
            self.count,
        )

    @property
    def distance(self) -> float | None:
        """‖shift‖ in standard deviations if the covariances are equal, else None."""
        return (
            float(np.sqrt(np.sum(self.count * self.shift**2))) if not np.any(self.excess) else None
        )

    def delta(self, epsilon: ArrayLike) -> Curves:
        if self.distance is not None:
            shift = gaussian_shift(self.distance, epsilon)
            return shift, shift
        forward, backward = self.transforms()
        return by_sorted_epsilon(
            epsilon, lambda e: (hockey_stick(forward, e), hockey_stick(backward, e))
        )

    def transforms(self) -> tuple[LossTransform, LossTransform]:
        return self._transform(), self.reversed()._transform()

    def _transform(self) -> LossTransform:
        a, b = -0.5 * self.excess / self.ratio, -self.shift / self.ratio
        log_ratio = np.where(
            np.abs(self.excess) < 0.5, np.log1p(np.maximum(self.excess, -0.5)), np.log(self.ratio)
        )
        c = float(np.sum(self.count * (0.5 * self.shift**2 / self.ratio + 0.5 * log_ratio)))
        curved = a != 0.0
        top = c - float(np.sum(self.count[curved] * b[curved] ** 2 / (4.0 * a[curved])))
        bounded = bool(np.all(a <= 0.0) and np.all(b[~curved] == 0.0))
        a_, b2, count = _merged(a, b, self.count)

        def slope(s: Array) -> Array:
            room = 1.0 - 2.0 * a_ * s[:, None]
            pull = b2 * s[:, None] * (1.0 - a_ * s[:, None]) / room**2
            return np.asarray(c + _over_axes(a_ / room + pull, count))

        def curvature(s: Array) -> Array:
            room = 1.0 - 2.0 * a_ * s[:, None]
            return _over_axes(2.0 * a_**2 / room**2 + b2 / room**3, count)

        return LossTransform(
            _log_m(a_, b2, count, c),
            slope,
            curvature,
            end=float(1.0 / (2.0 * a.max())) if a.max() > 0.0 else np.inf,
            maximum=top if bounded else np.inf,
        )


def _merged(a: Array, b: Array, count: Array) -> tuple[Array, Array, Array]:
    """Each distinct axis once, and all straight ones (a = 0) as one; with b² for b."""
    straight = a == 0.0
    if straight.any():
        pull = float(np.sum((count * b**2)[straight]))
        a, b = np.append(a[~straight], 0.0), np.append(b[~straight], np.sqrt(pull))
        count = np.append(count[~straight], 1.0)
    distinct, back = np.unique(np.column_stack([a, b**2]), axis=0, return_inverse=True)
    return distinct[:, 0], distinct[:, 1], np.bincount(back.ravel(), count).astype(np.float64)


def _log_m(a: Array, b2: Array, count: Array, c: float):  # type: ignore[no-untyped-def]
    step = max(1, BLOCK // len(a))

    def log_m(s: np.ndarray) -> np.ndarray:
        return c * s + np.concatenate([part(s[at : at + step]) for at in range(0, len(s), step)])

    def part(s: np.ndarray) -> np.ndarray:
        bent = -2.0 * np.multiply.outer(s, a)  # room − 1
        pull = s * s * _over_axes(1.0 / (1.0 + bent), count * b2) if b2.any() else 0.0
        return np.asarray(0.5 * (pull - _over_axes(np.log1p(bent), count)))

    return log_m


def _over_axes(values: np.ndarray, weight: Array) -> np.ndarray:
    """values @ weight without BLAS, whose waiting threads took 10 times as long at d = 100."""
    return np.asarray(np.einsum("ij,j->i", values, weight))
