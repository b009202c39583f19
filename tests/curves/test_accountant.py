"""The accountant's curve of DP-SGD: an upper bound and a lower one, around independent values."""

import sys
from itertools import combinations

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import dpaudit as dp
from dpaudit.curves import SampledGaussian
from dpaudit.mechanisms import BROKEN_DPSGD, DPSGD
from tests.sparse import one_in

EPSILON = np.array([0.0, 0.05, 0.3, 1.0, 2.0, 4.0])
DATA = np.array([[1.0, 0.5, 0.0], [1.0, -0.5, 1.0], [1.0, 2.0, 1.0]])


def one_step(q, sigma, epsilon):
    """δ of (1 − q)N(0, σ²) + qN(1, σ²) against N(0, σ²), and the reverse, by mpmath."""
    with mp.workdps(30):
        q, sigma, gamma = mp.mpf(q), mp.mpf(sigma), mp.exp(mp.mpf(epsilon))

        def place(ratio):  # where the density ratio is this large
            return mp.mpf(1) / 2 + sigma**2 * mp.log((ratio - 1 + q) / q)

        def above(x):
            return mp.ncdf(-x / sigma)

        def mixed(x):
            return (1 - q) * above(x) + q * above(x - 1)

        t = place(gamma)
        ahead = mixed(t) - gamma * above(t)
        if 1 / gamma <= 1 - q:  # the loss without the record is at most −ln(1 − q)
            return float(ahead), 0.0
        t = place(1 / gamma)
        return float(ahead), float((1 - above(t)) - gamma * (1 - mixed(t)))


def replaced(q, sigma, epsilon):
    """δ of (1 − q)N(0, σ²) + qN(1, σ²) against (1 − q)N(0, σ²) + qN(−1, σ²): a set {x > t}."""

    def excess(t):
        rest, gamma = (1.0 - q) * norm.sf(t, 0.0, sigma), np.exp(epsilon)
        ahead, behind = rest + q * norm.sf(t, 1.0, sigma), rest + q * norm.sf(t, -1.0, sigma)
        return ahead - gamma * behind

    best = minimize_scalar(
        lambda t: -excess(t), bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-9}
    )
    return excess(best.x)


def around(curve, truth):
    """Whether the truth (forward, backward) is below each upper bound and above the lower one."""
    for bound, value in zip(curve.delta(EPSILON), truth, strict=True):
        assert np.all(bound >= value)
        assert np.all((bound >= 0.0) & (bound <= 1.0))
    low = curve.low(EPSILON)
    assert np.all(low <= np.maximum(*truth))
    assert np.all(low >= 0.0)
    return np.maximum(*curve.delta(EPSILON)), low


@pytest.mark.parametrize(("q", "sigma"), one_in(3, [(0.1, 1.0), (0.5, 1.5), (0.01, 2.0)]))
def test_one_step_is_between_the_bounds(q, sigma):
    truth = np.array([one_step(q, sigma, epsilon) for epsilon in EPSILON]).T
    high, low = around(SampledGaussian(q, sigma, 1), truth)
    assert np.all(high - truth.max(axis=0) <= 1e-11)
    assert np.all(high - low <= 1e-4)  # δ changes by at most as much as rounding moves ε


def test_an_added_record_turns_the_directions():
    removed, added = (SampledGaussian(0.01, 2.0, 1, name) for name in ("remove", "add"))
    np.testing.assert_array_equal(added.delta(EPSILON)[::-1], removed.delta(EPSILON))


def test_one_step_with_a_replaced_record_is_between_the_bounds():
    q, sigma = 0.5, 1.5
    truth = np.array([replaced(q, sigma, epsilon) for epsilon in EPSILON])
    high, low = around(SampledGaussian(q, sigma, 1, "replace"), (truth, truth))
    assert np.all(high - truth <= 1e-11)
    assert np.all(high - low <= 1e-4)


@pytest.mark.parametrize(("relation", "reach"), [("remove", 1.0), ("replace", 2.0)])
def test_without_sampling_it_is_a_gaussian_shift(relation, reach):
    sigma, steps = 4.0, 30
    truth = dp.exact.gaussian_shift(reach * np.sqrt(steps) / sigma, EPSILON)
    curve = SampledGaussian(1.0, sigma, steps, relation)
    high, low = around(curve, (truth, truth))
    assert np.all(high - truth <= 1e-7)
    earlier = dp.exact.gaussian_shift(
        reach * np.sqrt(steps) / sigma, EPSILON + steps * curve.interval
    )
    assert np.all(low >= earlier - 1e-9)


def batches_of_two(records):
    """The means of all batches of two among records in [−1, 1], as the means of a mixture."""
    return np.array([a + b for a, b in combinations(records, 2)])


