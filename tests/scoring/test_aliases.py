"""Every classifier alias on a Gaussian pair, against the certificate of the true loss."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.scoring import ALIASES, Sides, evaluate, fit, log_loss
from tests.scoring.gaussian_task import EPSILON, TRUE, audit, draws, loss
from tests.sparse import one_in

SIZE = 6000
REACH = 0.8  # of what the true loss certifies at ε = 0
CONTRACT = ("auto", "qda", "logistic", "lightgbm", "knn")


def test_the_aliases_are_those_of_the_contract():
    assert set(CONTRACT) <= set(ALIASES)
    assert all("\n" not in text for text in ALIASES.values())


@pytest.mark.parametrize("alias", one_in(2, ALIASES))
def test_an_alias_certifies_nearly_what_the_true_loss_does(alias):
    """An alias certifies nearly what the true loss does.

    On 16 seeds the shares were 0.98 ± 0.027 for knn and at least 0.99 ± 0.022 for the others: 6
    deviations, 1e-9.

    The true loss had 0.90 ± 0.03 of the exact δ(0) certified: 6 deviations. The band exceeds the
    truth with probability at most 0.05; with this seed it does not.
    """
    P, Q = draws(SIZE)
    truth, found = audit(P, Q, TRUE).spectrum, audit(P, Q, alias)
    assert found.spectrum.low[0] >= REACH * truth.low[0]
    exact = exact_curve()
    assert np.all(found.spectrum.low <= exact)
    assert truth.low[0] > 0.7 * exact[0]
    record = found.to_dict()["classifier"]
    assert record["requested"] == alias
    assert record["note"] is None


def exact_curve():
    """The larger direction of δ on EPSILON, in the coordinates before mixing."""
    from tests.scoring.gaussian_task import MEAN, SPREAD

    return np.maximum(
        *dp.exact.gaussian_pair(MEAN, np.eye(3), np.zeros(3), np.diag(SPREAD**2), EPSILON)
    )


@pytest.mark.parametrize("alias", ["qda", "logistic", "elliptical"])
def test_a_closed_form_estimates_the_loss_itself(alias):
    """On 16 seeds the median error was at most 0.023 ± 0.006.

    Above 0.15 with probability below 1e-9.
    """
    P, Q = draws(20_000)
    fitted = fit(alias, Sides(P, Q), Sides(P[:500], Q[:500]), np.random.SeedSequence(1))
    x = np.concatenate(draws(500, seed=2))
    assert np.median(np.abs(fitted.score(x) - loss(x))) < 0.15


def test_auto_takes_the_least_log_loss_on_the_choosing_draws():
    P, Q = draws(2000)
    train, choose = Sides(P[:1500], Q[:1500]), Sides(P[1500:], Q[1500:])
    fitted = fit("auto", train, choose, np.random.SeedSequence(1))
    assert fitted.name == min(fitted.portfolio, key=fitted.portfolio.get)
    assert log_loss(fitted.score, choose) == pytest.approx(fitted.portfolio[fitted.name], rel=1e-12)
    assert {"qda (directions)", "qda (shift)", "qda (full)"} < set(fitted.portfolio)
    assert any(name.startswith("elliptical from ") for name in fitted.portfolio)


def test_the_portfolio_is_in_the_record():
    record = audit(*draws(1500), "auto").to_dict()["classifier"]
    assert record["requested"] == "auto"
    assert record["chosen"] in record["portfolio"]
    assert all(0.0 < value < 1.0 for value in record["portfolio"].values())


def test_log_loss_of_a_score_that_knows_nothing_is_ln_2():
    sides = Sides(*draws(100))
    assert log_loss(lambda x: np.zeros(len(x)), sides) == pytest.approx(np.log(2.0), rel=1e-14)


def test_the_true_loss_has_less_log_loss_than_any_alias():
    """The expected log loss of the true loss is least, up to fluctuation.

    The gaps have standard errors below 0.002.
    """
    P, Q = draws(1000)
    sides = Sides(*draws(5000, seed=3))
    for alias in ("qda", "knn"):
        fitted = fit(alias, Sides(P, Q), Sides(P[:200], Q[:200]), np.random.SeedSequence(1))
        assert log_loss(loss, sides) < log_loss(fitted.score, sides) + 0.01


def test_scores_are_evaluated_in_chunks_of_rows(monkeypatch):
    x = draws(1000)[0]
    sizes = []

    def score(part):
        sizes.append(len(part))
        return loss(part)

    monkeypatch.setattr("dpaudit.scoring.constants.CHUNK_ROWS", 300)
    np.testing.assert_array_equal(evaluate(score, x), loss(x))
    assert sizes == [300, 300, 300, 100]


@pytest.mark.parametrize("train_share", one_in(2, [0.05, 0.11, 0.13, 0.2]))
@pytest.mark.parametrize("alias", ["qda", "elliptical", "logistic", "knn"])
def test_an_alias_makes_do_with_few_draws(alias, train_share):
    """It works from 12 draws a side on; how well is not tested."""
    low = audit(*draws(240), alias, train_share=train_share).spectrum.low
    assert np.all((low >= 0.0) & (low <= 1.0))


COLUMNS, SHIFTED, STEP = 20, 4, 0.5


def cauchy_loss(x):
    return np.sum(np.log1p(x[:, :SHIFTED] ** 2) - np.log1p((x[:, :SHIFTED] - STEP) ** 2), axis=1)


@pytest.mark.slow
def test_rare_large_values_spoil_moments_but_not_those_of_normal_scores():
    """Shares of what the true loss certifies, over 12 seeds: 0.95 ± 0.04, by few of the columns.

    Below 0.7 with probability 1e-9. Normal scores took part.
    """
    rng = np.random.default_rng(0)
    P, Q = rng.standard_cauchy((2, 8000, COLUMNS))
    P[:, :SHIFTED] += STEP
    found, best = (
        dp.audit_samples(P, Q, epsilon=[0.0], classifier=one, rng=0)
        for one in ("auto", cauchy_loss)
    )
    assert any(name.endswith("of normal scores") for name in found.fitted.portfolio)
    assert found.spectrum.low[0] > 0.7 * best.spectrum.low[0] > 0.05
