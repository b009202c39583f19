"""Texts become counts of their words and letters."""

import numpy as np
import pytest

import dpaudit as dp

WORDS = np.array(["north", "south", "east", "west", "rain", "wind", "hail", "snow"])
DOCUMENTS = np.repeat(np.arange(8.0), [9, 9, 9, 9, 9, 9, 9, 1])[:, None]
PAIR = dp.neighbours.remove_row(DOCUMENTS, 63)  # the only word "snow"
LENGTH, COLUMNS = 12, 64


def shares(data):
    """Of each word, with one occurrence more."""
    seen = np.bincount(data[:, 0].astype(int), minlength=len(WORDS)) + 1.0
    return seen / seen.sum()


def essays(data, size, *, rng):
    """Texts of words in their shares."""
    drawn = rng.choice(WORDS, size=(size, LENGTH), p=shares(data))
    return [" ".join(words) for words in drawn]


def counted(mechanism):
    return dp.adapters.texts(mechanism, columns=COLUMNS)


def true_loss(rows):
    """From the count of "snow", whose column is found by a text of it alone."""
    alone = counted(lambda data, size, *, rng: ["snow"])(DOCUMENTS, 1)[0]
    at = 2 + int(np.flatnonzero(alone[2 : 2 + COLUMNS // 2])[0])
    p, q = (shares(side)[-1] for side in (PAIR.left, PAIR.right))
    count = rows[:, at]
    return count * np.log(p / q) + (LENGTH - count) * np.log((1 - p) / (1 - q))


def audited(mechanism, classifier="auto", **options):
    return dp.audit(
        mechanism, PAIR, draws=5000, epsilon=[0.0], classifier=classifier, rng=5, **options
    ).spectrum.low[0]


@pytest.mark.slow
def test_a_rare_word_is_found_among_the_counts():
    """At least 0.85 of what the true loss certifies; the texts as they are certify as much."""
    known = audited(counted(essays), true_loss, train_share=0.4)
    assert audited(counted(essays)) >= 0.85 * known > 0.05
    assert audited(essays) >= 0.85 * known


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ("one text", "one str"),
        (["a", "b", "c"], "3 outputs for size = 2"),
        (["a", 2.0], "a float"),
        (7, "one int"),
    ],
)
def test_what_is_no_text_is_refused(outputs, said):
    with pytest.raises(dp.MechanismError, match=said):
        dp.adapters.texts(lambda data, size, *, rng: outputs)(DOCUMENTS, 2)


@pytest.mark.parametrize("columns", [1, 999, 2.5])
def test_the_number_of_columns_is_checked(columns):
    with pytest.raises(dp.InvalidInput, match="columns"):
        dp.adapters.texts(essays, columns=columns)