def mixture_delta(left, right, sigma, epsilon):
    """δ of even mixtures of N(mean, σ²) by summation: means (m, k), of k steps side by side."""
    steps = left.shape[1]
    axis, width = np.linspace(-20.0, 20.0, {1: 100_001, 2: 401}[steps], retstep=True)
    axes = np.meshgrid(*[axis] * steps, indexing="ij")
    cell = (width / (sigma * np.sqrt(2.0 * np.pi))) ** steps

    def density(means):
        total = np.ones(axes[0].shape)
        for x, column in zip(axes, means.T, strict=True):
            total = total * np.mean(
                [np.exp(-0.5 * ((x - mean) / sigma) ** 2) for mean in column], axis=0
            )
        return total

    p, q = density(left), density(right)
    return np.array([np.maximum(p - np.exp(e) * q, 0.0).sum() * cell for e in epsilon])


@pytest.mark.slow
def test_batches_of_a_fixed_size_are_enumerated():
    """Two of five records in [−1, 1]; the worst others are all like the one that replaces it."""
    sigma, rng = 3.0, np.random.default_rng(4)
    removed = SampledGaussian(0.4, sigma, 1, "remove", "fixed")
    changed = SampledGaussian(0.4, sigma, 1, "replace", "fixed")

    def both(records, other):
        return [
            mixture_delta(*sides, sigma, EPSILON) for sides in ((records, other), (other, records))
        ]

    def batches(records):
        return batches_of_two(records)[:, None]

    for others in (*rng.uniform(-1.0, 1.0, (4, 4)), -np.ones(4), np.ones(4)):
        whole = batches([*others, 1.0])
        for curve, other in ((removed, others), (changed, [*others, -1.0])):
            truth = both(whole, batches(other))
            for bound, value in zip(curve.delta(EPSILON), truth, strict=True):
                assert np.all(bound >= value - 1e-9)
    worst = both(batches([-1.0] * 4 + [1.0]), batches([-1.0] * 4))
    for curve in (removed, changed):
        high, low = np.maximum(*curve.delta(EPSILON)), curve.low(EPSILON)
        assert np.all(np.abs(high - np.maximum(*worst)) <= 1e-8)
        assert np.all((low <= np.maximum(*worst) + 1e-9) & (low >= high - 1e-4))


@pytest.mark.slow
def test_batches_of_a_fixed_size_in_two_steps_unlike_each_other():
    """The others are like the new record in one step, and like the old one in the next."""
    sigma, curve = 3.0, SampledGaussian(0.4, 3.0, 2, "replace", "fixed")
    steps = [batches_of_two(records) for records in ((-1, -1, -1, -1, 1), (1, 1, 1, 1, 1))]
    other = [batches_of_two(records) for records in ((-1,) * 5, (1, 1, 1, 1, -1))]
    truth = mixture_delta(np.array(steps).T, np.array(other).T, sigma, EPSILON)
    assert np.all(curve.delta(EPSILON)[0] >= truth - 1e-9)
    assert np.all(curve.low(EPSILON) <= curve.delta(EPSILON)[0])


