"""Nothing vacuous is green: claims that nothing breaks, mechanisms that ignore what differs, draws
that are too few, claims that the exact spectrum breaks.
"""

import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import sequential
from dpaudit.auditing.api import audit_subject
from dpaudit.auditing.settings import Settings
from dpaudit.auditing.subject import Subject
from dpaudit.auditing.vacuous import fewest
from dpaudit.curves import doubtful
from dpaudit.run import plan
from dpaudit.search import select
from dpaudit.verdict import Reference, numbers
from tests.sparse import one_in

quick = pytest.mark.quick
DATA = np.array([[0.2, 1.0], [0.9, 0.0], [0.4, 1.0]])
PAIR = dp.neighbours.zero_row(DATA, 1)
SWAPPED = (1e-5, 1.0)
SEEDED = {"rng": 1, "classifier": "qda"}
STOPS = pytest.mark.parametrize("stop", [None, "verdict"])


def noisy_sum(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))


def publisher(data, size, *, rng):
    return np.full((size, 1), data.sum())


# --- claims that no mechanism breaks --------------------------------------------------------------

ENTRIES = {
    "audit": lambda claim: dp.audit(noisy_sum, PAIR, draws=200, claim=claim),
    "audit_samples": lambda claim: dp.audit_samples(np.zeros(200), np.ones(200), claim=claim),
    "search": lambda claim: dp.search_neighbours(noisy_sum, DATA, draws=200, claim=claim),
    "select": lambda claim: select(noisy_sum, DATA, draws=200, claim=claim),
    "assert_private": lambda claim: dp.testing.assert_private(noisy_sum, PAIR, claim, draws=200),
}


@quick
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_refuses_a_claim_that_allows_everything(entry):
    for claim in (SWAPPED, dp.Claim(*SWAPPED)):
        with pytest.raises(dp.InvalidInput, match=r"got \(1e-05, 1\)-DP.*did you mean \(1, 1e-05"):
            ENTRIES[entry](claim)
    with pytest.raises(dp.InvalidInput, match=r"got \(3, 1\)-DP, .* any mechanism$"):
        ENTRIES[entry]((3.0, 1.0))


@quick
@pytest.mark.parametrize("claim", [dp.Claim.gdp(60.0), dp.Claim.from_function(lambda epsilon: 1.0)])
def test_a_curve_that_allows_everything_where_it_is_judged_names_the_grid(claim):
    with pytest.raises(dp.InvalidInput, match=r"any mechanism at every ε of this audit, 0 to 4$"):
        Settings.of(200, claim=claim, epsilon=[0.0, 4.0])


@quick
@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((1e-5, 2.0), r"got 2.0; ε comes first: did you mean \(2, 1e-05\)\?"),
        ((3.0, 2.0), "got 2.0$"),
        ((0.1, True), "got True$"),
        ((0.1, np.nan), "got nan$"),
        ((0.1, -1.0), "got -1.0$"),
    ],
)
def test_a_delta_above_one_is_refused_with_the_swap_where_that_is_a_claim(pair, message):
    with pytest.raises(dp.InvalidInput, match=f"claim delta must be .*{message}"):
        dp.Claim(*pair)


@quick
@STOPS
def test_a_large_delta_is_doubted_first(stop):
    doubted = dp.audit(noisy_sum, PAIR, draws=500, claim=(1e-5, 0.5), stop=stop, **SEEDED)
    assert doubted.reason.startswith("δ = 0.5 allows a mechanism to publish its data")
    assert "ε comes first in the claim (1e-05, 0.5)" in doubted.reason
    assert doubtful(dp.Claim(1e-5, 0.49)) is None
    assert "in that share of its runs" in str(doubtful(dp.Claim(1.0, 0.99)))


# --- a mechanism that ignores what differs --------------------------------------------------------


def ignoring(data, size, *, rng):
    return len(data) + rng.normal(size=(size, 2))


def as_text(data, size, *, rng):
    return [f"{one:.3f}" for one in rng.normal(size=size)]


def as_lists(data, size, *, rng):
    return [[float(one)] * int(rng.integers(3)) for one in rng.normal(size=size)]


def with_nan(data, size, *, rng):
    return np.where(rng.random((size, 1)) < 0.5, np.nan, rng.normal(size=(size, 1)))


@quick
@pytest.mark.parametrize(
    ("stop", "mechanism"),
    [
        *((None, one) for one in (ignoring, as_text, as_lists, with_nan)),
        *one_in(4, [("verdict", one) for one in (ignoring, as_text, as_lists, with_nan)]),
    ],
)
def test_a_mechanism_that_ignores_what_differs_is_inconclusive(mechanism, stop):
    """A certified δ(0) above 0, for which nothing is said, has probability 0.05 at most."""
    result = dp.audit(mechanism, PAIR, draws=2000, claim=(1.0, 1e-5), stop=stop, **SEEDED)
    assert result.verdict == "inconclusive"
    assert result.reason.startswith(
        "Under the same random numbers M(D) and M(D') gave the same 200 outputs: none of them uses"
    )


@quick
def test_where_the_claim_is_refuted_further_draws_and_a_trial_follow():
    made = []

    def recorded(data, size, *, rng):
        made.append(size)
        return 3.0 * data.sum() + rng.laplace(size=(size, 1))

    assert dp.audit(recorded, PAIR, draws=2000, claim=(0.5, 0.0), **SEEDED).verdict == "violated"
    assert sum(made) == 2 * 2000 + 2 * 256 + 3 * 8


