"""The page on one run holds every table that is measured for it."""

import pytest

from reports.make.one_run import report

pytestmark = pytest.mark.quick


def test_the_page_has_each_table_once(monkeypatch, tmp_path):
    tables = ("bounds_table", "response_table", "canaries_table", "false_table")
    for name in tables:
        monkeypatch.setattr(report, name, lambda name=name: f"| {name} |")
    monkeypatch.setattr(report, "zoo_table", lambda: [("a bug", *["0 of 20"] * 4)])
    monkeypatch.setattr(report, "false_alarms", lambda runs: 7)
    report.report(tmp_path / "one-run.md")
    text = (tmp_path / "one-run.md").read_text()
    assert [text.count(f"| {name} |") for name in tables] == [1, 1, 1, 1]
    assert "| a bug | 0 of 20 |" in text
    assert "7 of 1,000 runs" in text


def test_randomised_response_is_set_beside_the_limit_of_its_right_answers():
    found, limit = report.responded(1.0, 0)
    assert 0.9 * limit <= found <= limit
