"""assert_private and assert_matches: what fails, what passes, and what a failure says."""

import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import testing
from tests.testing.release_cases import (
    DATA,
    PAIR,
    Shifted,
    coin,
    coin_curve,
    laplace,
    laplace_curve,
)

QDA = {"classifier": "qda"}


def failing(assertion, *arguments, **options):
    with pytest.raises(testing.PrivacyFailure) as found:
        assertion(*arguments, **options)
    return found.value


def test_a_failure_names_everything_that_is_needed():
    """δ(1) = 0.127 where 1e-5 is claimed: 4000 draws miss it with probability below 1e-6."""
    failure = failing(
        testing.assert_private, Shifted(1.0), PAIR, (1.0, 1e-5), draws=4000, rng=5, **QDA
    )
    assert isinstance(failure, AssertionError)
    lines = str(failure).splitlines()
    assert lines[0].startswith(
        "VIOLATED: Claimed ε = 1 at δ = 10⁻⁵. At 99.9999 % confidence at least 1.4"
    )
    assert failure.result.verdict == "violated"
    facts = failure.facts
    assert list(facts)[:5] == ["claim", "certified ε", "certified δ", "estimate", "exact"]
    assert facts["claim"] == "(1, 1e-05)-DP"
    certified = failure.result.certified
    epsilon, at_least, *rest = facts["certified ε"].split(" ", 2)
    assert float(epsilon) == pytest.approx(certified.epsilon_at(1e-5), rel=1e-3)
    assert (at_least, *rest) == ("at", "least at δ = 10⁻⁵, claimed 1")
    match = re.fullmatch(r"δ\(1\) = (\S+) at least, claimed 10⁻⁵", facts["certified δ"])
    assert float(match[1]) == pytest.approx(certified.delta_at(1.0), rel=1e-3)
    assert facts["row"] == "3 of 4 (counted from 0), zeroed"
    assert facts["draws"] == "4,000 a side, seed 5"
    assert facts["by chance"].startswith("1 in 1,000,000 tests at most")
    here = "test_assertions.py::test_a_failure_names_everything_that_is_needed"
    assert facts["run again"].endswith(f"{here}' --dpaudit-seed 5")
    call = (
        "zero_row(data, 3), (1.0, 1e-05), draws=4000, false_failure=1e-06, rng=5, classifier='qda')"
    )
    assert facts["in Python"].endswith(call)
    assert all(text in str(failure) for text in facts.values())


SECRET = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [73.1234567, 2.0]])


def test_a_failure_shows_values_of_the_data_only_if_asked():
    pair = dp.neighbours.replace_row(SECRET, 3, [-73.1234567, 2.0])
    options = {"draws": 500, **QDA}
    failures = [
        failing(testing.assert_private, total, pair, (1.0, 0.0), **options),
        failing(testing.assert_matches, total, pair, dp.Claim.gdp(0.1), **options),
    ]
    for failure in failures:
        assert "73.1" not in str(failure)
        assert failure.facts["row"].startswith("3 of 4 (counted from 0), ")
    open_ = failing(testing.assert_private, total, pair, (1.0, 0.0), show_data=True, **options)
    assert "it was 73.1235, 2" in open_.facts["row"]
    assert "now -73.1235, 2" in open_.facts["row"]


def test_the_call_in_a_failure_reproduces_it():
    failure = failing(testing.assert_private, coin, PAIR, (0.5, 0.01), draws=3000, rng=7, **QDA)
    code = failure.facts["in Python"].replace(f"{coin.__module__}.coin", "coin")
    names = {"dpaudit": dp, "coin": coin, "data": DATA}
    with pytest.raises(testing.PrivacyFailure) as again:
        eval(code, names)
    assert str(again.value) == str(failure)


def test_the_call_names_the_adapter_of_a_function_that_makes_one_draw():
    def one(data, *, rng):
        return float(data[3, 0] + 1e-3 * rng.normal())

    adapted = dp.adapters.one_draw(one)
    failure = failing(testing.assert_private, adapted, PAIR, (1.0, 0.0), draws=100, level=0.9)
    assert f"(dpaudit.adapters.one_draw({one.__module__}." in failure.facts["in Python"]


@pytest.mark.quick
def test_what_holds_passes_and_says_what_was_found():
    result = testing.assert_private(Shifted(1.0), PAIR, dp.Claim.gdp(1.0), draws=2000, **QDA)
    assert result.verdict == "not violated"
    assert result.settings.level == pytest.approx(1.0 - 1e-6)
    assert result.spectrum.epsilon[-1] == pytest.approx(float(dp.Claim.gdp(1.0).epsilon_at(1e-9)))


