"""assert_bound: true inequalities pass, false ones are found, made simple and told plainly."""

import math

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import InvalidInput
from dpaudit.testing import BoundFailure, assert_bound, choices, integers, reals, search_bound

pytestmark = pytest.mark.quick
UNIT = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def one(**_):
    return 1.0


@pytest.mark.parametrize(
    ("printed", "exact", "domain"),
    [
        (lambda x, y: 0.5 * (x + y), lambda x, y: math.sqrt(x * y), {"x": (0.0, 9.0), "y": (0, 9)}),
        (lambda x: math.exp(x), lambda x: 1.0 + x, {"x": (-5.0, 5.0)}),
        (lambda n: n * (n + 1) / 2, lambda n: float(sum(range(n + 1))), {"n": integers(0, 40)}),
        (lambda p: 0.25, lambda p: p * (1 - p), {"p": reals(0, 1, closed=False)}),
    ],
    ids=["means", "exponential", "sums", "variance"],
)
def test_a_true_inequality_is_not_refuted_and_where_it_is_tight_is_found(printed, exact, domain):
    search = search_bound(printed, exact, domain, tries=400)
    assert search.holds
    assert search.simplest is search.worst is None
    assert search.slack == pytest.approx(1.0, abs=1e-3)
    assert assert_bound(printed, exact, domain, tries=400) == search


def test_a_lower_bound_and_an_equality_are_searched_too():
    square = {"x": (1.0, 3.0)}
    assert search_bound(lambda x: x, lambda x: x * x, square, side="lower", tries=100).holds
    assert not search_bound(lambda x: x, lambda x: x * x, square, side="both", tries=100).holds
    assert not search_bound(lambda x: x * x, lambda x: x, square, side="both", tries=100).holds
    same = search_bound(
        lambda x: math.exp(2 * math.log(x)), lambda x: x * x, square, side="both", tries=300
    )
    assert same.holds


def test_a_thin_needle_on_a_slope_is_climbed():
    """Of 10⁻⁶ of the volume, in three dimensions; no even spread would meet it."""

    def exact(x, y, z):
        return 1.005 * math.exp(-abs(x - 0.37) - abs(y - 0.71) - abs(z - 0.2))

    search = search_bound(one, exact, {**UNIT, "z": (0.0, 1.0)}, tries=1500)
    assert not search.holds
    assert search.simplest.setting["x"] == pytest.approx(0.37, abs=0.006)


def test_a_failure_under_a_conjunction_of_conditions_is_found():
    def exact(a, b, n, method):
        if b < 0.02 and n >= 500 and method == "z":
            return 1.0 + 0.1 * math.tanh(a - 8.0)
        return 0.5 + 0.01 * a - 0.1 * b + 1e-5 * n

    domain = {"a": (0.0, 10.0), "b": (0.0, 1.0), "n": (1, 1000), "method": ["x", "y", "z"]}
    search = search_bound(one, exact, domain, tries=1000)
    assert search.simplest.setting == {"a": 10.0, "b": 0.0, "n": 500, "method": "z"}


def test_the_classical_gaussian_noise_holds_below_1_and_fails_beyond():
    def exact(epsilon, delta):
        sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        return dp.exact.gaussian_shift(1.0 / sigma, epsilon)

    domain = {"epsilon": reals(0.01, 20.0), "delta": reals(1e-8, 0.1)}
    held = search_bound(
        lambda delta: delta, exact, domain, hypotheses=lambda epsilon: epsilon < 1.0, tries=200
    )
    assert held.holds
    assert held.excluded > 0
    failing = search_bound(lambda delta: delta, exact, domain, tries=300)
    assert failing.simplest.setting["epsilon"] in (8.0, 10.0, 20.0)
    assert failing.worst.factor > 100.0


def test_a_bound_without_a_value_or_below_0_fails():
    nothing = search_bound(lambda x: math.nan if x > 0.5 else 1.0, one, {"x": (0.0, 1.0)})
    assert math.isnan(nothing.worst.printed)
    assert nothing.simplest.setting == {"x": 1.0}
    assert "printed no value, exact 1" in nothing.text
    negative = search_bound(lambda x: x, lambda x: 0.1, {"x": (-1.0, 1.0)}, tries=100)
    assert negative.worst.setting == {"x": -1.0}
    assert negative.worst.factor is None


def test_a_small_finite_domain_is_searched_whole():
    seen = set()

    def exact(n, method):
        seen.add((n, method))
        return 0.5

    search = search_bound(one, exact, {"n": (2, 11), "method": choices("a", "b")})
    assert search.exhaustive
    assert search.tried == len(seen) == 20
    assert search.searched == "20 every setting of n 2 to 11, method a or b"


