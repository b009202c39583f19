"""The page of oracle.md: rows that were measured again take the place of the old ones."""

import numpy as np
import pytest

from reports.make import page
from reports.make.audits import oracle
from reports.make.tasks import page_rows

SHARES = np.array([0.4, 0.2, 0.1, 0.0])


def _run(task, size, seed):
    return oracle.Run(SHARES, SHARES, SHARES, 1.0, 2.0, "found by a|b")


@pytest.mark.slow
def test_a_task_that_is_measured_alone_keeps_the_other_rows(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(oracle, "run", _run)
    monkeypatch.setattr(page, "REPORTS", tmp_path)
    path = tmp_path / "oracle.md"
    path.write_text(oracle.render(["| T2 kept | 10,000 | x |", "| T9 old | 100,000 | x |"]))
    assert oracle.main(["--tasks", "T1", "T9"]) == 0
    rows = page_rows(path.read_text())
    sizes = [(10_000, 1), (10_000, 2), (100_000, 1), (100_000, 9), (1_000_000, 1)]
    assert list(rows) == sizes
    assert rows[10_000, 2] == "| T2 kept | 10,000 | x |"
    assert "1.000 1.000 1.000 –" in rows[100_000, 9]
    assert capsys.readouterr().out.count("\n") == 4
