"""Numbers as they are printed."""

import pytest

from dpaudit.verdict import label, least, moment, number, percent, plain

pytestmark = pytest.mark.quick


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
