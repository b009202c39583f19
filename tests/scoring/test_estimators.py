"""Any scikit-learn classifier can score, others are refused; a known score is not trained."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

import dpaudit as dp
from dpaudit.scoring import KnownScore
from tests.scoring.gaussian_task import TRUE, audit, draws, loss

pytestmark = pytest.mark.quick

SIZE = 4000
CLASSIFIERS = {
    "GaussianNB": GaussianNB(),
    "LinearSVC": LinearSVC(random_state=0),
    "Pipeline": make_pipeline(PolynomialFeatures(2), LogisticRegression()),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_certifies_much_of_what_the_true_loss_does(name):
    """Shares on 16 seeds: 0.92 ± 0.07 (linear) to 0.985 ± 0.055.

    Below 0.5 with probability under 1e-8.
    """
    P, Q = draws(SIZE)
    result = audit(P, Q, CLASSIFIERS[name])
    assert result.spectrum.low[0] > 0.5 * audit(P, Q, TRUE).spectrum.low[0]
    record = result.to_dict()["classifier"]
    assert record["requested"] == record["chosen"] == name


def test_the_classifier_given_is_not_fitted():
    mine = GaussianNB()
    audit(*draws(500), mine)
    with pytest.raises(NotFittedError):
        check_is_fitted(mine)


@pytest.mark.parametrize(
    "thing",
    [LinearRegression(), KMeans(), GaussianMixture(1), 7, GaussianNB],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_classifier_is_refused(thing):
    with pytest.raises(dp.InvalidInput, match=r"^classifier must be"):
        audit(*draws(500), thing)


def test_a_function_is_a_score():
    """The same as a KnownScore of it."""
    P, Q = draws(500)
    np.testing.assert_array_equal(audit(P, Q, loss).spectrum.low, audit(P, Q, TRUE).spectrum.low)
    assert audit(P, Q, loss).fitted.name == "loss"


class Fails(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        raise ArithmeticError("no fit today")

    def predict_proba(self, x):
        return np.full((len(x), 2), 0.5)


def test_a_classifier_that_cannot_be_fitted_says_why():
    with pytest.raises(
        dp.InvalidInput, match="classifier could not be fitted: ArithmeticError: no fit today"
    ):
        audit(*draws(500), Fails())


class Unsure(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        return np.full((len(x), 2), np.nan)


def test_a_classifier_that_gives_nan_is_refused():
    with pytest.raises(
        dp.InvalidInput, match="classifier must give numbers, got NaN scores from Unsure"
    ):
        audit(*draws(500), Unsure())


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(n_estimators=5),
        make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=5)),
    ],
    ids=lambda c: type(c).__name__,
)
def test_a_classifier_without_a_seed_of_its_own_follows_the_audits(classifier):
    """The contract: same rng, same result."""
    first, second = (audit(*draws(1000), classifier).to_dict()["empirical"] for _ in range(2))
    assert first == second


def test_a_score_of_nan_is_refused():
    with pytest.raises(
        dp.InvalidInput, match="classifier must give numbers, got NaN scores from known score"
    ):
        audit(*draws(500), KnownScore(lambda x: np.full(len(x), np.nan)))


@pytest.mark.parametrize("shape", [lambda x: np.repeat(x, 2, axis=1), lambda x: loss(x)[:-1]])
def test_a_score_is_one_number_a_row(shape):
    with pytest.raises(dp.InvalidInput, match="classifier"):
        audit(*draws(500), KnownScore(shape))
