"""Views of rows: what a look at the training draws finds, and what it leaves alone."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit import scoring
from dpaudit.scoring import Fitted, Sides, log_loss, views
from dpaudit.scoring.base import zero
from dpaudit.scoring.models.boosted import boosting
from dpaudit.scoring.patches import LikeliestPatch, fit_patch
from dpaudit.scoring.portfolio import fit_auto
from tests.sparse import one_in

SIZE = 3000


def rng():
    return np.random.default_rng(4)


def bag(parts, width, sorted_parts=False):
    """Two sides of rows (n, parts·width) of parts that are not normal, in any order."""
    x = rng().exponential(size=(2 * SIZE, parts, width)) ** 2
    x[:, :, 0] = np.sort(x[:, :, 0], axis=1) if sorted_parts else x[:, :, 0]
    rows = x.reshape(2 * SIZE, -1)
    return Sides(rows[:SIZE], rows[SIZE:])


def noted(name, train):
    """The names of the views of these draws, with a score of 0 for all parts."""
    return [view for view, _ in views.views_of(train, lambda *sides: Fitted(name, zero))]


def rotated(x):
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(x.shape[1],) * 2))[0]
    rows = x @ turn
    return Sides(rows[:SIZE], rows[SIZE:])


def walk(width):
    x = rng().normal(size=(2 * SIZE, 20, width)).cumsum(axis=1).reshape(2 * SIZE, -1)
    return Sides(x[:SIZE], x[SIZE:])


def image():
    x = rng().normal(size=(2 * SIZE, 11, 11))
    smooth = x[:, 1:, 1:] + x[:, :-1, 1:] + x[:, 1:, :-1] + x[:, :-1, :-1]
    smooth[:, 5, 5] *= 3.0  # one pixel stands out, so that the pixels are not a bag
    return Sides(*np.split(smooth.reshape(2 * SIZE, -1), 2))


def ranked():
    x = np.argsort(rng().random((2 * SIZE, 6)) + 0.1 * np.arange(6), axis=1).astype(float)
    return Sides(x[:SIZE], x[SIZE:])


def elliptical():
    """A normal vector with a random scale: squares are dependent along all directions."""
    return rng().normal(size=(2 * SIZE, 5)) * rng().gamma(2.0, size=(2 * SIZE, 1))


@pytest.mark.parametrize(
    ("draws", "seen"),
    [
        (bag(8, 3), ["sorted parts", "scores of parts"]),
        (bag(8, 3, sorted_parts=True), ["independent components"]),
        (walk(1), ["differences"]),
        (walk(2), ["differences"]),
        (image(), ["the likeliest patch"]),
        (ranked(), ["pairs"]),
        (
            rotated(rng().laplace(size=(2 * SIZE, 5)) * np.arange(1.0, 6.0)),
            ["independent components"],
        ),
        (rotated(rng().normal(size=(2 * SIZE, 5)) * np.arange(1.0, 6.0)), []),
        (rotated(elliptical() * np.arange(1.0, 6.0)), []),
        (Sides(*np.split(rng().normal(size=(2 * SIZE, 12)), 2)), []),
        (Sides(*np.split(rng().integers(2, size=(2 * SIZE, 12)).astype(float), 2)), []),
    ],
    ids=[
        "a bag",
        "a list in order",
        "a walk",
        "a walk in the plane",
        "an image",
        "a ranking",
        "a mixture",
        "normals",
        "a random scale",
        "equal normals",
        "bits",
    ],
)
def test_a_look_finds_the_form_of_rows(draws, seen):
    assert noted("parts", draws) == seen


@pytest.mark.parametrize("draws", [bag(5, 2), walk(2), image(), ranked()])
def test_the_view_of_a_row_depends_on_the_row_alone(draws):
    def fit(train, choose):
        weights = np.arange(1.0, 1.0 + train.P.shape[1])
        return Fitted("sum", lambda x: np.tanh((x * weights).sum(axis=1)))

    rows = draws.P[:40].copy()
    rows[3, -1] = np.nan
    for _, view in views.views_of(draws, fit):
        together = view(rows)
        assert together.shape[0] == len(rows)
        for at in (0, 3, 39):
            np.testing.assert_allclose(view(rows[at : at + 1])[0], together[at], rtol=1e-5)


def test_parts_with_an_exponential_number_are_not_plain_whatever_the_scales():
    """Beside numbers of size 10⁹ the variance of others was taken for 0."""
    parts = rng().normal(size=(2000, 5, 2))
    assert views.plain_parts(parts.reshape(2000, -1), 2)
    parts[:, :, 1] = rng().exponential(size=(2000, 5))
    for scales in ((1.0, 1.0), (1e9, 1e-3), (1e-3, 1e9)):
        assert not views.plain_parts((parts * scales).reshape(2000, -1), 2)


def test_clusters_whose_far_parts_make_up_the_kurtosis_of_a_normal_law_are_not_plain():
    draws, far = rng(), 0.008  # a share of far parts with which the kurtosis of these draws is 3.0
    parts = draws.choice([-1.0, 1.0], size=20_000) + 0.5 * draws.normal(size=20_000)
    parts = np.where(draws.random(20_000) < far, 3.0 * draws.normal(size=20_000), parts)
    assert not views.plain_parts(parts.reshape(-1, 10), 1)


def test_mixed_columns_of_heavy_and_light_tails_are_separated():
    """A component holds at most 0.2 of another column; on 20 seeds at most 0.12."""
    generator, turn = rng(), np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    columns = [generator.standard_t(2, (4000, 3)), generator.uniform(-1.0, 1.0, (4000, 2))]
    matrix = views.unmixing(np.column_stack(columns) @ turn)
    parts = np.abs(turn @ matrix) / np.linalg.norm(matrix, axis=0)
    assert np.sort(parts, axis=0)[-2].max() < 0.2


def test_a_pattern_at_one_of_many_places_is_learned():
    """White pixels of which P has a square of nine raised, anywhere, by 3 standard deviations.

    The score is compared with that of the same kind which knows the pattern.
    """
    generator = rng()
    P, Q, fresh = generator.normal(size=(3, SIZE, 100))
    for rows in (P, fresh):
        place = generator.integers(8, size=(2, SIZE))
        for row, column in np.ndindex(3, 3):
            rows[np.arange(SIZE), 10 * (place[0] + row) + place[1] + column] += 1.0
    learned = fit_patch(Sides(P, Q), size=10)
    true = np.ones((3, 3))
    known = LikeliestPatch(10, np.eye(100), np.zeros(100), 0, true, np.full((8, 8), -0.5 * 3.0**2))

    def gap(view):
        left, right = view(fresh)[:, 0], view(generator.normal(size=(SIZE, 100)))[:, 0]
        return ks_2samp(left, right).statistic

    assert gap(known) > 0.25
    assert gap(learned) > 0.8 * gap(known)


NAN, INF = np.nan, np.inf
ODD = {
    "all infinite": lambda x: np.where(x < 0.5, INF, -INF),
    "one infinity of two in a part": lambda x: np.where(
        (np.arange(12) % 2 == 0) & (x < 0.3), INF, x
    ),
    "all missing": lambda x: np.full(x.shape, NAN),
    "half of each part missing": lambda x: np.where(np.arange(12) % 2 == 0, x, NAN),
    "as large as floats are": lambda x: np.where(x < 0.5, -1.0, 1.0) * 1.7e308,
    "smaller than normal floats": lambda x: 1e-310 * x,
    "a series with infinities": lambda x: np.where(x < 0.02, INF, x.cumsum(axis=1)),
    "two columns six times": lambda x: np.repeat(np.log(x[:, :2]), 6, axis=1),
}


@pytest.mark.parametrize(
    ("draws", "name"),
    one_in(
        3, [*((600, name) for name in ODD), *((300, name) for name in ODD if "missing" in name)]
    ),
)
def test_odd_numbers_neither_end_an_audit_nor_warn(name, draws):
    """Warnings are errors here."""
    P, Q = (ODD[name](np.random.default_rng(seed).random((draws, 12))) for seed in (1, 2))
    assert dp.audit_samples(P, Q, epsilon=[0.5], rng=1).spectrum.low[0] == 0.0


# One score of all columns of one law.


def laplace(size, columns, shift, seed):
    rng = np.random.default_rng(seed)
    return Sides(*(rng.laplace(size=(size, columns)) + move for move in (shift, 0.0)))


@pytest.mark.slow
def test_a_faint_shift_of_twenty_columns_is_learned_as_one_function():
    """The true loss steps from −0.1 to 0.1 about 0 in each column."""
    train, choose, fresh = (laplace(size, 20, 0.1, size) for size in (100_000, 20_000, 50_000))
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))

    def loss(x):
        return (np.abs(x) - np.abs(x - 0.1)).sum(axis=1)

    assert fitted.name.endswith("scores of parts")
    gained = np.log(2.0) - log_loss(fitted.score, fresh)
    assert gained > 0.93 * (np.log(2.0) - log_loss(loss, fresh))


@pytest.mark.parametrize(("of_view", "trees"), [(0.035, True), (0.1, False)])
def test_only_a_view_far_ahead_makes_trees_of_wide_rows_needless(of_view, trees):
    """Closed forms see 0.02 nats of three columns that interact."""
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(2, 4000, 60))
    P[(P[:, 3] > 0) & (P[:, 7] > 0), 11] += 1.5
    train, choose = Sides(P[:3000], Q[:3000]), Sides(P[3000:], Q[3000:])
    fitted = fit_auto(train, choose, np.random.SeedSequence(5), np.log(2.0) - of_view)
    assert any(boosting()[1] in name for name in fitted.portfolio) == trees
