"""Transformers fitted once a draw: what they make of the training data or of points."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

import dpaudit as dp
from dpaudit import adapters

DATA = np.random.default_rng(2).normal(size=(8, 3))
POINTS = [[0.0, 1.0, 2.0]]


class Noisy(StandardScaler):
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
    draws = adapters.transformer(Noisy(), POINTS)(DATA, 20, rng=1)
    assert {one.shape for one in draws} == {(1, 3)}
    assert len({one.sum() for one in draws}) == 20
    without = adapters.transformer(lambda: Noisy(scale=0.0), POINTS)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(without, StandardScaler().fit(DATA).transform(POINTS))


def test_without_points_the_training_data_are_transformed():
    found = adapters.transformer(StandardScaler)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(found, StandardScaler().fit_transform(DATA))
    labelled = adapters.transformer(OnlyTransforms, label=True)(DATA, 1, rng=1)[0]
    np.testing.assert_allclose(labelled, DATA[:, :2] - DATA[:, 2].mean())


def test_it_says_what_is_released():
    mechanism = adapters.transformer(Noisy, POINTS)
    assert mechanism.name == "Noisy"
    assert mechanism.summary.endswith("released is what it makes of 1 points")


@pytest.mark.parametrize("wrong", [{"factory": 3}, {"points": "a"}, {"label": 1}])
def test_arguments_are_checked(wrong):
    with pytest.raises(dp.InvalidInput, match=next(iter(wrong))):
        adapters.transformer(**({"factory": Noisy} | wrong))
