"""The bench of the search, with few draws on one data set."""

import re

import pytest

from reports.make.audits import search


@pytest.mark.slow
def test_the_report_says_what_was_found(tmp_path, monkeypatch, capsys):
    """9 audits of 2,000 draws suffice for the row that moves the solution most.

    It does so by twice as much δ as the next.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search, "cases", lambda name, made=search.cases: made(name)[1:2])
    search.report(("diabetes",), (1,), 2_000)
    text = (tmp_path / "reports" / "search.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| diabetes"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:4] == ["diabetes", "GaussianLS, σ = 423", "169", "0.0524"]
    assert cells[4:6] == ["169", "1.000"]
    assert float(cells[6]) <= 10.0
    assert float(cells[7]) <= 0.0524
    assert re.search(
        r"Within 5 % of the worst row's δ: 1 of 1 searches, the least share 1\.000", text
    )
    assert search.search.NOTE in " ".join(text.split())
    assert text.strip() in capsys.readouterr().out
