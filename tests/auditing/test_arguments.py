"""What the entry points are given: errors that name the next step, and two names of one number."""

from functools import partial

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import search
from tests.cases import database, shifted

pytestmark = pytest.mark.quick

DATA = database()
PAIR = dp.neighbours.zero_row(DATA, 0)
ONE_DRAW = "dpaudit.adapters.one_draw"


def never(data, size, *, rng):
    raise AssertionError("drawn before the arguments were checked")


@pytest.mark.parametrize(
    ("given", "what"),
    [(DATA, r"a \(40, 4\) float64 array"), (DATA.tolist(), "a list of 40"), (None, "None")],
)
def test_data_in_place_of_a_pair(given, what):
    with pytest.raises(
        dp.InvalidInput, match=f"pair must be a .*NeighbourPair, got {what}"
    ) as raised:
        dp.audit(never, given)
    for step in ("dpaudit.neighbours.zero_row(data, index)", "dpaudit.search_neighbours("):
        assert step in str(raised.value)
    assert raised.value.argument == "pair"


class Estimator:
    def fit(self, X, y):
        raise AssertionError("fitted before the arguments were checked")


FORMS = {
    "a parameter": (
        lambda data, *, epsilon, rng: 0.0,
        r"got .*\(data, epsilon, rng\); .*functools.partial\(f, epsilon=…\), by --parameters",
    ),
    "a key beside rng": (
        lambda data, size, key, *, rng: 0.0,
        r"got .*\(data, size, key, rng\); .*functools.partial\(f, key=…\), by --parameters",
    ),
    "another name": (lambda data, size, *, seed: 0.0, "the keyword rng, .*: rename seed"),
    "no rng": (lambda data, size: 0.0, r"got .*\(data, size\); it must take .* keyword rng"),
    "nothing": (lambda: 0.0, r"got .*\(\)$"),
    "class with fit": (Estimator, r"got Estimator; .*adapters\.estimator\(make, .*kind = "),
    "object with fit": (Estimator(), r"got an Estimator; .*adapters\.estimator\(make, "),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "entry",
    [
        lambda f: dp.audit(f, PAIR),
        lambda f: dp.search_neighbours(f, DATA),
        lambda f: dp.testing.assert_private(f, PAIR, (1.0, 0.0)),
    ],
    ids=["audit", "search", "assertion"],
)
def test_a_function_of_another_form_is_told_what_to_do(form, entry):
    function, message = FORMS[form]
    with pytest.raises(dp.InvalidInput, match=f"mechanism must be a callable.*{message}"):
        entry(function)


def of_frame(people: "pd.DataFrame", rng):  # noqa: F821
    raise AssertionError("drawn before the arguments were checked")


def test_a_function_of_a_data_frame_is_known_by_its_annotation_or_its_failure():
    with pytest.raises(dp.InvalidInput, match=r"--kind frame .*dpaudit\.adapters\.records"):
        dp.audit(of_frame, PAIR)
    for use in (lambda data, rng: data.groupby("x"), lambda data, rng: data["x"].sum()):
        with pytest.raises(dp.MechanismError, match=r"came as an array; .*--kind frame .*\(draw 0"):
            dp.audit(use, PAIR, draws=100)


def one_output(data, rng):
    return float(data.sum() + rng.laplace())


def keyword(data, *, rng):
    return one_output(data, rng)


def parameter(data, epsilon, *, rng):
    return one_output(data, rng) + 0.0 * epsilon


def unseeded(data):
    return float(data.sum() + np.random.laplace())  # noqa: NPY002


@pytest.mark.parametrize(
    "function", [one_output, keyword, partial(parameter, epsilon=2.0)], ids=["place", "word", "par"]
)
def test_a_function_of_one_output_is_a_mechanism(function):
    expected = dp.audit(dp.adapters.one_draw(one_output), PAIR, draws=100, rng=1)
    given = dp.audit(function, PAIR, draws=100, rng=1)
    assert np.array_equal(given.spectrum.delta, expected.spectrum.delta)


