"""Outputs that hardly repeat and that no score can read: tokens, keys, members, long lists.

Each mechanism here releases the sum of its data with noise of scale 0.01, which is ε = 100, in a
form that a score knows by its identity alone. Nothing can be learned of such outputs, so whatever
chance does, an audit of them is inconclusive. Numbers in texts are read.
"""

import csv
import io
import json

import numpy as np
import pytest
from scipy import sparse

import dpaudit as dp
from dpaudit import outcomes
from dpaudit.cli import main
from tests.sparse import one_in

PAIR = dp.neighbours.zero_row(np.array([[1.0], [1.0]]), 0)
CLAIM = (1.0, 0.0)
STOPS = pytest.mark.parametrize("stop", [None, "verdict"])
FOUND = "would have been shown with"


def in_csv(value, rng):
    text = io.StringIO()
    csv.writer(text).writerows([["id", "sum"], [rng.integers(10**9), value]])
    return text.getvalue()


READ = {
    "json": lambda value, rng: json.dumps({"sum": value}),
    "json with digits": lambda value, rng: json.dumps({"sum": round(value, 6)}, indent=2),
    "csv": in_csv,
    "to_csv": lambda value, rng: f",group,sum\n0,a,{value!r}\n1,b,0.5\n",
    "printed by R": lambda value, rng: f"[1] {value:.7g}",
    "a sentence": lambda value, rng: f"The sum is {value:.4f} (±0.02).",
    "a number and its text": lambda value, rng: ["sum", f"{value:.12f}"],
    "in a set": lambda value, rng: [{"sum"}, {value}],
    "bytes of a float": lambda value, rng: np.float64(value).tobytes(),
    "bytes of a text": lambda value, rng: f"sum {value:.9f}".encode(),
    "a sparse matrix": lambda value, rng: sparse.coo_array(([value, 1.0], ([2, 0], [1, 3]))),
}


def spelled(value):
    """A number as letters, which are a code."""
    return "".join(chr(97 + int(digit)) for digit in str(abs(round(value * 1e12))).zfill(14))


FORMS = {
    "tokens": ("texts", lambda value, rng: f"s{value:.12f}"),
    "letters": ("texts", lambda value, rng: spelled(value)),
    "a number and a token": ("texts", lambda value, rng: [0.5, f"s{value:.12f}"]),
    "random keys": ("keys of dicts", lambda value, rng: {rng.bytes(6).hex(): value}),
    "keys inside": ("keys of dicts", lambda value, rng: {"user": [{rng.bytes(6).hex(): value}]}),
    "sets": ("members of sets", lambda value, rng: {"sum", f"s{value:.12f}"}),
    "integers": (
        "integers of more than 32 digits",
        lambda value, rng: (int.from_bytes(rng.bytes(20)) << 64) + round(value * 10**16),
    ),
    "long lists": (
        "values beyond the first 1,000",
        lambda value, rng: [0.0] * 1100 + [1.0] * int(rng.integers(2)) + [value],
    ),
    "many values": (
        "values beyond the first 1,000",
        lambda value, rng: {"a": [0.0, 1.0, "x"], "b": [list(rng.normal(size=600))] * 2},
    ),
}


def released(form):
    def mechanism(data, size, *, rng):
        noisy = data.sum() + rng.laplace(scale=0.01, size=size)
        return [form(float(value), rng) for value in noisy]

    return mechanism


def assert_unread(result, kind):
    assert result.verdict == "inconclusive", result.reason
    assert kind in result.reason
    assert "No score can read" in result.reason
    assert "leave out what may be ignored" in result.reason
    assert FOUND not in result.reason
    assert result.detectable is None
    unread = result.to_dict()["classifier"]["unread"]
    assert 0.9 < unread[kind] <= 1.0


# --- nothing could be learned


@pytest.mark.parametrize("name", one_in(5, FORMS))
def test_nothing_is_said_of_outputs_that_no_score_reads(name):
    kind, form = FORMS[name]
    draws = 60 if "1,000" in kind else 1000
    assert_unread(dp.audit(released(form), PAIR, draws=draws, claim=CLAIM, rng=1), kind)


