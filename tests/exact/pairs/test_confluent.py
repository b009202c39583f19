"""G(y) against mpmath's confluent hypergeometric function."""

import numpy as np
import pytest
from mpmath import mp

from dpaudit.exact.pairs.replaced_wishart import LogG


@pytest.mark.parametrize(
    ("order", "values"),
    [(2, (1e-6, 0.3, 40.0)), (7, (1e-3, 5.0, 900.0)), (41, (10.0, 60.0)), (140, (100.0, 280.0))],
)
def test_log_g_on_pieces(order, values):
    """√π U(½, (m + 3)/2, y) at y = z/2, by the recursion and by the trapezoidal rule."""
    found = LogG.between(0.9 * values[0], 1.1 * values[-1], order)(np.array(values))
    for z, value in zip(values, found, strict=True):
        exact = mp.log(mp.sqrt(mp.pi) * mp.hyperu(0.5, (order + 3) / 2, z / 2))
        assert value == pytest.approx(float(exact), rel=1e-11, abs=1e-11)