def test_so_it_is_in_a_search_and_in_a_test():
    selection = dp.search_neighbours(one_output, DATA[:6], claim=(1.0, 0.0), draws=500, shortlist=2)
    assert selection.audit.sizes.total == 500
    test = dp.testing.assert_private(one_output, PAIR, (2.0, 0.0), draws=1000)
    assert test.verdict == "not violated"


def test_a_function_without_rng_follows_the_seed():
    first, again = (dp.audit(unseeded, PAIR, draws=100, rng=1) for _ in range(2))
    assert np.array_equal(first.spectrum.delta, again.spectrum.delta)


@pytest.mark.parametrize(
    "output",
    [1.0, np.float64(1.0), np.ones(3), np.ones((1, 3)), [1.0, 2.0], {"mean": 1.0}, "text"],
    ids=lambda output: type(output).__name__,
)
def test_one_output_whatever_the_size_is_told_of_one_draw(output):
    with pytest.raises(dp.MechanismError, match=f"must return .*block 0 .*; .*{ONE_DRAW}"):
        dp.audit(lambda data, size, *, rng: output, PAIR, draws=1000, rng=1)


@pytest.mark.parametrize("output", [np.zeros((7, 2)), [[1.0, 2.0]] * 7, None])
def test_many_rows_of_another_number_are_not(output):
    with pytest.raises(dp.MechanismError, match="must return") as raised:
        dp.audit(lambda data, size, *, rng: output, PAIR, draws=1000, rng=1)
    assert ONE_DRAW not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dp.audit(never, PAIR, darws=10), r"^audit\(\) .*'darws'; .* 'draws'"),
        (lambda: dp.audit(never, PAIR, confidence=0.9), "'confidence'; did you mean 'level'"),
        (lambda: dp.audit(never, PAIR, zzz=1), "'zzz'; it takes mechanism, pair, epsilon"),
        (lambda: dp.audit_samples([1], [2], clam=1), r"^audit_samples\(\) .*'clam'; .* 'claim'"),
        (
            lambda: dp.search_neighbours(never, DATA, shortlst=3),
            r"^search_neighbours\(\) .*'shortlst'; .* 'shortlist'",
        ),
        (
            lambda: search.select(never, DATA, relation=["add"]),
            r"^search_neighbours\(\) .*'relation'; .* 'relations'",
        ),
        (
            lambda: dp.search_neighbours(never, DATA, clasifier="qda"),
            r"^search_neighbours\(\) .*'clasifier'; .* 'classifier'",
        ),
        (
            lambda: dp.testing.assert_private(never, PAIR, (1, 0), drwas=3),
            r"^assert_private\(\) .*'drwas'; .* 'draws'",
        ),
        (
            lambda: dp.testing.assert_matches(never, PAIR, dp.Claim(1.0), fokus="pure"),
            r"^assert_matches\(\) .*'fokus'; .* 'focus'",
        ),
    ],
)
def test_unknown_keywords_are_answered_by_the_function_called(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_samples_is_an_old_name_of_draws_and_warns():
    new = dp.audit(shifted(1.0), PAIR, classifier="qda", rng=1, draws=np.float64(1e3)).to_dict()
    with pytest.warns(DeprecationWarning, match="samples is now called draws") as warned:
        old = dp.audit(shifted(1.0), PAIR, classifier="qda", rng=1, samples=1000).to_dict()
    assert warned[0].filename == __file__
    assert old["samples"] == new["samples"]
    assert old["empirical"] == new["empirical"]


@pytest.mark.parametrize(
    "call",
    [
        lambda **given: dp.audit(never, PAIR, **given),
        lambda **given: dp.search_neighbours(never, DATA, **given),
        lambda **given: dp.testing.assert_private(never, PAIR, (1.0, 0.0), **given),
    ],
    ids=["audit", "search", "assertion"],
)
def test_both_names_or_half_a_draw_are_refused(call):
    with pytest.raises(dp.InvalidInput, match="two names of one number"):
        call(samples=1000, draws=1000)
    with pytest.raises(dp.InvalidInput, match=r"must be an integer >= 1, got 1\.5"):
        call(draws=1.5)
