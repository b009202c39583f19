"""The δ(ε) that Rényi divergences allow: by two laws on two outcomes, and by linear programs."""

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize_scalar

import dpaudit as dp
from dpaudit.curves import joint_range
from dpaudit.exact import Atoms
from reports.make.exact.claims import in_the_plane
from tests.sparse import one_in

pytestmark = pytest.mark.quick

HALVINGS = 10


def allowed(order, divergence, epsilon):
    return np.exp(joint_range.log_delta(np.float64(order - 1.0), divergence, epsilon, HALVINGS))


def two_outcomes(order, divergence, epsilon):
    """The largest p − e^ε q of two laws (p, 1 − p), (q, 1 − q) with that divergence, by search."""

    def other(q):
        def excess(p):
            terms = order * np.log([p, 1.0 - p]) + (1.0 - order) * np.log([q, 1.0 - q])
            return np.logaddexp(*terms) - (order - 1.0) * divergence

        top = 1.0 - 1e-15
        return top if excess(top) < 0.0 else brentq(excess, q, top, xtol=1e-15, rtol=1e-14)

    def loss(log_q):
        q = np.exp(log_q)
        return np.exp(epsilon) * q - other(q)

    grid = np.linspace(-40.0, -1e-9, 400)
    best = np.argmin([loss(one) for one in grid])
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return -minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-9}).fun


@pytest.mark.parametrize(
    ("order", "divergence", "epsilon"),
    one_in(
        2,
        [
            (1.001, 0.01, 0.0),
            (1.2164, 0.00136, 0.03),
            (2.0, 0.04, 0.1),
            (2.0, 3.0, 1.0),
            (4.0, 1.2, 0.3),
            (8.0, 0.16, 0.4),
            (20.0, 0.5, 1.0),
        ],
    ),
)
def test_one_order_allows_what_two_outcomes_attain(order, divergence, epsilon):
    expected = two_outcomes(order, divergence, epsilon)
    assert allowed(order, divergence, epsilon) == pytest.approx(expected, rel=1e-7)


def by_program(divergence, orders, epsilon, span, both=False):
    """The largest δ(ε) of all laws on a grid of losses with these divergences, in both orders too.
    Under the second law the moments are of e^{αL}, and of e^{(1−α)L} with the laws exchanged.
    """
    loss = np.append(np.linspace(-span, span, 1_000), epsilon)
    log_rows = [(a - 1.0) * (loss - divergence(a)) + loss for a in orders]
    if both:
        log_rows += [(1.0 - a) * (loss + divergence(a)) for a in orders]
    log_scale = np.maximum(np.max(log_rows, axis=0), np.maximum(loss, 0.0))
    found = linprog(
        -np.maximum(np.exp(loss) - np.exp(epsilon), 0.0) * np.exp(-log_scale),
        A_ub=np.exp(np.array(log_rows) - log_scale),
        b_ub=np.ones(len(log_rows)),
        A_eq=np.exp([-log_scale, loss - log_scale]),
        b_eq=[1.0, 1.0],
    )
    return -found.fun


@pytest.mark.parametrize("rho", [0.01, pytest.param(0.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("widths", [0.0, 0.5, 2.0])
def test_zcdp_allows_what_a_linear_program_over_all_orders_finds(rho, widths):
    """.0707 at ε = 0, ρ = .01, where moments alone allow .0856."""
    width = np.sqrt(2.0 * rho)
    orders = 1.0 + np.geomspace(1e-3, 20.0 / width, 60)
    expected = by_program(lambda a: rho * a, orders, widths * width, 12.0 * width + rho, True)
    found = dp.Claim.zcdp(rho).delta_at(widths * width)
    assert found == pytest.approx(expected, rel=6e-3)


@pytest.mark.parametrize(
    ("orders", "rho"), [([2.0, 4.0, 8.0], 0.3), ([4.0], 0.3), ([1.5, 8.0], 0.02)]
)
def test_the_total_variation_is_bounded_by_both_directions(orders, rho):
    """.565 in place of .699 for order 4 with 1.2 nats, where moments alone allow 1."""
    expected = by_program(lambda a: rho * a, orders, 0.0, 14.0 * np.sqrt(2.0 * rho) + rho, True)
    found = dp.Claim.rdp(orders, rho * np.array(orders)).delta_at(0.0)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("orders", "values", "epsilon", "share"),
    [
        ([4.0], [1.2], 0.2, 0.82),  # both directions
        ([116.0], [0.45], 0.34, 0.64),
        ([1.006, 112.0], [0.0065, 0.1], 0.09, 0.83),  # two orders
        ([1.006, 2.0, 112.0, 200.0], [0.0065, 1.0, 0.1, 0.3], 0.089, 0.83),
    ],
)
def test_bounds_that_bind_together_allow_what_a_search_of_the_plane_finds(
    orders, values, epsilon, share
):
    """They allow no more than `share` of what the best of them allows alone, in one direction."""
    found = float(dp.Claim.rdp(orders, values).delta_at(epsilon))
    *_, expected = in_the_plane(np.array(orders), np.array(values), epsilon)
    assert found == pytest.approx(expected, rel=1e-8)
    alone = min(allowed(*order, epsilon) for order in zip(orders, values, strict=True))
    assert found < share * alone


def random_pair(seed):
    """Two laws on up to four outcomes, ε ≥ 0 on the scale of their loss, and the larger δ there."""
    rng = np.random.default_rng(seed)
    count, spread = rng.integers(2, 5), 10.0 ** rng.uniform(-6, 1)
    left = np.log(rng.dirichlet(np.ones(count)))
    right = left + spread * rng.standard_normal(count)
    atoms = Atoms(left, right - np.logaddexp.reduce(right))
    epsilon = spread * np.array([0.0, 0.01, 0.3, 1.0, 2.0])
    return atoms, epsilon, np.maximum(*atoms.delta(epsilon))


def divergences(atoms, orders):
    return np.array([max(atoms.renyi(float(one))) for one in orders])


@pytest.mark.parametrize("seed", range(12))
def test_a_few_orders_accuse_no_sound_mechanism(seed):
    """The claim of a pair's own divergences is nowhere below its δ."""
    atoms, epsilon, delta = random_pair(seed)
    orders = 1.0 + 10.0 ** np.random.default_rng([seed, 1]).uniform(-3.0, 2.0, 6)
    claim = dp.Claim.rdp(orders, divergences(atoms, orders))
    assert np.all(delta <= claim.delta_at(epsilon) * (1.0 + 1e-11) + 1e-15)


def test_nothing_is_allowed_where_a_divergence_is_zero_and_all_where_none_is_bounded():
    assert dp.Claim.rdp([2.0, 4.0], [0.0, 1.0]).delta_at(0.0) == 0.0
    assert dp.Claim.rdp([2.0], [np.inf]).delta_at(3.0) == 1.0
    assert dp.Claim.rdp([2.0], [1e-320]).delta_at(0.0) < 1e-150
