"""A claim about rows that nobody named a relation for is accused only where it fails under both."""

import pytest

from dpaudit.verdict import of_both

pytestmark = pytest.mark.quick


def record(kind, low=0.0, claimed=1.0):
    """An audit of a claim (ε, 0), whose violation is inconclusive by itself.

    low : the certified δ at ε = 2.
    """
    exceeded = kind == "violated"
    return {
        "verdict": "inconclusive" if exceeded else kind,
        "headline": {"claimed": claimed, "delta": 0.0, "exceeded": exceeded},
        "epsilon": [0.0, 1.0, 2.0],
        "empirical": {"low": [1.0, 1.0, low]},
    }


@pytest.mark.parametrize(
    ("added", "replaced", "low", "verdict", "words"),
    [
        ("violated", "violated", 0.0, "violated", "whichever neighbours"),
        ("not violated", "violated", 0.0, "inconclusive", "--neighbours replace if"),
        ("violated", "not violated", 0.0, "inconclusive", "--neighbours remove,add if"),
        ("not violated", "violated", 0.01, "violated", "δ(2) would be at most 0 for rows replaced"),
        ("not violated", "not violated", 0.0, "not violated", "No violation was seen"),
        ("inconclusive", "not violated", 0.0, "inconclusive", "decide for one row added or"),
    ],
)
def test_the_verdict_is_fair_to_either_claim(added, replaced, low, verdict, words):
    records = {"add-remove": record(added), "replace": record(replaced, low)}
    judged, text = of_both(records, {})
    assert judged == verdict
    assert words in text


@pytest.mark.parametrize("verdict", ["violated", "not violated"])
def test_a_relation_that_cannot_be_audited_is_left_out(verdict):
    judged, text = of_both({"replace": record(verdict)}, {"add-remove": "n is fixed"})
    assert judged == verdict
    assert text.startswith("Left out: one row added or removed. There the mechanism cannot be")
    assert "n is fixed" in text
    assert text.endswith(f"The verdict is that of the other relation: {verdict}.")


def test_the_largest_epsilon_has_a_group():
    records = dict.fromkeys(("add-remove", "replace"), record("not violated", claimed=1e4))
    assert of_both(records, {})[0] == "not violated"
