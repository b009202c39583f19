"""Models fitted once a draw: what they release, their randomness, their warnings."""

import logging
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

import dpaudit as dp
from dpaudit import adapters
from tests.drawing import draw

RNG = np.random.default_rng(2)
DATA = np.column_stack([RNG.normal(size=(30, 2)), RNG.normal(size=30) > 0])
PAIR = dp.neighbours.zero_row(DATA, 3)
SEED = np.random.SeedSequence(3)
POINTS = [[0.0, 1.0, 2.0]]


class Noisy(Ridge):
    """Ridge regression plus noise from random_state."""

    def __init__(self, sigma=1.0, random_state=None):
        super().__init__(random_state=random_state)
        self.sigma = sigma

    def fit(self, X, y):
        super().fit(X, y)
        self.coef_ = self.coef_ + self.sigma * np.random.default_rng(self.random_state).normal(
            size=2
        )
        return self


class Plain:
    """No get_params; a seed that is an attribute."""

    seed = 0

    def fit(self, X, y):
        self.weight = np.random.default_rng(self.seed).normal()
        self.word = "big" if self.weight > 0 else "small"
        return self

    def predict(self, X):
        return np.full(len(X), self.word)


def drawn(mechanism, size=20):
    return draw(mechanism, DATA, size, SEED, 0)


def test_coefficients_and_intercept_are_one_vector():
    draws = dp.outcomes.rows(adapters.estimator(Noisy)(DATA, 20, rng=1))[dp.outcomes.LISTS]
    assert draws.shape == (20, 4)  # a length of 3
    plain = Ridge().fit(DATA[:, :2], DATA[:, 2])
    np.testing.assert_allclose(draws[:, 3], plain.intercept_)
    assert len(np.unique(draws[:, 1])) == 20


def test_nested_estimators_are_seeded():
    pipeline = make_pipeline(GaussianRandomProjection(n_components=2), Noisy())
    found = drawn(adapters.estimator(pipeline, lambda model: model[0].components_.ravel()))
    assert len(np.unique(found[:, 0])) == 20
    found = drawn(
        adapters.estimator(pipeline, lambda model: [model[0].random_state, model[1].random_state])
    )
    assert np.all(found[:, 0] != found[:, 1])


def test_a_seed_may_be_an_attribute():
    found = drawn(adapters.estimator(Plain, "weight"))
    assert len(np.unique(found)) == 20
    np.testing.assert_array_equal(found, drawn(adapters.estimator(Plain, ["weight"])))


def test_predictions_at_points_and_functions():
    points = [[0.0, 1.0], [2.0, 3.0]]
    assert drawn(adapters.estimator(Noisy, points)).shape == (20, 2)
    words = adapters.estimator(Plain, points)(DATA, 30, rng=1)
    assert {tuple(word) for word in words} == {("big", "big"), ("small", "small")}
    assert drawn(adapters.estimator(Noisy, lambda model: model.intercept_)).shape == (20, 1)


def test_without_a_label_all_columns_are_fitted():
    scaler = adapters.estimator(StandardScaler, ["mean_"], label=False)
    np.testing.assert_allclose(drawn(scaler, 1)[0], DATA.mean(axis=0))


def test_warnings_are_logged_once_and_raise_nothing(caplog):
    class Warns(Plain):
        def fit(self, X, y):
            warnings.warn("the norm of the data leaks, said by this test", stacklevel=1)
            return super().fit(X, y)

    before = list(warnings.filters)
    with caplog.at_level(logging.WARNING, logger="dpaudit.adapters"):
        draw(adapters.estimator(Warns, "weight"), DATA, 600, SEED, 0, n_jobs=2)
    assert [record.getMessage() for record in caplog.records] == [
        "the mechanism warns, said once: UserWarning: the norm of the data leaks, said by this test"
    ]
    assert warnings.filters == before
    with pytest.raises(UserWarning, match="again"):
        warnings.warn("raises again", stacklevel=1)


def test_an_estimator_that_writes_into_its_data_changes_nothing():
    class Writes(Plain):
        def fit(self, X, y):
            X -= X.mean()
            self.first = X[0, 0] + 0.0 * self.seed
            return self

    assert len(np.unique(drawn(adapters.estimator(Writes, "first")))) == 1


@pytest.mark.parametrize(
    ("factory", "outputs", "message"),
    [
        (3, "coef_", "factory must be an estimator with fit"),
        (Ridge, [], "outputs must be a 2-D array"),
        (Ridge, 3, "outputs must be a 2-D array"),
        (Ridge, ["coef_", 1], "outputs must be a 2-D array"),
    ],
)
def test_what_is_no_estimator_or_no_output_is_refused(factory, outputs, message):
    with pytest.raises(dp.InvalidInput, match=message):
        adapters.estimator(factory, outputs)


def test_an_attribute_that_is_not_there_is_said():
    with pytest.raises(dp.MechanismError, match="'Ridge' object has no attribute 'weights'"):
        drawn(adapters.estimator(Ridge, "weights"))
    with pytest.raises(
        dp.MechanismError, match="Plain has no coef_ or intercept_: name its outputs"
    ):
        drawn(adapters.estimator(Plain))


# --- transformers


class NoisyScaler(StandardScaler):
    """A scaler with noise from random_state."""

    def __init__(self, scale=1.0, random_state=None):
        super().__init__()
        self.scale, self.random_state = scale, random_state

    def transform(self, X):
        noise = np.random.default_rng(self.random_state).laplace(scale=self.scale)
        return super().transform(X) + noise


class OnlyTransforms:
    """No fit_transform; a sparse result."""

    def fit(self, X, y):
        self.centre = y.mean()

    def transform(self, X):
        return csr_array(X - self.centre)


def test_points_are_transformed_by_what_the_data_taught():
    draws = adapters.transformer(NoisyScaler(), POINTS)(DATA, 20, rng=1)
    assert {one.shape for one in draws} == {(1, 3)}
    assert len({one.sum() for one in draws}) == 20
    without = adapters.transformer(lambda: NoisyScaler(scale=0.0), POINTS)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(without, StandardScaler().fit(DATA).transform(POINTS))


def test_without_points_the_training_data_are_transformed():
    found = adapters.transformer(StandardScaler)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(found, StandardScaler().fit_transform(DATA))
    labelled = adapters.transformer(OnlyTransforms, label=True)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(labelled, DATA[:, :2] - DATA[:, 2].mean())


@pytest.mark.parametrize("wrong", [{"factory": 3}, {"points": "a"}, {"label": 1}])
def test_arguments_are_checked(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        adapters.transformer(**({"factory": NoisyScaler} | wrong))


def test_it_says_what_is_released():
    mechanism = adapters.transformer(NoisyScaler, POINTS)
    assert mechanism.name == "NoisyScaler"
    assert mechanism.summary.endswith("released is what it makes of 1 points")


@pytest.mark.parametrize(
    "mechanism",
    [
        adapters.estimator(Noisy),
        adapters.estimator(Noisy, "coef_"),
        adapters.estimator(Noisy, [[0.0, 1.0]]),
        adapters.transformer(StandardScaler),
        adapters.transformer(StandardScaler, DATA[:2]),
    ],
)
def test_a_fit_can_be_sent_to_another_process(mechanism):
    """By plain pickle, as multiprocessing does."""
    copy = pickle.loads(pickle.dumps(mechanism))
    drawn = [each(DATA, 2, rng=np.random.default_rng(0)) for each in (mechanism, copy)]
    np.testing.assert_array_equal(*drawn)
