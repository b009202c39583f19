"""Two computations of one spectrum agree: monotone-loss quadrature and contour inversion."""

import numpy as np
import pytest

from dpaudit.exact import StudentPairCurve, als
from dpaudit.laws import StudentT

pytestmark = pytest.mark.quick

EPSILON = np.array([0.0, 0.1, 0.3, 1.0, 4.0, 20.0])


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
