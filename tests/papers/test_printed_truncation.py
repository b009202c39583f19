"""Paper 2's printed radii and noise against the expressions in the text, and their errors."""

import math

import numpy as np
import pytest

from dpaudit import papers

printed = papers.printed


pytestmark = pytest.mark.quick

D, N, ETA, MU, T = 7, 300, 0.02, 0.8, 4
LOG = math.log(2 * N / ETA)
RADIUS = math.sqrt(D * (1 + LOG))
TRACE_LOG = 5.0 + D * math.log(N / ETA)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (printed.algorithm_1_radius(D, N, ETA), RADIUS),
        (printed.theorem_3_2_sigma(D, N, ETA, MU), 2 * D * (1 + LOG) / (MU * N)),
        (
            printed.theorem_3_2_norm(D, N, ETA, MU),
            math.sqrt(D**3 * math.log(2 * D / ETA)) * (1 + LOG) / (MU * N),
        ),
        (printed.algorithm_2_sigmas(D, N, ETA, MU)[1], 2 * math.sqrt(D) * (1 + LOG) / (MU * N)),
        (
            printed.theorem_4_3_sigmas(5.0, 3.0, D, N, ETA, MU),
            np.array([2.0, 6.0]) * TRACE_LOG / (MU * N),
        ),
        (
            printed.remark_4_4_sigmas(5.0, 2.0, D, N, ETA, MU)[1],
            math.sqrt(TRACE_LOG * (2 + math.log(N / ETA))) / N,
        ),
        (
            printed.algorithm_3_sigmas(D, N, ETA, MU, T),
            np.array([0.5, 2.0]) * math.sqrt(T) * D * (1 + LOG) / (MU * N),
        ),
        (
            printed.algorithm_5_sigmas(5.0, D, N, ETA, MU, T),
            np.array([0.5, 2.0]) * math.sqrt(T) * TRACE_LOG / (MU * N),
        ),
        (
            printed.algorithm_4_sigmas(D, N, ETA, MU, T, 3.0, 2.0, 9.0),
            2
            * math.sqrt(T)
            / (MU * N)
            * np.array([9 * D * (1 + LOG), 5 * math.sqrt(D * (1 + LOG))]),
        ),
        (printed.gradient_descent_sigma(1.5, N, MU, T), 3 * math.sqrt(T) / (MU * N)),
    ],
)
def test_the_expression_in_the_text(found, text):
    np.testing.assert_allclose(found, text, rtol=1e-13)


def test_the_noise_passes_its_printed_bound():
    """Inequality (1) is to hold with probability 1 − O(η).

    190 of 200 draws pass it (P < 1e-40 were it one half).
    """
    dim, rng = 10, np.random.default_rng(0)
    sigma, bound = (
        printed.theorem_3_2_sigma(dim, 1000, 0.05, 1.0),
        printed.theorem_3_2_norm(dim, 1000, 0.05, 1.0),
    )
    upper = np.triu(sigma * rng.standard_normal((200, dim, dim)))
    noise = upper + np.swapaxes(np.triu(upper, 1), 1, 2)
    assert np.sum(np.linalg.norm(noise, 2, axis=(1, 2)) > bound) >= 190
    assert sigma * math.sqrt(2 * dim * math.log(2 * dim / 0.05)) == pytest.approx(
        2 * math.sqrt(2) * bound
    )