def test_the_level_is_one_minus_the_rate():
    for given in ({"level": 0.9}, {"false_failure": 0.1}):
        result = testing.assert_private(coin, PAIR, (1.0, 0.1), draws=500, **QDA, **given)
        assert result.settings.level == pytest.approx(0.9)
    with pytest.raises(
        dp.InvalidInput, match="level must be left out where false_failure is given"
    ):
        testing.assert_private(coin, PAIR, (1.0, 0.1), level=0.9, false_failure=0.1)


def test_an_audit_that_could_not_have_failed_fails_if_asked():
    failure = failing(
        testing.assert_private, coin, PAIR, (1.0, 0.1), draws=100, detect=0.001, **QDA
    )
    assert str(failure).startswith("INCONCLUSIVE: Claimed ε = 1 at δ = 0.1. Ruled out at ")
    assert "would have been shown, not the" in str(failure)
    assert "by chance" not in failure.facts


def test_stopping_early_fails_too():
    """Two coins of 0.7 and 0.3 against (0, 0.01).

    2000 draws are too few with probability below 1e-9.
    """
    failure = failing(testing.assert_private, coin, PAIR, (0.0, 0.01), draws=2000, stop="verdict")
    assert "Stopped after" in str(failure)


def test_of_a_database_the_worst_row_is_taken_by_theory():
    data = np.random.default_rng(3).normal(size=(30, 3))
    mechanism = dp.mechanisms.ALS(rows=20)
    worst = dp.exact.worst_case(mechanism, data, [1.0])
    failure = failing(testing.assert_private, mechanism, data, (1.0, 1e-5), draws=500, **QDA)
    assert str(failure).startswith("VIOLATED")
    assert failure.facts["row"].startswith(
        f"{worst.index[0]} of 30 (counted from 0), zeroed (worst of all rows by"
    )
    assert failure.facts["in Python"].startswith(
        "dpaudit.testing.assert_private(ALS(rows=20, sampler=student), "
    )


def test_an_exact_spectrum_above_the_claim_fails_whatever_the_draws_say():
    """Zeroed rows of little weight: 500 draws show nothing, the theory does."""
    data = np.random.default_rng(3).normal(size=(200, 3))
    mechanism = dp.mechanisms.ALS(rows=50)
    exact = float(dp.exact.worst_case(mechanism, data, [1.0]).delta[0])
    failure = failing(testing.assert_private, mechanism, data, (1.0, exact / 2), draws=500, **QDA)
    assert str(failure).startswith("VIOLATED by the exact spectrum, whatever the draws show: ")
    assert "Claimed ε = 1 at δ = " in str(failure)
    assert failure.result.verdict != "violated"
    assert (
        testing.assert_private(mechanism, data, (1.0, exact), draws=500, **QDA).verdict
        == "not violated"
    )


def total(data, size, *, rng):
    """The sum of a column, with noise: rows weigh as they are large."""
    return data[:, 0].sum() + rng.normal(size=(size, 1))


@pytest.fixture(scope="module")
def heavy():
    """One row of 6 among rows of at most 1, which quick audits tell but for 1e-6."""
    data = np.random.default_rng(4).uniform(0.0, 1.0, size=(25, 1))
    data[11] = 6.0
    return data


def test_of_a_database_without_theory_the_search_is_that_of_search_neighbours(heavy):
    """Same data, mechanism, claim, draws, level and seed: the same row and the same certificate."""
    given = {"draws": 1000, "level": 0.95, **QDA}
    failure = failing(testing.assert_private, total, heavy, (1.0, 1e-3), rng=3, **given)
    selection = dp.search_neighbours(total, heavy, claim=(1.0, 1e-3), rng=3, **given)
    assert failure.result.subject.pair.index == selection.pair.index == 11
    assert failure.result.headline.certified == selection.audit.headline.certified
    assert failure.result.certified.to_dict() == selection.audit.certified.to_dict()
    assert failure.facts["row"].startswith("11 of 25 (counted from 0), zeroed (the worst of ")
    assert failure.facts["relation"].startswith("a row of zeros is taken for nobody; ")
    assert failure.facts["draws"] == "1,000 a side, seed 3"
    assert "zero_row(data, 11), (1.0, 0.001), draws=1000" in failure.facts["in Python"]


