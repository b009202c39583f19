"""Two computations of one spectrum agree: monotone-loss quadrature and contour inversion."""

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.exact import StudentPairCurve, als, gaussian_pair, gaussian_sketch
from dpaudit.exact.pairs.gaussian import Axes
from dpaudit.laws import StudentT

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.1, 0.3, 1.0, 4.0, 20.0])


def agree(one: np.ndarray, other: np.ndarray, relative: float, smallest: float = 1e-25) -> None:
    seen = np.maximum(one, other) >= smallest
    np.testing.assert_allclose(one[seen], other[seen], rtol=relative, atol=0.0)


@pytest.mark.parametrize("rows", [1, 4, 30, 1200])
@pytest.mark.parametrize("q", [1e-9, 1e-3, 0.03, 0.5, 0.9, 0.999, 1 - 1e-6])
def test_sketch_by_chi_square_and_by_contour(q, rows):
    forward, backward = gaussian_sketch(q, rows, EPSILON)
    other = Axes.of_excess(np.zeros(1), np.array([-q]), np.array([float(rows)])).delta(EPSILON)
    agree(forward, other[0], 1e-10)
    agree(backward, other[1], 1e-10)


def student_laws(h: float, t: float, p: int, rows: int) -> tuple[StudentT, StudentT]:
    """The two laws in the coordinates of theory: a shift and two scales along one axis."""
    mean, root = np.zeros(p), np.eye(p) / np.sqrt(1.0 - t)
    mean[0] = np.sqrt(h * t / (1.0 - h))
    root[0, 0] *= np.sqrt(1.0 - h)
    return StudentT(np.zeros(p), np.eye(p), rows - p + 1), StudentT(mean, root, rows - p + 1)


@pytest.mark.parametrize("seed", range(20))
def test_als_by_direction_angle_and_by_contour(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.choice([1, 2, 3, 5, 12, 30]))
    rows = p + int(rng.choice([1, 2, 5, 20, 200, 3000]))
    h, t = (
        float(rng.choice([0.0, rng.random() ** 4, rng.random()])),
        float(1e-4 + 0.9 * rng.random() ** 3),
    )
    ours, other = (
        als(h, t, p, rows, EPSILON),
        StudentPairCurve(*student_laws(h, t, p, rows)).delta(EPSILON),
    )
    np.testing.assert_allclose(ours[0], other[0], atol=1e-11)
    np.testing.assert_allclose(ours[1], other[1], atol=1e-11)


@pytest.mark.parametrize(("mean", "variance"), [(0.5, 1.2), (0.5, 0.8), (3.0, 0.1), (0.01, 0.999)])
def test_gaussian_pair_on_a_line_by_its_roots(mean, variance):
    """In one dimension {L > ε} is an interval between two roots, or its complement."""
    for epsilon in (0.0, 0.3, 1.0):
        forward, _ = gaussian_pair([0.0], [[1.0]], [mean], [[variance]], epsilon)
        assert float(forward) == pytest.approx(on_a_line(mean, variance, epsilon), abs=2e-14)


def on_a_line(mean: float, variance: float, epsilon: float) -> float:
    a, b = 0.5 * (1 / variance - 1), -mean / variance
    roots = np.sort(np.roots([a, b, 0.5 * mean**2 / variance + 0.5 * np.log(variance) - epsilon]))
    if np.iscomplexobj(roots):
        return max(0.0, 1.0 - np.exp(epsilon)) if a > 0 else 0.0
    inside = np.diff(norm.cdf(roots)) - np.exp(epsilon) * np.diff(
        norm.cdf((roots - mean) / np.sqrt(variance))
    )
    return float(inside[0] if a < 0 else 1.0 - np.exp(epsilon) - inside[0])