@pytest.mark.slow
def test_many_steps_are_between_the_bounds_by_simulation():
    """δ = E[(1 − e^{ε − L})₊] over 200,000 runs of 25 steps, within 5 standard errors."""
    q, sigma, steps, runs = 0.2, 1.0, 25, 200_000
    rng, loss = np.random.default_rng(3), np.zeros((2, runs))
    for _ in range(steps):
        x = sigma * rng.standard_normal((2, runs))
        x[0] += rng.random(runs) < q
        log_ratio = np.log1p(q * np.expm1((2.0 * x - 1.0) / (2.0 * sigma**2)))
        loss += log_ratio * np.array([[1.0], [-1.0]])
    gain = np.maximum(1.0 - np.exp(EPSILON[:, None, None] - loss), 0.0)
    truth, error = gain.mean(axis=2).T, 5.0 * gain.std(axis=2).T / np.sqrt(runs)
    curve = SampledGaussian(q, sigma, steps)
    for bound, value, margin in zip(curve.delta(EPSILON), truth, error, strict=True):
        assert np.all(np.abs(bound - value) <= margin + 1e-9)
    assert np.all(curve.low(EPSILON) <= truth.max(axis=0) + error.max(axis=0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("relation", "sampling", "q", "sigma", "steps"),
    [
        ("remove", "poisson", 1.0, 0.1, 1),
        ("replace", "fixed", 1.0, 1e4, 10),
        ("replace", "poisson", 1e-9, 1.0, 1),
        ("remove", "fixed", 0.5, 1e6, 1),
        ("replace", "fixed", 1e-4, 2.0, 100_000),
    ],
)
def test_bounds_are_curves_at_extremes(relation, sampling, q, sigma, steps):
    epsilon = np.append(np.linspace(0.0, 3.0, 301), [10.0, 50.0, 1e3, 1e9])
    curve = SampledGaussian(q, sigma, steps, relation, sampling)
    forward, backward = curve.delta(epsilon)
    low, high = curve.low(epsilon), np.maximum(forward, backward)
    for side in (forward, backward, low):
        assert np.all((side >= 0.0) & (side <= 1.0))
        assert np.all(np.diff(side) <= 0.0)
    assert np.all(low <= high)
    if q == 1.0:
        reach = 1.0 if (relation, sampling) == ("remove", "poisson") else 2.0
        truth = dp.exact.gaussian_shift(reach * np.sqrt(steps) / sigma, epsilon)
        assert np.all((low <= truth) & (truth <= high))


PAIRS = {
    "zero-out": dp.neighbours.zero_row(DATA, 1),
    "remove": dp.neighbours.remove_row(DATA, 1),
    "add": dp.neighbours.add_row(DATA, DATA[1]),
    "replace": dp.neighbours.replace_row(DATA, 1, DATA[2]),
}


@pytest.mark.slow
def test_the_spectrum_of_dp_sgd_is_an_upper_bound_with_a_lower_twin():
    mechanism = DPSGD(steps=5, rows=3)
    of = {name: dp.exact.spectrum(mechanism, pair, EPSILON) for name, pair in PAIRS.items()}
    for spectrum in of.values():
        assert spectrum.law.startswith("upper bound by dp-accounting")
        assert "multiples of 0.0001" in spectrum.law
        assert "exact" not in spectrum.law
        assert spectrum.level is None
        assert np.all(spectrum.low <= spectrum.delta)
    np.testing.assert_array_equal(of["zero-out"].forward, of["remove"].forward)
    np.testing.assert_array_equal(of["remove"].forward, of["add"].backward)
    assert np.all(of["replace"].low > of["remove"].delta)
    at = float(of["remove"].epsilon_at(1e-5))
    assert float(of["remove"].delta_at(at)) <= 1e-5
    assert mechanism.claim.epsilon >= at  # by Rényi divergences, which are looser
    with pytest.raises(dp.NoExactSpectrum, match="bounds δ"):
        of["remove"].renyi(2.0)


def test_the_spectrum_of_batches_of_a_fixed_size_takes_the_rate_of_the_larger_database():
    mechanism = DPSGD(steps=2, rows=3, sample_rate=0.4, noise_multiplier=30.0, sampling="fixed")
    seen = []
    mechanism.train(DATA, rng=1, watch=lambda step: seen.append(step.included.sum()))
    assert seen == [1, 1]
    removed, changed = (
        dp.exact.spectrum(mechanism, PAIRS[name], EPSILON) for name in ("remove", "replace")
    )
    third = SampledGaussian(1.0 / 3.0, 30.0, 2, "remove", "fixed")
    np.testing.assert_array_equal(removed.forward, third.delta(EPSILON)[0])
    assert mechanism.upper_curve(PAIRS["add"]).sample_rate == 0.25
    assert np.all(changed.low <= changed.delta)
    assert "samples of a fixed size, replace one" in changed.law
    assert mechanism.claim.epsilon >= float(removed.epsilon_at(1e-5))


@pytest.mark.slow
def test_an_audit_of_dp_sgd_is_not_judged_by_it():
    result = dp.audit(DPSGD(steps=2), PAIRS["zero-out"], draws=200, claim=(50.0, 0.0), rng=1)
    assert result.exact is None


def test_what_has_no_curve_is_refused():
    pair = PAIRS["zero-out"]
    for kind in BROKEN_DPSGD:
        with pytest.raises(dp.NoExactSpectrum, match=f"no accountant knows .* {kind.__name__}"):
            dp.exact.spectrum(kind(), pair, 1.0)
    with pytest.raises(dp.NoExactSpectrum, match=r"DPSGD\(rows=\.\.\.\)"):
        dp.exact.spectrum(DPSGD(), PAIRS["remove"], 1.0)
    fixed = DPSGD(rows=3, sampling="fixed", sample_rate=0.5)
    with pytest.raises(dp.NoExactSpectrum, match=r"take dpaudit\.neighbours\.replace_row"):
        dp.exact.spectrum(fixed, pair, 1.0)
    whole = DPSGD(rows=3, sampling="fixed", sample_rate=0.9)
    with pytest.raises(dp.NoExactSpectrum, match="here 2 of 1 rows"):
        dp.exact.spectrum(whole, dp.neighbours.remove_row(DATA[:2], 1), 1.0)
    with pytest.raises(dp.NoExactSpectrum, match="relation 'pair'"):
        dp.exact.spectrum(DPSGD(), dp.NeighbourPair(pair.left, pair.right), 1.0)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["dp_accounting", "dp_accounting.pld.privacy_loss_distribution"])
def test_without_the_package_the_error_says_what_to_install(name, monkeypatch):
    for loaded in [module for module in sys.modules if module.startswith("dp_accounting")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "dpaudit\[accountant\]"'):
        dp.exact.spectrum(DPSGD(), PAIRS["zero-out"], 1.0)


def test_the_public_number_of_rows_divides_every_step():
    own, public = (DPSGD(steps=1, rows=rows).train(DATA, rng=1) for rows in (None, 6))
    np.testing.assert_allclose(public, own / 2.0)
