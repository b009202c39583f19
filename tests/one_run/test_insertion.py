"""Canaries in a run: coins, one call of the mechanism, scores, and the audit of both."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.one_run.insertion import observe

DATA = np.random.default_rng(0).normal(size=(30, 40))
ROWS = dp.canaries(DATA, 200, label=False, row_bound=1.0, rng=1)


def total(data, size, *, rng):
    """The sum of the rows with noise 0.2: canaries of norm 1 are well seen."""
    return data.sum(axis=0) + 0.2 * rng.standard_normal((size, data.shape[1]))


def private_total(data, size, *, rng):
    """1-GDP for rows of norm 1."""
    return data.sum(axis=0) + rng.standard_normal((size, data.shape[1]))


def rows_of(data):
    return data


ALIGNED = dp.one_run.SumAlignment(rows_of, DATA)


def test_the_same_rng_gives_the_same_bytes_and_coins_do_not_depend_on_the_mechanism():
    one, two = (observe(total, DATA, ROWS, ALIGNED, rng=3) for _ in range(2))
    assert one.scores.tobytes() == two.scores.tobytes()
    other = observe(private_total, DATA, ROWS, ALIGNED, rng=3)
    np.testing.assert_array_equal(one.included, other.included)
    assert not np.array_equal(one.included, observe(total, DATA, ROWS, ALIGNED, rng=4).included)


class Seen:
    """A mechanism that keeps what it was given."""

    def __init__(self):
        self.calls = []

    def __call__(self, data, size, *, rng):
        self.calls.append((data, size))
        return total(data, size, rng=rng)


def test_the_question_is_checked_before_the_mechanism_runs():
    seen = Seen()
    with pytest.raises(dp.errors.InvalidInput, match="assumed independent"):
        dp.audit_canaries(seen, DATA, ROWS, ALIGNED, delta=1e-5, family=(0.1, 20), rng=1)
    assert seen.calls == []


@pytest.mark.slow
def test_what_is_assumed_of_canaries_is_recorded():
    assumed = dp.audit_canaries(total, DATA, ROWS, ALIGNED, canaries="independent", rng=1)
    assert assumed.to_dict()["assumed"]["canaries"] == "independent"


def test_the_mechanism_runs_once_on_data_and_the_canaries_that_are_in():
    seen = Seen()
    found = observe(seen, DATA, ROWS, ALIGNED, rng=1)
    [(data, size)] = seen.calls
    assert size == 1
    np.testing.assert_array_equal(data, ROWS.inserted(DATA, found.included))
    zeroed = Seen()
    observe(zeroed, DATA, ROWS, ALIGNED, relation="zero-out", rng=1)
    assert len(zeroed.calls[0][0]) == 230


def test_functions_of_one_output_work_as_mechanisms_do():
    def drawn(data, *, rng):
        return total(data, 1, rng=rng)[0]

    def positional(data, rng):
        return drawn(data, rng=rng)

    def exact(data):
        return data.sum(axis=0)

    adapted = dp.adapters.one_draw(drawn)
    of_form = [observe(f, DATA, ROWS, ALIGNED, rng=1) for f in (drawn, positional, adapted)]
    assert len({one.scores.tobytes() for one in of_form}) == 1
    sums = observe(exact, DATA, ROWS, ALIGNED, rng=1)
    assert np.mean((sums.scores > 0.0) == sums.included) > 0.6
    with pytest.raises(dp.InvalidInput, match="mechanism must be a callable mechanism"):
        observe(lambda data, size: 0.0, DATA, ROWS, ALIGNED)
    with pytest.raises(dp.InvalidInput, match="mechanism must be"):
        observe(Seen, DATA, ROWS, ALIGNED)


def test_a_score_gets_the_output_as_it_is():
    class Model:
        def predict(self, x):
            return np.zeros(len(x))

    model, got = Model(), []

    def score(output, rows):
        got.append((output, rows))
        return np.arange(len(rows))

    observe(lambda data: model, DATA, ROWS, score, rng=1)
    observe(lambda data: [{"a": 1}], DATA, ROWS, score, rng=1)
    assert got[0][0] is model
    assert got[1][0] == [{"a": 1}]
    np.testing.assert_array_equal(got[0][1], ROWS.rows)


def test_a_score_cannot_change_the_canaries():
    def score(output, rows):
        rows[:] = 0.0
        return rows[:, 0]

    before = ROWS.rows.copy()
    observe(total, DATA, ROWS, score, rng=1)
    np.testing.assert_array_equal(ROWS.rows, before)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda output, rows: rows[:3, 0], r"score must be .* 200 numbers"),
        (lambda output, rows: rows[:, 0] * np.nan, "score must be .* not finite"),
        (lambda output, rows: "high", "score must be"),
    ],
)
def test_a_score_of_another_form_is_refused(score, message):
    with pytest.raises(dp.InvalidInput, match=message):
        observe(total, DATA, ROWS, score, rng=1)


def test_an_error_names_what_raised_without_values_of_the_data():
    data = np.full((3, 2), 73417.25)
    made = dp.Canaries(np.ones((4, 2)))

    def failing(data, *, rng):
        raise ValueError(f"bad value {data[0, 0]}")

    def failing_score(output, rows):
        raise KeyError(f"bad output {output[0]}")

    with pytest.raises(dp.MechanismError, match=r"the mechanism raised .* \(on the data") as caught:
        observe(failing, data, made, rng=1)
    assert "73417" not in str(caught.value)
    with pytest.raises(dp.MechanismError, match="the score raised KeyError") as caught:
        observe(lambda data: data[0], data, made, failing_score, rng=1)
    assert "73417" not in str(caught.value)
    with pytest.raises(dp.MechanismError, match="must return 1 output"):
        observe(lambda data, size, *, rng: data, data, made, rng=1)
    with pytest.raises(dp.InvalidInput, match="canaries must be dpaudit"):
        observe(total, data, np.ones((4, 2)))


def test_a_mechanism_that_leaks_is_caught_and_a_private_one_is_not():
    few = dp.canaries(DATA, 40, label=False, row_bound=1.0, rng=1)
    leaky = dp.audit_canaries(total, DATA, few, ALIGNED, claim=dp.Claim.gdp(0.5), rng=1)
    assert leaky.verdict == "violated"
    assert "so the number of rows tells how many are in" in leaky.reason
    sound = dp.audit_canaries(
        private_total, DATA, few, ALIGNED, claim=dp.Claim.gdp(1.0), relation="zero-out", rng=1
    )
    assert sound.verdict != "violated"
    assert "so the number of rows is public" in sound.reason


def test_coins_of_unequal_chance_reach_the_audit():
    few, chance = dp.Canaries(ROWS.rows[:40]), np.where(np.arange(40) < 20, 0.1, 0.9)
    result = dp.audit_canaries(
        private_total, DATA, few, ALIGNED, claim=dp.Claim.gdp(1.0), inclusion=chance, rng=2
    )
    assert result.verdict != "violated"
    np.testing.assert_array_equal(result.guesses.inclusion, chance)


def test_the_private_model_of_a_claim_is_rarely_refuted():
    """60 runs of 1-GDP with interfering canaries, at level 0.95: 9 or more by chance is 1 in 500.

    A run that refutes is a false alarm.
    """
    few = dp.canaries(DATA, 20, label=False, row_bound=1.0, rng=1)
    alarms = [
        dp.audit_canaries(
            private_total, DATA, few, ALIGNED, claim=dp.Claim.gdp(1.0), rng=seed
        ).verdict
        == "violated"
        for seed in range(60)
    ]
    assert sum(alarms) <= 8
