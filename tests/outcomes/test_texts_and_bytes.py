"""Texts, bytes, matrices, graphs and series: rows keep every difference; what leaks is found."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import dpaudit as dp
from dpaudit import outcomes

SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e22, 2**53 + 1, 10**30]),
    st.text("a1. ,", max_size=3),
)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
DUMPED = st.builds(
    lambda value, indent, end: json.dumps(value, indent=indent) + end,
    JSON,
    st.sampled_from([None, 2, 3]),
    st.sampled_from(["", "\n"]),
)
FIELD = st.sampled_from(["", "a", "b", "1", "1.0", "01", "-0", "-0.0", "1e3", "2.50", '"a"', "x y"])
TABLE = st.builds(
    lambda records, by, end: end.join(by.join(record) for record in records),
    st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=4),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
PROSE = st.lists(st.sampled_from(["the", "sum", "1", "2", "1.0", "+1", "v1"]), max_size=8).map(
    " ".join
)
TEXT = st.one_of(DUMPED, TABLE, PROSE, st.text("ab", max_size=9), st.text('[]{}:,1" ', max_size=5))


def rows_of(draws):
    part = outcomes.rows(draws)
    return outcomes.described(part, part).columns(part)


def assert_rows_tell_apart(draws):
    rows = [row.tobytes() for row in rows_of(draws)]
    for i, draw in enumerate(draws):
        for j in range(i):
            assert (rows[i] == rows[j]) == (draw == draws[j]), (draw, draws[j])


@given(st.lists(TEXT, min_size=2, max_size=6))
@settings(deadline=None, max_examples=60)
def test_texts_have_equal_rows_if_and_only_if_they_are_equal(draws):
    assert_rows_tell_apart(draws)


@given(st.lists(TEXT, min_size=2, max_size=6))
@settings(deadline=None, max_examples=60)
def test_the_row_of_a_text_does_not_depend_on_the_texts_beside_it(draws):
    whole = outcomes.rows(draws)
    columns = outcomes.described(whole, whole).columns
    together = columns(whole)
    for place in range(len(draws)):
        alone = columns(whole[place : place + 1])
        assert alone.tobytes() == together[place : place + 1].tobytes()


@given(st.lists(st.binary(min_size=1, max_size=16), min_size=2, max_size=6))
@settings(deadline=None, max_examples=60)
def test_bytes_have_equal_rows_if_and_only_if_they_are_equal(draws):
    assert_rows_tell_apart(draws)


@pytest.mark.parametrize(
    "pair",
    [
        ('{"ok": true, "n": 1}', '{"ok": 1, "n": 1}'),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
        ('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', '[{"b": 2, "a": 1}, {"a": 1, "b": 2}]'),
        ("[" + "1, " * 9 + "1]", "[" + "1.0, " * 9 + "1.0]"),
        ("[" + "true, " * 9 + "true]", "[" + "1, " * 9 + "1]"),
        ("17000000001234567890", "17000000001234567891"),
        (b"\0\0\0\0\0\0\xf0\x3f", b"\1\0\0\0\0\0\xf0\x3f"),
    ],
)
def test_two_outputs_that_differ_are_told_apart(pair):
    assert_rows_tell_apart(list(pair))


def found(make, draws=1500):
    """δ(0) that is certified of outputs that reveal their side."""
    rng = np.random.default_rng(5)
    P, Q = ([make(rng, side) for _ in range(draws)] for side in (0, 1))
    return dp.audit_samples(P, Q, epsilon=[0.0], rng=1).spectrum.low[0]


LETTERS = "uvwxyz"
LEAKS = {
    "json, true or 1": lambda rng, side: json.dumps(
        {"ok": [True, 1][side], "x": int(rng.integers(5))}
    ),
    "json, numbers with and without a point": lambda rng, side: json.dumps(
        [[int, float][side](x) for x in rng.integers(4, size=8)]
    ),
    "the third letter follows from the first": lambda rng, side: [
        LETTERS[(first := rng.integers(6))],
        LETTERS[rng.integers(6)],
        LETTERS[(first + [1, -1][side]) % 6],
    ],
    "bytes that look like a float": lambda rng, side: bytes(
        [120 + 100 * side, *rng.integers(256, size=6), 63]
    ),
    "which rows of a frame": lambda rng, side: pytest.importorskip("pandas").DataFrame(
        {"x": rng.normal(size=3)}, index=range(5 * side, 5 * side + 3)
    ),
    "weights of a graph": lambda rng, side: Graph({(1, 0): 9 * side + rng.normal()}),
}


class Graph:
    """A graph as NetworkX has them, undirected, with weights of its edges."""

    def __init__(self, weights):
        self.graph, self.weights = {}, weights

    def is_directed(self):
        return False

    def is_multigraph(self):
        return False

    def nodes(self, data):
        return [(node, {}) for node in {node for edge in self.weights for node in edge}]

    def edges(self, data):
        return [(*edge, {"weight": weight}) for edge, weight in self.weights.items()]


@pytest.mark.parametrize("name", LEAKS)
def test_an_output_that_reveals_its_side_is_found(name):
    assert found(LEAKS[name]) > 0.85


def test_large_sparse_matrices_keep_their_shape_and_sum_what_stands_twice():
    forms = [
        sparse.coo_array(([1.0, 2.0], ([0, 0], [0, 0])), shape=(40, 40)),
        sparse.coo_array(([3.0], ([0], [0])), shape=(40, 40)),
        sparse.coo_array(([3.0], ([0], [0])), shape=(40, 41)),
    ]
    rows = [row.tobytes() for row in rows_of(forms)]
    assert rows[0] == rows[1] != rows[2]


def test_json_deeper_than_any_program_writes_is_a_text():
    """Python's own recursion would end at a thousand levels."""
    assert_rows_tell_apart(["[" * depth + "1" + "]" * depth for depth in (40, 300, 900, 1100)])


def test_the_missing_value_of_pandas_is_none():
    """Suppressed counts are integers with missing values."""
    pandas = pytest.importorskip("pandas")
    forms = [pandas.DataFrame({"n": pandas.array(n, dtype="Int64")}) for n in ([7, None], [7, 0])]
    rows = [row.tobytes() for row in rows_of([*forms, forms[0]])]
    assert rows[0] == rows[2] != rows[1]


def test_a_masked_entry_is_missing():
    whole = np.ma.masked_array(
        [[1.0, 2.0], [1.0, 2.0], [1.0, np.nan]], mask=[[0, 1], [0, 0], [0, 0]]
    )
    for draws in (whole, list(whole)):
        assert len({row.tobytes() for row in rows_of(draws)}) == 3


def test_all_short_texts_of_signs_of_numbers_differ():
    """Fullwidth digits are digits to Python too."""
    texts = ["".join(signs) for size in range(5) for signs in product("05.eE+-５", repeat=size)]
    assert len({row.tobytes() for row in rows_of(texts)}) == len(texts)


def test_integers_of_any_length_are_outcomes():
    """Python reads none of more than 4,300 digits."""
    ways = ["1" * 4301, "2" * 5000, "3" * 5000, "-" + "1" * 4301]
    for draws in (ways, [[7, way] for way in ways]):
        rows = outcomes.rows(draws)
        assert len({row.tobytes() for row in outcomes.aligned(rows, rows)[0]}) == len(ways)
