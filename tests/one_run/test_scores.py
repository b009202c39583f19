"""Scores of canaries: what each is, and that it is larger for those that are in."""

import numpy as np
import pytest
from scipy.special import expit

import dpaudit as dp
from dpaudit.one_run import GradientAlignment, LossDifference, NearestRecord, SumAlignment

IN = np.arange(12) % 2 == 0


def regression(binary=False):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 12))
    y = x @ rng.normal(size=12)
    data = np.column_stack([x, np.sign(y) if binary else y])
    made = dp.canaries(data, 12, row_bound=4.0, label_bound=5.0, rng=1)
    return data, made, made.inserted(data, IN)


def separates(scores):
    return scores[IN].min() > scores[~IN].max()


def right(scores):
    return np.mean((scores > 0.0) == IN)


def test_a_ridge_that_is_not_known_is_fitted():
    data, made, inserted = regression()
    x, y = inserted[:, :-1], inserted[:, -1]
    theta = np.linalg.solve(x.T @ x + 700.0 * np.eye(12), x.T @ y)
    assert right(GradientAlignment("squared", data)(theta, made.rows)) >= 0.75
    assert right(GradientAlignment("squared", data, ridge=0.0)(theta, made.rows)) <= 0.6


def test_without_noise_and_with_the_right_ridge_the_score_is_the_coin():
    """−∇(data) − λθ is then the sum of the gradients of the canaries that are in."""
    data, made, inserted = regression()
    x, y = inserted[:, :-1], inserted[:, -1]
    theta = np.linalg.solve(x.T @ x + 7.0 * np.eye(12), x.T @ y)
    chance = np.linspace(0.2, 0.8, 12)
    found = GradientAlignment("squared", data, 7.0, chance)(theta, made.rows)
    assert np.array_equal(found > 0.0, IN)
    apart = np.abs(found - (IN - chance))
    assert np.median(apart) < 1e-4
    assert apart.max() < 0.2  # of the canary with the smallest gradient


def test_the_gradient_of_the_logistic_loss_tells_who_is_in_whatever_the_coding():
    data, made, inserted = regression(binary=True)
    signed, theta = inserted[:, :-1] * inserted[:, -1:], np.zeros(12)
    for _ in range(20):  # Newton's steps
        share = expit(-signed @ theta)
        curvature = signed.T @ ((share * (1.0 - share))[:, None] * signed) + np.eye(12)
        theta += np.linalg.solve(curvature, share @ signed - theta)
    found = GradientAlignment("logistic", data, 1.0)(theta, made.rows)
    assert separates(found)

    def coded(rows):
        return np.column_stack([rows[:, :-1], (rows[:, -1] > 0).astype(float)])

    again = GradientAlignment("logistic", coded(data), 1.0)(theta, coded(made.rows))
    np.testing.assert_allclose(again, found)


class Memory:
    """A model that predicts y of rows that it has seen, and zero elsewhere."""

    def __init__(self, rows):
        self.rows = rows

    def predict(self, x):
        near = np.abs(x[:, None] - self.rows[None, :, :-1]).max(axis=2)
        return np.where(near.min(axis=1) == 0.0, self.rows[near.argmin(axis=1), -1], 0.0)


class Chances(Memory):
    classes_ = np.array([-1.0, 1.0])

    def predict_proba(self, x):
        up = 0.5 + 0.4 * np.sign(self.predict(x))
        return np.column_stack([1.0 - up, up])


def test_a_loss_is_read_off_any_model():
    data, made, inserted = regression()
    plain = LossDifference()(Memory(inserted), made.rows)
    np.testing.assert_allclose(plain, np.where(IN, 0.0, -(made.rows[:, -1] ** 2)))
    against = LossDifference(Memory(data))(Memory(inserted), made.rows)
    np.testing.assert_allclose(against, np.where(IN, made.rows[:, -1] ** 2, 0.0))
    signed = np.column_stack([made.rows[:, :-1], np.sign(made.rows[:, -1])])
    found = LossDifference()(Chances(signed[IN]), signed)
    np.testing.assert_allclose(found, np.log(np.where(IN, 0.9, 0.5)))
    with pytest.raises(dp.InvalidInput, match="a fitted model with predict"):
        LossDifference()(np.zeros(3), made.rows)


def test_the_nearest_record_of_a_table_in_any_form():
    rows = np.array([[0.0, 1.5], [3.0, -2.0]])
    data = np.array([[0.0, 0.5], [1.0, -0.5]])
    table = [(0.0, 1.5), (1.0, 0.0)]
    score = NearestRecord.of(data)
    np.testing.assert_allclose(score(table, rows), [0.0, -(1.0 + 2.0 / 0.5) / 2.0])
    np.testing.assert_allclose(score(np.array(table), rows), score(table, rows))
    assert np.all(score(np.empty((0, 2)), rows) < -1e300)
    with pytest.raises(dp.InvalidInput, match="output must be a table of 2 columns"):
        score(np.ones((4, 3)), rows)


def test_a_sum_without_noise_scores_what_a_canary_adds():
    data, made, inserted = regression()

    def moments(rows):
        return np.einsum("ij,ik->ijk", rows, rows).reshape(len(rows), -1)

    scores = SumAlignment(moments, data)(inserted.T @ inserted, made.rows)
    np.testing.assert_allclose(scores, IN - 0.5, atol=1e-4)


def test_an_output_of_another_form_is_refused_by_name():
    data, made, _ = regression()
    with pytest.raises(dp.InvalidInput, match="output must be 12 numbers or 13 numbers"):
        GradientAlignment("squared", data)(np.zeros(5), made.rows)
    with pytest.raises(dp.InvalidInput, match="output must be"):
        GradientAlignment("squared", data)({"a": 1}, made.rows)


def test_canaries_that_disturb_each_other_are_told_apart():
    """The sum of 30 parts that all point the same way, in 60 dimensions with little noise."""
    rng = np.random.default_rng(4)
    parts = 5.0 + rng.normal(size=(30, 60))
    coins = rng.random(30) < 0.5
    left = coins @ parts + 0.05 * rng.normal(size=60)
    score = SumAlignment(lambda rows: rows, np.zeros((1, 60)))
    assert np.array_equal(score(left, parts) > 0.0, coins)
    assert np.all(SumAlignment(np.zeros_like, np.zeros((1, 60)))(left, parts) == 0.0)
    assert not np.array_equal(parts @ (left - 0.5 * parts.sum(axis=0)) > 0.0, coins)


@pytest.mark.parametrize(
    ("name", "binary", "output"),
    [
        ("gradient", False, np.zeros(12)),
        ("gradient", True, np.zeros(12)),
        ("loss", False, Memory(np.ones((3, 13)))),
        ("nearest", False, np.ones((3, 13))),
    ],
)
def test_a_name_stands_for_a_score_that_knows_the_data(name, binary, output):
    data, made, _ = regression(binary)
    result = dp.audit_canaries(lambda data: output, data, made, name, delta=0.02, rng=1)
    assert result.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("luck", "score must be one of 'gradient', 'loss', 'nearest'"),
        (3, "score must be a callable"),
    ],
)
def test_what_is_no_score_is_refused(score, message):
    data, made, _ = regression()
    with pytest.raises(dp.InvalidInput, match=message):
        dp.audit_canaries(lambda data: np.zeros(12), data, made, score, delta=0.02, rng=1)
