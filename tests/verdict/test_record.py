"""How a result is read and checked, numbers as they are printed, claims without a relation."""

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.verdict import (
    label,
    least,
    lookup,
    moment,
    number,
    of_both,
    percent,
    plain,
    read_curves,
    selected_rows,
)
from tests.report.examples import make_result

pytestmark = pytest.mark.quick


def broken(path: str, value: object) -> dict:
    result = make_result()
    *steps, last = path.split(".")
    part = result
    for step in steps:
        part = part[step]
    part[last] = value
    return result


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("verdict", "fine"),
        ("level", 95),
        ("epsilon", []),
        ("epsilon", ["inf"]),
        ("empirical", None),
        ("empirical.low", [0.1]),
        ("empirical.interval", "wide"),
        ("empirical.interval", [[0.1] * 41]),
        ("empirical.interval", [[0.2] * 41, [0.1] * 41]),
        ("exact.delta", [float("nan")] * 41),
        ("exact", "Student"),
        ("claim.delta", ["much"] * 41),
        ("samples.test", "many"),
    ],
)
def test_what_is_not_a_result_is_refused_by_the_name_of_its_key(path, value):
    with pytest.raises(InvalidInput, match=path):
        read_curves(broken(path, value))


def test_optional_parts_are_none(samples_result):
    curves = read_curves(samples_result)
    assert curves.exact is curves.claim is curves.forward is curves.draws is None
    assert (curves.reference_kind, curves.excess.any()) == ("", False)


def test_without_a_claim_the_bound_is_held_against_the_exact_spectrum(result):
    result["claim"] = None
    curves = read_curves(result)
    assert curves.reference is curves.exact
    assert curves.reference_kind == "the exact spectrum"


def test_lookup_stops_at_what_is_absent():
    assert lookup({"a": {"b": 1}}, "a.b") == 1
    assert lookup({"a": None}, "a.b.c") is None


@pytest.mark.parametrize("size", [1, 2, 11, 12, 13, 400])
def test_selected_rows_are_few_and_hold_the_claim_and_the_largest_excess(size, result):
    epsilon = np.linspace(0.0, 4.0, size)
    low = np.where(np.arange(size) == size // 3, 0.5, 0.1)
    result |= {
        "epsilon": epsilon.tolist(),
        "empirical": {"delta": low.tolist(), "low": low.tolist()},
        "exact": None,
    }
    result["claim"] = {"text": "", "delta": [0.2] * size, "epsilon": epsilon[size // 2]}
    rows = selected_rows(read_curves(result))
    assert rows == sorted(set(rows))
    assert len(rows) <= 12
    assert {0, size - 1, size // 3, size // 2} <= set(rows) or size == 1


# Numbers as they are printed.


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.126936737, "0.1269"),
        (0.05, "0.05"),
        (2.2e-5, "2.2×10⁻⁵"),
        (1e-5, "10⁻⁵"),
        (-3.5e-7, "-3.5×10⁻⁷"),
        (9.99996e-4, "0.001"),
        (327346, "327,346"),
        (7008, "7008"),
        (12345.6, "12,350"),
        (1.5e7, "1.5×10⁷"),
        (0.0, "0"),
        (1.0, "1"),
        ("inf", "∞"),
        ("-inf", "−∞"),
        (None, "–"),
        ("<b>", "<b>"),
    ],
)
def test_number(value, shown):
    assert number(value) == shown


def test_a_bound_is_rounded_so_that_it_still_holds():
    assert (number(0.0709999), number(0.0709999, down=True)) == ("0.071", "0.07099")
    assert number(9.99996e-4, down=True) == "9.999×10⁻⁴"
    assert number(0.1, down=True) == "0.1"
    assert (number(0.0710001), number(0.0710001, up=True)) == ("0.071", "0.07101")
    assert (number(0.0, up=True), number(1.0, up=True), number(0.1, up=True)) == ("0", "1", "0.1")


def test_a_lower_bound_has_digits_enough_to_tell_it_from_the_claim():
    assert (least(1.98765), least(1.98765, 1.0)) == ("1.98", "1.98")
    assert least(1.00049, 1.0) == "1.0004"
    assert least("inf", 1.0) == "∞"


def test_a_time_is_written_in_utc():
    assert moment("2026-11-23T07:30:00+01:00") == "2026-11-23 06:30 UTC"
    assert moment(None) == moment("yesterday") == ""


def test_percent_does_not_show_the_rounding_of_binary_fractions():
    assert percent(1 - 0.95) == "5\u00a0%"
    assert percent(0.999) == "99.9\u00a0%"


def test_plain_values_of_parameters():
    assert [plain(v) for v in ("student", True, 1200, 0.5, None, [1, "a"])] == [
        "student",
        "true",
        "1200",
        "0.5",
        "–",
        '[1, "a"]',
    ]


def test_a_label_is_one_short_printable_line():
    assert label("a\n\x00b\u202ec \ud800") == r"a \u0000b\u202ec \ud800"
    assert label("x" * 60, 10) == "x" * 9 + "…"


# A claim about rows that nobody named a relation for is accused only where it fails under both.


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