def test_what_the_hypotheses_or_an_error_of_ours_exclude_is_never_computed():
    def exact(x, y):
        assert x < 0.5
        assert x + y < 1.0
        return math.nan if y < 0.1 else 0.5

    def small(x):
        return x < 0.5

    def room(x, y):
        if x + y >= 1.0:
            raise InvalidInput("x + y must be below 1")
        return True

    search = search_bound(one, exact, UNIT, hypotheses=[small, room], tries=200)
    assert search.holds
    assert min(search.excluded, search.undecided) > 0
    assert search.tried + search.undecided == 200


def test_the_failure_names_the_simplest_the_worst_and_how_much_was_searched():
    with pytest.raises(BoundFailure) as caught:
        assert_bound(lambda x: x, lambda x: x * x, {"x": (0.0, 5.0)}, tries=100, rng=3)
    assert str(caught.value) == caught.value.search.text
    first, simplest, worst, searched = str(caught.value).splitlines()
    assert first == "the bound fails"
    assert simplest == "  simplest   x = 2.0: printed 2, exact 4 (2 times)"
    assert worst == "  worst      x = 5.0: printed 5, exact 25 (5 times)"
    assert searched.endswith("settings of x 0 to 5; seed 3")


def test_data_among_the_choices_are_told_by_their_shape_alone():
    data = [np.full((3, 2), 73.25), np.full((4, 2), 73.25)]
    found = search_bound(one, lambda rows: float(len(rows)), {"rows": choices(*data)})
    assert found.simplest.at == "rows = (3, 2) float64 array"
    texts = (found.text, repr(found), repr(found.worst), repr(choices(*data)))
    assert not any("73" in text for text in texts)


def test_an_error_of_the_functions_says_at_which_setting():
    with pytest.raises(ZeroDivisionError) as caught:
        search_bound(lambda x: 1.0 / x, one, {"x": (0.0, 1.0)})
    assert caught.value.__notes__ == ["at the setting x = 0.0"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"printed": 1.0}, "printed must be a function of the names in domain"),
        ({"exact": lambda z: z}, "give domain a range for 'z'"),
        ({"exact": lambda x: (x, x)}, "exact must be a function that returns one number"),
        ({"domain": {}}, "domain must be a mapping"),
        ({"domain": {"x": (2.0, 1.0)}}, r"domain\['x'\] must be \(low, high\) with low < high"),
        ({"domain": {"x": {1, 2}}}, r"domain\['x'\] must be dpaudit.testing.reals"),
        ({"domain": {"no name": (0, 1)}}, "keys are names of parameters"),
        ({"hypotheses": 3}, "hypotheses must be a function, several in a list, or None"),
        ({"hypotheses": lambda x: x > 2.0, "tries": 20}, "hypotheses must admit some setting"),
        ({"side": "left"}, "side must be one of"),
    ],
)
def test_a_wrong_argument_is_named(change, words):
    given = {"printed": one, "exact": lambda x: 0.5 * x, "domain": {"x": (0.0, 1.0)}} | change
    with pytest.raises(InvalidInput, match=words):
        search_bound(**given)


def test_an_unknown_keyword_is_answered_with_the_nearest():
    for function in (search_bound, assert_bound):
        with pytest.raises(TypeError, match="unknown keyword 'trys'; did you mean 'tries'"):
            function(one, one, UNIT, trys=3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: reals(1, 1), "high must be above low"),
        (lambda: reals(0, 1, log=True), "low must be above 0 for a log scale"),
        (lambda: integers(0.5, 2), "low must be a whole number"),
        (lambda: integers(3, 2), "high must be at least low"),
        (lambda: choices(), "values must be one value or more"),
    ],
)
def test_a_wrong_range_is_named(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


def test_what_stands_for_a_range():
    def words(values):
        return search_bound(one, one, {"x": values}, tries=9, side="both").domain

    assert words((1, 50)) == words(range(1, 51)) == words(integers(1, 50)) == "x 1 to 50"
    assert words((1.0, 50)) == words(reals(1, 50)) == "x 1 to 50"
    assert words(reals(1, 50, closed=False)) == "x 1 to 50 (ends excluded)"
    assert words([1, 2]) == words(choices(1, 2)) == "x 1 or 2"
    assert words(7.0) == "x 7"
    tried = search_bound(lambda x: x, lambda x: 0.0, {"x": (1, 50)}, tries=50).closest
    assert isinstance(tried.setting["x"], int)


@pytest.mark.parametrize(
    ("value", "bound", "expected"),
    [
        (2.0, 1.0, math.log(2.0)),
        (1.0, 2.0, -math.log(2.0)),
        (1.0, 0.0, math.inf),
        (0.0, 1.0, -math.inf),
        (3.0, 3.0, 0.0),
        (math.inf, 1.0, math.inf),
        (math.inf, math.inf, -math.inf),
        (-math.inf, -1.0, -math.inf),
    ],
)
def test_the_excess_of_any_two_numbers(value, bound, expected):
    search = search_bound(lambda: bound, lambda: value, {"x": 0}, rounding=0.0)
    assert (search.worst or search.closest).excess == pytest.approx(expected)
