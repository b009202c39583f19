"""The page writer: tables, numbers, templates, files."""

import pytest
from jinja2 import UndefinedError

from reports.make import page


def test_a_table_escapes_its_bars():
    shown = page.table(["a", "b"], [["1", "|x|"]])
    assert shown == "| a | b |\n| --- | --- |\n| 1 | \\|x\\| |"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.1234"), (10.0, "10"), (float("inf"), "∞"), (float("nan"), "–"), (None, "–")],
)
def test_numbers_have_one_format(value, shown):
    assert page.number(value) == shown


def test_markdown_is_not_escaped_and_names_its_command():
    text = page.render("coverage.md", audits="<1>", level=0.95, rates="a & b", largest="|")
    assert "`python -m reports.make coverage`" in text
    assert "Share of <1> simulated" in text
    assert "a & b" in text


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError):
        page.render("coverage.md", audits="1")