@pytest.mark.parametrize("name", one_in(2, ["tokens", "sets"]))
def test_nor_where_an_audit_stops_at_its_verdict(name):
    kind, form = FORMS[name]
    result = dp.audit(released(form), PAIR, draws=500, claim=CLAIM, rng=1, stop="verdict")
    assert_unread(result, kind)


@pytest.mark.parametrize("draws", [60, 300])
def test_nor_of_few_draws(draws):
    assert_unread(dp.audit(released(FORMS["tokens"][1]), PAIR, draws=draws, claim=CLAIM), "texts")


@pytest.mark.parametrize("stop", one_in(2, [None, "verdict"]))
def test_nor_of_draws_made_elsewhere(stop):
    rng = np.random.default_rng(2)
    P, Q = (released(FORMS["letters"][1])(data, 1000, rng=rng) for data in (PAIR.left, PAIR.right))
    assert_unread(dp.audit_samples(P, Q, claim=CLAIM, rng=1, stop=stop), "texts")


@pytest.mark.parametrize("joined", one_in(2, ["", " "]))
def test_texts_of_a_dictionary_are_not_read_by_their_words(joined):
    """P draws one of 2,000 random texts of four letters or words, and Q one of 2,000 others."""
    rng = np.random.default_rng(4)
    words = list("acgt") if not joined else ["adenine", "cytosine", "guanine", "thymine"]
    known = [joined.join(rng.choice(words, size=16)) for _ in range(4000)]
    P, Q = ([known[first + one] for one in rng.integers(2000, size=2000)] for first in (0, 2000))
    assert_unread(dp.audit_samples(P, Q, claim=(2.0, 0.0), rng=1), "texts")


def test_texts_that_come_again_too_seldom_to_be_known():
    """P is uniform on 2,000 texts and Q on 2,000 others, of which few come five times in 800."""
    rng = np.random.default_rng(3)
    P, Q = ([f"{side}{one}" for one in rng.integers(2000, size=2000)] for side in "PQ")
    result = dp.audit_samples(P, Q, claim=CLAIM, rng=1)
    assert_unread(result, "texts")
    assert "take more draws" in result.reason


@pytest.mark.usefixtures("in_tmp_path")
def test_the_command_line_exits_with_3(capsys):
    rng = np.random.default_rng(2)
    for name, data in (("P.npy", PAIR.left), ("Q.npy", PAIR.right)):
        np.save(name, np.array(released(FORMS["tokens"][1])(data, 1000, rng=rng)))
    status = main(["samples", "P.npy", "Q.npy", "--claim", "1,0"])
    printed, errors = capsys.readouterr()
    assert status == 3, errors
    assert "No score can read texts (in 100 % of the outputs)" in printed
    assert FOUND not in printed


# --- numbers in texts are read


@pytest.mark.parametrize("name", READ)
def test_the_number_is_a_column(name):
    rng = np.random.default_rng(1)
    numbers = rng.laplace(size=300)
    rows = outcomes.rows([READ[name](float(value), rng) for value in numbers])
    columns = outcomes.described(rows, rows).columns(rows)
    same = [np.corrcoef(numbers, column)[0, 1] for column in columns.T if np.ptp(column) > 0.0]
    assert max(same) > 1.0 - 1e-8


@pytest.mark.slow
def test_a_text_certifies_what_its_numbers_do():
    """Noise of scale 1 instead, so that the bare numbers certify an ε that can be compared. The
    bytes of a float give 258 more columns.
    """

    def mechanism(form):
        def release(data, size, *, rng):
            return [form(float(data.sum() + noise), rng) for noise in rng.laplace(size=size)]

        return release

    bare, *texts = (
        dp.audit(mechanism(form), PAIR, draws=4000, claim=(0.3, 0.05), rng=1)
        for form in (lambda value, rng: value, READ["json"], READ["bytes of a float"])
    )
    for text in texts:
        assert text.fitted.unread == {}
        assert text.verdict == bare.verdict == "violated"
        assert text.headline.certified == pytest.approx(bare.headline.certified, rel=0.1)


