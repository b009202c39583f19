"""Audits in batches: one seed, one result; where they stop, what they say, and what they write."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import bettor
from dpaudit.auditing.bettor import FIRST, Batch, Past
from dpaudit.auditing.sequential import batches_of
from dpaudit.auditing.settings import Drawing, Settings
from tests.cases import database, shifted

DATA = database()
# takes the first entry from 1 to 0, so shifted(μ) is a Gaussian shift by μ
PAIR = dp.neighbours.zero_row(DATA, 0)
GRID = [0.0, 0.5, 1.0]


def audit(mechanism, pair=PAIR, **changes):
    settings = {"epsilon": GRID, "draws": 3000, "classifier": "qda", "rng": 5, "stop": "verdict"}
    return dp.audit(mechanism, pair, **(settings | changes))


def test_a_full_past_learns_no_more(monkeypatch):
    """Batches of at most 200 draws. From 600 on score and bet stay, and no draw is kept."""
    monkeypatch.setattr(bettor, "LARGEST", 200)
    monkeypatch.setattr(bettor, "FULL", 600)
    fits, states = [], []
    judged, made = bettor.Bettor._new_judge, bettor.Bettor.__post_init__
    monkeypatch.setattr(
        bettor.Bettor, "_new_judge", lambda *args: fits.append(len(args[2].P)) or judged(*args)
    )
    monkeypatch.setattr(
        bettor.Bettor, "__post_init__", lambda self: states.append(self) or made(self)
    )
    result = audit(shifted(0.3), claim=(0.0, 0.2))
    assert result.sequential.drawn == 3000
    assert 600 <= fits[-1] == states[0].learned < 800
    assert len(states[0].past.draws[0]) == fits[-1]
    assert sum(len(one.P) for one in states[0].odds) == fits[-1] - FIRST
    assert result.sequential.tested == 3000 - FIRST
    early = audit(shifted(2.0), claim=(0.0, 0.05))
    assert early.verdict == "violated"


def test_batches_are_drawn_at_keys_of_their_own():
    settings = Settings.of(3000, claim=(1.0, 0.0), rng=3)
    alone, two = (
        [*batches_of(shifted(1.0), PAIR, settings, Drawing(n_jobs))] for n_jobs in (None, 2)
    )
    for number, (one, other) in enumerate(zip(alone, two, strict=True)):
        np.testing.assert_array_equal(one.draws, other.draws, err_msg=str(number))
    first, second = (batch.draws for batch in alone[1:3])
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[0] - 1.0, first[1])


def test_a_false_claim_stops_the_audit_early_and_says_when():
    """A shift by 2 has δ(0) = 0.68: 30 pairs grow by more than 0.2 nats each. So 3000 are too few
    with probability below 1e-15.
    """
    result = audit(shifted(2.0), claim=(0.0, 0.1))
    record = result.sequential
    assert result.verdict == "violated"
    assert record.rejected_at == record.draws[-1] <= record.drawn < 500
    assert record.e_value >= 20.0
    assert f"Stopped after {record.rejected_at} draws a side" in result.reason
    assert record.drawn - FIRST == record.tested == result.estimate.draws


@pytest.mark.parametrize(
    "claim",
    [(1.0, 0.127), dp.Claim.gdp(1.0), pytest.param(dp.Claim.zcdp(0.5), marks=pytest.mark.slow)],
    ids=lambda claim: str(claim),
)
def test_a_true_claim_is_not_rejected(claim):
    """Fails with probability at most 0.001 each."""
    result = audit(shifted(1.0), claim=claim, level=0.999)
    assert result.verdict == "not violated"
    assert result.sequential.rejected_at is None
    assert result.sequential.drawn == 3000
    assert "In 3,000 draws a side" in result.reason
    assert np.all(result.spectrum.low <= result.claim.delta_at(GRID))


def test_without_a_claim_the_exact_spectrum_is_bet_against():
    """Fails with probability at most 0.001."""
    result = audit(dp.mechanisms.GaussianLS(0.1), level=0.999)
    assert result.verdict == "not violated"
    assert "the exact spectrum" in result.reason
    assert np.all(result.spectrum.low <= result.exact.delta)


def test_with_neither_there_is_nothing_to_bet_against():
    with pytest.raises(dp.InvalidInput, match="nothing to bet against"):
        audit(shifted(1.0))


def test_what_the_draws_could_not_have_shown_is_inconclusive():
    weak, strong = (audit(shifted(0.05), claim=(1.0, 0.1), detect=one) for one in (1e-6, 0.5))
    assert (weak.verdict, strong.verdict) == ("inconclusive", "not violated")


@pytest.mark.parametrize(
    "classifier", ["auto", pytest.param("qda", marks=pytest.mark.slow), "logistic"]
)
def test_classifiers_take_over_from_the_small_score(classifier):
    result = audit(shifted(0.3), claim=(0.0, 0.3), classifier=classifier, draws=2500)
    assert result.sequential.drawn == 2500
    if classifier != "auto":
        assert result.fitted.name == classifier


def test_fresh_lists_take_the_form_of_the_past():
    """An outcome for which the earlier draws had no column is left out. The bet must not depend on
    the draw.
    """
    rows = lambda *lists: dp.outcomes.rows(list(lists), len(lists))  # noqa: E731
    past = Past()
    past.add(Batch((np.ones((2, 1)), np.zeros((2, 1))), None))
    past.rows()
    plain = past.like(Batch((rows([1.0, 2.0], []), np.ones((2, 1))), None))
    assert plain.P.shape == plain.Q.shape == (2, 1)
    np.testing.assert_array_equal(plain.P, [[1.0], [np.nan]])
    past.add(Batch((rows([1.0, 2.0], []), np.ones((2, 1))), None))
    assert past.rows().P.shape == (4, 3)
    longer = past.like(Batch((rows([5.0, 6.0, 7.0], [8.0]), np.ones((2, 1))), None))
    np.testing.assert_array_equal(longer.P, [[3.0, 5.0, 6.0], [1.0, 8.0, np.nan]])


def test_batches_of_text_and_dicts_are_bet_on():
    """Only D gives one category, in 1 draw of 5, and the claim is rejected soon. This holds also
    where later batches have new categories.
    """

    def says(data, size, *, rng):
        few = [
            {"word": "secret" if data[3].any() and rng.random() < 0.2 else "hello"}
            for _ in range(size)
        ]
        return [{**one, f"key {rng.integers(50)}": None} for one in few]

    result = dp.audit(
        says, dp.neighbours.zero_row(DATA, 3), claim=(1.0, 0.01), stop="verdict", rng=1
    )
    assert result.verdict == "violated"
    assert result.sequential.rejected_at < 5000


def test_the_wealth_stops_at_the_first_draw_that_crosses():
    record = audit(shifted(2.0), claim=(0.0, 0.1), level=0.99).sequential
    assert record.e_value >= 100.0
    assert np.all(np.exp(record.log_e[:-1]) < 100.0)
    assert record.largest == pytest.approx(record.e_value)
