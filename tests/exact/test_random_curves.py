"""Random curves of all laws: what is true of any δ(ε), on grids drawn with the curve.

The slow test runs 10,000 of them, each from its own key.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import DegenerateData, NoExactSpectrum
from dpaudit.exact import spectrum_of
from tests.exact import random_curves

SMALL = 1e-280
SHARES = np.array([1e-6, 1e-3, 0.01, 0.1, 0.3, 0.7, 0.9, 0.99, 0.9999, 1 - 1e-8, 1, 1.0001, 3])
ALPHA = np.array([0.0, 1e-6, 0.01, 0.3, 0.9, 1.0])
# curves of each kind in the slow test: fewer of those that take longer
COUNTS = dict.fromkeys(random_curves.KINDS, 200) | dict.fromkeys(
    ("sketch", "shift", "wishart", "zeroed", "als", "als_of_light_rows"), 500
)

# where more than 1 % are refused: two trade-off curves of replaced rows at k = d are, of 150 curves
SEEN = {"replaced_beside_wishart": 0.98}


def a_grid(rng, supremum):
    """0, all scales, and shares of a bounded loss, around its end too."""
    even = [np.zeros(1), 10.0 ** rng.uniform(-9, 3.5, 12), rng.uniform(0, 3, 8)]
    bounded = [SHARES * supremum] if np.isfinite(supremum) else []
    return np.unique(np.concatenate(even + bounded))


def assert_convex(epsilon, delta, slack, relative):
    """In e^ε, over neighbours and over points further apart."""
    for stride in (1, 2, 5):
        if len(epsilon) <= 2 * stride:
            break
        a, b, c = (epsilon[i : len(epsilon) - 2 * stride + i] for i in (0, stride, 2 * stride))
        x, y, z = (delta[i : len(epsilon) - 2 * stride + i] for i in (0, stride, 2 * stride))
        share = np.expm1(b - c) / np.expm1(a - c)
        chord = share * x + np.exp(b - c) * np.expm1(a - b) / np.expm1(a - c) * z
        np.testing.assert_array_less(y, chord * (1.0 + relative) + slack)


def assert_a_curve(case, rng):
    """Range, order, convexity, ends, both directions together, and values apart from the grid."""
    supremum = case.curve.supremum
    epsilon = a_grid(rng, max(supremum))
    both, relative, slack = case.curve.delta(epsilon), 2.0 * case.relative, 2.0 * case.absolute
    for delta, limit in zip(both, supremum, strict=True):
        assert np.all((delta >= 0.0) & (delta <= 1.0) & ~np.signbit(delta))
        room = -np.expm1(np.minimum(epsilon - limit, 0.0))
        assert np.all(delta <= room * (1.0 + relative) + slack + 1e-15)
        assert np.all(delta[epsilon >= limit] <= slack + SMALL)
        assert np.all(delta[1:] <= delta[:-1] * (1.0 + relative) + slack + SMALL)
        assert_convex(epsilon, delta, slack + SMALL, relative)
    ahead, back = both
    assert abs(ahead[0] - back[0]) <= relative * ahead[0] + slack + SMALL
    below = -np.expm1(-epsilon) + np.exp(-epsilon) * back
    signed = np.append(-epsilon[:0:-1], epsilon)
    whole = np.append(below[:0:-1], ahead)
    assert_convex(signed, whole, 2.0 * slack + SMALL + 4e-16, 2.0 * relative)
    assert_apart_from_its_grid(case, rng, epsilon, both)


def assert_apart_from_its_grid(case, rng, epsilon, both):
    some = rng.permutation(len(epsilon))[: rng.integers(1, 5)]
    bound = [limit for limit in case.curve.supremum if np.isfinite(limit)]
    # near a largest loss the rounding of ε itself moves δ
    near = 16.0 * np.spacing(np.maximum(epsilon[some], max(bound, default=0.0)))
    again = case.curve.delta(epsilon[some])
    before = case.curve.delta(np.maximum(epsilon[some] - near, 0.0))
    after = case.curve.delta(epsilon[some] + near)
    for whole, alone, low, high in zip(both, again, before, after, strict=True):
        allowed = case.relative * np.maximum(whole[some], alone) + case.absolute + SMALL
        assert np.all(np.abs(whole[some] - alone) <= allowed + np.abs(low - high))


def assert_readings(case, rng):
    """δ at ε(δ) is δ, and the trade-off curve lies above each line that δ gives."""
    spectrum = spectrum_of(case.curve, "", np.zeros(1))
    top = spectrum.total_variation
    if top <= 1e3 * case.absolute:
        return
    target = np.clip(top * np.append(1.0, 10.0 ** rng.uniform(-9, 0, 3)), 1e3 * case.absolute, 1.0)
    found = spectrum.epsilon_at(target)
    assert np.all(found >= 0.0)
    inside = np.isfinite(found) & (found < 1e6)
    found, target = found[inside], target[inside]
    slack = 10.0 * case.relative * target + case.absolute
    assert np.all(spectrum.delta_at(found) <= target + slack)
    before = spectrum.delta_at(found * (1.0 - 1e-6))
    assert np.all((found == 0.0) | (before >= target - slack))
    beta, epsilon = (
        spectrum.tradeoff(ALPHA),
        np.append(0.0, 10.0 ** rng.uniform(-3, 1.5, 6))[:, None],
    )
    kept = 1.0 - spectrum.delta_at(epsilon[:, 0])[:, None]
    lines = np.maximum(kept - np.exp(epsilon) * ALPHA, np.exp(-epsilon) * (kept - ALPHA))
    assert np.all((beta >= lines.max(axis=0) - 1e-9) & (beta <= 1.0 - ALPHA + 1e-15))


def checked(kind, key, readings):
    """Whether there is a curve: a pair may be degenerate, or refused."""
    rng = np.random.default_rng(key)
    try:
        case = random_curves.curve(kind, key)
        assert_a_curve(case, rng)
        if readings:
            assert_readings(case, rng)
    except (NoExactSpectrum, DegenerateData):
        return False
    except (AssertionError, ArithmeticError, ValueError) as error:
        raise AssertionError(f"{kind} {key}: {case.words}") from error
    return True


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(kind=st.sampled_from(list(random_curves.KINDS)), key=st.integers(0, 10**9))
def test_a_random_curve_is_one_of_two_laws(kind, key):
    checked(kind, key, readings=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", random_curves.KINDS)
def test_thousands_of_random_curves_are_those_of_two_laws(kind):
    seen = sum(checked(kind, key, readings=key % 25 == 0) for key in range(COUNTS[kind]))
    assert seen >= SEEN.get(kind, 0.99) * COUNTS[kind]