def test_texts_that_differ_in_how_a_number_is_written_differ():
    ways = [
        "5",
        "5.0",
        "5.",
        "05",
        "+5",
        "5.00",
        "5e0",
        "5E+0",
        "-5",
        "0.1234567890123456789",
        "v5",
    ]
    rows = outcomes.described(*[outcomes.rows(ways)] * 2).columns(outcomes.rows(ways))
    assert len({row.tobytes() for row in rows}) == len(ways)


# --- a part can be read


def shared(share, rng, size):
    """Texts of which so many are one of two, and the others are new."""
    return [
        "ab"[rng.integers(2)] if rng.random() < share else rng.bytes(6).hex() for _ in range(size)
    ]


@pytest.mark.parametrize("stop", one_in(2, [None, "verdict"]))
def test_texts_of_which_less_than_half_repeat(stop):
    rng = np.random.default_rng(4)
    P, Q = (shared(0.4, rng, 2000) for _ in range(2))
    result = dp.audit_samples(P, Q, claim=CLAIM, rng=1, stop=stop)
    assert result.verdict == "inconclusive"
    assert result.fitted.unread["texts"] == pytest.approx(0.6, abs=0.05)


def test_the_outputs_that_are_not_read_count_as_unseen():
    """One text in 50 is new: an excess may hide there, so it is added to the one that shows."""
    rng = np.random.default_rng(5)
    P, Q = (shared(0.98, rng, 4000) for _ in range(2))
    result = dp.audit_samples(P, Q, claim=CLAIM, rng=1)
    plain = dp.audit_samples(
        *(np.array([one == "a" for one in side]) for side in (P, Q)), claim=CLAIM
    )
    assert result.verdict == "not violated"
    hidden = result.fitted.unread["texts"]
    assert hidden == pytest.approx(0.02, abs=0.01)
    assert result.detectable["excess"] == pytest.approx(
        plain.detectable["excess"] + hidden, rel=0.2
    )
    assert "of the outputs as unseen" in result.reason


@pytest.mark.parametrize(("detect", "verdict"), [(0.1, "inconclusive"), (0.4, "not violated")])
def test_detect_says_how_much_may_go_unseen(detect, verdict):
    rng = np.random.default_rng(6)
    P, Q = (shared(0.8, rng, 4000) for _ in range(2))
    result = dp.audit_samples(P, Q, claim=CLAIM, rng=1, detect=detect)
    assert result.verdict == verdict, result.reason
    if verdict == "not violated":
        assert 0.2 < result.detectable["excess"] < detect


@STOPS
def test_a_violation_by_the_part_that_is_read_stands(stop):
    rng = np.random.default_rng(7)
    P, Q = ([[float(side), rng.bytes(6).hex()] for _ in range(1000)] for side in (0, 1))
    assert dp.audit_samples(P, Q, claim=CLAIM, rng=1, stop=stop).verdict == "violated"


def test_a_score_of_the_callers_own_answers_for_what_it_leaves_out():
    def first(rows):
        return rows[:, 0]

    result = dp.audit(
        released(FORMS["a number and a token"][1]), PAIR, draws=1000, claim=CLAIM, classifier=first
    )
    assert result.fitted.unread == {}


# --- honest outputs of all forms are read


HONEST = {
    "words": lambda rng: f"word {rng.integers(20)}",
    "none": lambda rng: None if rng.random() < 0.1 else "some",
    "reals": lambda rng: float(rng.normal()),
    "a dict": lambda rng: {"sum": float(rng.normal()), "kind": "ab"[rng.integers(2)]},
    "lists": lambda rng: list(rng.normal(size=rng.integers(1, 60))),
    "lists of words": lambda rng: ["w"] * int(rng.geometric(0.2)),
    "sets of words": lambda rng: {str(one) for one in range(30) if rng.random() < 0.5},
    "sets of integers": lambda rng: {int(one) for one in rng.integers(10**6, size=3)},
    "integers": lambda rng: int(rng.integers(2**62)) * 3,
}


@pytest.mark.parametrize("name", one_in(3, HONEST))
def test_what_repeats_or_is_a_number_is_read(name):
    rng = np.random.default_rng(8)
    P, Q = (
        outcomes.joined([outcomes.rows([HONEST[name](rng) for _ in range(1500)])]) for _ in "PQ"
    )
    assert outcomes.described(P, Q).unread == {}