def test_search_takes_keywords_of_search_neighbours(heavy):
    given = {"draws": 1000, **QDA}
    search = {"relations": ("add",), "candidates": [[6.0], [0.5]], "budget": 4}
    failure = failing(testing.assert_private, total, heavy, (1.0, 1e-3), search=search, **given)
    assert failure.facts["pair"].startswith("a row added: 25 rows of 1 and 26 rows of 1 (")
    assert "relation" not in failure.facts
    again = "data, (1.0, 0.001), draws=1000, false_failure=1e-06, rng=0, classifier='qda', search="
    assert again in failure.facts["in Python"]
    assert "'candidates': candidates" in failure.facts["in Python"]
    for wrong in ({"draws": 10}, {"relation": "add"}):
        with pytest.raises(TypeError, match="search of assert_private"):
            testing.assert_private(total, heavy, (1.0, 1e-3), search=wrong)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((PAIR, None), {}, "claim must be a dpaudit.Claim"),
        ((PAIR, (1.0, 0.1)), {"rng": np.random.default_rng(0)}, "rng must be an integer >= 0"),
        ((PAIR, (1.0, 0.1)), {"draws": 0}, "draws must be an integer >= 1"),
        ((PAIR, (1.0, 0.1)), {"false_failure": 0.0}, "false_failure must be"),
        (([1.0, 2.0], (1.0, 0.1)), {}, r"must be a 2-D array.*shape \(2,\).*reshape\(-1, 1\)"),
        (
            ([[1.0], [2.0]], (1.0, 0.1)),
            {"draws": 50},
            "draws must be at least 200 a side .*, got 50, or give the pair",
        ),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(dp.InvalidInput, match=message):
        testing.assert_private(coin, *arguments, **options)


@pytest.mark.parametrize(
    ("mechanism", "curve"),
    [
        (Shifted(1.0), dp.Claim.gdp(1.0)),
        (Shifted(1.0), dp.exact.PrivacyLoss.gaussian_shift(1.0).spectrum([0.0, 0.5, 1.0])),
        (laplace, laplace_curve),
        (coin, (np.array([0.0, 0.4]), np.array([coin_curve(0.0), coin_curve(0.4)]))),
    ],
)
def test_the_true_curve_matches(mechanism, curve):
    result = testing.assert_matches(mechanism, PAIR, curve, draws=3000, **QDA)
    assert result.settings.level == pytest.approx(1.0 - 5e-7)


@pytest.mark.quick
@pytest.mark.parametrize(("mu", "word"), [(0.5, "ABOVE THE CURVE"), (2.0, "FAR BELOW THE CURVE")])
def test_another_curve_does_not(mu, word):
    """At 6000 draws the curves of μ = 0.5 and 2 are ten margins away."""
    failure = failing(
        testing.assert_matches, Shifted(1.0), PAIR, dp.Claim.gdp(mu), draws=6000, **QDA
    )
    assert str(failure).startswith(word)
    assert failure.facts["in Python"].endswith(
        "draws=6000, false_failure=1e-06, rng=0, rtol=0.1, atol=0.0)"
    )
    shown = re.search(
        r"this score shows ([\d.]+) to ([\d.]+) \(about 95 %\)", failure.facts["estimate"]
    )
    assert shown is not None
    epsilon = float(failure.facts["ε"].split()[0])
    low, high = map(float, shown.groups())
    assert low <= dp.exact.gaussian_shift(1.0, epsilon) <= high
    testing.assert_matches(Shifted(1.0), PAIR, dp.Claim.gdp(1.15), draws=6000, rtol=0.3, **QDA)


def one_sided(data, size, *, rng):
    """0.1 of D's outputs never occur on D′: forward δ(ε) = 0.1, backward 1 − 0.9 e^ε, clipped."""
    return ((rng.random((size, 1)) < 0.1) & (data[3, 0] != 0)).astype(float)


def test_directions_are_told_apart():
    epsilon = np.array([0.5, 1.0])
    forward, backward = np.full(2, 0.1), np.zeros(2)
    right = dp.Spectrum(epsilon, forward, forward, backward)
    wrong = dp.Spectrum(epsilon, forward, backward, forward)
    testing.assert_matches(one_sided, PAIR, right, draws=5000, **QDA)
    assert (
        "D against D′"
        in failing(testing.assert_matches, one_sided, PAIR, wrong, draws=5000, **QDA).facts["ε"]
    )
    testing.assert_matches(one_sided, PAIR, wrong.replace(forward=None), draws=5000, **QDA)


@pytest.mark.parametrize(
    ("curve", "options", "message"),
    [
        (3.0, {}, "spectrum must be a Spectrum, a Claim, a function of epsilon or a pair"),
        (([0.0, 1.0], [0.5, 1.5]), {}, "spectrum must be δ in"),
        (([1.0, 0.0], [0.5, 0.6]), {}, "epsilon must be ascending"),
        (dp.Claim.gdp(1.0), {"rtol": -1.0}, "rtol must be"),
    ],
)
def test_a_curve_that_is_none_is_named(curve, options, message):
    with pytest.raises(dp.InvalidInput, match=message):
        testing.assert_matches(coin, PAIR, curve, draws=1000, **options)
