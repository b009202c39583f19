"""Studies of paper 1 at sizes that take a moment: what is said follows from what is drawn."""

import math

import numpy as np
import pytest
from studies.paper_1.accuracy import accuracy, norm_variance
from studies.paper_1.outliers import OutlierStudy
from studies.paper_1.utility import NOISE, PADDED, PRINTED, SKETCH, UtilityStudy, in_units

from dpaudit import exact
from dpaudit.errors import InvalidInput
from dpaudit.laws import Gaussian, StudentT
from dpaudit.mechanisms import ALS, RPLS, GaussianLS
from tests.scenarios.shipped import STUDIES

SMALL_UTILITY = {
    "names": ("diabetes",),
    "rows": ((20, 200),),
    "paddings": (0.1, 1.0),
    "draws": 200,
    "repeats": 5,
}


@pytest.fixture(scope="module")
def utility():
    return UtilityStudy(**SMALL_UTILITY).make(1)


@pytest.fixture(scope="module")
def outliers():
    return OutlierStudy(others=50, sizes=(0.1, 10.0, 1e4)).make(1)


def test_accuracy_is_that_of_draws():
    """4 standard errors of 200,000 draws of laws with finite fourth moments."""
    root, truth = np.array([[2.0, 0.5], [0.0, 1.0]]), np.array([0.5, -1.0])
    for law in (Gaussian(np.array([1.0, 2.0]), root), StudentT(np.array([1.0, 2.0]), root, 9)):
        square = np.sum((law.sample(200_000, np.random.default_rng(3)) - truth) ** 2, axis=1)
        error = 4.0 * square.std() / math.sqrt(len(square))
        found = accuracy(law, truth)
        assert found.mean_square == pytest.approx(square.mean(), abs=error)
        assert found.bias == pytest.approx(0.25 + 9.0)
        spread = norm_variance(law, truth, 2_000, 6, np.random.SeedSequence(4))
        assert spread.shape == (6,)
        assert np.var(np.sqrt(square)) == pytest.approx(spread.mean(), rel=0.15)


def points(content, method):
    heads = content.tables[0].heads
    rows = [dict(zip(heads, row, strict=True)) for row in content.tables[0].rows]
    return [row for row in rows if row["method"] == method and row["data"].endswith("as they are")]


def test_gaussian_noise_is_shown_at_the_delta_of_als(utility):
    for als, gauss in zip(points(utility, SKETCH), points(utility, NOISE), strict=True):
        assert gauss["δ"] == pytest.approx(als["δ"], rel=1e-6)
    assert len(points(utility, PADDED)) == len(points(utility, PRINTED)) == 2


def test_the_table_has_the_closed_forms(utility):
    data = in_units("diabetes", "as they are")
    X, y, row = data[:, :-1], data[:, -1], points(utility, SKETCH)[0]
    coef = np.linalg.lstsq(X, y, rcond=None)[0]
    assert row["δ"] == pytest.approx(float(exact.worst_case(ALS(20), data, 1.0).delta), rel=1e-9)
    gram = data[:, :-1].T @ data[:, :-1]
    assert row["Σ variances"] == pytest.approx(
        np.sum((y - X @ coef) ** 2) * np.trace(np.linalg.inv(gram)) / (20 - 11 - 1), rel=1e-6
    )
    assert row["bias²"] == 0.0
    noisy = points(utility, NOISE)[0]
    sigma = math.sqrt(noisy["Σ variances"] / 11)
    assert float(exact.worst_case(GaussianLS(sigma=sigma), data, 1.0).delta) == pytest.approx(
        noisy["δ"], rel=1e-5
    )
    bound = float(np.linalg.norm(data, axis=1).max())
    law = RPLS(200, padding=0.1 * bound).law(data)
    assert points(utility, PADDED)[0]["bias²"] == pytest.approx(
        np.sum((law.mean - coef) ** 2), rel=1e-9
    )


def test_a_growing_row_ends_privacy_or_use(outliers):
    for private, error in zip(*outliers.figures.values(), strict=True):
        *fixed, following = [line.y for line in private.lines]
        assert all(delta[0] < 0.5 < 0.99 < delta[-1] for delta in fixed)
        # its own claim: c₁ follows the row, and the row is one that stays small beside it
        assert max(following) <= 1e-3
        assert all(np.all(np.isfinite(line.y)) for line in error.lines)
    growing = outliers.figures["error"][0].lines[-1].y
    assert growing[-1] > 10.0 * growing[0]


@pytest.mark.parametrize("name", ["figure-2-paper-1", "figure-3-paper-1", "lemma-7-paper-1"])
def test_studies_are_registered_and_checked(name):
    assert STUDIES[name]().parameters()
    with pytest.raises(InvalidInput, match="sizes" if "lemma" in name else "rows"):
        STUDIES[name](**({"sizes": ()} if "lemma" in name else {"rows": ((1,),)}))
