"""Algorithm 2 and its neighbours: the printed steps, exact against certified, units."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit.mechanisms import RPLS
from dpaudit.papers import LinearMixing, LogisticMixing, SheffetOLS, SheffetRenyiOLS
from tests.papers.paper_3.steps import sketches_by_steps
from tests.sparse import one_in

SIZE, ERROR = 3_000, 1e-6  # of each comparison of equal laws
RNG = np.random.default_rng(5)
X = RNG.uniform(-0.5, 0.5, (12, 3))
DATA = np.column_stack([X, np.clip(X @ [1.0, -0.5, 0.3] + RNG.uniform(-0.3, 0.3, 12), -1.0, 1.0)])
BIG = np.repeat(DATA, 60, axis=0)
SIGNS = np.column_stack([X, np.sign(DATA[:, -1])])

BY_STEPS = [
    (LinearMixing(6, 30.0, 0.01), DATA),
    (LinearMixing(6, 2.0, 0.01), DATA),
    (LinearMixing(6, 8.0, 0.01, variant="corrected"), BIG),
    (SheffetOLS(6, 8.0, 0.1), BIG[:300]),
    (SheffetRenyiOLS(6, 8.0, 0.1), BIG[:300]),
    (SheffetRenyiOLS(6, 8.0, 0.1, 0.9, 1.0, variant="corrected"), DATA),
    (LogisticMixing(6, 8.0, 0.1), SIGNS),
]


@pytest.mark.parametrize(("mechanism", "data"), one_in(2, BY_STEPS), ids=lambda x: repr(x)[:40])
def test_the_sampler_has_the_law_of_the_printed_steps(mechanism, data):
    """Each coordinate and their products; all comparisons together miss in 10⁻⁶ of the seeds."""
    rng, linear = np.random.default_rng(10), getattr(mechanism, "linear", mechanism)
    noise = linear.noise(float(np.linalg.eigvalsh(data.T @ data)[0]), SIZE, rng)
    sketches = sketches_by_steps(data, mechanism.rows, noise, rng)
    steps = [np.linalg.lstsq(s[:, :-1], s[:, -1], rcond=None)[0] for s in sketches]
    scale = getattr(mechanism, "scale", 1.0)
    draws = mechanism(data, SIZE, rng=9), scale * np.array(steps)
    one, other = (np.column_stack([x, x[:, 0] * x[:, 1], x[:, 1] * x[:, 2]]) for x in draws)
    assert (
        min(ks_2samp(a, b).pvalue for a, b in zip(one.T, other.T, strict=True))
        > ERROR / one.shape[1]
    )


def test_where_lambda_is_left_alone_it_is_padded_least_squares():
    mechanism = LinearMixing(8, 30.0, 1e-6)
    assert not mechanism.mixing.reads_eigenvalue
    padding = mechanism.mixing.gamma * math.sqrt(2.0)
    epsilon = [0.0, 1.0, 5.0]
    expected = dp.exact.worst_case(RPLS(8, padding=padding), DATA, epsilon).delta
    np.testing.assert_allclose(
        dp.exact.worst_case(mechanism, DATA, epsilon).delta, expected, rtol=1e-10
    )
    pair = dp.neighbours.zero_row(DATA, 4)
    np.testing.assert_allclose(
        mechanism.joint_spectrum(pair, epsilon).delta,
        dp.exact.spectrum(mechanism, pair, epsilon).delta,
        rtol=1e-8,
    )


@pytest.mark.parametrize(("kind", "bound"), [(SheffetOLS, 0.001), (SheffetRenyiOLS, 100.0)])
def test_as_printed_sheffet_fails_off_the_unit_ball(kind, bound):
    """Small rows where γ·ξ stands for √γ·ξ, large ones where γ lacks C².

    Corrected, the branch and the solution hold.
    """
    printed, corrected = (
        kind(1_000, 1.0, 1e-6, bound, bound, variant) for variant in ("printed", "corrected")
    )
    assert printed.joint_spectrum(printed.pair(), 1.0).delta > 1e-6
    assert corrected.joint_spectrum(corrected.pair(), 1.0).delta <= 1e-6
    options = {"draws": 4_000, "epsilon": [1.0], "classifier": "qda", "rng": 1}
    result = dp.audit(printed, printed.pair(), claim=printed.claim, **options)
    assert result.verdict == "violated"


@pytest.mark.parametrize("bound", [0.001, 1.0, 100.0])
@pytest.mark.parametrize("kind", [SheffetOLS, SheffetRenyiOLS])
def test_corrected_branches_hold_near_their_threshold(kind, bound):
    """λ_min below, at and above what line 5 asks for; ε from 0.1 to 20."""
    for epsilon in (0.1, 1.0, 20.0):
        mechanism = kind(30, epsilon, 1e-3, bound, bound, "corrected")
        share = mechanism.gamma / mechanism.square_bound
        for eigenvalue in (1.0, 1.0 + 0.5 * share, 1.0 + share + 4.0 * math.log(1e3) / epsilon):
            data = _isotropic(bound, eigenvalue)
            delta = mechanism.joint_spectrum(dp.neighbours.zero_row(data, 0), epsilon).delta
            assert delta <= 1e-3


def test_the_surrogate():
    """b₁ = ½ and b₂ → −1/8 at the origin (Taylor), so that labels are scaled by 2 and more."""
    assert LogisticMixing(5, 1.0, 1e-3, radius=1e-2).scale == pytest.approx(2.0, rel=1e-4)
    wide = LogisticMixing(5, 1.0, 1e-3, radius=6.0)
    assert wide.scale > LogisticMixing(5, 1.0, 1e-3, radius=1.0).scale > 2.0
    one = wide.linear(SIGNS, 4, rng=2)
    np.testing.assert_allclose(wide(SIGNS, 4, rng=2), wide.scale * one)


def test_logistic_law_is_the_linear_one_scaled():
    mechanism = LogisticMixing(8, 30.0, 1e-6)
    pair = dp.neighbours.zero_row(SIGNS, 2)
    expected = dp.exact.spectrum(mechanism.linear, pair, [0.0, 1.0]).delta
    np.testing.assert_allclose(dp.exact.spectrum(mechanism, pair, [0.0, 1.0]).delta, expected)
    law = mechanism.law(SIGNS)
    np.testing.assert_allclose(law.mean, mechanism.scale * mechanism.linear.law(SIGNS).mean)
    draws = mechanism(SIGNS, SIZE, rng=1), law.sample(SIZE, np.random.default_rng(2))
    assert (
        min(ks_2samp(a, b).pvalue for a, b in zip(draws[0].T, draws[1].T, strict=True)) > ERROR / 3
    )


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: LinearMixing(6, 1.0, 0.1, 0.1)(DATA, 2, rng=1), "row_bound"),
        (lambda: LinearMixing(6, 1.0, 0.1, 1.0, 0.1)(DATA, 2, rng=1), "label_bound"),
        (lambda: SheffetOLS(2, 1.0, 0.1)(DATA, 2, rng=1), "rows"),
        (lambda: LogisticMixing(6, 1.0, 0.1)(DATA, 2, rng=1), "labels of -1 and 1"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(dp.InvalidInput, match=name):
        call()


def _isotropic(bound, eigenvalue):
    """XᵀX = λC²·I with C² = 2·bound², the row (bound, bound) first."""
    count = math.ceil(eigenvalue)
    along = np.vstack([[1.0], np.full((count, 1), math.sqrt((eigenvalue - 1.0) / count))]) * [
        [bound, bound]
    ]
    across = np.full((2 * count, 1), math.sqrt(eigenvalue / (2 * count))) * [[bound, -bound]]
    rows = np.vstack([along, across])
    return rows[np.any(rows != 0.0, axis=1)]