@quick
def test_a_mechanism_that_fails_in_the_check_is_judged_by_its_draws():
    calls = []

    def failing(data, size, *, rng):
        calls.append(size)
        if sum(calls) > 4000:
            raise OSError
        return rng.normal(size=(size, 1))

    result = dp.audit(failing, PAIR, draws=2000, claim=(1.0, 1e-5), **SEEDED)
    assert result.verdict == "not violated"


@quick
def test_draws_made_elsewhere_that_are_the_same_are_inconclusive_where_chance_explains_them():
    result = dp.audit_samples(np.zeros(1000), np.zeros(1000), claim=(1.0, 1e-5), rng=1)
    assert result.verdict == "inconclusive"
    assert result.reason.startswith("P and Q hold the same draws in the same order. Not random")


# --- draws too few to refute anything -------------------------------------------------------------

LEAKS = one_in(
    4,
    [
        ((3.0, 1e-5), 1e-6),
        ((1.0, 0.01), 1e-16),
        (dp.Claim.gdp(1.0), 1e-30),
        ((8.0, 1e-5), 0.05),
    ],
)


def published(samples, claim, alpha):
    subject = Subject(publisher, PAIR)
    return audit_subject(subject, draws=samples, claim=claim, alpha=alpha, rng=1)


@pytest.mark.parametrize(("claim", "alpha"), LEAKS)
def test_the_fewest_draws_refute_a_leak_and_four_fifths_of_them_do_not(claim, alpha):
    settings = Settings.of(100, claim=claim, alpha=alpha)
    needed = fewest(settings, Reference.of(settings.claim, settings.epsilon, None), 1)
    assert published(needed, claim, alpha).verdict == "violated"
    if needed >= 125:  # an audit takes 100 draws and more
        few = published(int(0.8 * needed), claim, alpha)
        assert (few.verdict, few.detectable) == ("inconclusive", None)


@pytest.mark.parametrize(
    "claim",
    [
        (3.0, 1e-5),
        pytest.param((1.0, 0.99), marks=pytest.mark.slow),
    ],
)
def test_so_do_the_fewest_draws_of_a_sequential_audit(claim):
    settings = Settings.of(10_000, claim=claim, stop="verdict")
    needed = sequential.rejected_at(settings, None, 10_000)
    enough, few = (
        dp.audit(publisher, PAIR, draws=n, claim=claim, stop="verdict", rng=1)
        for n in (int(1.25 * needed), int(0.8 * needed))
    )
    assert (enough.verdict, few.verdict) == ("violated", "inconclusive")


@pytest.mark.parametrize("stop", one_in(2, [None, "verdict"]))
@pytest.mark.parametrize(
    ("claim", "draws"),
    [
        ((6.0, 1e-5), 500),
        pytest.param(dp.Claim.gdp(4.0), 100, marks=pytest.mark.slow),
    ],
)
def test_draws_too_few_are_told_how_many_suffice_and_plan_says_the_same(claim, draws, stop):
    options = {"claim": claim, "stop": stop, "rng": 1}
    few = dp.audit(noisy_sum, PAIR, draws=draws, **options)
    assert few.verdict == "inconclusive"
    needed, excess = re.search(
        r"Take ([\d,]+) draws a side to find an excess of ([\d.]+) in δ", few.reason
    ).groups()
    more = dp.audit(noisy_sum, PAIR, draws=int(needed.replace(",", "")), **options)
    assert more.verdict == "not violated"
    if isinstance(claim, tuple):
        assert more.detectable["epsilon"] == claim[0]
        assert more.detectable["excess"] <= float(excess)
        row = plan(claim, [float(excess)]).rows[0]
        assert numbers.enough(row.audit if stop is None else row.early) == needed


@quick
@STOPS
def test_a_claim_beyond_all_draws_is_inconclusive(stop):
    result = dp.audit(noisy_sum, PAIR, draws=1000, claim=(60.0, 0.0), stop=stop, **SEEDED)
    assert result.verdict == "inconclusive"
    assert "No number of draws refutes the claim of (60, 0)-DP" in result.reason


# --- a claim that the exact spectrum breaks -------------------------------------------------------


@quick
@STOPS
def test_a_claim_that_the_exact_spectrum_breaks_is_never_green(stop):
    mechanism = dp.mechanisms.GaussianLS(sigma=1.0)
    data = np.random.default_rng(0).normal(size=(50, 3))
    pair = dp.neighbours.zero_row(data, 15)
    truth = float(dp.exact.spectrum(mechanism, pair, [0.0]).delta[0])
    claim = (0.0, 0.99 * truth)
    result = dp.audit(mechanism, pair, draws=1000, claim=claim, stop=stop, **SEEDED)
    assert result.verdict == "inconclusive"
    assert result.reason.startswith("The exact spectrum breaks")
    with pytest.raises(dp.testing.PrivacyFailure, match="VIOLATED by the exact spectrum"):
        dp.testing.assert_private(mechanism, pair, claim, draws=1000, classifier="qda")


def test_the_words_of_a_claim_decide_nothing():
    """A note on draws of one value each ends so, and makes a verdict inconclusive."""
    claim = dp.Claim(3.0, 1e-3, text="Not random: our claim, an infinite privacy loss.")
    pair = dp.neighbours.zero_row(np.ones((3, 1)), 0)

    def release(data, size, *, rng):
        return data.sum() + rng.laplace(size=(size, 1))

    result = dp.audit(release, pair, claim=claim, draws=3000, rng=1)
    assert result.verdict == "not violated", result.reason
