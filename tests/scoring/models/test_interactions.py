"""What columns tell together: pairs, parities, networks and neighbours."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import scoring
from dpaudit.scoring import KnownScore, Sides, log_loss
from dpaudit.scoring.base import zero
from dpaudit.scoring.models import network, pairs
from dpaudit.scoring.models.boosted import fit_boosted
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.models.products import find_products, fit_products
from reports.make.families import FAMILIES
from tests.scoring.gaussian_task import draws
from tests.scoring.models.rings import rings

SIZE = 2000
SEED = np.random.SeedSequence(1)


def rows(seed, size=SIZE):
    return np.random.default_rng(seed).normal(size=(size, 8))


def spread_by_another(seed):
    """Column 6 is wide where column 2 is positive in P, where it is negative in Q."""
    P, Q = rows(seed), rows(seed + 1)
    P[:, 6] *= np.where(P[:, 2] > 0.0, 2.0, 1.0)
    Q[:, 6] *= np.where(Q[:, 2] > 0.0, 1.0, 2.0)
    return Sides(P, Q)


def checkerboard(seed):
    """Columns 1 and 4 fall on squares of one colour more often in P, of the other in Q."""
    P, Q = rows(seed, 6 * SIZE), rows(seed + 1, 6 * SIZE)
    kept = [
        np.random.default_rng(seed).random(len(x))
        < np.where((np.floor(1.5 * x[:, 1]) + np.floor(1.5 * x[:, 4])) % 2 == side, 0.8, 0.2)
        for side, x in enumerate((P, Q))
    ]
    return Sides(P[kept[0]][:SIZE], Q[kept[1]][:SIZE])


def test_equal_sides_have_no_pairs():
    """The level is 0.001 over all pairs: of 60 runs one has a pair with probability 0.06."""
    with_pairs = sum(
        bool(pairs.missed(Sides(rows(2 * i, 500), rows(2 * i + 1, 500)), zero).pairs)
        for i in range(60)
    )
    assert with_pairs <= 1


@pytest.mark.parametrize(("draw", "pair"), [(spread_by_another, (2, 6)), (checkerboard, (1, 4))])
def test_the_pair_that_interacts_comes_first(draw, pair):
    assert pairs.missed(draw(3), zero).pairs[0] == pair


def test_what_is_learned_of_a_pair_leaves_no_pair():
    train, choose, fresh = spread_by_another(3), spread_by_another(5), spread_by_another(7)
    score = pairs.fit_pairs(train, choose, zero, pairs.missed(train, zero).pairs)
    assert np.log(2.0) - log_loss(score, fresh) > 0.05
    assert pairs.fit_pairs(train, choose, score, pairs.missed(train, score).pairs) is None


def test_cuts_of_a_pair_find_a_checkerboard():
    """The true loss is ±ln 4, and its mean 0.5 nats a draw; trees reach half of that gain."""
    train, choose, fresh = checkerboard(3), checkerboard(5), checkerboard(7)
    of_pairs = pairs.fit_pairs(train, choose, zero, pairs.missed(train, zero).pairs)
    of_all = fit_boosted(train, choose, SEED, zero)
    gain, other = (np.log(2.0) - log_loss(score, fresh) for score in (of_pairs, of_all))
    assert gain > max(1.5 * other, 0.12)


def test_cuts_find_an_exclusive_or_and_nothing_else():
    """Four rectangles of two amounts; the other pairs of columns get no cuts."""
    (P, _), (Q, _) = FAMILIES["exclusive or of thresholds"](np.random.default_rng(1), 2000)
    score = zero
    for pair in ((0, 1), (0, 5), (3, 7)):
        score = pairs.fit_cuts(Sides(P, Q), score, pair)
    assert len(np.unique(score(P))) == 2
    x = np.zeros((4, 10))
    x[:, :2] = [[0.7, -0.6], [0.7, -0.4], [0.9, -0.6], [0.9, -0.4]]
    np.testing.assert_array_equal(score(x) > 0.0, [False, True, True, False])


def stripes(rng, size):
    """Oblique stripes of columns 1 and 6; half of the rows in every other one move to the next."""
    x = rng.normal(size=(2, size, 8))
    moved = (np.floor(1.5 * (x[0, :, 1] + x[0, :, 6])) % 2 == 1) & (rng.random(size) < 0.5)
    x[0, moved, 1] += 1.0 / 1.5
    return Sides(*x)


def parity_of_integers(rng, size):
    """The sum of columns 1 and 6, of the integers 0 to 11, is odd with probability 0.3 in P."""
    x = rng.integers(12, size=(2, size, 8)).astype(float)
    moved = ((x[0, :, 1] + x[0, :, 6]) % 2 == 1) & (rng.random(size) < 0.4)
    x[0, moved, 1] = (x[0, moved, 1] + 1.0) % 12.0
    return Sides(*x)


@pytest.mark.parametrize(("draw", "least"), [(stripes, 0.014), (parity_of_integers, 0.012)])
def test_a_spline_of_a_pair_finds_what_few_cuts_miss(draw, least):
    """On 6 seeds a spline gains 0.017 to 0.023 and 0.013 to 0.017 nats a draw; products and cuts
    at most 0.009 and 0.005.
    """
    rng = np.random.default_rng(1)
    train, choose, fresh = draw(rng, 10_000), draw(rng, 5_000), draw(rng, 20_000)
    score = pairs.fit_pairs(train, choose, zero, [(1, 6)])
    assert np.log(2.0) - log_loss(score, fresh) > least


def test_cuts_of_constant_columns_and_of_few_draws_change_nothing(rng):
    same, few = np.ones((200, 2)), rng.normal(size=(4, 2))
    for side in (same, few):
        assert not pairs.fit_cuts(Sides(side, side), zero, (0, 1))(side).any()


# Parities of columns are found among all pairs and triples, and nothing where there are none.

COLUMNS = (1, 3, 4)


def parity(rng, size, columns=6):
    """Normals; the sign of the product of `COLUMNS` is + with probability 0.73 in P, 0.27 in Q."""
    P, Q = rng.standard_normal((2, size, columns))
    for side, share in ((P, 0.73), (Q, 0.27)):
        want = np.where(rng.random(size) < share, 1.0, -1.0)
        side[:, COLUMNS[0]] *= np.sign(side[:, COLUMNS]).prod(axis=1) * want
    return Sides(P, Q)


@pytest.mark.quick
def test_auto_finds_the_parity_of_three_columns(rng):
    """The true loss is ±ln(0.73/0.27), and its mean 0.583 nats a draw."""
    train, choose = parity(rng, 4_000), parity(rng, 2_000)
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))
    assert "sign products" in fitted.name
    assert log_loss(fitted.score, choose) == pytest.approx(0.583, abs=0.03)


@pytest.mark.quick
def test_the_products_are_those_that_differ(rng):
    train = parity(rng, 4_000)
    assert find_products(train, zero)[1] == [list(COLUMNS)]
    x = np.array([[0.0, 2.0, 0.0, -2.0, 2.0, 0.0], [0.0, 2.0, 0.0, -2.0, -2.0, 0.0]])
    np.testing.assert_allclose(fit_products(train, train, zero)(x), [-0.99, 0.99], atol=0.15)


@pytest.mark.quick
def test_equal_laws_have_no_products_at_the_stated_level():
    """Chance 0.001 each: two of 100 or more have a probability of 0.005."""
    found = [
        find_products(Sides(*np.random.default_rng(seed).standard_normal((2, 500, 5))), zero)
        for seed in range(100)
    ]
    assert sum(one is not None for one in found) < 2


@pytest.mark.quick
@pytest.mark.parametrize("columns", [1, 25])
def test_one_column_or_very_many_have_none(columns, rng):
    sides = Sides(*rng.standard_normal((2, 50, columns)))
    assert fit_products(sides, sides, zero) is None


# Networks learn smooth interactions, reproducibly, and take part only where trees found some.


def correlated(rng, size, columns=2):
    """Normals; the first two have correlation 0.8 in P and −0.8 in Q: log dP/dQ is 1.6·xy/0.36."""
    P, Q = rng.standard_normal((2, size, columns))
    for side, correlation in ((P, 0.8), (Q, -0.8)):
        side[:, 1] = correlation * side[:, 0] + 0.6 * side[:, 1]
    return Sides(P, Q)


def product(x):
    """The privacy loss of normals of correlation 0.8 in P and −0.8 in Q, columns 0 and 1 alone."""
    return 1.6 / 0.36 * x[:, 0] * x[:, 1]


def modes(rng, size, count):
    """Normal modes on a circle in two of ten rotated columns."""
    turn = 2.0 * np.pi * rng.integers(count, size=size) / count
    x = rng.standard_normal((size, 10))
    x[:, :2] = 0.4 * x[:, :2] + 2.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    return x @ ROTATION.T


def density(x, count):
    """Of `modes` in their plane, but for a factor that does not depend on `count`."""
    turn = 2.0 * np.pi * np.arange(count) / count
    centre = 2.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    plane = (x @ ROTATION)[:, None, :2]
    return np.exp(-0.5 * np.sum((plane - centre) ** 2, axis=2) / 0.16).mean(axis=1)


ROTATION = np.linalg.qr(np.random.default_rng(9).standard_normal((10, 10)))[0]


@pytest.mark.quick
def test_a_network_learns_a_product_of_columns_the_same_way_twice(rng, monkeypatch):
    monkeypatch.setattr("dpaudit.scoring.constants.PASSES", 8)
    train, choose = correlated(rng, 2_000), correlated(rng, 1_000)
    one, two = (
        network.fit_network(train, choose, np.random.SeedSequence(1), zero) for _ in range(2)
    )
    least = log_loss(product, choose)
    assert least < 0.45
    assert log_loss(one, choose) < least + 0.05
    np.testing.assert_array_equal(one(choose.P), two(choose.P))
    np.testing.assert_allclose(one(choose.P[:1]), one(choose.P)[:1], rtol=1e-9)


@pytest.mark.quick
def test_far_outliers_have_finite_scores(rng, monkeypatch):
    monkeypatch.setattr("dpaudit.scoring.constants.PASSES", 1)
    train = correlated(rng, 500)
    score = network.fit_network(train, train, np.random.SeedSequence(1), zero)
    assert np.isfinite(score(np.array([[1e300, 0.0], [0.0, -1e300]]))).all()


@pytest.mark.quick
def test_no_network_and_no_distance_takes_part_where_a_closed_form_is_enough():
    P, Q = draws(3_000)
    train, choose = Sides(P[:2_000], Q[:2_000]), Sides(P[2_000:], Q[2_000:])
    names = scoring.fit("auto", train, choose, np.random.SeedSequence(1)).portfolio
    assert not any("network" in name or "distance" in name for name in names)


@pytest.mark.slow
def test_auto_certifies_modes_on_a_circle_nearly_as_the_true_loss_does():
    """About 20 s CPU. Shares, medians of 5 other seeds, .98 .98 .96; trees alone .77 .63 .48."""
    rng = np.random.default_rng(1)
    P, Q = modes(rng, 100_000, 6), modes(rng, 100_000, 7)
    epsilon = [0.0, 0.5, 1.0]
    auto = dp.audit_samples(P, Q, epsilon=epsilon, rng=1)
    assert auto.fitted.name.startswith("network from ")
    truth = KnownScore(lambda x: np.log(density(x, 6)) - np.log(density(x, 7)))
    same = dp.audit_samples(P, Q, epsilon=epsilon, classifier=truth, train_share=0.4, rng=1)
    assert np.all(
        auto.spectrum.low > [0.93 * same.spectrum.low[0], *(0.88 * same.spectrum.low[1:])]
    )


def test_the_plane_of_a_score_improves_it_and_a_perfect_score_is_left_alone(rng):
    train, choose = correlated(rng, 1_000, 5), correlated(rng, 500, 5)
    found = network.fit_in_plane(lambda x: x[:, :2], zero, train, choose, np.random.SeedSequence(1))
    assert log_loss(found, choose) < np.log(2.0) - 0.1
    assert (
        network.fit_in_plane(lambda x: x[:, :2], product, train, choose, np.random.SeedSequence(1))
        is None
    )


# Nearest neighbours around centres, against the true loss and votes counted one by one.

NEAR = 20_000


@pytest.mark.quick
def test_neighbours_certify_most_of_what_the_true_loss_does(rng):
    """Shares on 12 other seeds: 0.99 ± 0.017 at either ε, so 0.9 is 5 deviations off.

    Scales of columns do not matter.
    """
    P, Q, loss = rings(rng, NEAR, 0.3)
    first, second = NEAR // 2, NEAR // 2 + NEAR // 10
    units = np.array([1.0, 1e-6])
    train, choose = (
        Sides(P[part] * units, Q[part] * units) for part in (slice(first), slice(first, second))
    )
    score = fit_nearest(train, choose)
    found, truth = (
        dp.audit_samples(
            P[second:], Q[second:], classifier=KnownScore(one), epsilon=[0.0, 0.5], rng=1
        ).spectrum.low
        for one in (lambda x: score(x * units), loss)
    )
    assert np.all(found > 0.9 * truth)
    assert truth[1] > 0.2


@pytest.mark.quick
def test_draws_that_are_all_equal_have_equal_scores():
    same = np.ones((200, 2))
    score = fit_nearest(Sides(same, same), Sides(same, same))
    assert len(np.unique(score(same))) == 1
