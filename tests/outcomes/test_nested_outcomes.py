"""Nested outcomes: text, None, tuples, dicts and sets as rows that keep every difference."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit import outcomes
from tests.cases import database

DATA = database()
LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(2**53, 2**53 + 4),
    st.sampled_from([2**200, 2**200 + 1, 10**400, -(10**400), 10**400 + 1]),
    st.floats(),
    st.text(max_size=3),
)
KEY = st.one_of(st.text(max_size=2), st.integers(0, 3))
TREE = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEY, inner, max_size=3),
        st.frozensets(st.one_of(st.text(max_size=2), st.integers(0, 5)), max_size=3),
    ),
    max_leaves=6,
)


def texts(*draws):
    return [bytes(one) for one in outcomes.forms.as_texts(outcomes.rows(list(draws)))]


def sides(P, Q):
    return outcomes.aligned(*(outcomes.joined([outcomes.rows(side)]) for side in (P, Q)))


def equal(x, y):
    signs = [np.signbit(one) & (one == 0.0) for one in (x, y)]
    return np.array_equal(x, y, equal_nan=True) and np.array_equal(*signs)


@given(st.lists(TREE, min_size=1, max_size=8), st.lists(TREE, min_size=1, max_size=8))
@settings(deadline=None, max_examples=25)
def test_draws_have_equal_rows_if_and_only_if_they_are_equal(first, second):
    """Equal means the same canonical text, with numbers by value and the sign of zero."""
    P, Q = sides(["text", *first], second)  # the text makes texts of all draws
    rows = np.concatenate([P, Q])
    keys = [_canonical(one) for one in ["text", *first, *second]]
    for i in range(len(keys)):
        for j in range(i):
            assert equal(rows[i], rows[j]) == (keys[i] == keys[j])


def _canonical(draw):
    """A draw that is no list is the list of itself, None is the empty list, and True is 1."""
    root = draw if isinstance(draw, (list, tuple)) else [] if draw is None else [draw]
    return _form(root)


def _form(value):
    if isinstance(value, (list, tuple)):
        return ("list", *map(_form, value))
    if isinstance(value, dict):
        return ("dict", tuple(sorted((repr(key), _form(one)) for key, one in value.items())))
    if isinstance(value, frozenset):
        return ("set", tuple(sorted(map(repr, map(_form, value)))))
    if value is None or isinstance(value, str):
        return ("text", value)
    return ("number", "nan" if value != value else (value, repr(value) == "-0.0"))


@given(st.lists(TREE, min_size=2, max_size=8))
@settings(deadline=None, max_examples=40)
def test_a_row_does_not_depend_on_the_draws_beside_it(draws):
    """Columns of all draws, used on any of them in any order, also on plain numbers alone."""
    whole = outcomes.joined([outcomes.rows(["text", *draws])])
    columns = outcomes.described(whole, whole).columns
    for place, one in enumerate(draws):
        assert equal(columns(outcomes.joined([outcomes.rows([one])]))[0], columns(whole)[1 + place])


def _records(entry, m=2, c=2):
    rows = st.lists(st.lists(entry, min_size=c, max_size=c), min_size=m, max_size=m)
    return rows.map(lambda draw: [[0.5, *draw[0][1:]], *draw[1:]])


@given(
    st.lists(_records(st.floats(allow_nan=False)), min_size=1, max_size=6),
    st.lists(
        st.one_of(
            _records(st.sampled_from([0.0, -0.0, 1.0])),
            _records(st.sampled_from([0.0, 1.0]), 1, 4),
            _records(st.sampled_from([0.0, 0, False, np.nan])),
        ),
        min_size=1,
        max_size=6,
    ),
)
@settings(deadline=None, max_examples=60)
def test_lists_of_records_in_an_array_are_read_and_told_apart_as_their_texts(P, Q):
    """Also where the other side has records of another shape or type, and where draws repeat."""
    P += P[:1]
    forms = [outcomes.rows(P), outcomes.rows(Q)]
    assert forms[0].dtype[outcomes.LISTS].shape == (2, 2)
    assert np.array_equal(outcomes.rows(forms[0]), forms[0])
    plain = [outcomes.forms.as_texts(form) for form in forms]
    assert [json.loads(text) for text in plain[0]] == P
    for first, second in zip(outcomes.aligned(*forms), outcomes.aligned(*plain), strict=True):
        assert equal(first, second)
    columns = outcomes.described(*plain).columns
    assert equal(columns(forms[0]), columns(plain[0]))
    keys, numbers = np.concatenate(plain), np.concatenate(outcomes.numbered(*forms))
    for i in range(len(keys)):
        for j in range(i):
            assert equal(numbers[i], numbers[j]) == (keys[i] == keys[j])


def test_blocks_of_different_form_are_joined():
    parts = [
        outcomes.rows(part)
        for part in (np.ones((2, 2)), [[1.0], [1.0, 2.0]], ["a", None], [{"k": 1}])
    ]
    joined = outcomes.joined(parts)
    assert [bytes(one) for one in joined] == [
        b"[1.0,1.0]",
        b"[1.0,1.0]",
        b"[1.0]",
        b"[1.0,2.0]",
        b'["a"]',
        b"[]",
        b'[{"\\"k\\"":1}]',
    ]


def test_canonical_text_is_the_same_for_equal_draws():
    same = {"a": 1, "b": {3, 1, 2}}, {"a": np.int8(1), "b": frozenset([2, 3, 1])}
    assert len(set(texts(*same, "x"))) == 2
    assert len(set(texts(*same, {"b": {1, 2, 3}, "a": 1}))) == 2  # the order of keys is released
    assert texts("x", (1, "y"), [1, "y"], np.array([1, 2]))[1:] == [
        b'[1,"y"]',
        b'[1,"y"]',
        b"[1,2]",
    ]
    assert texts("x", {1: "a"}, {"1": "a"})[1:] == [b'[{"1":"a"}]', b'[{"\\"1\\"":"a"}]']
    assert texts("x", Fraction(1, 2), 2**60, 2**60 - 1)[1:] == [
        b"[0.5]",
        b"[1152921504606846976]",
        b'[{"number":[1.152921504606847e+18,-1]}]',
    ]
    above, below = texts("x", 10**400, -(10**400))[1:]
    assert above.startswith(b'[{"number":[Infinity,"0x1b4e')
    assert below.startswith(b'[{"number":[-Infinity,"-0x1b4e')
    assert texts("x", b"abc", b"\xff", "\ud800")[1:] == [
        b'["abc"]',
        b'[{"\\"bytes\\"":[255]}]',
        b'["\\ud800"]',
    ]
    assert texts("x", {float("nan"), 2.0, 1.0, "b", "a"})[1] == b'[{"set":[1.0,2.0,"a","b",NaN]}]'


def test_codes_of_text_do_not_depend_on_the_process():
    """Sets are in the order of hashes, which are different in each process."""
    script = "from dpaudit import outcomes; print(outcomes.rows([{'x', 'yy', 'é'}, 'a']).tobytes())"
    for seed in "12":
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(outcomes.rows([{"é", "yy", "x"}, "a"]).tobytes())


def test_columns_are_by_place_key_and_member():
    P, _ = sides([{"a": 1.0, "b": None}, {"a": 2.0}], [{"a": 1.0, "b": "x"}])
    np.testing.assert_array_equal(  # the size of the dict; a; what b is, and its code
        P, [[2, 1, 1, np.nan], [1, 2, 0, np.nan]]
    )
    P, Q = sides([{"u", "v"}, set()], [{"v"}])
    np.testing.assert_array_equal(P[:, -2:], [[1, 1], [0, 0]])
    np.testing.assert_array_equal(Q[:, -2:], [[0, 1]])


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        ([object()], "got an object"),
        ([{"a": object()}], "got a draw with an object"),
        ([{(1, object()): 1}], "got a draw with an object"),
        ([nested(60)], "no more than 50 lists one in another"),
        ({"a": [1.0]}, "got a dict"),
        ("abc", "got a str"),
    ],
)
def test_what_is_no_outcome_is_said(draws, message):
    with pytest.raises(outcomes.NotOutcomes, match=message):
        outcomes.rows(draws)


def test_a_rare_category_is_an_atom():
    """Only D gives "secret", 1 draw in 50, among 40 words: δ ≥ 0.02 at every ε.

    Of 10,000 certifying draws 200 ± 14 are "secret", so 0.01 is more than 7 deviations below. None
    in as many draws of D' bounds its probability there by 1e-3, which costs e times that.
    """
    words = np.array([f"word {number}" for number in range(40)])

    def says(data, size, *, rng):
        rare = rng.random(size) < (0.02 if data[3].any() else 0.0)
        return np.where(rare, "secret", rng.choice(words, size))

    result = dp.audit(
        says, dp.neighbours.zero_row(DATA, 3), draws=20_000, epsilon=[0.0, 1.0], rng=1
    )
    assert np.all((result.spectrum.low > 0.01) & (result.spectrum.low <= 0.02 + 0.006))


@pytest.mark.slow
def test_the_same_law_of_nested_draws_on_both_sides_tells_nothing():
    """20 audits at level 0.95: more than 4 false ones have probability 0.0026 if each has 0.05."""

    def one(rng):
        return {
            "n": int(rng.integers(3)),
            "set": {"ab"[rng.integers(2)]},
            "x": [rng.normal()] * int(rng.integers(3)),
        }

    false = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        P, Q = ([one(rng) for _ in range(400)] for _ in range(2))
        false += (
            dp.audit_samples(
                P, Q, epsilon=[0.0, 1.0], classifier="logistic", rng=1
            ).spectrum.low.max()
            > 0
        )
    assert false <= 4


def audited(function, **options):
    options = {"draws": 2000, "claim": (1.0, 0.01), "rng": 1, **options}
    return dp.audit(function, dp.neighbours.zero_row(DATA, 3), **options)


@pytest.mark.parametrize(
    "output", [lambda data: data.sum(), lambda data: {"rows": int(np.any(data, axis=1).sum())}]
)
def test_a_deterministic_mechanism_that_differs_is_an_infinite_loss(output):
    result = audited(lambda data, size, *, rng: [output(data)] * size)
    assert result.verdict == "violated"
    assert result.reason.startswith("Not random: all ")
    assert "an infinite privacy loss. Claimed" in result.reason
    assert result.certified.delta_at(4.0) > 0.5  # all that 1,000 draws can show of 1


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("hello", "the same value on both sides."),
        (None, "None or empty on both sides: is a return forgotten?"),
        (np.nan, "NaN on both sides."),
    ],
)
def test_one_that_does_not_differ_is_told_so(value, what):
    result = audited(lambda data, size, *, rng: [value] * size)
    assert result.verdict == "inconclusive"
    assert result.reason.startswith("Under the same random numbers M(D) and M(D') gave the same ")
    assert f"Not random: all 1,200 draws that were looked at are {what}" in result.reason


def test_nothing_is_said_of_one_that_is_random():
    def rarely(data, size, *, rng):
        return rng.random(size) < 0.1 + 0.05 * np.any(data[3])

    assert audited(rarely).reason.startswith("Claimed ε")


@pytest.mark.parametrize("kind", [lambda x: x, lambda x: [str(round(one)) for one in x]])
def test_a_seed_of_its_own_is_refused(kind):
    def seeded(data, size, *, rng):
        return kind(data[3, 0] + np.random.default_rng(7).random(size))

    with pytest.raises(
        dp.MechanismError,
        match="the same draws",
    ):
        audited(seeded)
